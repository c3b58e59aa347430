// A text that is edited, with completion.
import { element } from "./ask.js";

// An Editor completes words of a textarea. completions(text, pos) returns where the word begins that
// ends at pos, and a list of what it can become; begins matches a text after which they are offered
// before anything of the word is there. run(text) is called for Ctrl Enter.
export class Editor {
	constructor(text, list, { completions, begins, run }) {
		Object.assign(this, { text, list, completions, begins, run, offered: [] });
		text.oninput = () => this.complete();
		text.onblur = () => this.offer([]);
		text.onkeydown = e => this.key(e);
		list.onpointerdown = e => { e.preventDefault(); const i = [...list.children].indexOf(e.target.closest("li")); if (i >= 0) this.accept(i); };
	}

	// complete offers what the word in front of the cursor can become.
	complete(always) {
		const { selectionStart: pos, selectionEnd: end, value } = this.text;
		if (pos !== end) return this.offer([]);
		const { from, list } = this.completions(value, pos);
		this.from = from;
		this.offer(always || from < pos || this.begins.test(value.slice(0, pos)) ? list : []);
	}

	offer(list) {
		this.offered = list;
		this.at = 0;
		this.moved = false;
		this.list.hidden = !list.length;
		this.list.replaceChildren(...list.map(({ name, what }, i) => {
			const item = element("li", name, { id: this.list.id + "-" + i, role: "option" });
			if (what) item.append(element("small", what));
			return item;
		}));
		if (list.length) {
			// The text is monospaced and its lines do not wrap.
			const css = getComputedStyle(this.text), lines = this.text.value.slice(0, this.from).split("\n");
			const c = document.createElement("canvas").getContext("2d");
			c.font = css.font;
			const x = c.measureText(lines.at(-1).replaceAll("\t", "    ")).width, y = lines.length * parseFloat(css.lineHeight);
			this.list.style.left = Math.max(0, Math.min(this.text.offsetLeft + 7 + x - this.text.scrollLeft, this.text.parentNode.clientWidth - this.list.offsetWidth - 10)) + "px";
			this.list.style.top = this.text.offsetTop + 7 + y - this.text.scrollTop + "px";
		}
		this.mark();
	}

	// mark marks the completion that would be accepted.
	mark() {
		[...this.list.children].forEach((e, i) => e.setAttribute("aria-selected", i === this.at));
		if (this.offered.length) {
			this.text.setAttribute("aria-activedescendant", this.list.id + "-" + this.at);
			this.list.children[this.at].scrollIntoView({ block: "nearest" });
		} else this.text.removeAttribute("aria-activedescendant");
	}

	accept(i) {
		const { name } = this.offered[i];
		this.text.setRangeText(name, this.from, this.text.selectionStart, "end");
		this.text.focus();
		this.offer([]);
	}

	key(e) {
		const n = this.offered.length;
		if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) this.run(this.text.value);
		else if (e.key === " " && e.ctrlKey) this.complete(true);
		else if (e.key === "Escape" && !n) this.text.blur();
		else if (!n) return;
		else if (e.key === "Escape") this.offer([]);
		else if (e.key === "ArrowDown" || e.key === "ArrowUp") {
			this.at = (this.at + (e.key === "ArrowDown" ? 1 : n - 1)) % n;
			this.moved = true;
			this.mark();
		} else if (e.key === "Tab" && !e.shiftKey || e.key === "Enter" && this.moved) this.accept(this.at);
		else return;
		e.preventDefault();
		e.stopPropagation();
	}
}
