// The timeline: a lane a goroutine, with what it did in the stretch of time that is shown.
import { $, Turn, ask, askBytes, bare, count, element, moment, shown, time } from "./ask.js";
import { callsRow, failed, gather, keyMask, marksRow, unfinished, unpack, waitsRow } from "./slices.js";
import { Raster } from "./raster.js";
import { Drawing } from "./svg.js";

const rowHeight = 17, headHeight = 18, processHeight = 24, waitsHeight = 7, gap = 8, firstLanes = 500, patience = 50; // ms

export class Timeline {
	constructor(app) {
		this.app = app;
		this.from = 0;
		this.to = 0; // 0: all that is known
		this.by = ""; // lanes are of goroutines; or processor; or process: of goroutines of all processes
		this.lanes = []; // of processes that are not folded
		this.groups = []; // the processes, with their lanes
		this.folds = false; // lanes are folded: of a goroutine's calls the outermost are shown
		this.folded = new Set(); // processes that are folded, and lanes that are not as folds says
		this.buttons = new Map(); // that fold what is on the screen
		this.data = null; // what is drawn
		this.picked = null;
		this.arrows = null; // who started and woke whom, of a stretch of time and some lanes
		this.scroll = $("scroll");
		this.canvas = $("canvas");
		this.raster = new Raster();
		this.ruler = $("ruler");
		this.wantY = 0;
		this.frames = [];
		this.turn = new Turn(app, () => this.draw());
		this.arrowsTurn = new Turn(app, () => this.draw());
		this.listen();
		new ResizeObserver(() => this.changed()).observe(this.scroll);
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.draw(); this.app.spans.draw(); });
	}

	get end() { return this.to || Math.max(this.app.status.end, 1); }
	get width() { return this.scroll.clientWidth; }
	x(ns) { return (ns - this.from) / (this.end - this.from) * this.width; }
	ns(x) { return this.from + x / this.width * (this.end - this.from); }

	// setBy shows lanes of goroutines, of processors, or of the goroutines of all processes.
	setBy(by) {
		const before = this.by;
		this.by = $("lanes-by").value = by === "processor" || by === "process" ? by : "";
		this.forget();
		this.wantY = 0;
		$("arrows").parentNode.hidden = $("lanes-folded").parentNode.hidden = this.processors;
		this.pick(null);
		if (this.by === "process" || before === "process") {
			const own = this.part(shown.r)?.status;
			if (before === "process" && own && (this.from < own.from || this.to > own.end)) this.from = this.to = 0;
			this.app.follow();
		} else this.loadLanes();
	}

	// forget drops what is drawn.
	forget() {
		this.lanes = [];
		this.groups = [];
		this.data = this.arrows = this.app.spans.data = null;
	}

	get processors() { return this.by === "processor"; }

	get which() { return this.processors && { by: "processor" }; }

	// part returns a process whose lanes are shown.
	part(r) { return this.app.parts.find(p => p.r === r); }

	// loadLanes takes in which goroutines there are, or processors.
	async loadLanes(more) {
		if (this.loading) return;
		this.loading = true;
		try {
			const { by } = this, { parts } = this.app;
			const groups = await Promise.all(parts.map(p => this.loadGroup(p, more)));
			if (by !== this.by || parts !== this.app.parts) {
				this.loading = false;
				return this.loadLanes();
			}
			this.groups = groups;
			this.lay();
			if (this.wantY) {
				this.scroll.scrollTop = this.wantY;
				if (Math.abs(this.scroll.scrollTop - this.wantY) < 2 || this.app.status.finished) this.wantY = 0;
			}
			if (this.want) this.showLane(this.want.g, this.want.r, this.want.outermost);
		} finally {
			this.loading = false;
		}
		this.changed();
	}

	// loadGroup returns a process with its lanes: those that there were, or more of them.
	async loadGroup(p, more) {
		const before = this.groups.find(g => g.part.r === p.r), known = before?.lanes || [];
		if (more && before && known.length >= before.all) return before;
		const { all, lanes } = await ask("lanes", { r: p.r, from: more ? known.length : 0, n: more ? firstLanes : Math.max(firstLanes, known.length), ...(this.app.live.since && !more && { since: this.app.live.since }), ...this.which });
		for (const l of lanes) Object.assign(l, { r: p.r, id: p.r + " " + l.g, begin: l.begin + p.at, end: l.end + p.at });
		return { part: p, all, lanes: more ? known.concat(lanes) : this.app.live.inOrder(lanes, known) };
	}

	// lay gives each lane its place. If there are several processes, each has a head.
	lay() {
		const several = this.groups.length > 1;
		this.lanes = [];
		let y = 0;
		for (const g of this.groups) {
			g.y = y;
			if (several) y += processHeight;
			if (several && this.folded.has(String(g.part.r))) continue;
			for (const l of g.lanes) {
				l.y = y;
				l.height = headHeight + waitsHeight + (this.isFolded(l) ? 1 : l.rows) * rowHeight + gap;
				y += l.height;
				this.lanes.push(l);
			}
		}
		$("tall").style.height = y + "px";
	}

	// foldable reports whether there are calls below others in a lane.
	foldable(l) { return !this.processors && l.rows > 1; }

	isFolded(l) { return this.foldable(l) && this.folded.has(l.id) !== this.folds; }

	// fold shows a process without its lanes, or a lane without the calls that others made, or all again.
	fold(id) {
		if (!this.folded.delete(id)) this.folded.add(id);
		this.lay();
		this.changed();
	}

	// foldAll folds all lanes, or none.
	foldAll(folds) {
		this.folds = $("lanes-folded").checked = folds;
		for (const id of this.folded) if (id.includes(" ")) this.folded.delete(id);
		this.lay();
		this.changed();
	}

	// placeButtons puts a button on each head that is on the screen: what folds is drawn on a canvas,
	// on which neither the keyboard nor a screen reader finds it.
	placeButtons(lanes, top, h) {
		const heads = new Map(lanes.filter(l => this.foldable(l)).map(l => [l.id, [l.y, headHeight, !this.isFolded(l), `G${l.g}, ${count(l.calls, "call")}`]]));
		if (this.groups.length > 1) for (const { part: p, y } of this.groups) if (y < top + h && y + processHeight > top) heads.set(String(p.r), [y, processHeight, !this.folded.has(String(p.r)), p.name]);
		for (const [id, button] of this.buttons) if (!heads.has(id)) {
			button.remove();
			this.buttons.delete(id);
		}
		for (const [id, [y, height, open, name]] of heads) {
			let b = this.buttons.get(id);
			if (!b) {
				b = element("button", "", { className: "fold-lane", onclick: () => this.fold(id) });
				this.buttons.set(id, b);
				$("tall").append(b);
			}
			b.style.top = y + "px";
			b.style.height = height + "px";
			b.ariaExpanded = open;
			if (b.ariaLabel !== name) b.ariaLabel = name;
		}
	}

	// more reports whether there are lanes that have not been asked for.
	get more() { return this.groups.some(g => g.lanes.length < g.all); }

	visible() {
		const top = this.scroll.scrollTop, bottom = top + this.scroll.clientHeight;
		return this.lanes.filter(l => l.y + l.height >= top && l.y <= bottom);
	}

	// changed draws, and asks for what is not there.
	changed() {
		this.app.save();
		this.draw();
		this.fetch();
		this.fetchArrows();
		this.app.spans.changed();
	}

	// fetchArrows asks who started and who woke whom, unless that is known.
	fetchArrows() {
		const lanes = this.visible(), d = this.arrows, w = this.end - this.from;
		if (this.processors || !$("arrows").checked || this.app.live.following || !lanes.length || this.width < 1) return;
		if (d && lanes.every(l => d.lanes.has(l.id)) && (d.more ? d.from <= this.from && d.to >= this.end && d.w < w * 1.5 : this.holds(d))) return; // too many stay too many
		this.arrowsTurn.take(async () => {
			const from = Math.max(this.first, Math.floor(this.from - w / 4)), to = Math.ceil(this.end + w / 4), { known } = this, { parts } = this.app;
			const all = await Promise.all([...parts.map(p => this.askArrows(p, from, to, lanes.filter(l => l.r === p.r))), ...(parts.length > 1 ? [this.askPassings(from, to)] : [])]);
			const more = all.some(a => a.more);
			if (parts !== this.app.parts) this.arrowsTurn.again = true;
			else this.arrows = { from, to, w, known, more, list: more ? [] : all.flatMap(a => a.arrows), lanes: new Set(lanes.map(l => l.id)) };
		}, () => this.fetchArrows());
	}

	// askArrows asks for the arrows of some lanes of a process.
	async askArrows(p, from, to, lanes) {
		if (!lanes.length || to <= p.at) return { arrows: [] };
		const { arrows, more } = await ask("arrows", { r: p.r, from: Math.max(0, from - p.at), to: to - p.at, lanes: lanes.map(l => l.g).join(",") });
		return { more, arrows: arrows.map(({ starts, from, to, at, end }) => ({ starts, from: { r: p.r, g: from }, to: { r: p.r, g: to }, at: at + p.at, end: end + p.at })) };
	}

	// askPassings asks for requests that went from one process to another, as arrows.
	async askPassings(from, to) {
		const { passings, more } = await ask("passings", { from, to });
		return { more, arrows: passings.map(({ made, served }) => ({ passes: true, from: made, to: served, at: made.at + this.part(made.r).at, end: served.at + this.part(served.r).at })) };
	}

	// paintArrows draws an arrow from each goroutine to those that it started or woke, and from each
	// request to who serves it in another process.
	paintArrows(c, colours, w, h, top) {
		if (this.processors || !this.arrows || !$("arrows").checked) return;
		const at = new Map(this.lanes.map(l => [l.id, l])), p = this.picked;
		const y = (a, side) => {
			const l = at.get(side.r + " " + side.g);
			return l ? l.y - top + headHeight + (a.passes ? waitsHeight + ((this.isFolded(l) ? 0 : side.depth) + 0.5) * rowHeight : waitsHeight / 2 - 1) : NaN;
		};
		for (const a of this.arrows.list) {
			const x1 = this.x(a.at), x2 = this.x(a.end), y1 = y(a, a.from), y2 = y(a, a.to);
			if (isNaN(y1 + y2) || Math.max(x1, x2) < 0 || Math.min(x1, x2) > w || Math.max(y1, y2) < 0 || Math.min(y1, y2) > h) continue;
			const mine = p && (this.leads(a, p) || this.leaves(a, p));
			c.strokeStyle = c.fillStyle = a.starts ? colours.accent : a.passes || mine ? colours.front : colours.soft;
			c.lineWidth = mine ? 2.5 : 1;
			c.beginPath();
			c.moveTo(x1, y1); c.lineTo(x2, y2);
			c.stroke();
			const long = Math.hypot(x2 - x1, y2 - y1), dx = (x2 - x1) / long * 6, dy = (y2 - y1) / long * 6;
			c.beginPath();
			c.moveTo(x2, y2); c.lineTo(x2 - dx - dy / 2, y2 - dy + dx / 2); c.lineTo(x2 - dx + dy / 2, y2 - dy - dx / 2);
			c.fill();
		}
	}

	// leads reports whether an arrow ends at a slice, or at the beginning of its goroutine.
	leads(a, s) {
		if (a.to.r !== s.r || a.to.g !== s.g || a.starts) return false;
		if (a.passes) return s.row === callsRow + a.to.depth && s.calls === 1 && Math.abs(a.end - s.begin) <= 1;
		return s.row === waitsRow && s.calls === 1 && Math.abs(a.end - s.end) <= 1;
	}

	// leaves reports whether an arrow is that of a request that a slice is.
	leaves(a, s) { return a.passes && a.from.r === s.r && a.from.g === s.g && s.row === callsRow + a.from.depth && s.calls === 1 && Math.abs(a.at - s.begin) <= 1; }

	// known tells until when all is known, -1: it is for good.
	get known() { return this.app.status.finished ? -1 : this.app.status.now; }

	// holds reports whether an answer has all that is known of what is on the screen.
	holds(d) {
		const { status } = this.app;
		return d && d.from <= this.from && d.to >= this.end && (status.finished ? d.known === -1 : d.known >= Math.min(this.end, status.now));
	}

	// sharp reports whether it has that as finely as it is drawn, and not much finer.
	sharp(d) {
		const pixel = (this.end - this.from) / this.width;
		return (d.pixel <= pixel * 1.01 || d.pixel <= 1) && d.pixel > pixel / 8;
	}

	covers(d, lanes) { return this.holds(d) && !d.sketch && this.sharp(d) && lanes.every(l => d.index.has(l.id)); }

	fetch() {
		const lanes = this.visible();
		if (!lanes.length || this.width < 1 || this.covers(this.data, lanes)) return;
		if (this.turn.asking) this.finer?.abort();
		this.turn.take(() => this.askSlices(lanes), () => this.fetch());
	}

	// first is before all that is recorded: times before 0 are those of other processes.
	get first() { return Math.min(0, this.app.status.from); }

	// around returns a stretch of time that is twice as long as what is shown, and in how many pixels.
	around() {
		const w = this.end - this.from, from = Math.max(this.first, Math.floor(this.from - w / 2)), to = Math.ceil(this.end + w / 2);
		const ratio = Math.min(2, window.devicePixelRatio || 1);
		return { from, to, pixels: Math.min(20000, Math.ceil(this.width * ratio * (to - from) / w)) };
	}

	// askEach asks processes for what they did in a stretch of time, and puts it together. Each comes
	// with the number of its first lane, and with what else is asked.
	async askEach(what, { from, to, pixels, ...question }, list, signal) {
		const all = await Promise.all(list.map(async ([p, lane, more]) => {
			const begin = Math.max(0, from - p.at), end = to - p.at;
			if (end <= begin) return [];
			const q = { r: p.r, from: begin, to: end, pixels: Math.ceil(pixels * (end - begin) / (to - from)), ...question, ...more };
			return [{ d: unpack(await askBytes(what, q, signal), what === "spans"), at: p.at, base: p.base, lane }];
		}));
		return gather(all.flat());
	}

	async askSlices(lanes) {
		const { by, known } = this, { parts } = this.app, { from, to, pixels } = this.around();
		const asked = performance.now();
		const list = parts.map(p => [p, lanes.findIndex(l => l.r === p.r), { lanes: lanes.filter(l => l.r === p.r).map(l => l.g).join(",") }]).filter(([, lane]) => lane >= 0);
		const question = { from, to, pixels, ...this.which };
		const less = { ...question, from: Math.floor((from + this.from) / 2), to: Math.ceil((to + this.end) / 2) }; // it may be long in coming
		less.pixels = Math.ceil(pixels * (less.to - less.from) / (to - from));
		const take = (d, { from, to, pixels }, sketch) => {
			if (by === this.by && parts === this.app.parts) this.data = { from, to, known, sketch, pixel: (to - from) / pixels, lanes, index: new Map(lanes.map((l, i) => [l.id, i])), ...d };
			else this.turn.again = true;
		};
		const sketch = await this.askEach("slices", { ...question, sketch: 1 }, list);
		if (sketch.exact || this.turn.again) take(sketch, question, !sketch.exact);
		else await this.refine(less, list, () => take(sketch, question, true), d => take(d, less, false));
		this.answered = performance.now() - asked;
		this.canvas.dataset.slices = this.data?.n;
		this.canvas.dataset.exact = this.data?.exact;
	}

	// refine asks for what the recording has finer than the sketch. The sketch is drawn if that takes
	// long, or is not wanted any more.
	async refine(question, list, sketch, take) {
		this.finer = new AbortController();
		const late = setTimeout(() => { sketch(); this.draw(); }, patience);
		try {
			take(await this.askEach("slices", question, list, this.finer.signal));
		} catch (e) {
			if (e.name !== "AbortError") throw e;
			sketch();
		} finally {
			clearTimeout(late);
			this.finer = null;
		}
	}

	draw() {
		if (this.drawing) return;
		this.drawing = true;
		requestAnimationFrame(() => { this.drawing = false; this.paint(); });
	}

	context(canvas, w, h) {
		const ratio = window.devicePixelRatio || 1;
		canvas.style.width = w + "px";
		canvas.style.height = h + "px";
		if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
			canvas.width = Math.round(w * ratio);
			canvas.height = Math.round(h * ratio);
		}
		const c = canvas.getContext("2d");
		c.setTransform(ratio, 0, 0, ratio, 0, 0);
		c.clearRect(0, 0, w, h);
		return c;
	}

	colours() {
		const css = getComputedStyle(document.documentElement), v = n => css.getPropertyValue(n).trim();
		this.dark = matchMedia("(prefers-color-scheme: dark)").matches;
		if (this.wasDark !== this.dark) this.fills = new Map();
		this.wasDark = this.dark;
		return { front: v("--front"), soft: v("--soft"), line: v("--line"), back: v("--back"), panel: v("--panel"), bad: v("--bad"), accent: v("--accent") };
	}

	// fill returns the colour of a function, which is that of its package unless there is only one, or
	// of a kind of waits, requests or statements.
	fill(key) {
		let c = this.fills.get(key);
		if (!c) {
			const f = this.app.function(key);
			let h = 2166136261;
			for (const ch of f.wait || f.span || this.app.onePackage ? f.name : f.package) h = Math.imul(h ^ ch.codePointAt(0), 16777619) >>> 0;
			let shade = 0;
			for (const ch of f.name) shade = (shade * 31 + ch.codePointAt(0)) % 7;
			c = this.dark ? `hsl(${h % 360} 45% ${30 + shade * 1.6}%)` : `hsl(${h % 360} 62% ${70 + shade * 1.8}%)`;
			this.fills.set(key, c);
		}
		return c;
	}

	// fillRun returns the colour of a goroutine that a processor runs.
	fillRun(g) {
		const h = Math.round(g * 137.5) % 360;
		return this.dark ? `hsl(${h} 45% 34%)` : `hsl(${h} 62% 76%)`;
	}

	// label returns what the key of a slice stands for: a function, or a goroutine.
	label(key) {
		if (!this.processors) return this.app.function(key).name;
		return key === keyMask ? "a goroutine" : "G" + key;
	}

	// labelIn returns what stands in a slice where so many characters fit: without the package if that
	// does not. A third more are drawn narrower.
	labelIn(key, calls, fits) {
		const label = this.label(key), several = calls > 1 ? count(calls, this.processors ? "run" : "call") + ": " : "", name = several + bare(label);
		if (several.length + label.length <= fits) return several + label;
		if (name.length <= fits * 4 / 3) return name;
		return fits < 3 ? "" : name.slice(0, fits - 1) + "…";
	}

	// picture returns what is on the screen as SVG.
	picture() {
		const w = this.width, h = this.scroll.clientHeight, colours = this.colours(), { spans } = this.app, above = 22 + (spans.box.hidden ? 0 : spans.height);
		const to = new Drawing(w, h + above, colours.back, `${this.app.status.name}: ${$("range").textContent}`);
		to.dy = above;
		this.paint(to);
		to.dy = 0;
		to.fillStyle = colours.back;
		to.fillRect(0, 0, w, above); // over lanes that begin above
		if (above > 22) {
			to.dy = 22;
			spans.paint(to);
			to.dy = 0;
		}
		this.paintRuler(colours, w, to);
		return to;
	}

	// paint draws on the canvas, or on what is like one.
	paint(to) {
		const began = performance.now();
		const s = this.scroll, w = this.width, h = s.clientHeight;
		if (w < 1 || h < 1) return;
		const colours = this.colours();
		this.canvas.style.top = s.offsetTop + "px";
		const c = to || this.context(this.canvas, w, h);
		if (!to) this.paintRuler(colours, w);
		c.font = "12px system-ui, sans-serif";
		c.textBaseline = "middle";
		const top = s.scrollTop, d = this.data;
		const at = new Map(this.visible().map(l => [l.id, l]));
		const { text, marks } = this.paintSlices(c, at, w, h, top, colours, to);
		if (d) {
			c.fillStyle = colours.accent;
			for (const [x, y] of marks) {
				c.beginPath();
				c.moveTo(x - 4, y); c.lineTo(x + 4, y); c.lineTo(x, y + 9);
				c.fill();
			}
		}
		for (const l of at.values()) {
			const y = l.y - top;
			c.fillStyle = colours.line;
			c.fillRect(0, y, w, 1);
			c.fillStyle = colours.soft;
			c.strokeStyle = colours.back; // marks may be below it
			c.lineWidth = 2;
			for (const write of ["strokeText", "fillText"]) c[write](`${this.foldable(l) ? this.isFolded(l) ? "▸ " : "▾ " : ""}${this.processors ? "processor " : "G"}${l.g}   ${count(l.calls, this.processors ? "run" : "call")}${l.failed ? ", " + l.failed.toLocaleString("en") + " failed" : ""}`, 6, y + headHeight / 2 + 1);
		}
		if (this.groups.length > 1) this.paintHeads(c, colours, w, h, top);
		if (!to) this.placeButtons([...at.values()], top, h);
		if (d) {
			c.fillStyle = colours.front;
			for (let j = 0; j < text.length; j += 4) {
				const i = text[j], room = text[j + 3] - 6, name = this.labelIn(d.what[i] & keyMask, d.calls[i], Math.floor(room / 6.2));
				if (name) c.fillText(name, text[j + 1] + 3, text[j + 2] + rowHeight / 2, room);
			}
			this.paintArrows(c, colours, w, h, top);
			const p = this.picked;
			const lane = p && at.get(p.r + " " + p.g);
			if (lane && !(p.row > callsRow && this.isFolded(lane))) {
				const y = lane.y - top + headHeight + (p.row === waitsRow ? 0 : waitsHeight + (p.row - callsRow) * rowHeight);
				c.strokeStyle = colours.front;
				c.lineWidth = 2;
				const x1 = Math.max(-4, this.x(p.begin)), x2 = Math.min(w + 4, this.x(p.end));
				c.strokeRect(x1, y, Math.max(x2 - x1, 2), p.row === waitsRow ? waitsHeight - 2 : rowHeight - 1);
			}
		}
		const sel = this.app.selection;
		if (sel) {
			c.fillStyle = colours.accent;
			c.globalAlpha = 0.16;
			c.fillRect(this.x(sel[0]), 0, this.x(sel[1]) - this.x(sel[0]), h);
			c.globalAlpha = 1;
		}
		if (!this.lanes.length && this.groups.length < 2) {
			c.fillStyle = colours.soft;
			c.fillText(this.app.status.finished ? "There are no calls in the recording." : this.app.live.running ? "Nothing was called." : "Reading …", 10, 20);
		}
		const mark = this.app.mark;
		if (mark !== undefined && mark >= this.from && mark <= this.end) {
			c.fillStyle = colours.accent;
			c.fillRect(this.x(mark) - 1, 0, 2, h);
		}
		$("range").textContent = this.app.live.following ? `the last ${time(this.app.live.width)}` : `${time(this.end - this.from)} from ${this.from !== this.first ? moment(this.from, (this.end - this.from) / 1000) : "the start"}`;
		const limits = this.app.live.following && w > 640 ? ["L or a drag stops it" + (this.processors || !$("arrows").checked ? "" : ", and arrows are drawn then")] : [];
		if (d && !d.exact && !d.sketch) limits.push(`calls within ${time(d.span)} are merged`);
		if (!this.processors && $("arrows").checked && this.arrows?.more) limits.push("there are too many arrows: zoom in to see them");
		$("hint").textContent = limits.length ? limits.join(", ") : !this.picked && !sel && w > 640 ? `Click a ${this.processors ? "run to see whose it is" : "call to see its values"}. Drag with Shift to select a stretch of time.` : "";
		this.frames.push(performance.now() - began);
		if (this.frames.length > 200) this.frames.shift();
		this.canvas.dataset.painted = this.from + "-" + this.end;
	}

	// paintHeads draws who the processes are, and when they were recorded.
	paintHeads(c, colours, w, h, top) {
		for (const { part: p, y, all } of this.groups) {
			const at = y - top;
			if (at > h || at + processHeight < 0) continue;
			c.fillStyle = colours.panel;
			c.fillRect(0, at, w, processHeight);
			c.fillStyle = colours.accent;
			const x1 = Math.max(0, this.x(p.at + p.status.from)), x2 = Math.min(w, this.x(p.at + p.status.end));
			if (x2 > x1) c.fillRect(x1, at + processHeight - 3, x2 - x1, 3);
			c.fillStyle = colours.front;
			c.fillText(`${this.folded.has(String(p.r)) ? "▸" : "▾"} ${p.name}   ${count(p.status.calls, "call")} of ${count(all, "goroutine")}`, 6, at + processHeight / 2 - 1);
		}
	}

	// headAt returns the process whose head is at a place of the canvas.
	headAt(y) {
		y += this.scroll.scrollTop;
		return this.groups.length > 1 ? this.groups.find(g => y >= g.y && y < g.y + processHeight) : undefined;
	}

	// paintSlices draws slices as rectangles. It returns where there is room for a text, and marks.
	paintSlices(c, at, w, h, top, colours, to) {
		const text = [], marks = [], bad = [], d = this.data, { from } = this, k = w / (this.end - from);
		if (!d) return { text, marks };
		if (!to) this.raster.clear(this.canvas, window.devicePixelRatio || 1);
		const rect = (...of) => (to || this.raster).rect(...of);
		const tops = d.lanes.map(l => at.has(l.id) ? at.get(l.id).y - top : Infinity), folded = d.lanes.map(l => this.isFolded(l));
		for (let i = 0; i < d.n; i++) {
			let x1 = (d.begin[i] - from) * k, x2 = (d.end[i] - from) * k;
			if (x2 < 0 || x1 > w) continue;
			const row = d.row[i], lane = tops[d.lane[i]];
			if (row > callsRow && folded[d.lane[i]]) continue;
			const y = lane + headHeight + (row === waitsRow ? 0 : waitsHeight + (row - callsRow) * rowHeight);
			const height = row === waitsRow ? waitsHeight - 2 : rowHeight - 1;
			if (row === marksRow) {
				if (lane < h) marks.push([x1, lane + 3]);
				continue;
			}
			if (y > h || y + height < 0) continue;
			x1 = Math.max(x1, -2); x2 = Math.min(x2, w + 2);
			const width = Math.max(x2 - x1 - (x2 - x1 > 3 ? 1 : 0), 1), key = d.what[i] & keyMask;
			rect(x1, y, width, height, this.processors ? this.fillRun(key) : this.fill(key), d.calls[i] > 1 && 0.7);
			if (d.what[i] & failed) bad.push(x1, y + height - 2, width);
			if (row >= callsRow && width > (this.processors ? 17 : 24)) text.push(i, Math.max(x1, 0), y, Math.min(x2, w) - Math.max(x1, 0));
		}
		for (let i = 0; i < bad.length; i += 3) rect(bad[i], bad[i + 1], bad[i + 2], 2, colours.bad);
		if (!to) this.raster.put(c);
		return { text, marks };
	}

	paintRuler(colours, w, to) {
		const c = to || this.context(this.ruler, w, 22), span = this.end - this.from;
		let step = 10 ** Math.floor(Math.log10(span * 110 / w));
		for (const f of [1, 2, 5, 10]) if (step * f * w / span >= 110) { step *= f; break; }
		step = Math.max(1, step);
		c.font = "11px system-ui, sans-serif";
		for (let t = Math.ceil(this.from / step) * step; t <= this.end; t += step) {
			const x = this.x(t);
			c.fillStyle = colours.line;
			c.fillRect(x, 12, 1, 10);
			c.fillStyle = colours.soft;
			c.fillText(moment(t, step, Math.max(-this.from, this.end)), x + 3, 14);
		}
	}

	// show shows a stretch of time.
	show(from, to) {
		this.app.live.stop();
		const first = this.app.status.from, most = Math.max(this.app.status.end - first, 1);
		const w = Math.min(Math.max(to - from, 20), most);
		from = Math.max(first, Math.min(from, first + most - w));
		this.from = from;
		this.to = from === first && w >= most ? 0 : from + w || 1;
		this.changed();
	}

	zoom(factor, x = this.width / 2) {
		if (this.app.live.following) return this.app.live.widen(factor);
		const at = this.ns(x), from = this.from, end = this.end;
		this.show(at - (at - from) * factor, at + (end - at) * factor);
	}

	pan(part) {
		const by = (this.end - this.from) * part;
		this.show(this.from + by, this.end + by);
	}

	// showLane brings a goroutine's lane onto the screen, once it is known, not folded unless what is
	// to be seen is there anyway.
	showLane(g, r = shown.r, outermost = false) {
		if (this.processors) this.setBy("");
		if (this.folded.has(String(r))) this.fold(String(r));
		const l = this.lanes.find(l => l.g === g && l.r === r);
		if (l && !outermost && this.isFolded(l)) this.fold(l.id);
		this.want = l || this.groups.length && !this.more && this.app.status.finished ? null : { g, r, outermost };
		if (l && (l.y < this.scroll.scrollTop || l.y + headHeight + 40 > this.scroll.scrollTop + this.scroll.clientHeight)) this.scroll.scrollTop = l.y;
		if (!l && this.more) this.loadLanes(true);
	}

	// hit returns the slice at a place of the canvas.
	hit(x, y) {
		const d = this.data;
		if (!d) return null;
		y += this.scroll.scrollTop;
		const l = this.lanes.find(l => y >= l.y && y < l.y + l.height), lane = l && d.index.get(l.id);
		if (lane === undefined) return null;
		const within = y - l.y;
		const row = within < headHeight ? marksRow : within < headHeight + waitsHeight ? waitsRow : callsRow + Math.floor((within - headHeight - waitsHeight) / rowHeight);
		if (row > callsRow && this.isFolded(l)) return null;
		let best = null, near = row === marksRow ? 5 : 2;
		for (let i = 0; i < d.n; i++) {
			if (d.lane[i] !== lane || d.row[i] !== row) continue;
			const x1 = this.x(d.begin[i]), x2 = this.x(d.end[i]);
			const far = x < x1 ? x1 - x : x > x2 ? x - x2 : 0;
			if (far < near) { near = far; best = i; if (!far) break; }
		}
		if (best === null) return null;
		return { r: l.r, g: l.g, row, begin: d.begin[best], end: d.end[best], what: d.what[best], calls: d.calls[best], key: d.what[best] & keyMask };
	}

	name(s) {
		if (this.processors) return s.calls > 1 ? `${count(s.calls, "run")}, the longest of them of ${this.label(s.key)}` : this.label(s.key);
		if (s.row === marksRow && s.key === 0) return count(s.calls, "line") + " of the program";
		const f = this.app.function(s.key);
		return s.calls > 1 ? count(s.calls, s.row === waitsRow ? "wait" : s.row === marksRow ? "mark" : "call") + ", the longest of them " + f.name : f.name;
	}

	tip(e, s) {
		const tip = $("tip");
		if (!s) {
			tip.hidden = true;
			this.tipped = null;
			return;
		}
		const same = this.tipped && this.tipped.begin === s.begin && this.tipped.row === s.row && this.tipped.g === s.g && this.tipped.r === s.r;
		if (!same) {
			this.tipped = s;
			tip.textContent = `${this.name(s)}\n${time(s.end - s.begin)}${s.calls > 1 ? " together" : ""} from ${moment(s.begin, Math.max(1, (s.end - s.begin) / 100))}${s.what & failed ? ", failed" : ""}${s.what & unfinished ? ", end not recorded" : ""}`;
			clearTimeout(this.tipTimer);
			if (s.calls === 1 && s.row >= callsRow && !this.processors) {
				this.tipTimer = setTimeout(async () => {
					try {
						const d = await this.call(s);
						if (this.tipped === s) tip.textContent += `\n(${d.params})${d.results ? " = " + d.results : ""}`;
					} catch { /* the details say it, if it is clicked */ }
				}, 120);
			}
		}
		tip.hidden = false;
		tip.style.left = Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 6) + "px";
		tip.style.top = (e.clientY + 18 + tip.offsetHeight > innerHeight ? e.clientY - tip.offsetHeight - 8 : e.clientY + 18) + "px";
	}

	call(s) {
		return ask("call", this.query(s));
	}

	// query asks for a call by the times of its own recording.
	query(s) {
		const { at } = this.part(s.r);
		return { ...(s.r !== shown.r && { r: s.r }), g: s.g, depth: s.row - callsRow, begin: s.begin - at, end: s.end - at };
	}

	source(s) {
		if (!this.processors && s.calls === 1 && s.row >= callsRow) this.app.source.show(this.query(s));
	}

	// pick shows what there is to say of a slice below the lanes.
	async pick(s) {
		this.picked = s;
		this.draw();
		const to = $("details");
		to.replaceChildren();
		if (!s) return;
		const list = element("dl");
		const say = (name, text) => list.append(element("dt", name), element("dd", text));
		const head = element("p"), buttons = [element("button", "zoom to it (F)", { onclick: () => this.zoomTo(s) }), element("button", "trace from here (T)", { onclick: () => this.trace(s) })];
		if (this.processors) buttons.push(element("button", "its calls", { onclick: () => this.app.showAt(s.begin, s.key) }));
		else buttons.push(element("button", "source (C)", { onclick: () => this.source(s), hidden: s.calls > 1 || s.row < callsRow || !this.app.function(s.key).source }));
		head.append(element("h2", this.name(s)), ...buttons, element("button", "close (Esc)", { onclick: () => this.pick(null) }));
		to.append(head, list);
		if (this.app.parts.length > 1) say("process", this.part(s.r).name);
		say(this.processors ? "processor" : "goroutine", this.processors ? s.g : "G" + s.g);
		say("began", moment(s.begin, 1));
		say("lasted", time(s.end - s.begin, 6) + (!(s.what & unfinished) ? "" : this.app.live.running ? " at least: it was under way" : " at least: its end is not in the recording"));
		if (s.what & failed) say("failed", s.calls > 1 ? "one of them at least" : "with an error, a panic or Goexit");
		if (this.processors) return;
		this.sayWho(s, list);
		if (s.calls > 1 || s.row < callsRow) return;
		if (this.app.source.query) this.source(s);
		try {
			const d = await this.call(s);
			if (this.picked !== s) return;
			say("function", d.function);
			say("call", "#" + d.number.toLocaleString("en"));
			say("parameters", d.params || "none were recorded");
			if (d.ended) say("results", d.results || "none");
			if (d.file) say("source", d.file + ":" + d.line);
		} catch (e) {
			say("parameters", e.message);
		}
	}

	// sayWho says who started the goroutine, who let it go on, and which process asked for it or
	// serves it, as far as arrows say that.
	sayWho(s, list) {
		for (const a of this.arrows?.list || []) {
			const starts = a.starts && a.to.r === s.r && a.to.g === s.g, leaves = this.leaves(a, s);
			if (!starts && !leaves && !this.leads(a, s)) continue;
			const side = leaves ? a.to : a.from, who = element("dd"), apart = time(a.end - a.at);
			who.append(element("button", (a.passes ? this.part(side.r).name + " " : "") + "G" + side.g, { title: "show it there", onclick: () => this.app.showAt(leaves ? a.end : a.at, side.g, side.r) }),
				starts ? "" : leaves ? ` ${apart} later` : ` ${apart} before${a.passes ? "" : " it ran"}`);
			list.append(element("dt", starts ? "started by" : !a.passes ? "woken by" : leaves ? "served by" : "asked by"), who);
		}
	}

	// trace shows the trace of a slice's goroutine.
	trace(s) { this.app.trace(s.begin - this.part(s.r).at, this.processors ? s.key : s.g, s.r); }

	zoomTo(s) {
		const w = Math.max(s.end - s.begin, 20);
		this.show(s.begin - w * 0.1, s.end + w * 0.1);
		if (!this.processors) this.showLane(s.g, s.r, s.row <= callsRow);
	}

	listen() {
		const s = this.scroll;
		let drag = null;
		const place = e => { const r = s.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
		s.addEventListener("scroll", () => {
			if (this.more && s.scrollTop + 2 * s.clientHeight > s.scrollHeight) this.loadLanes(true);
			this.changed();
		});
		for (const on of [s, $("spans")]) on.addEventListener("wheel", e => {
			if (e.ctrlKey || e.metaKey) this.zoom(Math.exp(Math.max(-100, Math.min(100, e.deltaY)) * 0.004), place(e)[0]);
			else if (e.shiftKey) this.pan((e.deltaY || e.deltaX) / 1000);
			else if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.pan(e.deltaX / this.width);
			else return;
			e.preventDefault();
		}, { passive: false });
		s.addEventListener("pointerdown", e => {
			const [x, y] = place(e);
			if (e.button !== 0 || x >= this.width || e.target.closest("button")) return; // the bar beside it
			drag = { x, y, from: this.from, end: this.end, top: s.scrollTop, select: e.shiftKey, moved: false };
			s.setPointerCapture(e.pointerId);
		});
		s.addEventListener("pointermove", e => {
			const [x, y] = place(e);
			this.mouse = x;
			if (!drag) {
				const hit = this.hit(x, y);
				s.style.cursor = hit || this.headAt(y) ? "pointer" : "";
				this.tip(e, hit);
				return;
			}
			this.tip(e, null);
			if (Math.abs(x - drag.x) + Math.abs(y - drag.y) > 3) drag.moved = true;
			if (!drag.moved) return;
			if (drag.select) {
				this.app.live.stop();
				const a = this.ns(drag.x), b = this.ns(x);
				const from = Math.max(0, Math.floor(Math.min(a, b))); // nothing is before in the recording that it restricts
				this.app.select([from, Math.max(from + 1, Math.ceil(Math.max(a, b)))]);
			} else {
				const by = (drag.x - x) / this.width * (drag.end - drag.from);
				s.scrollTop = drag.top + drag.y - y;
				if (Math.abs(x - drag.x) > 3) this.show(drag.from + by, drag.end + by);
			}
		});
		const up = e => {
			if (drag && !drag.moved) {
				const [x, y] = place(e), head = this.headAt(y);
				if (head) this.fold(String(head.part.r));
				else this.pick(this.hit(x, y));
			}
			drag = null;
		};
		s.addEventListener("pointerup", up);
		s.addEventListener("pointercancel", () => { drag = null; });
		s.addEventListener("pointerleave", e => { this.mouse = undefined; this.tip(e, null); });
		s.addEventListener("dblclick", e => { const hit = this.hit(...place(e)); if (hit) this.zoomTo(hit); });
		$("lanes-by").onchange = e => this.setBy(e.target.value);
		$("lanes-folded").onchange = e => this.foldAll(e.target.checked);
		$("arrows").onchange = () => this.changed();
		$("zoom-in").onclick = () => this.zoom(0.5);
		$("zoom-out").onclick = () => this.zoom(2);
		$("timeline-save").onclick = () => this.picture().save(`${this.app.status.name}-timeline`);
		$("whole").onclick = () => this.show(this.app.status.from, this.app.status.end);
	}

	key(k) {
		switch (k) {
		case "w": this.zoom(0.7, this.mouse); return true;
		case "s": this.zoom(1 / 0.7, this.mouse); return true;
		case "a": this.pan(-0.15); return true;
		case "d": this.pan(0.15); return true;
		case "0": this.show(this.app.status.from, this.app.status.end); return true;
		case "f": if (this.picked) this.zoomTo(this.picked); return true;
		case "c": if (this.picked) this.source(this.picked); return true;
		case "t": if (this.picked) this.trace(this.picked); return true;
		}
		return false;
	}
}
