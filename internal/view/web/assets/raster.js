// Rectangles as pixels: for a hundred thousand of them, a canvas takes longer than a frame.

const solid = new Map(), pale = new Map(); // pixels by colours

// pixel returns a colour of CSS as a pixel, little-endian.
function pixel(colour, faint) {
	const known = faint ? pale : solid;
	let p = known.get(colour);
	if (p === undefined) {
		const c = new OffscreenCanvas(1, 1).getContext("2d");
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

	// rect fills a rectangle; faint is its opacity if it isn't opaque.
	rect(x, y, w, h, colour, faint) {
		const { ratio, pixels, image: { width, height } } = this, p = pixel(colour, faint);
		const left = Math.max(0, Math.round(x * ratio)), right = Math.min(width, Math.max(Math.round((x + w) * ratio), left + 1));
		const bottom = Math.min(height, Math.round((y + h) * ratio));
		for (let row = Math.max(0, Math.round(y * ratio)); row < bottom; row++) {
			for (let i = row * width + left, end = row * width + right; i < end; i++) pixels[i] = p;
		}
	}

	// put replaces what is on the canvas.
	put(context) { context.putImageData(this.image, 0, 0); }
}
