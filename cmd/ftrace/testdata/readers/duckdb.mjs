// node duckdb.mjs MODULES DIR SQL|PAGE...: what DuckDB answers in DIR, a line for each row, its cells separated by tabs.
//
// MODULES is the directory node_modules with @duckdb/node-api. Of a page, NAME.md, each block of SQL is asked, and is in front of its answer.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [modules, dir, ...asked] = process.argv.slice(2);
const { DuckDBInstance } = createRequire(join(resolve(modules), 'of.mjs'))('@duckdb/node-api');
const queries = asked.flatMap((a) => (a.endsWith('.md') ? [...readFileSync(a, 'utf8').matchAll(/^```sql\n([^]*?)^```$/gm)].map((m) => m[1]) : [a]));
if (!queries.length) throw new Error('there is no SQL');
process.chdir(dir);
const connection = await (await DuckDBInstance.create(':memory:')).connect();
for (const query of queries) {
	if (queries.length > 1) console.log(query.trimEnd());
	const answer = await connection.runAndReadAll(query);
	for (const row of answer.getRowsJson()) console.log(row.map((v) => v ?? 'NULL').join('\t'));
}
