// The page of a program that runs: it moves with what is recorded, until someone moves it.
import { $, count, time } from "./ask.js";

const usual = 5e9; // ns that are shown
const behind = 500e6; // so far behind what is known already it moves, and has what it shows
const polls = 250; // ms
const still = matchMedia("(prefers-reduced-motion: reduce)");

// size writes a number of bytes.
const size = n => n < 1e6 ? Math.round(n / 1e3) + " kB" : +(n / 1e6).toFixed(1) + " MB";

export class Live {
	constructor(app) {
		this.app = app;
		this.width = usual;
		this.wanted = false;
		this.tables = { at: 0, took: 0 };
		$("follow").onclick = () => this.toggle();
		$("tree-newest").onclick = () => this.newestLines();
	}

	// running reports whether a program is followed, and still records.
	get running() { return !!this.app.status.live && !this.app.status.finished; }

	get following() { return this.wanted && this.running; }

	// pause is how long the page waits before it asks again, when it has done so for a while: what a
	// recording has more of is ever less of what is known.
	pause(asked) { return this.app.status.live ? polls : Math.min(Math.max(400, asked / 10), 2000); }

	// restore takes over what the URL says: how much is shown of the newest. It follows unless the URL
	// says a stretch of time, or that it is not to.
	restore(follow, still) {
		const w = /^\d{1,16}$/.test(follow || "") ? +follow : 0;
		if (w >= 1e3) this.width = w;
		this.wanted = w >= 1e3 || !follow && !still;
	}

	// known takes in what the server has said.
	known() {
		const { status, timeline } = this.app, { running } = this;
		if (!running && this.was && this.wanted) [timeline.from, timeline.to] = [status.from, 0]; // it has ended
		if (!running) this.wanted = false;
		if (!running && this.was) this.app.show(this.app.view);
		if (this.following && !this.was && this.app.view === "tree" && !this.app.tree.asked) this.newestLines();
		this.was = running;
		if (!status.live) return;
		const offset = status.now - performance.now() * 1e6;
		this.offset = this.offset === undefined ? offset : this.offset + (offset - this.offset) * 0.2;
		document.body.dataset.live = running ? "yes" : "ended";
		$("follow").hidden = $("tree-newest").hidden = !running;
		$("status").ariaLive = running ? "off" : "polite"; // it changes all the time
		this.shows();
		this.app.control.known();
		if (running && this.app.view === "waiting" && performance.now() > (this.waited || 0) + 1000) {
			this.waited = performance.now();
			this.app.waiting.load(true);
		}
		if (!this.following) return;
		this.move();
		this.again();
		this.tail();
	}

	shows() {
		$("follow").ariaPressed = this.following;
		$("follow").textContent = this.following ? "following" : "follow";
	}

	toggle() {
		if (this.following) return this.stop();
		this.wanted = true;
		const t = this.app.timeline;
		if (t.to) this.width = Math.min(Math.max(t.to - t.from, 1e6), 600e9);
		t.arrows = null;
		this.shows();
		this.app.save();
		this.move();
	}

	// stop lets the timeline stand still.
	stop() {
		if (!this.following) return;
		this.wanted = false;
		this.shows();
		this.app.save();
	}

	// widen zooms, and goes on following.
	widen(factor) {
		this.width = Math.min(Math.max(this.width * factor, 1e6), 600e9);
		this.app.save();
		this.move();
	}

	// move moves the timeline to the newest, and goes on doing so, but for those who want no motion.
	move() {
		if (this.moving) return;
		this.moving = true;
		const frame = () => {
			this.moving = false;
			const { app } = this, t = app.timeline;
			if (!this.following || !this.running) return;
			const { from } = app.status, edge = Math.max(performance.now() * 1e6 + this.offset - behind, from + 1e6);
			t.from = Math.max(0, edge - this.width);
			t.to = Math.max(edge, t.from + 1e6);
			if (app.view === "timeline") {
				t.draw();
				t.fetch();
				app.spans.changed();
			}
			if (!still.matches) setTimeout(() => this.move(), 3 * (t.frames.at(-1) || 0)); // leaves time for all else
		};
		requestAnimationFrame(frame);
	}

	// since is how far back lanes are shown of goroutines that do nothing.
	get since() { return this.following ? Math.max(0, Math.floor(this.app.timeline.from - this.width / 2)) : 0; }

	// inOrder keeps lanes where they are.
	inOrder(lanes, before) {
		if (!this.app.status.live) return lanes;
		const place = new Map(before.map((l, i) => [l.g, i]));
		return lanes.sort((a, b) => (place.get(a.g) ?? before.length) - (place.get(b.g) ?? before.length));
	}

	// again loads a table or a flame graph again every now and then, unless someone is in it.
	async again() {
		const { app, tables } = this, view = { table: app.table, flame: app.flame }[app.view];
		if (!view || app.range || tables.busy || performance.now() < tables.at + Math.max(2000, 4 * tables.took) || document.activeElement?.closest("#table-scroll button")) return;
		tables.busy = true;
		tables.at = performance.now();
		await view.load(true);
		tables.took = performance.now() - tables.at;
		tables.at = performance.now();
		tables.busy = false;
	}

	// newestLines shows the end of the trace, to which tail adds.
	async newestLines() {
		const { app } = this;
		const shown = app.tree.show(String(Math.max(app.status.from, Math.floor(app.status.now - behind))), $("tree-g").value.trim());
		app.tree.tails = true;
		await shown;
		$("lines").scrollTop = $("lines").scrollHeight;
	}

	// tail adds the newest lines to the trace, unless whoever reads it has left its end.
	async tail() {
		const { tree, view } = this.app, lines = $("lines");
		if (view !== "tree" || !tree.tails || this.tailing || lines.scrollTop + lines.clientHeight < lines.scrollHeight - 40) return;
		this.tailing = true;
		if (!$("tree-more").hidden) await this.newestLines(); // it is a page behind
		else await tree.load();
		while (lines.childElementCount > 2000) lines.firstElementChild.remove();
		if (tree.tails) lines.scrollTop = lines.scrollHeight;
		this.tailing = false;
	}

	// said returns what there is to say of the program.
	said() {
		const { live, finished } = this.app.status;
		if (!live) return [];
		const parts = [live.ended ? `${live.ended}: this is what was recorded` : `following process ${live.pid}`];
		if (live.gone) parts.push(`the first ${time(live.gone, 1)} are gone: the last ${Math.round(live.keep / (1 << 20)).toLocaleString("en")} MB are kept`);
		if (live.lost) parts.push(`${count(live.lost, "record")} came faster than ${finished ? "they were" : "they are"} drawn: they are not on the timeline`);
		if (live.left) parts.push(live.left);
		return parts;
	}

	// cost returns what is recorded a second, and what that may cost.
	cost() {
		const { live } = this.app.status, r = live?.rates;
		if (!r) return "";
		const share = r.left ? r.left / (r.left + r.calls) : 0;
		const left = share || r.more ? `${r.more ? "At least " : ""}${+(100 * share).toFixed(1)} % of all calls are left out.` : "No calls are left out.";
		const recorded = `Recorded a second: ${count(Math.round(r.calls), "call")}${r.bytes ? ", " + size(r.bytes) : ""}. `;
		if (!live.budget) return recorded + "There is no budget.";
		const takes = r.processor < 0.005 ? `at most ${live.budget} % of the processor time that the program uses, which is next to none` :
			`${+(100 * r.spent / r.processor).toFixed(1)} % of the ${+r.processor.toFixed(2)} processors that the program uses, at most ${live.budget} %`;
		return `${recorded}It takes ${takes}. ${left}`;
	}
}
