// Who waits for whom: a graph of those who wait for one another, and a table of all.
import { $, ask, count, element, label, sentence, time } from "./ask.js";

const wide = 330, high = 58, gapX = 80, gapY = 34, margin = 12;

function svg(name, attributes = {}, text) {
	const e = document.createElementNS("http://www.w3.org/2000/svg", name);
	for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
	if (text !== undefined) e.textContent = text;
	return e;
}

const cut = (text, n) => text.length > n ? text.slice(0, n - 1) + "…" : text;

// named writes the numbers of goroutines.
const named = (g, n = 4) => g.goroutines.slice(0, n).map(id => "G" + id).join(", ") + (g.count > n ? ` and ${(g.count - n).toLocaleString("en")} more` : "");

// waited writes for how long a group has waited.
const waited = g => g.longest ? (g.at_least ? ">" : "") + time(g.longest) : "";

export class Waits {
	constructor(app) {
		this.app = app;
	}

	async load(again) {
		if (this.asking) return;
		this.asking = true;
		if (!again) {
			this.app.save();
			$("waiting-note").textContent = "Reading …";
		}
		try {
			this.show(await ask("waiting"));
			$("waiting").dataset.state = "done";
		} catch (e) {
			$("waiting-note").textContent = e.message;
		} finally {
			this.asking = false;
		}
	}

	show({ groups, cycles, left, notes }) {
		const live = this.app.live.running, n = groups?.reduce((n, g) => n + g.count, 0) || 0;
		const said = [
			n || live ? `${count(n, "goroutine")} ${live ? "now" : "at the end, of those that had not ended"}.` : "All goroutines that are known had ended.",
			left ? `${count(left, "further group is", "further groups are")} left out.` : "", ...(notes || []).map(sentence),
			live ? "Who holds a lock is known if it was taken since this view was opened." : ""].filter(Boolean).join(" ");
		const ring = cycles?.length ? `${count(cycles.length, "cycle")}: ${cycles.map(c => [...c, c[0]].map(g => "G" + g).join(" → ")).join("; ")}: nothing ends these waits. ` : "";
		if ($("waiting-note").textContent !== ring + said) $("waiting-note").replaceChildren(element("strong", ring, { className: "bad" }), said);
		this.draw(groups || [], cycles || []);
		const body = document.createDocumentFragment();
		for (const g of groups || []) {
			const row = element("tr"), who = element("td");
			who.append(...this.links(g));
			row.append(who, element("td", waited(g) || "-"), element("td", (g.stuck && !g.does.startsWith("stuck") ? "stuck: " : "") + g.does, { className: "text" }), element("td", g.at, { className: "text" }),
				element("td", (g.more || []).join("\n"), { className: "text" }));
			body.append(row);
		}
		const focused = document.activeElement?.closest("#waiting-rows") && document.activeElement.textContent;
		$("waiting-rows").replaceChildren(body);
		label($("waiting-rows").parentNode);
		if (focused) [...$("waiting-rows").querySelectorAll("button")].find(e => e.textContent === focused)?.focus();
	}

	// links leads to the goroutines of a group on the timeline.
	links(g) {
		const list = g.goroutines.slice(0, 8).flatMap(id => [element("button", "G" + id, { title: "on the timeline", onclick: () => this.app.showAt(this.app.status.now, id) }), " "]);
		return g.count > 8 ? [...list, `and ${(g.count - 8).toLocaleString("en")} more`] : list;
	}

	// draw draws those who wait for others, and these, from left to right.
	draw(groups, cycles) {
		const of = new Map();
		for (const g of groups) for (const id of g.goroutines) of.set(id, g);
		const next = new Map(), drawn = [];
		const place = g => { if (!next.has(g)) { next.set(g, new Set()); drawn.push(g); } return next.get(g); };
		for (const g of groups) {
			for (const id of g.for || []) {
				if (!of.has(id)) of.set(id, { goroutines: [id], count: 1, does: "runs, or has ended", at: "", more: [] });
				place(g).add(of.get(id));
				place(of.get(id));
			}
		}
		const to = $("waiting-graph");
		to.replaceChildren();
		to.parentNode.hidden = !drawn.length;
		if (!drawn.length) return;
		const inCycle = new Set(cycles.flat());
		const bad = g => g.goroutines.some(id => inCycle.has(id));
		// The column of a group is how many wait in a row for what it waits for.
		const column = new Map(), path = new Set();
		const depth = g => {
			if (column.has(g)) return column.get(g);
			if (path.has(g)) return 0;
			path.add(g);
			let d = 0;
			for (const n of next.get(g)) if (n !== g) d = Math.max(d, depth(n) + 1);
			path.delete(g);
			column.set(g, d);
			return d;
		};
		drawn.forEach(depth);
		const last = Math.max(...column.values()), filled = [];
		const at = new Map(drawn.map(g => {
			const c = last - column.get(g), r = filled[c] = (filled[c] ?? -1) + 1;
			return [g, { x: margin + c * (wide + gapX), y: margin + r * (high + gapY) }];
		}));
		to.setAttribute("width", 2 * margin + (last + 1) * wide + last * gapX);
		to.setAttribute("height", 2 * margin + (Math.max(...filled.map(n => n ?? 0)) + 1) * (high + gapY));
		const defs = svg("defs");
		for (const kind of ["arrow", "arrow-bad"]) {
			const m = svg("marker", { id: kind, viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto" });
			m.append(svg("path", { d: "M0 0L8 4L0 8z", class: kind }));
			defs.append(m);
		}
		to.append(defs);
		for (const g of drawn) {
			for (const n of next.get(g)) {
				const a = at.get(g), b = at.get(n), red = bad(g) && bad(n);
				let d;
				if (b.x > a.x) {
					const x1 = a.x + wide, y1 = a.y + high / 2, x2 = b.x, y2 = b.y + high / 2;
					d = `M${x1} ${y1}C${x1 + gapX / 2} ${y1} ${x2 - gapX / 2} ${y2} ${x2} ${y2}`;
				} else { // back, below the boxes
					const x1 = a.x + wide * 0.4, y1 = a.y + high, x2 = b.x + wide * 0.6, y2 = b.y + high;
					d = `M${x1} ${y1}C${x1} ${y1 + gapY} ${x2} ${y2 + gapY} ${x2} ${y2}`;
				}
				to.append(svg("path", { d, class: red ? "edge bad-edge" : "edge", "marker-end": `url(#${red ? "arrow-bad" : "arrow"})` }));
			}
		}
		for (const g of drawn) {
			const { x, y } = at.get(g), box = svg("g", { transform: `translate(${x} ${y})`, class: bad(g) ? "box bad-box" : "box" });
			box.append(svg("rect", { width: wide, height: high, rx: 4 }),
				svg("text", { x: 8, y: 16, class: "who" }, cut(named(g) + (g.longest ? ` for ${waited(g)}` : "") + (bad(g) ? ", in a cycle" : ""), 44)),
				svg("text", { x: 8, y: 33 }, cut(g.does, 50)), svg("text", { x: 8, y: 49 }, cut(g.at, 50)),
				svg("title", {}, [named(g, 20), g.does, g.at, ...(g.more || [])].filter(Boolean).join("\n")));
			box.onclick = () => this.app.showAt(this.app.status.now, g.goroutines[0]);
			to.append(box);
		}
	}
}
