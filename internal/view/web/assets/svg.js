// Drawing as SVG what is otherwise drawn on a canvas, and saving it as a file.
import { element } from "./ask.js";

const space = "http://www.w3.org/2000/svg";

// A Drawing has what the views use of a canvas's context, and makes elements of it.
export class Drawing {
	constructor(w, h, back, title) {
		this.svg = document.createElementNS(space, "svg");
		this.dy = 0; // added to where things are
		this.globalAlpha = 1;
		this.put("title", {}, title);
		for (const [name, value] of Object.entries({ viewBox: `0 0 ${w} ${h}`, width: w, height: h, "font-family": "system-ui, sans-serif", "font-size": 12 })) this.svg.setAttribute(name, value);
		this.fillStyle = back;
		this.fillRect(0, 0, w, h);
	}

	put(name, attributes, text) {
		const e = document.createElementNS(space, name);
		for (const a in attributes) e.setAttribute(a, typeof attributes[a] === "number" ? +attributes[a].toFixed(2) : attributes[a]);
		// Characters that XML cannot have would leave a file that nothing opens.
		if (text !== undefined) e.textContent = text.toWellFormed().replace(/[^\t\n\r -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");
		this.svg.append(e);
	}

	fillRect(x, y, width, height) { this.put("rect", { x, y: y + this.dy, width, height, fill: this.fillStyle, ...(this.globalAlpha < 1 && { opacity: this.globalAlpha }) }); }

	// rect is like that of a Raster.
	rect(x, y, width, height, colour, faint) {
		this.globalAlpha = faint || 1;
		this.fillStyle = colour;
		this.fillRect(x, y, width, height);
		this.globalAlpha = 1;
	}

	strokeRect(x, y, width, height) { this.put("rect", { x, y: y + this.dy, width, height, fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth }); }

	fillText(text, x, y) { this.put("text", { x, y: y + this.dy, fill: this.fillStyle, "dominant-baseline": "central" }, text); }

	strokeText(text, x, y) { this.put("text", { x, y: y + this.dy, fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth, "dominant-baseline": "central", "aria-hidden": true }, text); }

	beginPath() { this.points = []; }

	moveTo(x, y) { this.points.push([x, y + this.dy]); }

	lineTo(x, y) { this.moveTo(x, y); }

	fill() { this.put("polygon", { points: this.corners, fill: this.fillStyle }); }

	stroke() { this.put("polyline", { points: this.corners, fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth }); }

	get corners() { return this.points.map(p => p.map(v => +v.toFixed(2)).join(",")).join(" "); }

	get text() { return new XMLSerializer().serializeToString(this.svg); }

	save(name) {
		const url = URL.createObjectURL(new Blob([this.text], { type: "image/svg+xml" }));
		element("a", "", { href: url, download: name.replace(/[^\w.-]+/g, "_") + ".svg" }).click();
		setTimeout(() => URL.revokeObjectURL(url), 60_000);
	}
}
