// A console for SQL: a statement, what it returned as a table and as a chart.
import { $, ask, count, element, time } from "./ask.js";
import { Chart } from "./chart.js";
import { completions } from "./complete.js";
import { Grid } from "./grid.js";

const examples = [
	["functions that take the most time", `SELECT EVENT_NAME, COUNT_STAR, SUM_ERRORS, FORMAT_PICO_TIME(SUM_TIMER_WAIT) AS total, SUM_TIMER_WAIT
FROM events_calls_summary_global_by_event_name
WHERE COUNT_STAR ORDER BY SUM_TIMER_WAIT DESC LIMIT 20`],
	["the slowest calls", `SELECT EVENT_NAME, FORMAT_PICO_TIME(TIMER_WAIT) AS lasted, ARGS, RESULTS, THREAD_ID, TIMER_START
FROM events_calls_history_long
ORDER BY TIMER_WAIT DESC LIMIT 20`],
	["calls that returned an error", `SELECT EVENT_NAME, ARGS, ERROR, THREAD_ID, TIMER_START
FROM events_calls_history_long
WHERE ERROR IS NOT NULL ORDER BY TIMER_START LIMIT 100`],
	["who calls what", `SELECT CALLER_NAME, EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT
FROM events_calls_summary_by_caller_by_event_name
WHERE COUNT_STAR ORDER BY COUNT_STAR DESC LIMIT 100`],
	["what goroutines waited for", `SELECT EVENT_NAME, COUNT_STAR, FORMAT_PICO_TIME(SUM_TIMER_WAIT) AS total, SUM_TIMER_WAIT
FROM events_waits_summary_global_by_event_name
WHERE COUNT_STAR ORDER BY SUM_TIMER_WAIT DESC`],
	["goroutines, and what started them", `SELECT THREAD_ID, PARENT_THREAD_ID, ENTRY_FUNCTION, CREATED_BY, STATE FROM threads ORDER BY THREAD_ID`],
];

export class Console {
	constructor(app) {
		this.app = app;
		this.q = ""; // what was run last
		this.text = $("sql-text");
		this.list = $("sql-words");
		this.grid = new Grid($("sql").querySelector("table"));
		this.chart = new Chart(app);
		this.grid.sorted = () => this.chart.draw();
		for (const [title, q] of examples) $("sql-examples").append(element("option", title, { value: q }));
		$("sql-examples").onchange = e => this.choose(e.target);
		$("sql-tables").onchange = e => this.choose(e.target);
		$("sql-form").onsubmit = e => { e.preventDefault(); this.run(this.text.value); };
		this.text.oninput = () => this.complete();
		this.text.onblur = () => this.offer([]);
		this.text.onkeydown = e => this.key(e);
		this.list.onpointerdown = e => { e.preventDefault(); const i = [...this.list.children].indexOf(e.target.closest("li")); if (i >= 0) this.accept(i); };
		this.offered = [];
	}

	// load asks which tables there are, and runs what the URL has.
	async load() {
		if (this.q && this.q !== this.ran) this.run(this.q);
		if (this.known) return;
		try {
			this.known = await ask("tables");
		} catch (e) {
			this.app.say(e);
			return;
		}
		const schemas = Map.groupBy(this.known.tables, t => t.schema), recordings = schemas.size - 3; // the first is performance_schema too
		for (const [schema, tables] of schemas) {
			if (schema === "information_schema" || recordings === 1 && schemas.keys().toArray().at(-1) === schema) continue;
			const group = element("optgroup", undefined, { label: schema });
			const prefix = schema === this.known.tables[0].schema ? "" : schema + ".";
			for (const t of tables) group.append(element("option", t.name, { value: `SELECT * FROM ${prefix}${t.name} LIMIT 100` }));
			$("sql-tables").append(group);
		}
	}

	choose(select) {
		if (select.value) this.run(select.value);
		select.value = "";
	}

	async run(q) {
		if (!q.trim()) return;
		if (this.running) this.running.abort();
		const mine = this.running = new AbortController();
		this.q = this.ran = this.text.value = q;
		this.offer([]);
		this.app.save();
		$("sql").dataset.state = "running";
		$("sql-note").className = "";
		$("sql-note").textContent = this.result ? "Running …" : "Running … The first statement reads all of the recording.";
		let result;
		try {
			result = await ask("sql", { q }, mine.signal);
		} catch (e) {
			if (e.name === "AbortError") return;
			result = { error: e.message };
		}
		this.result = { ...result, columns: result.columns || [], rows: result.rows || [] };
		this.show();
		$("sql").dataset.state = result.error ? "failed" : "done";
	}

	// said says of a result what its rows do not.
	said() {
		const { error, rows, columns, more, cut, before, took } = this.result;
		if (error) return error;
		return [
			!columns.length ? "It returned nothing." : more ? `The first ${count(rows.length, "row")}: there are more, and columns sort only these.` : `${count(rows.length, "row")}.`,
			cut ? `${count(cut, "value")} cut short.` : "",
			before ? `Of ${before + 1} results this is the last.` : "",
			`It took ${time(took)}.`].filter(Boolean).join(" ");
	}

	show() {
		const { columns, rows } = this.result;
		const thread = columns.findIndex(c => c.name === "THREAD_ID");
		this.grid.show(columns.map((c, i) => ({
			title: c.name, number: c.number,
			value: row => row[i] === null ? null : c.number ? Number(row[i]) : row[i],
			cell: row => {
				if (row[i] === null) return element("span", "NULL", { className: "null" });
				if (c.number && /^TIMER_(START|END)$/.test(c.name)) return element("button", row[i], { title: "on the timeline", onclick: () => this.app.showAt(Number(row[i]) / 1000, thread < 0 ? 0 : Number(row[thread])) });
				return row[i];
			},
		})), rows);
		this.chart.of(this.grid);
		$("sql-note").textContent = this.said();
		$("sql-note").className = this.result.error ? "bad" : "";
		$("sql-rows").scrollTop = 0;
	}

	// complete offers what the word in front of the cursor can become.
	complete(always) {
		const { selectionStart: pos, selectionEnd: end, value } = this.text;
		if (!this.known || pos !== end) return this.offer([]);
		const { from, list } = completions(value, pos, this.known);
		this.from = from;
		this.offer(always || from < pos || /(\.|\b(from|join)\s)$/i.test(value.slice(0, pos)) ? list : []);
	}

	offer(list) {
		this.offered = list;
		this.at = 0;
		this.moved = false;
		this.list.hidden = !list.length;
		this.list.replaceChildren(...list.map(({ name, what }, i) => {
			const item = element("li", name, { id: "sql-word-" + i, role: "option" });
			if (what) item.append(element("small", what));
			return item;
		}));
		if (list.length) {
			// The text is monospaced and its lines do not wrap.
			const css = getComputedStyle(this.text), lines = this.text.value.slice(0, this.from).split("\n");
			const c = document.createElement("canvas").getContext("2d");
			c.font = css.font;
			const x = c.measureText(lines.at(-1).replaceAll("\t", "    ")).width, y = lines.length * parseFloat(css.lineHeight);
			this.list.style.left = Math.max(0, Math.min(this.text.offsetLeft + 7 + x - this.text.scrollLeft, $("sql-edit").clientWidth - this.list.offsetWidth - 10)) + "px";
			this.list.style.top = this.text.offsetTop + 7 + y - this.text.scrollTop + "px";
		}
		this.mark();
	}

	// mark marks the completion that would be accepted.
	mark() {
		[...this.list.children].forEach((e, i) => e.setAttribute("aria-selected", i === this.at));
		if (this.offered.length) {
			this.text.setAttribute("aria-activedescendant", "sql-word-" + this.at);
			this.list.children[this.at].scrollIntoView({ block: "nearest" });
		} else this.text.removeAttribute("aria-activedescendant");
	}

	accept(i) {
		const { name } = this.offered[i];
		this.text.setRangeText(name, this.from, this.text.selectionStart, "end");
		this.text.focus();
		this.offer([]);
	}

	key(e) {
		const n = this.offered.length;
		if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) this.run(this.text.value);
		else if (e.key === " " && e.ctrlKey) this.complete(true);
		else if (e.key === "Escape" && !n) this.text.blur();
		else if (!n) return;
		else if (e.key === "Escape") this.offer([]);
		else if (e.key === "ArrowDown" || e.key === "ArrowUp") {
			this.at = (this.at + (e.key === "ArrowDown" ? 1 : n - 1)) % n;
			this.moved = true;
			this.mark();
		} else if (e.key === "Tab" && !e.shiftKey || e.key === "Enter" && this.moved) this.accept(this.at);
		else return;
		e.preventDefault();
		e.stopPropagation();
	}
}
