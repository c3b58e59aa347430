// node devtools.mjs DIR FILE: what the reader of Chromium's DevTools finds in trace events, a line for each thread: its name and how many calls it has.
//
// DIR is the npm package @paulirish/trace_engine, which has that reader as it is in Chromium.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [dir, file] = process.argv.slice(2);
const { analyzeEvents } = await import(pathToFileURL(join(dir, 'analyze-trace.mjs')));
const { traceEvents } = JSON.parse(readFileSync(file, 'utf8'));
const { parsedTrace } = await analyzeEvents(traceEvents);
for (const { threads } of parsedTrace.data.Renderer.processes.values()) {
	for (const thread of threads.values()) console.log(thread.name, thread.entries.length);
}
