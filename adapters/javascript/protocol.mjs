/**
 * The adapter protocol's frame for Node: one JSON request a line in, one JSON answer a line out.
 *
 * Both JavaScript adapters share it. It knows nothing of a library: it parses requests, hands bytes over as a
 * `Uint8Array`, turns whatever is thrown into an answer, and writes integers of any size digit by digit
 * (`JSON.stringify` refuses a BigInt, and a Number is exact only up to 2^53). Standard output belongs to answers;
 * what a library prints goes to standard error.
 */
import { createInterface } from "node:readline";

/** The library lacks a feature, in its own words or because nothing in its interface asks for it. */
export class Unsupported extends Error {}

/**
 * A value as JSON text. Takes what `JSON.stringify` takes, and BigInt, which becomes an integer of all its digits.
 *
 * @param {unknown} value
 * @returns {string}
 */
export function toJson(value) {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return `[${value.map(toJson).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const members = Object.entries(value).filter(([, held]) => held !== undefined);
    return `{${members.map(([name, held]) => `${JSON.stringify(name)}:${toJson(held)}`).join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}

/**
 * Runs `work`; what it throws is marked with how far the request had got: `source`, reading what is to be written, or
 * `values`, looking at what the library returned. Unmarked is the library's own reader or writer.
 */
export async function during(stage, work) {
  try {
    return await work();
  } catch (thrown) {
    throw new Marked(stage, thrown);
  }
}

class Marked {
  constructor(stage, thrown) {
    Object.assign(this, { stage, thrown });
  }
}

/** Bytes in a buffer of their own, at offset 0, as a file or socket would give them; a pooled Buffer starts anywhere. */
export function bytesOf(base64) {
  return Uint8Array.from(Buffer.from(base64 ?? "", "base64"));
}

/** Refuses, as unsupported, every option that the library has no switch for; no values listed means any value. */
export function onlyOptions(options, known) {
  for (const [name, value] of Object.entries(options ?? {})) {
    const allowed = known[name];
    if (!allowed) throw new Unsupported(`there is no option ${name}`);
    if (allowed.length > 0 && !allowed.includes(value)) {
      throw new Unsupported(`option ${name} takes ${toJson(allowed)}, not ${toJson(value)}`);
    }
  }
}

async function answer(request, arrow) {
  switch (request.op) {
    case "hello": return { status: "ok", protocol: 1, ...arrow.about };
    case "read": {
      const options = request.options ?? {};
      if (!arrow.about.reads.includes(request.kind)) throw new Unsupported(`cannot read kind ${request.kind}`);
      onlyOptions(options, arrow.about.read_options);
      const schema = request.kind === "message" ? bytesOf(request.schema) : undefined;
      return { status: "ok", ...await arrow.read(request.kind, bytesOf(request.data), options, schema) };
    }
    case "write": {
      const options = request.options ?? {};
      if (!arrow.about.writes.includes(request.kind)) throw new Unsupported(`cannot write kind ${request.kind}`);
      onlyOptions(options, arrow.about.write_options);
      const data = await arrow.write(request.kind, bytesOf(request.data), options);
      return { status: "ok", data: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64") };
    }
    default: throw new Unsupported(`there is no operation ${request.op}`);
  }
}

/** What a library threw, as an answer; not everything thrown in JavaScript is an Error. */
function failed(thrown, arrow) {
  if (thrown instanceof Marked) return { ...failed(thrown.thrown, arrow), stage: thrown.stage };
  const message = String(thrown?.message ?? thrown);
  if (thrown instanceof Unsupported || arrow.lacks.test(message)) return { status: "unsupported", message };
  return { status: "error", class: thrown?.constructor?.name ?? typeof thrown, message };
}

/**
 * Answers requests until standard input ends.
 *
 * @param {{
 *   about: {reads: string[], writes: string[], read_options: object, write_options: object},
 *   lacks: RegExp,
 *   read: (kind: string, data: Uint8Array, options: object, schema?: Uint8Array) => object | Promise<object>,
 *   write: (kind: string, data: Uint8Array, options: object) => Uint8Array | Promise<Uint8Array>,
 * }} arrow `about` is the answer to hello, `lacks` tells the library's words for "not implemented".
 */
export async function serve(arrow) {
  const answers = process.stdout.write.bind(process.stdout);
  console.log = console.info = console.debug = console.error;
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    if (!line.trim()) continue;
    let id = null;
    let text;
    try {
      const request = JSON.parse(line);
      id = request.id ?? null;
      // Inside the try: values nested too deeply for the writer are an answer too, not the end of the program.
      text = toJson({ id, ...await answer(request, arrow) });
    } catch (thrown) {
      text = toJson({ id, ...failed(thrown, arrow) });
    }
    answers(`${text}\n`);
  }
}
