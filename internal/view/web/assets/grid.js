// A table whose columns sort it.
import { element, label } from "./ask.js";

const natural = new Intl.Collator("en", { numeric: true });

// A Grid shows rows in a table. A column has a title, and number says that its values are numbers.
// What a column has of a row is a value, to sort by, and a cell, what is shown; perhaps also a label
// for charts.
export class Grid {
	constructor(table) {
		this.table = table;
		this.head = table.querySelector("thead");
		this.body = table.querySelector("tbody");
		this.sorted = () => {}; // called when a click has sorted the rows
	}

	// show shows rows in their order, unless sort says by which column, and whether it goes up.
	show(columns, rows, sort = null) {
		Object.assign(this, { columns, rows, sort });
		this.fill();
	}

	// order returns the rows as they are shown. What has no value comes last.
	get order() {
		if (!this.sort) return this.rows;
		const { column: c, up } = this.sort, column = this.columns[c], sign = up ? 1 : -1;
		return this.rows.toSorted((a, b) => {
			const x = column.value(a), y = column.value(b);
			if (x === null || y === null) return (x === null) - (y === null);
			return sign * (column.number ? Number(x > y) - Number(x < y) : natural.compare(x, y));
		});
	}

	fill() {
		const head = element("tr"), body = document.createDocumentFragment(), by = this.sort;
		this.columns.forEach((c, i) => {
			const th = element("th", undefined, { className: c.number ? "" : "text" }), is = by && by.column === i;
			if (is) th.ariaSort = by.up ? "ascending" : "descending";
			th.append(element("button", c.title + (is ? by.up ? " ▴" : " ▾" : ""), { onclick: () => this.sortBy(i) }));
			head.append(th);
		});
		for (const r of this.order) {
			const row = element("tr");
			for (const c of this.columns) {
				const cell = c.cell(r), td = element("td", undefined, { className: c.number ? "" : "text" });
				td.append(cell);
				row.append(td);
			}
			body.append(row);
		}
		this.head.replaceChildren(head);
		this.body.replaceChildren(body);
		label(this.table);
	}

	// sortBy sorts by a column: numbers from the largest on, text from its beginning; the next time
	// the other way.
	sortBy(column) {
		this.sort = { column, up: this.sort && this.sort.column === column ? !this.sort.up : !this.columns[column].number };
		this.fill();
		this.sorted();
	}
}
