// The flame graph: call paths, each as wide as the time in it, of all of the recording or of a
// stretch of time.
import { $, ask, count, element, time } from "./ask.js";
import { Drawing } from "./svg.js";

const rowHeight = 18, kinds = ["time", "running", "runnable", "waiting"];

export class Flame {
	constructor(app) {
		this.app = app;
		this.path = []; // keys of the functions down to the call path that is as wide as the page
		this.data = null;
		this.scroll = $("flame-scroll");
		this.canvas = $("flame-canvas");
		$("flame-kind").onchange = () => { this.layOut(); this.app.save(); };
		$("flame-all").onclick = () => { this.app.select(null); this.load(); };
		$("flame-save").onclick = () => { if (this.data) this.picture().save(`${this.app.status.name}-flame`); };
		$("flame-root").onclick = () => this.zoom(0);
		new ResizeObserver(() => this.draw()).observe(this.scroll);
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
		const hit = e => { const r = this.canvas.getBoundingClientRect(); return this.hit(e.clientX - r.left, e.clientY - r.top); };
		this.canvas.onpointermove = e => this.tip(e, hit(e));
		this.canvas.onpointerleave = e => this.tip(e, null);
		this.canvas.onclick = e => { const n = hit(e); if (n !== null) this.zoom(n); };
	}

	get kind() { return $("flame-kind").value; }

	set kind(k) { $("flame-kind").value = kinds.includes(k) ? k : "time"; }

	async load() {
		if (this.running) this.running.abort();
		const mine = this.running = new AbortController();
		this.app.save();
		const sel = this.app.range;
		$("flame-range").textContent = sel ? `from ${time(sel[0], 6)} to ${time(sel[1], 6)}: calls that began in it` : "";
		$("flame-all").hidden = !sel;
		$("flame-note").textContent = "Reading …";
		$("flame").dataset.state = "reading";
		try {
			const d = await ask("flame", sel ? { from: Math.max(1, sel[0]), to: sel[1] } : {}, mine.signal);
			d.below = d.keys.map(() => []);
			for (let n = 1; n < d.keys.length; n++) d.below[d.parents[n]].push(n);
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

	// layOut adds up what is shown, and finds the path that was zoomed to.
	layOut() {
		const d = this.data;
		if (!d) return;
		d.total = d.keys.map((_, n) => this.own(n));
		for (let n = d.keys.length - 1; n > 0; n--) d.total[d.parents[n]] += d.total[n];
		for (const list of d.below) list.sort((a, b) => d.total[b] - d.total[a]);
		this.root = 0;
		for (const key of this.path) {
			const n = d.below[this.root].find(n => d.keys[n] === key);
			if (n === undefined || !d.total[n]) break;
			this.root = n;
		}
		const merged = d.merged ? ` ${count(d.merged, "call")} count for the calls around them: there are too many paths.` : "";
		const waits = d.keys.some(k => this.app.function(k).wait) ? "" : " No waits were recorded here, so they count as running: record them with ftrace record -f 'RULES;wait/*'.";
		$("flame-note").textContent = `${time(d.total[0])} ${this.kind === "time" ? "in calls of all goroutines" : this.kind}.` + waits + merged;
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
		const to = new Drawing(this.scroll.clientWidth, h, this.app.timeline.colours().back, `${this.app.status.name}: ${$("flame-note").textContent}`);
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
			c.fillStyle = b.n ? t.fill(d.keys[b.n]) : colours.line;
			c.globalAlpha = b.y < (around.length - 1) * rowHeight ? 0.55 : 1;
			c.fillRect(b.x, b.y, Math.max(b.w - (b.w > 3 ? 1 : 0), 0.7), rowHeight - 1);
			c.globalAlpha = 1;
			const fits = Math.floor((b.w - 6) / 6.2);
			if (fits < 3) continue;
			const name = this.name(b.n);
			c.fillStyle = colours.front;
			c.fillText(name.length > fits ? name.slice(0, fits - 1) + "…" : name, b.x + 3, b.y + rowHeight / 2, b.w - 6);
		}
		$("flame-root").hidden = this.root === 0;
		this.canvas.dataset.boxes = this.boxes.length;
		this.canvas.ariaLabel = `Flame graph of ${count(this.boxes.length, "call path")}${tiny ? `; ${count(tiny, "path")} are too narrow to draw` : ""}. The view Table has the same times as text.`;
	}

	name(n) {
		if (n === 0) return "all";
		return this.app.function(this.data.keys[n]).name;
	}

	hit(x, y) {
		const b = (this.boxes || []).find(b => y >= b.y && y < b.y + rowHeight && x >= b.x && x < b.x + b.w);
		return b ? b.n : null;
	}

	tip(e, n) {
		const tip = $("tip"), d = this.data;
		tip.hidden = n === null;
		this.canvas.style.cursor = n === null ? "" : "pointer";
		if (n === null) return;
		const part = x => d.total[0] ? ` (${(100 * x / d.total[0]).toFixed(1)} %)` : "";
		const wait = n > 0 && this.app.function(d.keys[n]).wait;
		tip.textContent = [this.name(n), n ? count(d.calls[n], wait ? "wait" : "call") : "", `total ${time(d.total[n])}${part(d.total[n])}`, `self ${time(this.own(n))}${part(this.own(n))}`].filter(Boolean).join("\n");
		tip.style.left = Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 6) + "px";
		tip.style.top = (e.clientY + 18 + tip.offsetHeight > innerHeight ? e.clientY - tip.offsetHeight - 8 : e.clientY + 18) + "px";
	}
}
