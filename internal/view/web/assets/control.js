// Which functions of a running program are recorded, and changing that, where the server allows it.
import { $, ask, change, element, short } from "./ask.js";

export class Control {
	constructor(app) {
		this.app = app;
		this.functions = new Map(); // by name: whether it is recorded
		$("control").onsubmit = e => { e.preventDefault(); this.change({ rules: $("rules").value }); };
		$("rules").onkeydown = e => {
			if (e.key !== "Enter" || e.shiftKey || e.isComposing) return;
			e.preventDefault();
			$("control").requestSubmit();
		};
	}

	// known takes in whether something can be changed, and asks what holds if it was changed elsewhere.
	async known() {
		const { live } = this.app.status, was = this.on;
		this.on = !!live?.control;
		$("control").hidden = !this.on;
		if (!this.on || live.rules === this.rules || this.asking) {
			if (was !== this.on) this.app.table.show();
			return;
		}
		this.asking = true;
		try {
			this.take(await ask("armed"));
		} catch (e) {
			this.say(e.message, true);
		} finally {
			this.asking = false;
		}
	}

	take({ rules, functions }) {
		if (document.activeElement !== $("rules") || $("rules").value === (this.rules ?? "")) $("rules").value = rules;
		$("rules").rows = Math.min(4, rules.split("\n").length);
		this.rules = rules;
		this.functions = new Map(functions.map(f => [f.name, f.on]));
		this.app.table.show();
	}

	say(text, bad) {
		$("control-note").textContent = text;
		$("control-note").classList.toggle("bad", !!bad);
	}

	async change(to) {
		this.asking = true;
		try {
			const now = await change("armed", to);
			if (now.error) throw new Error(now.error);
			$("rules").value = now.rules;
			this.take(now);
			const n = [...this.functions.values()].filter(on => on).length;
			this.say(`${n.toLocaleString("en")} of ${this.functions.size.toLocaleString("en")} functions are recorded.`);
		} catch (e) {
			this.say(e.message, true);
			this.app.table.show(); // a box shows what holds
		} finally {
			this.asking = false;
		}
	}

	head() { return element("th", "recorded", { className: "recorded" }); }

	// cell returns the box of a function. Kinds of waits have none: rules say which are recorded.
	cell(name) {
		const cell = element("td", undefined, { className: "recorded" }), on = this.functions.get(name);
		if (on === undefined) return cell;
		cell.append(element("input", undefined, { type: "checkbox", checked: on, ariaLabel: "record " + short(name), onchange: e => this.change({ function: name, on: e.target.checked }) }));
		return cell;
	}

	// rows adds the functions that were not called.
	rows(called) {
		const names = new Set(called.map(r => r.function));
		return [...called, ...[...this.functions.keys()].filter(name => !names.has(name)).map(name => ({ function: name, calls: 0 }))];
	}
}
