// What the page asks the server, or the file that it is, and how times and numbers are written.
import { saved } from "./saved.js";

// shown says which recording is asked about, unless a question says it.
export const shown = { r: 0 };

async function response(what, query, signal) {
	const q = new URLSearchParams({ ...(shown.r && { r: shown.r }), ...query });
	const r = await fetch(what + (q.size ? "?" + q : ""), { signal });
	if (!r.ok) throw new Error((await r.text()).trim() || r.statusText);
	return r;
}

export const ask = async (what, query = {}, signal) => saved ? (await saved)[what](query) : (await response(what, query, signal)).json();

// change asks the server to change something, and returns what it is then.
export async function change(what, to) {
	const r = await fetch(what, { method: "POST", body: JSON.stringify(to) });
	if (!r.ok) throw new Error((await r.text()).trim() || r.statusText);
	return r.json();
}

export const askBytes = async (what, query, signal) => saved ? (await saved)[what](query) : (await response(what, query, signal)).arrayBuffer();

// askLines calls f with each line of JSON, as they come.
export async function askLines(what, query, f, signal) {
	if (saved) {
		for (const line of (await saved)[what](query)) f(line);
		return;
	}
	const reader = (await response(what, query, signal)).body.pipeThrough(new TextDecoderStream()).getReader();
	let rest = "";
	for (;;) {
		const { value, done } = await reader.read();
		if (done) break;
		const lines = (rest + value).split("\n");
		rest = lines.pop();
		for (const l of lines) if (l) f(JSON.parse(l));
	}
	if (rest) f(JSON.parse(rest));
}

// A Turn has one question under way. If it is wanted again meanwhile, it is asked anew afterwards.
export class Turn {
	constructor(app, draw) {
		Object.assign(this, { app, draw, asking: false, again: false });
	}

	// take asks, draws what came, and calls next if that is wanted again.
	async take(ask, next) {
		if (this.asking) {
			this.again = true;
			return;
		}
		this.asking = true;
		try {
			await ask();
		} catch (e) {
			this.app.say(e);
			await new Promise(r => setTimeout(r, 1000));
		} finally {
			this.asking = false;
		}
		this.draw();
		if (this.again) {
			this.again = false;
			next();
		}
	}
}

// time writes ns in the unit that suits them.
export function time(ns, digits = 3) {
	const a = Math.abs(ns);
	for (const [unit, n] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) if (a >= n) return +(ns / n).toFixed(digits) + unit;
	return Math.round(ns) + "ns";
}

// moment writes a time since the recording began, so exactly that neighbours differ by a step, in
// the unit that suits the latest of them.
export function moment(ns, step, latest = ns) {
	const most = Math.abs(latest), unit = most >= 1e9 ? ["s", 1e9] : most >= 1e6 ? ["ms", 1e6] : most >= 1e3 ? ["µs", 1e3] : ["ns", 1];
	const digits = Math.max(0, Math.ceil(-Math.log10(step / unit[1]) - 1e-9));
	return (ns / unit[1] || 0).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }) + unit[0];
}

// parseTime reads 1.5ms and the like as ns, or returns null.
export function parseTime(s) {
	const m = /^\s*([0-9.,]+)\s*(s|ms|us|µs|ns)?\s*$/.exec(s);
	if (!m) return null;
	const n = +m[1].replaceAll(",", "") * { s: 1e9, ms: 1e6, us: 1e3, "µs": 1e3, ns: 1 }[m[2] || "s"];
	return Number.isFinite(n) ? Math.round(n) : null;
}

// short returns a function's name as the trace has it, without the folders of its package. Kinds of
// waits, stages and statements have their whole name.
export const short = name => /^(wait|stage|statement)\//.test(name) ? name : name.replace(/^(?:[\w.~%-]+\/)+/, "");

// bare returns a function's name without its package.
export const bare = name => name.includes("/") ? name : name.replace(/^[^.()]+\.(?=.)/, "");

export const count = (n, one, many) => n.toLocaleString("en") + " " + (n === 1 ? one : many || one + "s");

// sentence writes a message as one. Names of files stay as they are.
export const sentence = text => text.replace(/^[a-z](?=[a-z]* )/, c => c.toUpperCase()) + (/[^.]$/.test(text) ? "." : "");

// element makes an element. What it shows is text, whatever is in it.
export function element(name, text, props = {}) {
	const e = document.createElement(name);
	if (text !== undefined) e.textContent = text;
	Object.assign(e, props);
	return e;
}

// label gives each cell of a table the title of its column, which a narrow page shows beside it.
export function label(table) {
	const titles = [...table.tHead.rows[0].cells].map(th => th.textContent.replace(/ [▴▾]$/, ""));
	for (const { cells } of table.tBodies[0].rows) for (const cell of cells) cell.dataset.title = titles[cell.cellIndex];
}

export const $ = id => document.getElementById(id);
