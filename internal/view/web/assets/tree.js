// The trace as text: pages of lines, which fold, and a search through all of it.
import { $, ask, askLines, count, element, moment, parseTime } from "./ask.js";
import { saved } from "./saved.js";

const indent = s => s.length - s.trimStart().length;

export class Tree {
	constructor(app) {
		this.app = app;
		this.from = "0";
		this.g = "";
		this.asked = false; // the URL says where it begins
		this.tails = false; // it is at its end, and goes on
		this.next = null;
		$("tree-form").onsubmit = e => {
			e.preventDefault();
			const at = $("tree-from").value.trim() === "" ? 0 : parseTime($("tree-from").value);
			if (at === null) {
				this.app.say(new Error("That is no time: write 1.5ms, 20us or 3s."));
				return;
			}
			this.app.say(null);
			this.show(String(at), $("tree-g").value.trim());
		};
		$("tree-start").onclick = () => { $("tree-from").value = ""; this.show("0", $("tree-g").value.trim()); };
		$("tree-more").onclick = () => this.load();
	}

	// show shows the trace from a place or a time on.
	async show(from, g = "") {
		this.from = from;
		this.g = g.replace(/^G/, "");
		$("tree-g").value = this.g && "G" + this.g;
		if (!from.includes(".")) $("tree-from").value = from === "0" ? "" : moment(+from, 1);
		this.next = from;
		this.shown = true;
		this.tails = false;
		this.common = Infinity;
		$("lines").replaceChildren();
		this.app.save();
		await this.load();
		$("lines").scrollTop = 0;
	}

	async load() {
		if (this.loading) this.loading.abort();
		const mine = this.loading = new AbortController();
		$("tree-more").hidden = true;
		try {
			const { lines, more } = await ask("tree", { from: this.next, ...(this.g && { g: this.g }) }, mine.signal);
			const to = document.createDocumentFragment();
			for (const l of lines) to.append(this.line(l));
			if (lines.length) {
				this.widen(lines);
				$("lines").querySelector("p")?.remove();
			}
			$("lines").append(to);
			if (!$("lines").childElementCount) $("lines").append(element("p", "There are no lines from here on.", { className: "bar" }));
			if (lines.length) this.next = lines.at(-1).next;
			$("tree-more").hidden = !more;
		} catch (e) {
			if (e.name !== "AbortError") this.app.say(e);
		}
	}

	// widen gives times and goroutines as much room as those of all lines need, and moves lines that
	// are all indented to the left.
	widen(lines) {
		this.common = Math.min(this.common, ...lines.map(l => indent(l.text)));
		$("lines").style.setProperty("--common", this.common + "ch");
		const widest = (name, least, text) => $("lines").style.setProperty(name, Math.max(least, parseFloat($("lines").style.getPropertyValue(name)) || 0, ...lines.map(l => text(l).length)) + "ch");
		widest("--times", 6, l => moment(l.at, 1));
		widest("--goroutines", 2, l => "G" + l.g);
	}

	line(l) {
		const row = element("div", undefined, { className: "l" });
		row.dataset.g = l.g;
		row.dataset.indent = indent(l.text);
		const opens = /^\s*\+ .*\{( \/\/|$)/.test(l.text);
		row.append(
			element("button", moment(l.at, 1), { className: "at", title: "on the timeline", onclick: () => this.app.showAt(l.at, l.g) }),
			element("span", l.g ? "G" + l.g : "", { className: "g" }),
			opens ? element("button", "▾", { className: "fold", ariaLabel: "fold", onclick: e => this.fold(row, e.currentTarget) }) : element("span", "", { className: "fold" }),
			/^\s*\+ (?!(stage|statement)\/)/.test(l.text) && !saved ? element("button", l.text, { className: "t", title: "source, with the values of this call", onclick: () => this.source(row, l) })
				: element("span", l.text, { className: "t" + (/^\s*\} panic/.test(l.text) ? " bad" : "") }));
		return row;
	}

	// source shows the function of a call beside the trace.
	source(row, l) {
		for (const e of $("lines").querySelectorAll(".here")) e.classList.remove("here");
		row.classList.add("here");
		this.app.source.show({ g: l.g, at: l.next });
	}

	// fold hides or shows the lines within a call.
	fold(row, button) {
		const hide = button.textContent === "▾";
		button.textContent = hide ? "▸" : "▾";
		button.ariaLabel = hide ? "unfold" : "fold";
		let hidden = 0;
		for (let e = row.nextElementSibling; e; e = e.nextElementSibling) {
			if (e.dataset.g !== row.dataset.g) continue;
			if (+e.dataset.indent <= +row.dataset.indent) break;
			e.hidden = hide;
			hidden++;
			const inner = e.querySelector("button.fold");
			if (inner) { inner.textContent = "▾"; inner.ariaLabel = "fold"; }
		}
		row.title = hide ? count(hidden, "line") + " within" : "";
	}
}

// A Search looks for lines in all of the recording, and lists them as they are found.
export class Search {
	constructor(app) {
		this.app = app;
		$("search").onsubmit = e => { e.preventDefault(); $("query").blur(); this.start($("query").value); };
		$("results-close").onclick = () => this.close();
		$("results-more").onclick = () => this.look(this.more);
	}

	close() {
		if (this.running) this.running.abort();
		$("results").hidden = true;
		this.q = "";
		this.app.save();
	}

	start(q) {
		if (!q.trim()) return this.close();
		this.q = q;
		this.found = 0;
		$("query").value = q;
		$("matches").replaceChildren();
		$("results").hidden = false;
		this.app.save();
		return this.look("0");
	}

	async look(from) {
		if (this.running) this.running.abort();
		const mine = this.running = new AbortController();
		$("results-more").hidden = true;
		let part = 0;
		const say = end => {
			$("found").textContent = `${count(this.found, "line")} ${end ? "found" : `so far, ${Math.floor(part * 100)} % read`}`;
			$("results").dataset.state = end ? "done" : "searching";
		};
		say(false);
		try {
			await askLines("search", { q: this.q, from }, l => {
				if (mine.signal.aborted) return;
				if (l.done !== undefined) part = l.done;
				else if (l.end) {
					say(true);
					if (l.error) this.app.say(new Error(l.error));
					this.more = l.more;
					if (l.more) {
						$("found").textContent += ", and the search stopped there";
						$("results-more").hidden = false;
					}
					return;
				} else {
					this.found++;
					const b = element("button");
					b.append(element("span", `${moment(l.at, 1)} ${l.g ? "G" + l.g : ""} `, { className: "at" }), element("span", l.text.trim()));
					b.onclick = () => this.app.showFound(l);
					const item = element("li");
					item.append(b);
					$("matches").append(item);
				}
				say(false);
			}, mine.signal);
		} catch (e) {
			if (e.name === "AbortError") return;
			$("found").textContent = e.message;
			$("results").dataset.state = "failed";
		}
	}
}
