// A console for SQL: a statement, what it returned as a table and as a chart.
import { $, ask, count, element, time } from "./ask.js";
import { Chart } from "./chart.js";
import { completions } from "./complete.js";
import { Editor } from "./editor.js";
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
		this.grid = new Grid($("sql").querySelector("table"));
		this.chart = new Chart(app, "sql");
		this.grid.sorted = () => this.chart.draw();
		for (const [title, q] of examples) $("sql-examples").append(element("option", title, { value: q }));
		$("sql-examples").onchange = e => this.choose(e.target);
		$("sql-tables").onchange = e => this.choose(e.target);
		$("sql-form").onsubmit = e => { e.preventDefault(); this.run(this.text.value); };
		this.editor = new Editor(this.text, $("sql-words"), {
			completions: (text, pos) => this.known ? completions(text, pos, this.known) : { from: pos, list: [] },
			begins: /(\.|\b(from|join)\s)$/i,
			run: text => this.run(text),
		});
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
		const each = [...schemas.keys()].filter(s => !["information_schema", "sys", this.known.tables[0].schema].includes(s));
		if (recordings > 1) $("sql-schemas").textContent = `Tables have the rows of all recordings, and those of ${each.join(" and ")} have the rows of one.`;
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
		this.editor.offer([]);
		this.app.save();
		$("sql").dataset.state = "running";
		$("sql-note").classList.remove("bad");
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
		$("sql-note").classList.toggle("bad", !!this.result.error);
		$("sql-rows").scrollTop = 0;
	}
}
