// Requests, stages and statements of all goroutines, above the lanes of the timeline.
import { $, Turn, count } from "./ask.js";
import { callsRow, failed, keyMask } from "./slices.js";
import { Raster } from "./raster.js";

const rowHeight = 15, headHeight = 17, gap = 5;

const titles = {
	"stage/http/server": "HTTP requests served", "stage/http/client": "HTTP requests made",
	"stage/grpc/server": "gRPC calls served", "stage/grpc/client": "gRPC calls made", "stage/grpc/stream": "gRPC streams opened",
	"stage/kafka/receive": "Kafka messages received", "stage/kafka/publish": "Kafka messages published",
	"stage/nats/process": "NATS messages handled", "stage/nats/receive": "NATS messages received", "stage/nats/publish": "NATS messages published",
	"statement/sql": "SQL statements", "statement/redis": "Redis commands",
};

// rank orders families: what is served first, then other stages, then statements.
const rank = name => /\/(server|process|receive)$/.test(name) ? 0 : name.startsWith("stage/") ? 1 : 2;

export class Spans {
	constructor(app) {
		this.app = app;
		this.box = $("spans");
		this.canvas = $("spans-canvas");
		this.raster = new Raster();
		this.families = [];
		this.data = null;
		this.turn = new Turn(app, () => this.draw());
		this.canvas.onpointermove = e => this.timeline.tip(e, this.hit(e));
		this.canvas.onpointerleave = e => this.timeline.tip(e, null);
		this.canvas.onclick = e => this.timeline.pick(this.hit(e));
		this.canvas.ondblclick = e => { const hit = this.hit(e); if (hit) this.timeline.zoomTo(hit); };
		$("spans-shown").onchange = () => { this.lay(); this.app.save(); this.timeline.changed(); };
	}

	get timeline() { return this.app.timeline; }

	// lay gives each family its place.
	lay() {
		const { parts } = this.app;
		let all = [];
		for (const p of parts) {
			p.families = all.length;
			all.push(...p.status.families.map(f => ({ ...f, r: p.r, title: (parts.length > 1 ? p.name + ": " : "") + (titles[f.name] || f.name) })));
		}
		all = all.map((f, lane) => ({ ...f, lane })).filter(f => f.rows);
		const place = f => parts.findIndex(p => p.r === f.r);
		all.sort((a, b) => place(a) - place(b) || rank(a.name) - rank(b.name) || (a.name < b.name ? -1 : 1));
		let y = 0;
		for (const f of all) {
			f.y = y;
			y += headHeight + f.rows * rowHeight + gap;
		}
		this.families = all;
		this.height = y;
		$("spans-shown").parentNode.hidden = !all.length;
		this.box.hidden = !all.length || !$("spans-shown").checked;
		this.box.setAttribute("aria-label", "Requests and statements: " + all.map(f => `${f.title}: ${f.calls}`).join(", ") + ". The view Table has them by name.");
	}

	changed() {
		if (this.box.hidden) return;
		this.draw();
		this.fetch();
	}

	fetch() {
		const t = this.timeline;
		if (t.width < 1 || t.holds(this.data) && t.sharp(this.data)) return;
		this.turn.take(async () => {
			const { from, to, pixels } = t.around(), { known } = t, { parts } = this.app;
			const d = await t.askEach("spans", { from, to, pixels }, parts.map(p => [p, p.families]));
			if (parts === this.app.parts) this.data = { from, to, known, pixel: (to - from) / pixels, ...d };
		}, () => this.fetch());
	}

	draw() {
		if (this.drawing || this.box.hidden) return;
		this.drawing = true;
		requestAnimationFrame(() => { this.drawing = false; this.paint(); });
	}

	// paint draws on the canvas, or on what is like one.
	paint(to) {
		const t = this.timeline, w = t.width, d = this.data, colours = t.colours();
		if (w < 1) return;
		const c = to || t.context(this.canvas, w, this.height);
		c.font = "12px system-ui, sans-serif";
		c.textBaseline = "middle";
		const texts = [], at = [], bad = [];
		for (const f of this.families) at[f.lane] = f.y;
		if (d) {
			const rect = (...of) => (to || this.raster).rect(...of);
			if (!to) this.raster.clear(this.canvas, window.devicePixelRatio || 1);
			for (let i = 0; i < d.n; i++) {
				const x1 = Math.max(t.x(d.begin[i]), -2), x2 = Math.min(t.x(d.end[i]), w + 2), key = d.what[i] & keyMask;
				if (x2 < 0 || x1 > w || at[d.lane[i]] === undefined) continue;
				const y = at[d.lane[i]] + headHeight + d.row[i] * rowHeight, width = Math.max(x2 - x1 - (x2 - x1 > 3 ? 1 : 0), 1);
				rect(x1, y, width, rowHeight - 1, t.fill(key), d.calls[i] > 1 && 0.7);
				if (d.what[i] & failed) bad.push([x1, y + rowHeight - 3, width]);
				if (width > 24) texts.push([i, Math.max(x1, 0), y, Math.min(x2, w) - Math.max(x1, 0)]);
			}
			for (const [x, y, width] of bad) rect(x, y, width, 2, colours.bad);
			if (!to) this.raster.put(c);
		}
		for (const f of this.families) {
			c.fillStyle = colours.line;
			c.fillRect(0, f.y, w, 1);
			c.fillStyle = colours.soft;
			c.fillText(`${f.title}   ${f.calls.toLocaleString("en")}${f.failed ? `, ${f.failed.toLocaleString("en")} failed` : ""}`, 6, f.y + headHeight / 2 + 1);
		}
		c.fillStyle = colours.front;
		for (const [i, x, y, room] of texts) {
			let name = this.app.function(d.what[i] & keyMask).name.split("/").slice(this.families.find(f => f.lane === d.lane[i]).name.split("/").length).join("/");
			if (d.calls[i] > 1) name = count(d.calls[i], "span") + ": " + name;
			const fits = Math.floor((room - 6) / 6.2);
			if (fits > 1) c.fillText(name.length > fits ? name.slice(0, fits - 1) + "…" : name, x + 3, y + rowHeight / 2, room - 6);
		}
	}

	// hit returns the span at the mouse, as the slice that it is on its goroutine's lane.
	hit(e) {
		const d = this.data, t = this.timeline, r = this.canvas.getBoundingClientRect(), x = e.clientX - r.left, y = e.clientY - r.top;
		const f = this.families.find(f => y >= f.y + headHeight && y < f.y + headHeight + f.rows * rowHeight);
		if (!d || !f) return null;
		const row = Math.floor((y - f.y - headHeight) / rowHeight);
		let best = -1, near = 3;
		for (let i = 0; i < d.n; i++) {
			if (d.lane[i] !== f.lane || d.row[i] !== row) continue;
			const x1 = t.x(d.begin[i]), x2 = t.x(d.end[i]), far = x < x1 ? x1 - x : x > x2 ? x - x2 : 0;
			if (far < near) { near = far; best = i; }
		}
		if (best < 0) return null;
		return { r: f.r, g: d.goroutine(best), row: callsRow + d.depth[best], begin: d.begin[best], end: d.end[best], what: d.what[best], calls: d.calls[best], key: d.what[best] & keyMask, span: true };
	}
}
