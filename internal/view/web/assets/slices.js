// The slices that the server sends: columns of numbers.

export const failed = 1 << 24;
export const unfinished = 1 << 25;
export const keyMask = failed - 1;
export const marksRow = 0;
export const waitsRow = 1;
export const callsRow = 2;

// unpack returns the columns of slices, and of spans also the columns that only these have.
export function unpack(b, spans) {
	const view = new DataView(b), n = view.getUint32(0, true);
	let at = 16;
	const array = (T, size) => { const a = new T(b, at, n); at += n * size; return a; };
	const d = {
		n, exact: view.getUint32(4, true) === 1, span: view.getFloat64(8, true),
		begin: array(Float64Array, 8), end: array(Float64Array, 8), what: array(Uint32Array, 4), calls: array(Uint32Array, 4), lane: array(Uint16Array, 2), row: array(Uint16Array, 2),
	};
	if (!spans) return d;
	const low = array(Uint32Array, 4), high = array(Uint32Array, 4), depth = array(Uint16Array, 2);
	return { ...d, depth, goroutine: i => high[i] * 2 ** 32 + low[i] };
}

// gather puts the slices of several processes together, on one clock. Each has what to add to times,
// to keys of functions and to lanes.
export function gather(all) {
	if (all.length === 1 && !all[0].at && !all[0].base && !all[0].lane) return all[0].d;
	const n = all.reduce((n, { d }) => n + d.n, 0);
	const g = { n, exact: all.every(({ d }) => d.exact), span: Math.max(0, ...all.map(({ d }) => d.span)) };
	for (const [name, T] of [["begin", Float64Array], ["end", Float64Array], ["what", Uint32Array], ["calls", Uint32Array], ["lane", Uint16Array], ["row", Uint16Array], ["depth", Uint16Array]]) g[name] = new T(n);
	const goroutines = new Float64Array(n);
	let to = 0;
	for (const { d, at, base, lane } of all) for (let i = 0; i < d.n; i++, to++) {
		const key = d.what[i] & keyMask, line = d.row[i] === marksRow && !key && !d.goroutine;
		g.begin[to] = d.begin[i] + at;
		g.end[to] = d.end[i] + at;
		g.what[to] = d.what[i] - key + (line ? 0 : Math.min(key + base, keyMask));
		g.calls[to] = d.calls[i];
		g.lane[to] = d.lane[i] + lane;
		g.row[to] = d.row[i];
		if (!d.goroutine) continue;
		g.depth[to] = d.depth[i];
		goroutines[to] = d.goroutine(i);
	}
	g.goroutine = i => goroutines[i];
	return g;
}
