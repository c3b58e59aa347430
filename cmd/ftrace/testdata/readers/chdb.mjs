// node chdb.mjs MODULES DIR SQL|PAGE...: what ClickHouse answers in DIR, a line for each row, its cells separated by tabs.
//
// MODULES is the directory node_modules with chdb, which is ClickHouse as a library. Of a page, NAME.md, each block of text is asked that is a SELECT.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [modules, dir, ...asked] = process.argv.slice(2);
const { query } = createRequire(join(resolve(modules), 'of.mjs'))('chdb');
const queries = asked.flatMap((a) => (a.endsWith('.md') ? [...readFileSync(a, 'utf8').matchAll(/^```text\n(SELECT [^]*?)^```$/gm)].map((m) => m[1]) : [a]));
if (!queries.length) throw new Error('there is no SQL');
process.chdir(dir);
for (const one of queries) process.stdout.write(query(one, 'TabSeparated'));
