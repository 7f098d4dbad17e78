/**
 * The framing of the adapter protocol for Node: one JSON request per input line, one JSON answer per output line.
 *
 * All JavaScript programs share it. It does not know the libraries: it parses requests, passes bytes as `Uint8Array`,
 * turns anything thrown into an answer, and writes integers of any size digit by digit (`JSON.stringify` refuses a
 * BigInt, and a Number is exact only up to 2^53). Only answers go to standard output; anything that a library prints
 * goes to standard error.
 */
import { createInterface } from "node:readline";

/** The library lacks a feature: it says so itself, or its interface has no way to request it. */
export class Unsupported extends Error {}

/**
 * A value as JSON text. Accepts all that `JSON.stringify` does, and BigInt, which becomes an integer with all digits.
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
 * Runs `work`; an exception is marked with the step of the request: `source`, reading the data to be written, or
 * `values`, converting the library's result. Exceptions of the library's own reader or writer are not marked.
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

/** Bytes in a buffer of their own, at offset 0, as from a file or socket; a pooled Buffer starts at any offset. */
export function bytesOf(base64) {
  return Uint8Array.from(Buffer.from(base64 ?? "", "base64"));
}

/** Refuses, as unsupported, every option that the library does not have; an empty list of values allows any value. */
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
    case "fetch": case "flight": {
      const path = arrow.fetch?.[request.path];
      if (path === undefined) throw new Unsupported(`there is no path ${request.path}`);
      return { status: "ok", ...await path(request) };
    }
    default: throw new Unsupported(`there is no operation ${request.op}`);
  }
}

/** An answer for anything that a library threw; in JavaScript, not everything thrown is an Error. */
function failed(thrown, arrow) {
  if (thrown instanceof Marked) return { ...failed(thrown.thrown, arrow), stage: thrown.stage };
  const message = String(thrown?.message ?? thrown);
  if (thrown instanceof Unsupported || arrow.lacks.test(message)) return { status: "unsupported", message };
  return { status: "error", class: arrow.classOf?.(thrown) ?? thrown?.constructor?.name ?? typeof thrown, message };
}

/**
 * Answers requests until standard input ends.
 *
 * @param {{
 *   about: {reads: string[], writes: string[], read_options: object, write_options: object},
 *   lacks: RegExp,
 *   read: (kind: string, data: Uint8Array, options: object, schema?: Uint8Array) => object | Promise<object>,
 *   write: (kind: string, data: Uint8Array, options: object) => Uint8Array | Promise<Uint8Array>,
 *   fetch: Record<string, (request: object) => Promise<object>>,
 *   classOf: (thrown: unknown) => string | undefined,
 * }} arrow `about` is the answer to hello, `lacks` matches the library's texts for "not implemented". An adapter has
 *   `read` and `write`, a client has `fetch`: a function for each path. `classOf` may name an error.
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
      // Inside the try: values nested too deeply for the JSON writer give an error answer and do not end the program.
      text = toJson({ id, ...await answer(request, arrow) });
    } catch (thrown) {
      text = toJson({ id, ...failed(thrown, arrow) });
    }
    answers(`${text}\n`);
  }
}
