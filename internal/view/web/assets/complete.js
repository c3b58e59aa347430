// What the word in front of the cursor of a statement can become.

const most = 200;

// completions returns where the word begins that ends at pos, and what it can become: names of
// schemas, tables and columns that fit there, and words of SQL. known has tables, each with its
// schema and columns, and keywords.
export function completions(text, pos, known) {
	const before = text.slice(0, pos);
	if (inQuotes(before)) return { from: pos, list: [] };
	const word = /[\p{L}\d_$@]*$/u.exec(before)[0], from = pos - word.length, rest = before.slice(0, from);
	const named = tablesOf(text, known.tables);
	const all = [];
	const add = (names, what) => { for (const name of names) all.push({ name, what }); };
	const owner = /([\p{L}\d_$]+)`?\.`?$/u.exec(rest);
	if (owner) {
		const lower = owner[1].toLowerCase();
		add(known.tables.filter(t => t.schema.toLowerCase() === lower).map(t => t.name), "table");
		for (const n of named) if (n.as === lower) add(n.table.columns, n.table.name);
	} else if (/\b(from|join|describe|desc|table|explain)\s+$|\b(from|join)\s+[^()]*,\s*$/i.test(rest) && !/\b(where|order|group|select|having|on)\b[^()]*$/i.test(rest.split(/\bfrom\b/i).at(-1))) {
		add(known.tables.filter(t => t.schema === known.tables[0].schema || t.schema === "sys").map(t => t.schema === "sys" ? "sys." + t.name : t.name), "table");
		add(new Set(known.tables.map(t => t.schema)), "schema");
	} else if (word) {
		for (const n of named) add(n.table.columns, n.table.name);
		add(known.keywords, "");
		if (!named.length) add(new Set(known.tables.flatMap(t => t.columns)), "column");
	}
	const lower = word.toLowerCase(), begins = [], within = [], seen = new Set();
	for (const c of all) {
		const at = c.name.toLowerCase().indexOf(lower);
		if (at < 0 || c.name === word || seen.has(c.name)) continue;
		seen.add(c.name);
		(at === 0 ? begins : within).push(c);
	}
	return { from, list: begins.concat(within).slice(0, most) };
}

// inQuotes reports whether a text ends within a string or a comment.
function inQuotes(text) {
	const whole = /'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|\/\*.*?\*\/|(?:--\s|#).*?\n/gs;
	return /['"]|\/\*|--\s|#/.test(text.replace(whole, " "));
}

// tablesOf returns the tables that a statement names after FROM, JOIN and commas, with what they
// are called there, in lower case.
function tablesOf(text, tables) {
	const list = [];
	for (const m of text.matchAll(/(?:\b(?:from|join)\s+|,\s*)(?:`?([\w$]+)`?\.)?`?([\w$]+)`?(?:\s+(?:as\s+)?(?!(?:where|on|using|join|left|right|inner|cross|order|group|limit|having|union)\b)`?([\w$]+)`?)?/gi)) {
		const [, schema, name, as] = m;
		const table = tables.find(t => t.name.toLowerCase() === name.toLowerCase() && (!schema || t.schema.toLowerCase() === schema.toLowerCase()));
		if (table) list.push({ table, as: (as || name).toLowerCase() });
	}
	return list;
}
