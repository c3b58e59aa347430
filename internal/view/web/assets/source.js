// The source of a function, with the values of one call at its lines.
import { $, ask, element, sentence } from "./ask.js";
import { saved } from "./saved.js";

export class Source {
	constructor(app) {
		this.app = app;
		this.query = null;
		$("source-close").onclick = () => this.close();
	}

	close() {
		if (this.running) this.running.abort();
		this.query = null;
		$("source").hidden = true;
		this.app.save();
	}

	// show shows the function of a call: that of a goroutine at a depth, or at a place in the trace.
	async show(query) {
		if (saved) return; // a file has no source
		if (this.running) this.running.abort();
		const mine = this.running = new AbortController();
		this.query = query;
		$("source").hidden = false;
		$("source").dataset.state = "reading";
		this.app.save();
		const lines = document.createDocumentFragment();
		let name = "", path = "", note = "";
		try {
			const s = await ask("source", query, mine.signal);
			name = `${s.function} #${s.number.toLocaleString("en")}`;
			path = s.file && `${s.path || s.file}:${s.line}`;
			note = sentence(s.error || "") || (s.newer ? "The file was written after the recording had begun. It may have changed." : "");
			(s.lines || []).forEach((text, i) => {
				const row = element("div", undefined, { className: "s" });
				row.append(element("span", s.first + i, { className: "n" }), element("span", text, { className: "t" }));
				const values = (s.notes || []).filter(n => n.line === s.first + i).map(n => n.text);
				if (values.length) row.append(element("span", values.join("  "), { className: "v" }));
				lines.append(row);
			});
			if (s.lines && !s.ended) note = [note, "The end of this call is not in the recording, or far from its beginning."].filter(Boolean).join(" ");
		} catch (e) {
			if (e.name === "AbortError") return;
			note = sentence(e.message);
		}
		$("source-name").textContent = name;
		$("source-path").textContent = path;
		$("source-note").textContent = note;
		$("source-lines").replaceChildren(lines);
		$("source-lines").scrollTop = 0;
		$("source").dataset.state = "done";
	}
}
