// Asks Perfetto's trace processor about a trace, by the program in WebAssembly that Perfetto's page runs in a worker of the browser:
//   node trace_processor.mjs FOLDER TRACE
// reads queries (SQL, an array of JSON) from standard input, and prints an array with the rows of each.

import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import vm from 'node:vm';

const [folder, trace] = process.argv.slice(2);
const queries = JSON.parse(readFileSync(0, 'utf8'));

// What the worker of a browser has, as far as the program looks for it.
class FileRequest {
  open(_method, url) {
    this.path = join(folder, basename(url));
  }
  send() {
    const bytes = readFileSync(this.path);
    this.response = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    this.status = 200;
  }
}
const { process: node, console: terminal } = globalThis;
const define = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
define('self', globalThis);
define('WorkerGlobalScope', class {});
define('XMLHttpRequest', FileRequest);
define('importScripts', () => {});
define('location', { href: 'file:///engine_bundle.js' });
// It would take itself for a program of Node.js, and writes its own log to the console.
define('process', undefined);
define('console', { ...terminal, log() {}, warn() {} });
vm.runInThisContext(readFileSync(join(folder, 'engine_bundle.js'), 'utf8'));
define('process', node);

let replies = [];
const port = { postMessage: (bytes) => replies.push(Buffer.from(bytes)) };
globalThis.onmessage({ data: port });
// The program is loaded at once; what waits for it comes after this.
await new Promise(setImmediate);

// Protocol buffers, as far as protos/perfetto/trace_processor/trace_processor.proto of Perfetto needs them.
function varint(number) {
  const out = [];
  let rest = BigInt(number);
  for (; rest > 127n; rest >>= 7n) out.push(Number(rest & 127n) | 128);
  return Buffer.from([...out, Number(rest)]);
}
const numberField = (field, number) => Buffer.concat([varint(field << 3), varint(number)]);
const bytesField = (field, bytes) => Buffer.concat([varint((field << 3) | 2), varint(bytes.length), bytes]);

function* varints(bytes) {
  let [number, shift] = [0n, 0n];
  for (const byte of bytes) {
    number |= BigInt(byte & 127) << shift;
    shift += 7n;
    if (byte > 127) continue;
    yield BigInt.asIntN(64, number);
    [number, shift] = [0n, 0n];
  }
}

function* fields(bytes) {
  let at = 0;
  const number = () => {
    const start = at;
    while (bytes[at] > 127) at++;
    at++;
    return varints(bytes.subarray(start, at)).next().value;
  };
  while (at < bytes.length) {
    const tag = Number(number());
    if ((tag & 7) === 0) {
      yield [tag >> 3, number()];
    } else {
      const length = { 1: () => 8, 2: () => Number(number()), 5: () => 4 }[tag & 7]();
      yield [tag >> 3, bytes.subarray(at, at + length)];
      at += length;
    }
  }
}

// Calls a method, and gives the fields of each message that answers.
const [APPEND, FINALIZE, QUERY] = [1, 2, 3];
let sequence = 0;
function call(method, ...parameters) {
  replies = [];
  const message = Buffer.concat([numberField(1, ++sequence), numberField(2, method), ...parameters]);
  port.onmessage({ data: new Uint8Array(bytesField(1, message)) });
  const messages = [...fields(Buffer.concat(replies))].map(([, bytes]) => [...fields(bytes)]);
  for (const [field, value] of messages.flat()) if (field === 5) throw new Error(`${value}`);
  return messages.flat();
}

function rows(sql) {
  const [columns, cells] = [[], []];
  for (const [field, result] of call(QUERY, bytesField(103, bytesField(1, Buffer.from(sql))))) {
    if (field !== 203) continue;
    for (const [part, value] of fields(result)) {
      if (part === 1) columns.push(`${value}`);
      if (part === 2) throw new Error(`${sql}: ${value}`);
      if (part === 3) cells.push(...batch(new Map(fields(value))));
    }
  }
  const row = (_, index) => columns.map((column, at) => [column, cells[index * columns.length + at]]);
  return Array.from({ length: cells.length / columns.length || 0 }, row).map(Object.fromEntries);
}

// Cells of a result: their types one by one, and for each type its values one by one.
function* batch(parts) {
  const none = Buffer.alloc(0);
  const of = (part) => parts.get(part) ?? none;
  const numbers = varints(of(2));
  const texts = `${of(5)}`.split('\0').values();
  let float = 0;
  for (const type of varints(of(1))) {
    if (type === 2n) yield Number(numbers.next().value);
    else if (type === 3n) yield of(3).readDoubleLE(8 * float++);
    else if (type === 4n) yield texts.next().value;
    else yield null;
  }
}

const bytes = readFileSync(trace);
const PIECE = 8 << 20;
for (let at = 0; at < bytes.length; at += PIECE) call(APPEND, bytesField(101, bytes.subarray(at, at + PIECE)));
call(FINALIZE);
terminal.log(JSON.stringify(queries.map(rows)));
