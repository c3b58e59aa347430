// Flame graphs: call paths, each as wide as the time in it.
import { $, ask, count, time } from "./ask.js";
import { Drawing } from "./svg.js";

const rowHeight = 18;

// A FlameGraph draws a tree of nodes: data has their parents, each before its children, and below,
// their children. What is made of it says of a node n what it is called (name), its own size (own)
// and colour (fill), what there is to say of it (said), and what there is to say of all (note). Its
// elements have identifiers that begin with id.
export class FlameGraph {
	constructor(app, id) {
		this.app = app;
		this.id = id;
		this.path = []; // labels of the nodes down to the one that is as wide as the page
		this.data = null;
		this.scroll = $(id + "-scroll");
		this.canvas = $(id + "-canvas");
		$(id + "-kind").onchange = () => { this.layOut(); app.save(); };
		$(id + "-save").onclick = () => { if (this.data) this.picture().save(`${app.status.name}-${id}`); };
		$(id + "-root").onclick = () => this.zoom(0);
		new ResizeObserver(() => this.draw()).observe(this.scroll);
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
		const hit = e => { const r = this.canvas.getBoundingClientRect(); return this.hit(e.clientX - r.left, e.clientY - r.top); };
		this.canvas.onpointermove = e => this.tip(e, hit(e));
		this.canvas.onpointerleave = e => this.tip(e, null);
		this.canvas.onclick = e => { const n = hit(e); if (n !== null) this.zoom(n); };
	}

	get kind() { return $(this.id + "-kind").value; }

	set kind(k) {
		const select = $(this.id + "-kind");
		select.value = k;
		if (select.selectedIndex < 0) select.selectedIndex = 0;
	}

	// layOut adds up what is shown, and finds the path that was zoomed to.
	layOut() {
		const d = this.data;
		if (!d) return;
		d.total = d.parents.map((_, n) => this.own(n));
		for (let n = d.parents.length - 1; n > 0; n--) d.total[d.parents[n]] += d.total[n];
		for (const list of d.below) list.sort((a, b) => d.total[b] - d.total[a]);
		this.root = 0;
		for (const label of this.path) {
			const n = d.below[this.root].find(n => d.keys[n] === label);
			if (n === undefined || !d.total[n]) break;
			this.root = n;
		}
		$(this.id + "-note").textContent = this.note();
		this.draw();
	}

	zoom(n) {
		const d = this.data;
		this.path = [];
		for (; n > 0; n = d.parents[n]) this.path.unshift(d.keys[n]);
		this.layOut();
		this.app.save();
	}

	draw() {
		if (this.drawing) return;
		this.drawing = true;
		requestAnimationFrame(() => { this.drawing = false; this.paint(); });
	}

	// picture returns the graph as SVG.
	picture() {
		this.paint();
		const h = Math.max(...this.boxes.map(b => b.y)) + rowHeight;
		const to = new Drawing(this.scroll.clientWidth, h, this.app.timeline.colours().back, `${this.app.status.name}: ${$(this.id + "-note").textContent}`);
		this.paint(to);
		return to;
	}

	// paint draws, on the canvas or on what is like one, the paths around the one that was zoomed to, and below it those that can be seen.
	paint(to) {
		const d = this.data, w = this.scroll.clientWidth;
		if (!d || w < 1) return;
		this.boxes = [];
		const around = [];
		for (let n = this.root; n > 0; n = d.parents[n]) around.unshift(n);
		around.unshift(0);
		around.forEach((n, depth) => this.boxes.push({ n, x: 0, w, y: depth * rowHeight }));
		let tiny = 0;
		const visit = (n, x, depth, k) => {
			for (const m of d.below[n]) {
				const wide = d.total[m] * k;
				if (wide < 0.7) { tiny += d.total[m] > 0; continue; }
				this.boxes.push({ n: m, x, w: wide, y: depth * rowHeight });
				visit(m, x, depth + 1, k);
				x += wide;
			}
		};
		if (d.total[this.root]) visit(this.root, 0, around.length, w / d.total[this.root]);
		const h = Math.max(...this.boxes.map(b => b.y)) + rowHeight;
		const t = this.app.timeline, colours = t.colours(), c = to || t.context(this.canvas, w, h);
		c.font = "12px system-ui, sans-serif";
		c.textBaseline = "middle";
		for (const b of this.boxes) {
			c.fillStyle = b.n ? this.fill(b.n) : colours.line;
			c.globalAlpha = b.y < (around.length - 1) * rowHeight ? 0.55 : 1;
			c.fillRect(b.x, b.y, Math.max(b.w - (b.w > 3 ? 1 : 0), 0.7), rowHeight - 1);
			c.globalAlpha = 1;
			const fits = Math.floor((b.w - 6) / 6.2);
			if (fits < 3) continue;
			const name = this.name(b.n);
			c.fillStyle = colours.front;
			c.fillText(name.length > fits ? name.slice(0, fits - 1) + "…" : name, b.x + 3, b.y + rowHeight / 2, b.w - 6);
		}
		$(this.id + "-root").hidden = this.root === 0;
		this.canvas.dataset.boxes = this.boxes.length;
		this.canvas.ariaLabel = `Flame graph of ${count(this.boxes.length, "call path")}${tiny ? `; ${count(tiny, "is", "are")} too narrow to draw` : ""}. ${this.instead}`;
	}

	hit(x, y) {
		const b = (this.boxes || []).find(b => y >= b.y && y < b.y + rowHeight && x >= b.x && x < b.x + b.w);
		return b ? b.n : null;
	}

	// part says how much of all something is.
	part(x) {
		const all = this.data.total[0];
		return time(x) + (all ? ` (${(100 * x / all).toFixed(1)} %)` : "");
	}

	tip(e, n) {
		const tip = $("tip");
		tip.hidden = n === null;
		this.canvas.style.cursor = n === null ? "" : "pointer";
		if (n === null) return;
		tip.textContent = [this.name(n), ...this.said(n)].join("\n");
		tip.style.left = Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 6) + "px";
		tip.style.top = (e.clientY + 18 + tip.offsetHeight > innerHeight ? e.clientY - tip.offsetHeight - 8 : e.clientY + 18) + "px";
	}
}

// children returns the children of each node.
export function children(parents) {
	const below = parents.map(() => []);
	for (let n = 1; n < parents.length; n++) below[parents[n]].push(n);
	return below;
}

// Flame is the flame graph of all of the recording, or of a stretch of time.
export class Flame extends FlameGraph {
	instead = "The view Table has the same times as text.";

	constructor(app) {
		super(app, "flame");
		$("flame-all").onclick = () => { app.select(null); this.load(); };
	}

	// load asks for the graph, again if it is only to be newer.
	async load(again) {
		if (this.running) this.running.abort();
		const mine = this.running = new AbortController();
		this.app.save();
		const sel = this.app.range;
		$("flame-range").textContent = sel ? `from ${time(sel[0], 6)} to ${time(sel[1], 6)}: calls that began in it` : "";
		$("flame-all").hidden = !sel;
		if (!again) $("flame-note").textContent = "Reading …";
		$("flame").dataset.state = "reading";
		try {
			const d = await ask("flame", sel ? { from: Math.max(1, sel[0]), to: sel[1] } : {}, mine.signal);
			d.below = children(d.parents);
			this.data = d;
		} catch (e) {
			if (e.name !== "AbortError") $("flame-note").textContent = e.message;
			return;
		}
		this.layOut();
		$("flame").dataset.state = "done";
	}

	own(n) {
		const d = this.data, k = this.kind;
		return k === "time" ? d.running[n] + d.runnable[n] + d.waiting[n] : d[k][n];
	}

	name(n) { return n === 0 ? "all" : this.app.function(this.data.keys[n]).name; }

	fill(n) { return this.app.timeline.fill(this.data.keys[n]); }

	said(n) {
		const d = this.data, wait = n > 0 && this.app.function(d.keys[n]).wait;
		return [...(n ? [count(d.calls[n], wait ? "wait" : "call")] : []), `total ${this.part(d.total[n])}`, `self ${this.part(this.own(n))}`];
	}

	note() {
		const d = this.data;
		const merged = d.merged ? ` ${count(d.merged, "call")} count for the calls around them: there are too many paths.` : "";
		const waits = d.keys.some(k => this.app.function(k).wait) ? "" : " No waits were recorded here, so they count as running: record them with ftrace record -f 'RULES;wait/*'.";
		return `${time(d.total[0])} ${this.kind === "time" ? "in calls of all goroutines" : this.kind}.` + waits + merged;
	}
}
