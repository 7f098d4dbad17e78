/**
 * Flight client of Node: JavaScript has no Flight library, so programs put gRPC and Apache Arrow together themselves.
 *
 * Built by `python -m adapters flight-js`. A message of Flight has no prefix; with one, and padded to 8 bytes, the
 * messages of a call are a stream of Arrow, as the format says. Messages without a header have no data and are passed
 * over. `table` gives the library the whole stream, `reader` one message after the other. Codecs are registered as the
 * library's documentation asks its user to do.
 */
import { readFileSync } from "node:fs";
import grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import * as arrow from "apache-arrow";
import { lz4, zstandard } from "./codecs.mjs";
import { counted, hex, same } from "./plain.mjs";
import { serve } from "./protocol.mjs";
import { plainVectors } from "./vectors.mjs";

arrow.compressionRegistry.set(arrow.CompressionType.LZ4_FRAME, lz4);
arrow.compressionRegistry.set(arrow.CompressionType.ZSTD, zstandard);

const SECONDS = 10;
const { span } = plainVectors(arrow);
const { FlightService } = grpc.loadPackageDefinition(
  loadSync(new URL("flight.proto", import.meta.url).pathname, { defaults: true, keepCase: true }),
).arrow.flight.protocol;
const file = new URL("node_modules/apache-arrow/package.json", import.meta.url);
const { version } = JSON.parse(readFileSync(file));

/** Runs `work` with a client of the server, and ends its connection. */
async function calling(request, work) {
  const client = new FlightService(request.grpc, grpc.credentials.createInsecure());
  try {
    return await work(client, { deadline: new Date(Date.now() + SECONDS * 1000) });
  } finally {
    client.close();
  }
}

/** One message as it is in a stream of Arrow; nothing for one without a header. */
function prefixed({ data_header: header, data_body: body }) {
  if (header.length === 0) {
    if (body.length > 0) throw new TypeError("a body without a header");
    return [];
  }
  const size = Math.ceil(header.length / 8) * 8;
  const made = new Uint8Array(8 + size + body.length);
  const view = new DataView(made.buffer);
  view.setInt32(0, -1, true);
  view.setInt32(4, size, true);
  made.set(header, 8);
  made.set(body, 8 + size);
  return [made];
}

/** The rows of some batches under a schema. */
function rowsOf(schema, batches) {
  const fields = schema?.fields ?? [];
  return {
    names: fields.map((field) => field.name ?? ""),
    types: fields.map((field) => String(field.type)),
    rows: counted(batches.reduce((rows, batch) => rows + batch.numRows, 0)),
    columns: fields.map((_, column) => batches.flatMap((batch) => span(batch.data.children[column], 0, batch.numRows))),
  };
}

async function table(request) {
  return calling(request, async (client, options) => {
    const parts = [];
    for await (const one of client.doGet({ ticket: Buffer.from(request.name) }, options)) parts.push(...prefixed(one));
    const made = arrow.tableFromIPC(Uint8Array.from(Buffer.concat(parts)));
    return rowsOf(made.schema, made.batches);
  });
}

async function reader(request) {
  return calling(request, async (client, options) => {
    const call = client.doGet({ ticket: Buffer.from(request.name) }, options);
    const parts = (async function* messages() {
      for await (const one of call) yield* prefixed(one);
    })();
    const made = await (await arrow.RecordBatchReader.from(parts)).open();
    const { schema } = made;
    const batches = [];
    for await (const batch of made) batches.push(batch);
    return rowsOf(schema ?? made.schema, batches);
  });
}

/** A column with one value for each message of a call. */
async function column(name, type, call, value) {
  const values = [];
  for await (const one of call) values.push(value(one));
  return { names: [name], types: [type], rows: values.length, columns: [values] };
}

async function action(request) {
  return calling(request, (client, options) => (
    column("body", "Binary", client.doAction({ type: request.name }, options), (one) => hex(one.body))
  ));
}

async function listFlights(request) {
  return calling(request, (client, options) => (
    column("path", "Utf8", client.listFlights({}, options), (one) => same(one.flight_descriptor?.path.join("/") ?? ""))
  ));
}

await serve({
  about: {
    implementation: "flight-js",
    title: "@grpc/grpc-js and apache-arrow",
    language: "JavaScript",
    version,
    reads: [],
    writes: [],
    paths: ["table", "reader", "action", "list-flights"],
  },
  lacks: /\bnot (?:yet )?implemented\b/i,
  fetch: { table, reader, action, "list-flights": listFlights },
  classOf: (thrown) => (typeof thrown?.code === "number" ? grpc.status[thrown.code] : undefined),
});
