// A chart of a column of numbers of a result: bars, or a line.
import { $, count, element } from "./ask.js";
import { Drawing } from "./svg.js";

const barHeight = 20, barsMost = 200, lineHeight = 260, kinds = ["none", "bars", "line"];

export class Chart {
	// The elements of a chart have ids that begin with a name.
	constructor(app, name) {
		this.app = app;
		this.name = name;
		this.canvas = this.$("canvas");
		this.wanted = { kind: "none", value: "", label: "" }; // as the URL has it
		for (const id of ["chart", "of", "by"]) this.$(id).onchange = () => {
			this.wanted = { kind: this.$("chart").value, value: this.$("of").selectedOptions[0]?.text ?? "", label: this.$("by").selectedOptions[0]?.text ?? "" };
			this.draw();
			app.save();
		};
		this.$("save").onclick = () => this.picture().save(`${app.status.name}-chart`);
		new ResizeObserver(() => this.draw()).observe(this.$("rows"));
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
	}

	$(id) { return $(`${this.name}-${id}`); }

	// want takes in what the URL has.
	want(kind, value, label) {
		this.wanted = { kind: kinds.includes(kind) ? kind : "none", value: value || "", label: label || "" };
		if (this.grid) this.of(this.grid);
	}

	// of charts the rows of a grid from now on.
	of(grid) {
		this.grid = grid;
		const options = (select, columns, wanted) => {
			select.replaceChildren(...columns.map(([title, i]) => element("option", title, { value: i, selected: title === wanted })));
		};
		const all = grid.columns.map((c, i) => [c.title, i]), numbers = all.filter(([, i]) => grid.columns[i].number);
		this.$("chart-bar").hidden = !numbers.length || !grid.rows.length;
		this.$("chart").value = this.wanted.kind;
		options(this.$("of"), numbers, this.wanted.value || numbers.at(-1)?.[0]);
		options(this.$("by"), [["row", -1], ...all], this.wanted.label || all.find(([, i]) => !grid.columns[i].number)?.[0]);
		this.draw();
	}

	// points returns what is charted, in the order of the rows.
	points() {
		const value = this.grid.columns[this.$("of").value], label = this.grid.columns[this.$("by").value];
		return this.grid.order.map((row, i) => ({ y: value.value(row), label: label ? label.label?.(row) ?? String(label.value(row) ?? "NULL") : String(i + 1), x: label?.number ? label.value(row) : i }))
			.filter(p => Number.isFinite(p.y) && Number.isFinite(p.x));
	}

	draw() {
		const shown = this.grid && !this.$("chart-bar").hidden && this.$("chart").value !== "none";
		this.canvas.hidden = !shown;
		this.$("save").hidden = this.$("of").parentNode.hidden = this.$("by").parentNode.hidden = !shown;
		if (!shown) return;
		const w = this.$("rows").clientWidth, points = this.points(), bars = this.$("chart").value === "bars";
		if (w < 1) return;
		const c = this.app.timeline.context(this.canvas, w, this.height(points, bars));
		this.paint(c, w, points, bars);
		const left = bars && points.length > barsMost ? `, of which the first ${barsMost} are drawn` : "";
		this.canvas.ariaLabel = `${bars ? "Bar" : "Line"} chart of ${this.$("of").selectedOptions[0].text}, ${count(points.length, "value")}${left}. The table below it has them as text.`;
		this.canvas.dataset.points = bars ? Math.min(points.length, barsMost) : points.length;
	}

	height(points, bars) { return bars ? Math.min(points.length, barsMost) * barHeight + (points.length > barsMost ? barHeight : 0) + 10 : lineHeight; }

	picture() {
		const w = this.$("rows").clientWidth, points = this.points(), bars = this.$("chart").value === "bars";
		const to = new Drawing(w, this.height(points, bars), this.app.timeline.colours().back, this.canvas.ariaLabel);
		this.paint(to, w, points, bars);
		return to;
	}

	paint(c, w, points, bars) {
		c.font = "12px system-ui, sans-serif";
		c.textBaseline = "middle";
		const colours = this.app.timeline.colours();
		if (bars) this.bars(c, w, points, colours);
		else this.line(c, w, points, colours);
	}

	// bars draws a bar a row, with its label on the left and its value at its end.
	bars(c, w, points, colours) {
		const shown = points.slice(0, barsMost), longest = Math.max(0, ...shown.map(p => p.y.toLocaleString("en").length));
		const left = Math.min(w * 0.42, 300), room = Math.max(10, w - left - 14 - longest * 7);
		const low = shown.reduce((a, p) => Math.min(a, p.y), 0), high = shown.reduce((a, p) => Math.max(a, p.y), 0);
		const k = high > low ? room / (high - low) : 0, zero = left - low * k, fits = Math.floor((left - 16) / 6.4);
		shown.forEach((p, i) => {
			const y = 5 + i * barHeight, x = Math.min(zero, zero + p.y * k), wide = Math.max(1, Math.abs(p.y * k));
			c.fillStyle = colours.accent;
			c.fillRect(x, y + 2, wide, barHeight - 5);
			c.fillStyle = colours.front;
			c.fillText(p.label.length > fits ? "…" + p.label.slice(1 - fits) : p.label, 10, y + barHeight / 2, left - 16);
			c.fillText(p.y.toLocaleString("en"), Math.max(x + wide, zero) + 5, y + barHeight / 2);
		});
		if (points.length > barsMost) {
			c.fillStyle = colours.soft;
			c.fillText(`${(points.length - barsMost).toLocaleString("en")} more rows are not drawn`, 10, 5 + barsMost * barHeight + barHeight / 2);
		}
	}

	// line draws a line through the values, from 0 on if none is below it.
	line(c, w, points, colours) {
		if (!points.length) return;
		points = points.toSorted((a, b) => a.x - b.x);
		const top = 20, bottom = lineHeight - 26, left = 10, right = w - 14;
		const x1 = points[0].x, x2 = points.at(-1).x, low = points.reduce((a, p) => Math.min(a, p.y), 0), high = points.reduce((a, p) => Math.max(a, p.y), 0);
		const x = v => x2 > x1 ? left + (v - x1) / (x2 - x1) * (right - left) : (left + right) / 2, y = v => high > low ? bottom - (v - low) / (high - low) * (bottom - top) : bottom;
		for (const v of [low, (low + high) / 2, high]) {
			c.fillStyle = colours.line;
			c.fillRect(left, y(v), right - left, 1);
			c.fillStyle = colours.soft;
			c.fillText(v.toLocaleString("en"), left + 2, y(v) - 8);
		}
		const first = points[0].label, last = points.at(-1).label, fits = Math.floor(w / 2 / 7.2) - 3, short = s => s.length > fits ? s.slice(0, fits - 1) + "…" : s;
		c.fillText(short(first), left, bottom + 13);
		if (points.length > 1) c.fillText(short(last), Math.max(w / 2, right - short(last).length * 7.2), bottom + 13);
		c.strokeStyle = c.fillStyle = colours.accent;
		c.lineWidth = 1.5;
		c.beginPath();
		points.forEach((p, i) => i ? c.lineTo(x(p.x), y(p.y)) : c.moveTo(x(p.x), y(p.y)));
		c.stroke();
		if (points.length <= 200) for (const p of points) c.fillRect(x(p.x) - 2, y(p.y) - 2, 4, 4);
	}
}
