// The page: which view is shown, what is kept in the URL, and keys.
import { $, ask, count, element, shown, time } from "./ask.js";
import { saved } from "./saved.js";
import { Timeline } from "./timeline.js";
import { Spans } from "./spans.js";
import { Search, Tree } from "./tree.js";
import { Table } from "./table.js";
import { Flame } from "./flame.js";
import { Source } from "./source.js";
import { Console } from "./sql.js";
import { Programs } from "./d.js";
import { Compare } from "./compare.js";
import { Live } from "./live.js";
import { Control } from "./control.js";
import { Waits } from "./waits.js";

const views = ["timeline", "tree", "table", "flame", ...(saved ? [] : ["sql", "d", "compare", "waiting"])];

const app = {
	status: { from: 0, end: 0, now: 0, finished: false },
	view: "timeline",
	selection: null,
	functions: [],
	functionsOf: [], // the functions of each recording
	named: false, // functions has all of these
	parts: [], // the processes whose lanes are shown
	restoring: true,

	// views returns the views that there are tabs of, from left to right.
	get views() { return views.filter(v => !$("tab-" + v).hidden); },

	function(key) { return this.functions[key] || { name: "#" + key, package: "" }; },

	// say shows what went wrong, or takes it away.
	say(e) {
		this.problem = e ? e.message : "";
		this.showStatus();
	},

	showStatus() {
		const s = this.status, parts = [];
		if (s.name !== undefined) {
			parts.push(`${count(s.calls, "call")} of ${count(s.lanes, "goroutine")}${this.parts.length > 1 ? ` of ${this.parts.length} processes` : ""} in ${time(s.end - s.from + (s.live?.gone || 0))}`);
			if (this.parts.length > 1) parts.push(`times begin with ${this.parts.find(p => p.r === shown.r).name}`);
			if (!s.finished && !s.live) parts.push("being read");
			parts.push(...this.live.said());
			if (s.deep) parts.push(`${count(s.deep, "call")} deeper than ${s.rows} are not on the timeline`);
			if (s.beyondSpans) parts.push(`${count(s.beyondSpans, "request or statement", "requests and statements")} more than are shown by themselves`);
			if (s.beyond) parts.push(`${count(s.beyond, "call")} of further goroutines are not on the timeline`);
		}
		$("status").textContent = [parts.join(", ") + (parts.length ? "." : ""), this.live.cost(), (s.notes || "").trim(), s.error, this.problem].filter(Boolean).join("\n");
		$("status").classList.toggle("bad", !!(this.problem || s.error));
		$("progress").hidden = s.finished || !!s.live;
		$("save-file").hidden = !s.finished;
		$("progress-bar").style.width = s.end ? 100 * s.now / s.end + "%" : "0";
	},

	show(view) {
		this.view = view;
		for (const v of views) {
			$(v).hidden = v !== view;
			$("tab-" + v).setAttribute("aria-selected", v === view);
			$("tab-" + v).tabIndex = v === view ? 0 : -1;
		}
		$("tip").hidden = true;
		this.save();
		if (view === "timeline") this.timeline.changed();
		if (view === "tree" && !this.tree.shown) {
			if (this.live.following) this.live.newestLines();
			else this.tree.show("0");
		}
		if (view === "table") this.table.load();
		if (view === "flame") this.flame.load();
		if (view === "sql") this.sql.load();
		if (view === "d") this.d.load();
		if (view === "compare") this.compare.load();
		if (view === "waiting") this.waiting.load();
	},

	// select restricts the table to a stretch of time, or no longer.
	select(range) {
		this.selection = range;
		$("save-file").title = `Save ${range ? "the stretch that is selected" : "all of the recording"} as one HTML file that needs no server`;
		$("selection").hidden = !range;
		$("flame-pprof").href = `pprof/${shown.r}/${range ? range.join("-") : "0-0"}/`;
		if (range) $("selection-text").textContent = `${time(range[1] - range[0])} selected`;
		this.timeline.draw();
		this.save();
	},

	// range is the stretch of time that tables and flame graphs are of. Those of a file are all of it.
	get range() { return saved ? null : this.selection; },

	// trace shows the text from a call on.
	trace(at, g, r = shown.r) {
		if (r !== shown.r) {
			location.hash = new URLSearchParams({ view: "tree", ...(r && { r }), lanes: this.timeline.by, line: Math.floor(at), g });
			return;
		}
		this.tree.show(String(Math.floor(at)), String(g));
		this.show("tree");
	},

	// showAt shows a moment on the timeline.
	showAt(at, g, r) {
		const t = this.timeline, w = Math.min(t.end - t.from, Math.max(20, this.status.end / 50));
		this.mark = at;
		this.show("timeline");
		t.show(at - w / 2, at + w / 2);
		if (g) t.showLane(g, r);
	},

	showFound(l) {
		if (this.view === "tree") this.tree.show(String(Math.floor(l.at)), this.tree.g && String(l.g));
		else this.showAt(l.at, l.g);
		if (innerWidth <= 640) $("results").hidden = true;
	},

	// save puts what is shown into the URL a little later, unless that has been changed, which restore is to hear of. What moves saves
	// all the time.
	save() {
		if (this.restoring || this.saving) return;
		this.saving = setTimeout(() => {
			this.saving = 0;
			if (location.hash !== this.hash) return;
			const t = this.timeline, q = new URLSearchParams({ view: this.view });
			if (shown.r) q.set("r", shown.r);
			if (this.live.following) q.set("follow", Math.round(this.live.width));
			else if (t.to) { q.set("from", Math.round(t.from)); q.set("to", Math.round(t.to)); }
			else if (this.live.running) q.set("follow", 0); // all there is, and still
			const y = Math.round(t.wantY || t.scroll.scrollTop);
			if (y) q.set("y", y);
			if (t.by) q.set("lanes", t.by);
			if (t.folds) q.set("folds", 1);
			if (t.folded.size) q.set("folded", [...t.folded].join(",").replaceAll(" ", "."));
			if (!$("arrows").checked) q.set("arrows", 0);
			if (!$("spans-shown").checked) q.set("spans", 0);
			if (this.selection) q.set("selection", this.selection.join("-"));
			if (this.tree.shown) q.set("line", this.tree.tails ? "newest" : this.tree.from);
			if (this.tree.g) q.set("g", this.tree.g);
			if (this.table.by !== "function") q.set("by", this.table.by);
			if (this.table.sort !== "total") q.set("sort", this.table.sort);
			if ($("waits").checked) q.set("waits", 1);
			if (this.flame.kind !== "time") q.set("kind", this.flame.kind);
			if (this.flame.path.length) q.set("path", this.flame.path.join("."));
			if (this.sql.q) q.set("sql", this.sql.q);
			if (this.d.q) q.set("d", this.d.q);
			if (this.d.map) q.set("map", this.d.map);
			for (const [console, before] of [[this.sql, ""], [this.d, "d"]]) {
				const { kind, value, label } = console.chart.wanted;
				if (kind !== "none") { q.set(before + "chart", kind); q.set(before + "of", value); q.set(before + "over", label); }
			}
			if (this.compare.part && this.compare.part !== "functions") q.set("part", this.compare.part);
			if (this.compare.flame.kind !== "larger") q.set("width", this.compare.flame.kind);
			if (this.compare.flame.path.length) q.set("paths", JSON.stringify(this.compare.flame.path));
			if (this.source.query) q.set("source", new URLSearchParams(this.source.query));
			if (this.search.q) q.set("q", this.search.q);
			if (location.hash === "#" + q) return;
			history.replaceState(null, "", "#" + q);
			this.hash = location.hash;
		}, 100);
	},

	// restore shows what the URL says.
	restore() {
		const q = new URLSearchParams(location.hash.slice(1)), t = this.timeline;
		const whole = s => /^\d{1,16}$/.test(s || "") ? +s : 0, moment = s => /^-?\d{1,16}$/.test(s || "") ? +s : 0;
		const r = whole(q.get("r"));
		if (this.status.all && r !== shown.r) return location.reload(); // another recording
		shown.r = r;
		this.restoring = true;
		this.hash = location.hash;
		t.from = moment(q.get("from"));
		t.to = moment(q.get("to"));
		if (t.to <= t.from) t.from = t.to = 0;
		this.live.restore(q.get("follow"), t.to !== 0);
		if (t.by !== (q.get("lanes") || "") && !saved) t.setBy(q.get("lanes"));
		t.folds = $("lanes-folded").checked = q.has("folds");
		t.folded = new Set((q.get("folded") || "").split(",").filter(id => /^\d{1,9}(\.\d{1,16})?$/.test(id)).map(id => id.replace(".", " ")));
		t.lay();
		t.wantY = whole(q.get("y"));
		$("arrows").checked = q.get("arrows") !== "0";
		$("spans-shown").checked = q.get("spans") !== "0";
		const sel = (q.get("selection") || "").split("-").map(whole);
		this.select(sel.length === 2 && sel[1] > sel[0] ? sel : null);
		if (["function", "package", "goroutine"].includes(q.get("by"))) this.table.by = q.get("by");
		if (q.get("sort")) this.table.sort = q.get("sort");
		$("waits").checked = q.has("waits");
		this.flame.kind = q.get("kind");
		this.flame.path = (q.get("path") || "").split(".").filter(Boolean).map(Number);
		this.tree.asked = /^\d{1,20}(\.\d{1,9})?$/.test(q.get("line") || "");
		if (this.tree.asked) this.tree.show(q.get("line"), /^\d{1,20}$/.test(q.get("g") || "") ? q.get("g") : "");
		this.sql.q = q.get("sql") || "";
		this.sql.chart.want(q.get("chart"), q.get("of"), q.get("over"));
		this.d.q = q.get("d") || "";
		this.d.map = q.get("map") || "";
		this.d.chart.want(q.get("dchart"), q.get("dof"), q.get("dover"));
		this.compare.part = q.get("part");
		this.compare.flame.kind = q.get("width");
		try {
			this.compare.flame.path = JSON.parse(q.get("paths") || "[]").map(String);
		} catch {
			this.compare.flame.path = [];
		}
		if (q.get("mark")) this.mark = whole(q.get("mark"));
		if (q.get("lane")) t.showLane(whole(q.get("lane")));
		this.show(views.includes(q.get("view")) ? q.get("view") : "timeline");
		this.restoring = false;
		if (q.get("source")) this.source.show(Object.fromEntries(new URLSearchParams(q.get("source"))));
		if (q.get("q")) this.search.start(q.get("q"));
	},

	// several lets people choose the recording, and see all processes, and compare, if there are two.
	several() {
		const { all } = this.status;
		if (all.length < 2 || !$("recording").hidden) return;
		all.forEach((name, r) => $("recording").append(element("option", name, { value: r, selected: r === shown.r })));
		$("recording").hidden = $("lanes-by").querySelector("[value=process]").hidden = false;
		$("tab-compare").hidden = all.length !== 2;
		$("name").hidden = true;
		if (this.view === "compare" || this.fresh && all.length === 2 && !this.status.atOnce) this.show(all.length === 2 ? "compare" : "timeline");
		else if (this.fresh) this.timeline.setBy("process");
	},

	// turn shows another recording, in the same view. Times and calls are of one.
	turn(r) {
		const q = new URLSearchParams(location.hash.slice(1));
		for (const name of ["from", "to", "y", "selection", "line", "g", "path", "source", "mark", "lane", "r"]) q.delete(name);
		if (r) q.set("r", r);
		location.hash = q;
	},

	// learn asks what is known of the recording, or, if lanes are those of all processes, of all.
	async learn() {
		const [own] = await Promise.all([ask("status"), this.functionsOf[shown.r] || this.askFunctions(shown.r)]), { by } = this.timeline;
		let parts = [{ r: shown.r, at: 0, status: own }];
		this.status = own;
		if (by === "process" && own.all.length > 1) {
			const { processes, reading, notes } = await ask("processes"), zero = processes[shown.r].at;
			parts = await Promise.all(processes.map(async ({ name, at }, r) => ({ r, name, at: at - zero, status: r === shown.r ? own : await ask("status", { r }) })));
			const all = parts.map(p => p.status), sum = name => all.reduce((n, s) => n + s[name], 0), late = parts.filter(p => !p.status.finished);
			this.status = {
				...own, ...Object.fromEntries(["calls", "deep", "beyond", "beyondSpans", "lanes", "functions"].map(name => [name, sum(name)])),
				from: Math.min(...parts.map(p => p.at + p.status.from)), end: Math.max(...parts.map(p => p.at + p.status.end)),
				now: late.length ? Math.min(...late.map(p => p.at + p.status.now)) : own.now, finished: !reading && !late.length,
				notes: [notes, ...all.map(s => s.notes)].filter(Boolean).join(""), error: all.map(s => s.error).find(Boolean),
			};
		}
		await this.learnFunctions(parts);
		this.learnt = by;
		const moved = parts.some((p, i) => p.r !== this.parts[i]?.r || p.at !== this.parts[i].at) || parts.length !== this.parts.length;
		if (moved) {
			this.parts = parts;
			this.timeline.forget();
		} else this.parts.forEach((p, i) => Object.assign(p, parts[i]));
	},

	// learnFunctions asks for the functions of processes. Keys are those of the recording that is shown,
	// and after these those of the others.
	async learnFunctions(parts) {
		let base = 0;
		for (const p of [...parts].sort((a, b) => (b.r === shown.r) - (a.r === shown.r))) {
			if ((this.functionsOf[p.r]?.length || 0) < p.status.functions) await this.askFunctions(p.r);
			p.base = base;
			base += this.functionsOf[p.r]?.length || 0;
		}
		if (this.named) return;
		this.named = true;
		this.functions = [shown.r, ...this.functionsOf.keys()].flatMap((r, i) => i && r === shown.r ? [] : this.functionsOf[r] || []);
		this.onePackage = new Set(this.functions.filter(f => f.source).map(f => f.package)).size < 2;
		this.timeline.wasDark = undefined; // colours are made anew
		this.flame.layOut();
	},

	async askFunctions(r) {
		this.functionsOf[r] = await ask("functions", { r });
		this.named = false;
	},

	// follow asks how far the index is until it is finished.
	async follow() {
		if (this.asking) return;
		this.asking = true;
		const began = performance.now();
		for (;;) {
			try {
				await this.learn();
				this.problem = "";
				if (!this.timeline.to) this.timeline.from = this.status.from;
				this.live.known();
				$("name").textContent = this.status.name;
				$("name").title = this.status.program;
				document.title = this.status.name + " - ftrace web";
				this.several();
				this.showStatus();
				this.spans.lay();
				await this.timeline.loadLanes();
			} catch (e) {
				this.say(e instanceof TypeError && this.live.running ? new Error("ftrace web does not answer any more: what is on the page stays.") : e);
			}
			if (!this.problem && this.learnt !== this.timeline.by) continue; // which lanes there are has been changed meanwhile
			if (this.status.finished) break;
			await new Promise(r => setTimeout(r, this.live.pause(performance.now() - began)));
		}
		this.asking = false;
		document.body.dataset.ready = "yes";
	},
};

app.spans = new Spans(app);
app.timeline = new Timeline(app);
app.live = new Live(app);
app.control = new Control(app);
app.waiting = new Waits(app);
app.tree = new Tree(app);
app.table = new Table(app);
app.flame = new Flame(app);
app.source = new Source(app);
app.sql = new Console(app);
app.d = new Programs(app);
app.compare = new Compare(app);
app.search = new Search(app);
window.ftrace = app; // for whoever looks from the browser's console

$("recording").onchange = e => app.turn(+e.target.value);
for (const v of views) $("tab-" + v).onclick = () => app.show(v);
document.querySelector("nav").onkeydown = e => {
	const { views } = app, step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
	if (!step) return;
	app.show(views.at((views.indexOf(app.view) + step) % views.length));
	$("tab-" + app.view).focus();
	e.preventDefault();
};
$("selection-table").onclick = () => app.show("table");
$("selection-flame").onclick = () => app.show("flame");
$("selection-zoom").onclick = () => app.timeline.show(...app.selection);
$("selection-clear").onclick = () => app.select(null);
$("help-button").onclick = () => $("help").showModal();
addEventListener("hashchange", () => app.restore());
addEventListener("keydown", e => {
	if ($("help").open) return;
	if (e.key === "Escape") {
		if (document.activeElement === $("query")) $("query").blur();
		else if (!$("results").hidden) app.search.close();
		else if (!$("source").hidden) app.source.close();
		else if (app.selection) app.select(null);
		else {
			app.mark = undefined;
			app.timeline.pick(null);
		}
		return;
	}
	if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
	const k = e.key.length === 1 ? e.key.toLowerCase() : e.key;
	if (k === "/") $("query").focus();
	else if (k === "?") $("help").showModal();
	else if (k === "l" && app.live.running) app.live.toggle();
	else if (k >= "1" && k <= String(app.views.length)) app.show(app.views[k - 1]);
	else if (app.view !== "timeline" || !app.timeline.key(k)) return;
	e.preventDefault();
});

$("save-file").onclick = e => {
	const q = new URLSearchParams({ hash: location.hash.slice(1), r: shown.r });
	if (app.selection) { q.set("from", app.selection[0]); q.set("to", app.selection[1]); }
	e.currentTarget.href = "file?" + q;
};

async function start() {
	app.fresh = !location.hash; // nobody has chosen a view
	if (saved) {
		document.body.classList.add("saved");
		const { hash } = await saved;
		if (hash && !location.hash) history.replaceState(null, "", "#" + hash);
	}
	app.restore();
	app.follow();
}

start();
