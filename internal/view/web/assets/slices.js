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
