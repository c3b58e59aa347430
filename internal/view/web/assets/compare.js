// Two recordings: where they part, what their functions took, and the call paths of both.
import { $, ask, askLines, count, element, moment, short, time } from "./ask.js";
import { FlameGraph, children } from "./flame.js";
import { Grid } from "./grid.js";

const parts = ["functions", "paths", "parting"], most = 5000;

export class Compare {
	constructor(app) {
		this.app = app;
		this.grid = new Grid($("compare-functions").querySelector("table"));
		this.flame = new Difference(app);
		this.loaded = {};
		for (const p of parts) $("compare-to-" + p).onclick = () => this.show(p);
		$("compare-differ").onchange = $("compare-filter").oninput = () => this.fill();
	}

	get names() { return this.app.status.all; }

	// load shows the part that was shown last.
	load() { if (this.names) this.show(this.part || "functions"); }

	show(part) {
		this.part = parts.includes(part) ? part : "functions";
		for (const p of parts) {
			$("compare-" + p).hidden = p !== this.part;
			$("compare-to-" + p).setAttribute("aria-pressed", p === this.part);
		}
		this.app.save();
		this.once(this.part);
	}

	// once loads a part, unless it is there.
	async once(part) {
		if (this.loaded[part]) return;
		this.loaded[part] = true;
		$("compare").dataset[part] = "reading";
		$("compare-note").textContent = "Reading both recordings …";
		$("compare-note").className = "";
		try {
			await this[part]();
			$("compare-note").textContent = "";
			$("compare").dataset[part] = "done";
		} catch (e) {
			this.loaded[part] = false;
			$("compare-note").textContent = e.message;
			$("compare-note").className = "bad";
			$("compare").dataset[part] = "failed";
		}
	}

	async functions() {
		this.rows = [];
		await askLines("both", {}, r => this.rows.push(r));
		this.fill();
	}

	// fill shows the functions that are wanted.
	fill() {
		if (!this.rows) return;
		const wanted = $("compare-filter").value.toLowerCase(), differ = $("compare-differ").checked;
		const changed = r => ["calls", "errors", "panics"].some(c => r[c][0] !== r[c][1]);
		const rows = this.rows.filter(r => r.function.toLowerCase().includes(wanted) && (!differ || changed(r)));
		const [a, b] = this.names, columns = [{ title: "function", value: r => r.function, cell: r => element("span", short(r.function), { title: r.function }) }];
		for (const [name, isTime] of [["total", true], ["self", true], ["calls"], ["errors"], ["panics"]]) {
			if ((name === "errors" || name === "panics") && this.rows.every(r => r[name][0] === r[name][1])) continue; // there is nothing to see
			const text = v => isTime ? v ? time(v) : "-" : v.toLocaleString("en");
			for (const i of [0, 1]) columns.push({ title: `${name} ${i ? b : a}`, number: true, value: r => r[name][i], cell: r => text(r[name][i]) });
			columns.push({ title: "change", number: true, value: r => Math.abs(r[name][1] - r[name][0]), cell: r => change(r[name], text, name === "errors" || name === "panics") });
		}
		const at = this.grid.sort;
		this.grid.show(columns, rows, at && at.column < columns.length ? at : null);
		$("compare-count").textContent = count(rows.length, "function") + (this.rows.length === most ? ` of the ${most} whose total time changed most` : "");
	}

	async paths() {
		const both = await Promise.all([0, 1].map(async r => ({ flame: await ask("flame", { r }), functions: await ask("functions", { r }) })));
		this.flame.merge(both, this.names);
	}

	async parting() {
		const d = await ask("parting"), to = document.createDocumentFragment(), [first, ...others] = d.divergences || [];
		const excuse = x => x.slight ? ", and the tests pass" : "";
		if (!first) to.append(element("p", "The calls of both are the same: functions, parameters, results and order, as far as they do not differ from run to run.", { className: "lead" }));
		else to.append(...this.divergence(first, excuse(first)));
		if (others.length) {
			to.append(element("h3", "Other goroutines that differ, the most surprising and earliest first"));
			const list = element("ul");
			for (const x of others) {
				const item = element("li", `after ${time(x.time, 6)}, ${this.goroutines(x)}: ${x.what}${excuse(x)} `);
				item.append(...this.links(x));
				list.append(item);
			}
			to.append(list);
		}
		const [a, b] = this.names;
		to.append(element("p", `Goroutines: ${d.same} do the same, ${d.differ} differ, ${d.only[0]} only in ${a}, ${d.only[1]} only in ${b}.`));
		if (d.without?.length) to.append(element("p", `Not compared are calls of ${d.without.join(", ")}: some were left out to keep within a budget.`));
		$("compare-parting").replaceChildren(to);
	}

	goroutines(x) { return x.goroutines.map((g, i) => g ? `G${g} of ${this.names[i]}` : "").filter(Boolean).join(" and "); }

	// links lead to where both are on the timeline.
	links(x) {
		return [0, 1].filter(i => x.goroutines[i] && x.times[i]).map(r => {
			const q = new URLSearchParams({ view: "timeline", from: Math.max(0, x.times[r] - 50_000), to: x.times[r] + 50_000, mark: x.times[r], lane: x.goroutines[r] });
			if (r) q.set("r", r);
			return element("a", `timeline of ${this.names[r]}`, { href: "#" + q });
		});
	}

	// divergence returns what there is to say of one.
	divergence(x, excuse) {
		const list = [element("h2", `${x.what}${excuse}`)], at = element("p", `First divergence, ${moment(x.time, 1)} after the start, in ${this.goroutines(x)}. `);
		at.append(...this.links(x));
		list.push(at);
		if (x.path?.length) list.push(element("p", "within " + x.path.join(" › ")));
		if (x.before?.length) list.push(element("h3", "before"), element("pre", x.before.join("\n")));
		const sides = element("div", undefined, { className: "sides" });
		for (const i of [0, 1]) {
			const side = element("div");
			side.append(element("h3", this.names[i]), element("pre", x.next[i]?.length ? x.next[i].join("\n") : "(no more calls)"));
			sides.append(side);
		}
		list.push(sides);
		const [a, b] = x.values.map(v => v || []);
		if (a.length && b.length) {
			const table = element("table"), body = element("tbody"), head = element("thead"), row = element("tr");
			row.append(element("th", "value"), ...this.names.map(n => element("th", n)));
			head.append(row);
			for (let i = 0; i < Math.max(a.length, b.length); i++) {
				const v = a[i] || b[i], texts = [a[i], b[i]].map(v => v ? JSON.stringify(v.value) ?? "" : "-");
				const tr = element("tr", undefined, { className: x.differ.includes(i) ? "differs" : "" });
				tr.append(element("td", v.name || v.type), ...texts.map(t => element("td", t)));
				body.append(tr);
			}
			table.append(head, body);
			list.push(element("h3", `values of ${x.function}`), table);
		}
		return list;
	}
}

// change returns what says how much more the second of two values is.
function change([a, b], text, bad) {
	if (a === b) return element("span", "=", { className: "null" });
	const percent = () => `${b > a ? "+" : "−"}${Math.round(100 * Math.abs(b - a) / a)} %`, times = () => "×" + Math.round(b / a).toLocaleString("en");
	const part = a ? ` (${b >= 5 * a ? times() : percent()})` : " (new)";
	return element("span", (b > a ? "+" : "−") + text(Math.abs(b - a)) + (b ? part : " (gone)"), { className: bad && b > a ? "bad" : "" });
}

// Difference is the flame graph of two recordings. The wider a path, the longer it took. Its colour
// says in which it took longer.
class Difference extends FlameGraph {
	instead = "The table of functions has times of both as text.";

	constructor(app) { super(app, "paths"); }

	// merge puts the call paths of both together, by the names of their functions.
	merge(both, names) {
		const d = { keys: ["all"], parents: [-1], calls: [[0], [0]], times: [[0], [0]] }, index = new Map();
		both.forEach(({ flame: f, functions }, i) => {
			const at = [0];
			for (let n = 0; n < f.keys.length; n++) {
				if (n) {
					const g = functions[f.keys[n]], name = g ? g.name : "#" + f.keys[n], key = at[f.parents[n]] + " " + (g ? g.package : "") + " " + name;
					if (!index.has(key)) {
						index.set(key, d.keys.length);
						d.keys.push(name);
						d.parents.push(at[f.parents[n]]);
						for (const list of [...d.calls, ...d.times]) list.push(0);
					}
					at[n] = index.get(key);
				}
				d.calls[i][at[n]] += f.calls[n];
				d.times[i][at[n]] += f.running[n] + f.runnable[n] + f.waiting[n];
			}
		});
		d.below = children(d.parents);
		d.totals = d.times.map(own => {
			const total = own.slice();
			for (let n = d.keys.length - 1; n > 0; n--) total[d.parents[n]] += total[n];
			return total;
		});
		[...$("paths-kind").options].slice(1).forEach((o, i) => { o.textContent = names[i]; });
		this.names = names;
		this.data = d;
		this.layOut();
	}

	own(n) {
		const [a, b] = this.data.times;
		return { a: a[n], b: b[n] }[this.kind] ?? Math.max(a[n], b[n]);
	}

	name(n) { return this.data.keys[n]; }

	// fill is red for what took longer in the second recording, and blue for what took longer in the
	// first, the more the larger the part.
	fill(n) {
		const [a, b] = this.data.totals.map(t => t[n]), part = Math.abs(b - a) / Math.max(a, b, 1), dark = this.app.timeline.dark;
		const hue = b > a ? 8 : 215, much = Math.round(part * 100);
		return dark ? `hsl(${hue} ${much * 0.6}% ${28 + part * 14}%)` : `hsl(${hue} ${much * 0.85}% ${88 - part * 20}%)`;
	}

	said(n) {
		const { calls, totals, times } = this.data, line = (i, of) => `${this.names[i]}: ${n ? count(calls[i][n], "call") + ", " : ""}total ${time(totals[i][n])}, self ${time(times[i][n])}`;
		const by = totals[1][n] - totals[0][n];
		return [line(0), line(1), by ? `${time(Math.abs(by))} ${by > 0 ? "more" : "less"} in ${this.names[1]}` : "the same in both"];
	}

	note() {
		const [a, b] = this.data.totals;
		return `${time(a[0])} in calls of ${this.names[0]}, ${time(b[0])} of ${this.names[1]}. Red paths took longer in ${this.names[1]}, blue ones in ${this.names[0]}, pale ones about as long.`;
	}
}
