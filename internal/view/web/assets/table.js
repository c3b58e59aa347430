// The table of functions, packages or goroutines, of all of the recording or of a stretch of time.
import { $, askLines, count, element, label, short, time } from "./ask.js";

const times = new Set(["total", "self", "avg", "min", "max", "p50", "p95", "p99"]);
const titles = { avg: "average", left_out: "left out" };
const order = ["calls", "errors", "panics", "self", "total", "avg", "min", "p50", "p95", "p99", "max", "unfinished"];
const counts = new Set(["calls", "errors", "panics", "unfinished", "left_out"]);
const most = 1000;

export class Table {
	constructor(app) {
		this.app = app;
		this.by = "function";
		this.sort = "total";
		this.rows = [];
		$("by").onchange = () => { this.by = $("by").value; this.load(); };
		$("waits").onchange = () => { this.sort = $("waits").checked ? "self" : "total"; this.load(); };
		$("filter").oninput = () => this.show();
		$("table-all").onclick = () => { this.app.select(null); this.load(); };
	}

	// load asks for the table, again if it is only to be newer.
	async load(again) {
		if (this.running) this.running.abort();
		const mine = this.running = new AbortController(), waits = $("waits").checked;
		if (waits && this.sort === "total") this.sort = "self"; // of which there is no column
		$("by").value = this.by;
		this.app.save();
		const sel = this.app.range;
		$("table-range").textContent = sel ? `from ${time(sel[0], 6)} to ${time(sel[1], 6)}: calls that began in it` : "";
		$("table-all").hidden = !sel;
		if (!again) $("table-note").textContent = "Reading …";
		const rows = [];
		const ranked = order.includes(this.sort) || this.sort === "name" ? this.sort : "total";
		try {
			await askLines("table", { by: this.by, sort: ranked === "unfinished" ? "calls" : ranked, ...(waits && { waits: 1 }), ...(sel && { from: Math.max(1, sel[0]), to: sel[1] }) }, r => rows.push(r), mine.signal);
		} catch (e) {
			if (e.name !== "AbortError") $("table-note").textContent = e.message;
			return;
		}
		this.rows = rows;
		this.rowsBy = this.by;
		this.loaded = true;
		this.show();
	}

	show() {
		if (!this.loaded) return;
		const by = this.rowsBy;
		const columns = [];
		for (const r of this.rows) for (const c in r) if (c !== by && c !== "uncounted" && !columns.includes(c)) columns.push(c);
		for (const c of ["errors", "panics", "unfinished", "left_out"]) if (columns.includes(c) && this.rows.every(r => !r[c])) columns.splice(columns.indexOf(c), 1);
		const place = c => { const i = order.indexOf(c); return i < 0 ? order.length : i; };
		columns.sort((a, b) => place(a) - place(b));
		const head = element("tr");
		const control = by === "function" && this.app.control.on && this.app.control;
		for (const c of [by, ...columns]) {
			const name = c === by ? "name" : c, th = element("th");
			if (this.sort === name) th.ariaSort = name === "name" ? "ascending" : "descending";
			th.append(element("button", (titles[c] || c.replace(/^wait\/(synch\/)?/, "")) + (this.sort === name ? (name === "name" ? " ▴" : " ▾") : ""), { onclick: () => this.sortBy(name) }));
			head.append(th);
			if (control && c === by) head.append(control.head());
		}
		$("table").querySelector("thead").replaceChildren(head);
		const wanted = $("filter").value.toLowerCase(), body = document.createDocumentFragment();
		const rows = (control ? control.rows(this.rows) : this.rows).filter(r => String(r[by]).toLowerCase().includes(wanted));
		rows.sort((a, b) => this.sort === "name" ? String(a[by]).localeCompare(String(b[by]), "en", { numeric: true }) : (b[this.sort] || 0) - (a[this.sort] || 0));
		const shown = rows.slice(0, most);
		for (const r of shown) {
			const row = element("tr"), first = element("td");
			first.title = r[by];
			if (by === "function") first.append(element("button", short(r[by]), { onclick: () => this.app.search.start(short(r[by])) }));
			else first.textContent = r[by];
			row.append(first);
			if (control) row.append(control.cell(r[by]));
			for (const c of columns) {
				const v = r[c] || 0, none = !counts.has(c) && (times.has(c) ? !r.calls : !v);
				row.append(element("td", none ? "-" : counts.has(c) ? v.toLocaleString("en") + (c === "left_out" && r.uncounted ? "+" : "") : time(v), { className: none ? "none" : (c === "errors" || c === "panics") && v ? "bad" : "" }));
			}
			body.append(row);
		}
		const focused = document.activeElement?.closest("#table-scroll") && document.activeElement.ariaLabel;
		$("table").querySelector("tbody").replaceChildren(body);
		label($("table").querySelector("table"));
		if (focused) [...$("table").querySelectorAll("tbody input")].find(e => e.ariaLabel === focused)?.focus();
		$("table-note").textContent = count(rows.length, "row") + (shown.length < rows.length ? `, of which ${most.toLocaleString("en")} are shown: write a name to see others` : "") + (this.rows.length === most ? `: the first ${most} by ${this.sort}` : "") + (this.app.range ? ". A call that began before the stretch is not in it." : "");
	}

	sortBy(name) {
		this.sort = name;
		if (this.rows.length === most) this.load();
		else { this.app.save(); this.show(); }
	}
}
