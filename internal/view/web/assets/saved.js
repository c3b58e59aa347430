// What the page asks, answered from the file that it is.

const packed = document.getElementById("saved");

// saved becomes the answers of the file. In a page of a server it is null.
export const saved = packed && unpack(packed.textContent).then(answers => new Saved(answers));

async function unpack(text) {
	const bytes = new Blob([base64(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
	return new Response(bytes).json();
}

function base64(text) {
	const s = atob(text), b = new Uint8Array(s.length);
	for (let i = 0; i < s.length; i++) b[i] = s.charCodeAt(i);
	return b;
}

const pageLines = 500, matchesMost = 500, arrowsMost = 1000;
const flags = 3 << 24; // of a slice: failed, unfinished

class Saved {
	constructor(answers) {
		Object.assign(this, { answers });
		this.hash = answers.hash;
		this.rows = this.unpackSlices(base64(answers.slices).buffer);
	}

	// unpackSlices returns the slices of each row of each lane, in the order of time.
	unpackSlices(b) {
		const view = new DataView(b), n = view.getUint32(0, true), rows = new Map();
		this.span = view.getFloat64(8, true);
		let at = 16;
		const array = (T, size) => { const a = new T(b, at, n); at += n * size; return a; };
		const begin = array(Float64Array, 8), end = array(Float64Array, 8), what = array(Uint32Array, 4), calls = array(Uint32Array, 4), lane = array(Uint16Array, 2), row = array(Uint16Array, 2);
		for (let i = 0; i < n; i++) {
			const key = lane[i] * 65536 + row[i];
			if (!rows.has(key)) rows.set(key, []);
			rows.get(key).push({ begin: begin[i], end: end[i], what: what[i], calls: calls[i] });
		}
		for (const list of rows.values()) list.sort((a, b) => a.end - b.end);
		return rows;
	}

	status() { return this.answers.status; }

	functions() { return this.answers.functions; }

	lanes({ from }) { return { all: this.answers.lanes.length, lanes: this.answers.lanes.slice(from) }; }

	flame() { return this.answers.flame; }

	table({ by, waits }) { return this.answers.tables[by + (waits ? " waits" : "")].split("\n").filter(Boolean).map(l => JSON.parse(l)); }

	call({ g, depth, begin }) {
		const d = this.answers.calls[`${g} ${depth} ${begin}`];
		if (!d) throw new Error("the file does not have the values of this call");
		return d;
	}

	// slices merges neighbours within a pixel, as the server does.
	slices({ from, to, pixels, lanes }) {
		const pixel = Math.max(1, Math.floor((to - from) / pixels)), list = [];
		lanes.split(",").map(Number).forEach((g, lane) => {
			const of = this.answers.lanes.findIndex(l => l.g === g);
			for (const [key, row] of this.rows) {
				if (Math.floor(key / 65536) !== of) continue;
				let last = null, longest = 0;
				for (const s of row) {
					if (s.end < from || s.begin > to) continue;
					const long = s.end - s.begin;
					if (last && s.end - last.begin <= pixel) {
						last.what = ((long > longest ? s.what : last.what) & ~flags | (last.what | s.what) & flags) >>> 0;
						last.end = Math.max(last.end, s.end);
						last.calls += s.calls;
						longest = Math.max(longest, long);
						continue;
					}
					last = { ...s, lane, row: key % 65536 };
					longest = long;
					list.push(last);
				}
			}
		});
		const n = list.length, b = new ArrayBuffer(16 + n * 28), view = new DataView(b), span = Math.max(this.span, pixel);
		view.setUint32(0, n, true);
		view.setUint32(4, this.span <= pixel ? 1 : 0, true);
		view.setFloat64(8, span, true);
		let at = 16;
		const array = (T, size, name) => { const a = new T(b, at, n); at += n * size; list.forEach((s, i) => { a[i] = s[name]; }); };
		array(Float64Array, 8, "begin");
		array(Float64Array, 8, "end");
		array(Uint32Array, 4, "what");
		array(Uint32Array, 4, "calls");
		array(Uint16Array, 2, "lane");
		array(Uint16Array, 2, "row");
		return b;
	}

	// spans are always all.
	spans() { return base64(this.answers.spans).buffer; }

	arrows({ from, to, lanes }) {
		const wanted = new Set(lanes.split(",").map(Number));
		const list = this.answers.arrows.filter(a => a.end >= from && a.end <= to && (wanted.has(a.from) || wanted.has(a.to)));
		return { arrows: list.slice(0, arrowsMost), more: list.length > arrowsMost };
	}

	// after returns the lines from a place or a time on, of a goroutine or of all.
	after(from, g) {
		const { lines } = this.answers;
		const at = from.includes(".") ? lines.findIndex(l => l.next === from) + 1 : lines.findIndex(l => l.at >= +from);
		return (at < 0 ? [] : lines.slice(at)).filter(l => !g || String(l.g) === g);
	}

	tree({ from, g }) {
		const list = this.after(from, g);
		return { lines: list.slice(0, pageLines), more: list.length > pageLines };
	}

	search({ q, from }) {
		const expression = q.startsWith("/") ? new RegExp(q.slice(1).replace(/\/$/, "")) : null, word = q.toLowerCase();
		const all = this.after(from, "").filter(l => expression ? expression.test(l.text) : l.text.toLowerCase().includes(word)), found = all.slice(0, matchesMost);
		return [...found, { end: true, found: found.length, ...(all.length > matchesMost && { more: found.at(-1).next }) }];
	}
}
