// Rectangles as pixels: for a hundred thousand of them, a canvas takes longer than a frame.

const solid = new Map(), pale = new Map(); // pixels by colours
let one; // to draw a pixel

// pixel returns a colour of CSS as a pixel, little-endian.
function pixel(colour, faint) {
	const known = faint ? pale : solid;
	let p = known.get(colour);
	if (p === undefined) {
		const c = one ??= new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
		c.fillStyle = colour;
		c.fillRect(0, 0, 1, 1);
		const [r, g, b] = c.getImageData(0, 0, 1, 1).data;
		p = (Math.round(faint ? 255 * faint : 255) << 24 | b << 16 | g << 8 | r) >>> 0;
		known.set(colour, p);
	}
	return p;
}

// A Raster has the pixels of a canvas.
export class Raster {
	// clear makes it empty, and of the size of a canvas.
	clear(canvas, ratio) {
		this.ratio = ratio;
		if (this.image?.width !== canvas.width || this.image.height !== canvas.height) {
			this.image = new ImageData(canvas.width, canvas.height);
			this.pixels = new Uint32Array(this.image.data.buffer);
		} else this.pixels.fill(0);
	}

	// rect fills a rectangle; faint is its opacity if it isn't opaque. Pixels that it covers in part
	// are shared with its neighbours, so that many narrow ones look like as much as they are.
	rect(x, y, w, h, colour, faint) {
		const { ratio, image: { width, height } } = this, p = pixel(colour, faint);
		const left = Math.max(0, x * ratio), right = Math.min(width, (x + w) * ratio), top = Math.max(0, Math.round(y * ratio)), bottom = Math.min(height, Math.round((y + h) * ratio));
		if (left >= right || top >= bottom) return;
		const first = Math.floor(left), last = Math.ceil(right) - 1;
		if (first === last) return this.column(first, top, bottom, p, right - left);
		this.column(first, top, bottom, p, first + 1 - left);
		if (last > first + 1) for (let row = top; row < bottom; row++) this.pixels.fill(p, row * width + first + 1, row * width + last);
		this.column(last, top, bottom, p, right - last);
	}

	// column fills a column of pixels that is covered in part, with one colour for all of them.
	column(x, top, bottom, p, part) {
		const { pixels, image: { width } } = this, from = top * width + x, under = pixels[from], a = (p >>> 24) * part, b = under >>> 24;
		let q = p;
		if (b) {
			const k = a / (a + b), l = 1 - k;
			q = Math.min(255, a + b) << 24 | ((p >>> 16 & 255) * k + (under >>> 16 & 255) * l) << 16 | ((p >>> 8 & 255) * k + (under >>> 8 & 255) * l) << 8 | (p & 255) * k + (under & 255) * l;
		} else if (part < 1) q = a << 24 | p & 0xffffff;
		for (let i = from, end = bottom * width; i < end; i += width) pixels[i] = q;
	}

	// put replaces what is on the canvas.
	put(context) { context.putImageData(this.image, 0, 0); }
}
