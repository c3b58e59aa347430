// node speedscope.mjs DIR FILE: the title of speedscope's page when it has read a profile, which names it; else it says nothing but speedscope.
//
// DIR is the npm package speedscope. Its page is opened by Chromium, with the profile as its own command does it.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const [dir, file] = process.argv.slice(2);
const script = resolve(file + '.js');
writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(file)}, ${JSON.stringify(readFileSync(file, 'base64'))})`);
const page = `file://${resolve(dir, 'dist/release/index.html')}#localProfilePath=${script}`;
const options = ['--headless=new', '--no-sandbox', '--disable-gpu', '--allow-file-access-from-files', '--virtual-time-budget=10000', `--user-data-dir=${script}.d`];
const dom = execFileSync('chromium', [...options, '--dump-dom', page], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 28 });
console.log(dom.match(/<title>([^<]*)/)[1]);
