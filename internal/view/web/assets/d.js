// A console for D: a program, what it printed, and its maps as tables and as a chart.
import { $, ask, count, element, time } from "./ask.js";
import { Chart } from "./chart.js";
import { Editor } from "./editor.js";
import { Grid } from "./grid.js";

const examples = [
	["calls of each function", `call:::entry { @[probefunc] = count(); }`],
	["how long calls take, as a distribution", `call:::return { @[probefunc] = quantize(elapsed); }`],
	["calls that failed, by their error", `call:::return /err != nil/ { @[probefunc, err] = count(); }`],
	["the longest call of each function", `call:::return { @[probefunc] = max(elapsed); }`],
	["who calls what", `call:::entry { @[caller, probefunc] = count(); }`],
	["calls a 100 ms", `call:::entry { @calls = count(); }\ntick-100ms { printa(@calls); clear(@calls); }`],
	["how long goroutines waited, by why", `wait:::return { @[probefunc] = sum(elapsed); }`],
	["requests by how long they took", `stage:::return { @[probefunc] = quantize(elapsed); }`],
	["print each statement", `statement:::entry { printf("%s\\n", text); }`],
];

// completions returns where the word begins that ends at pos, and what it can become: probes, or, in
// a predicate or between braces, words of D. known has lists of each.
export function completions(text, pos, known) {
	const before = text.slice(0, pos).replace(/"(?:[^"\\\n]|\\.)*"|\/\*.*?\*\//gs, s => " ".repeat(s.length));
	if (/"[^"\n]*$|\/\*/.test(before)) return { from: pos, list: [] };
	const within = before.lastIndexOf("{") > before.lastIndexOf("}"), head = before.slice(before.lastIndexOf("}") + 1);
	const probes = !within && !/(^|\s)\//.test(head);
	const word = (probes ? /[^\s,;]*$/ : /[\w$]*$/).exec(before)[0], from = pos - word.length, lower = word.toLowerCase();
	if (!probes && /[.@]$|->$/.test(before.slice(0, from))) return { from: pos, list: [] };
	const all = probes ? known.probes.concat(["BEGIN", "END", "tick-1s"]).map(name => ({ name, what: "" })) : ["action", "aggregation", "variable", "function"].flatMap(what => known[what].map(name => ({ name, what })));
	const begins = [], inner = [], seen = new Set();
	for (const c of all) {
		const at = c.name.toLowerCase().indexOf(lower);
		if (at < 0 || c.name === word || seen.has(c.name)) continue;
		seen.add(c.name);
		(at === 0 ? begins : inner).push(c);
	}
	return { from, list: begins.concat(inner).slice(0, 200) };
}

export class Programs {
	constructor(app) {
		this.app = app;
		this.q = ""; // what was run last
		this.map = ""; // whose table is shown
		this.text = $("d-text");
		this.grid = new Grid($("d").querySelector("table"));
		this.chart = new Chart(app, "d");
		this.grid.sorted = () => this.chart.draw();
		for (const [title, q] of examples) $("d-examples").append(element("option", title, { value: q }));
		$("d-examples").onchange = e => { if (e.target.value) this.run(e.target.value); e.target.value = ""; };
		$("d-form").onsubmit = e => { e.preventDefault(); this.run(this.text.value); };
		$("d-map").onchange = e => { this.map = e.target.value; this.show(); this.app.save(); };
		$("d-all").onclick = () => { this.app.select(null); this.run(this.q); };
		this.editor = new Editor(this.text, $("d-words"), {
			completions: (text, pos) => this.known ? completions(text, pos, this.known) : { from: pos, list: [] },
			begins: /:$/,
			run: text => this.run(text),
		});
	}

	// load asks what can be completed, and runs what the URL has.
	async load() {
		if (this.q && (this.q !== this.ran || String(this.app.range || "") !== this.ranOver)) this.run(this.q);
		try {
			this.known ||= await ask("probes");
		} catch (e) {
			this.app.say(e);
		}
	}

	async run(q) {
		if (!q.trim()) return;
		this.running?.abort();
		const mine = this.running = new AbortController(), range = this.app.range;
		this.q = this.ran = this.text.value = q;
		this.ranOver = String(range || "");
		this.editor.offer([]);
		this.app.save();
		$("d").dataset.state = "running";
		$("d-note").classList.remove("bad");
		$("d-note").textContent = "Running …";
		let result;
		try {
			result = await ask("d", { q, ...(range && { from: range[0], to: range[1] }) }, mine.signal);
		} catch (e) {
			if (e.name === "AbortError") return;
			result = { error: e.message };
		}
		this.result = { text: "", maps: [], errors: "", stopped: "", left: 0, events: 0, took: 0, ...result };
		$("d-range").textContent = range ? `over ${time(range[1] - range[0])} that are selected` : "";
		$("d-all").hidden = !range;
		this.show();
		$("d").dataset.state = result.error ? "failed" : "done";
	}

	// said says of a result what its text and tables do not.
	said() {
		const { error, errors, stopped, left, events, took, text, maps } = this.result;
		if (error) return error;
		return [
			stopped ? `It was stopped, because ${stopped}: what is shown is of the first ${count(events, "event")}.` : `It ran over ${count(events, "event")} in ${time(took)}.`,
			!text && !maps.length ? "It printed nothing." : "",
			left ? `${count(left, "entry", "entries")} with the least values are left out.` : "",
			errors && "\n" + errors].filter(Boolean).join(" ");
	}

	show() {
		const { text, maps, error } = this.result, names = maps.map(m => m.map);
		$("d-note").textContent = this.said();
		$("d-note").classList.toggle("bad", !!error);
		$("d-out").textContent = text;
		$("d-out").hidden = !text;
		const map = maps.find(m => m.map === this.map) || maps[0];
		$("d-map").replaceChildren(...names.map(name => element("option", name, { selected: name === map?.map })));
		$("d-map").parentNode.hidden = names.length < 2;
		this.table(map);
	}

	// table shows a map: its keys and its value, or a row for each bucket of its distributions.
	table(map) {
		const entries = map?.entries || [], spread = entries.some(e => e.buckets), rows = [];
		for (const e of entries.toReversed()) { // the largest first
			if (!spread) rows.push([...e.key, e.value]);
			else for (const b of e.buckets || []) rows.push([...e.key, b.least ?? null, b.count]);
		}
		const keys = entries[0]?.key.length || 0, titles = Array.from({ length: keys }, (_, i) => keys > 1 ? `key ${i + 1}` : "key");
		titles.push(...spread ? ["from", "count"] : map ? [map.map] : []);
		const columns = titles.map((title, i) => {
			const number = rows.every(r => r[i] === null || typeof r[i] === "number");
			const shown = v => typeof v === "number" ? v.toLocaleString("en", { maximumFractionDigits: 6 }) : typeof v === "object" ? JSON.stringify(v) : String(v);
			return { title, number, value: r => r[i] === null ? null : number ? r[i] : shown(r[i]), cell: r => r[i] === null ? title === "from" ? "below" : "nil" : shown(r[i]) };
		});
		if (spread && keys) columns[keys - 1].label = r => `${r.slice(0, keys).join(" ")} ${r[keys] === null ? "below" : "≥ " + r[keys].toLocaleString("en")}`;
		this.grid.show(columns, rows);
		this.chart.of(this.grid);
	}
}
