/**
 * Client of @google-cloud/bigquery-storage: reads tables of a server on the loopback interface for the suite.
 *
 * Built by `python -m adapters bigquery-node`, which puts this file next to the packages that package-lock.json pins.
 * Paths: `rows` are the values of the client's own rows; `batches` are the record batches that it decodes; `joined`
 * takes its bytes and decodes them, behind the schema of the session, as one stream.
 *
 * The client loads apache-arrow as a script, so this program loads the same copy: it registers the codecs of Arrow, as
 * the library's documentation asks its user to do, in the registry that the client uses.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { lz4, zstandard } from "./codecs.mjs";
import { counted, decimalOfWords, float, hex, same, spend } from "./plain.mjs";
import { Unsupported, serve } from "./protocol.mjs";
import { plainVectors } from "./vectors.mjs";

process.env.METADATA_SERVER_DETECTION = "none";
const require = createRequire(import.meta.url);
const arrow = require("apache-arrow");
const grpc = require("@grpc/grpc-js");
const { reader } = require("@google-cloud/bigquery-storage");

arrow.compressionRegistry.set(arrow.CompressionType.LZ4_FRAME, lz4);
arrow.compressionRegistry.set(arrow.CompressionType.ZSTD, zstandard);

const { interval, span } = plainVectors(arrow);
const { DataType } = arrow;
const file = new URL("node_modules/@google-cloud/bigquery-storage/package.json", import.meta.url);
const { version } = JSON.parse(readFileSync(file));

/** A value of the client's rows as a plain value; the type says which of the library's forms it has. */
function plainOfRow(value, type) {
  if (value === null || value === undefined) return null;
  if (DataType.isList(type)) return value.map(({ v }) => plainOfRow(v, type.children[0].type));
  if (DataType.isStruct(type)) {
    return { struct: type.children.map((child, at) => plainOfRow(value.f[at].v, child.type)) };
  }
  if (DataType.isFloat(type)) return float(value);
  if (DataType.isBinary(type)) return hex(value);
  if (DataType.isDecimal(type)) return decimalOfWords(value);
  if (DataType.isDate(type)) return value / 86_400_000;
  // Microseconds since 1970, which the client made by multiplying the library's milliseconds, a float.
  if (DataType.isTimestamp(type)) return BigInt(Math.round(value));
  if (DataType.isInterval(type)) return interval(type.unit, value, 0);
  return same(value);
}

/** Runs `work` with a client of the server and the table of a request. */
async function reading(request, work) {
  const [, projectId, , datasetId, , tableId] = request.table.split("/");
  if (request.restriction) throw new Unsupported("the client's readers have no row restriction");
  const at = request.grpc.lastIndexOf(":");
  const client = new reader.ReadClient({
    apiEndpoint: request.grpc.slice(0, at),
    port: Number(request.grpc.slice(at + 1)),
    sslCreds: grpc.credentials.createInsecure(),
    projectId,
  });
  const options = request.columns.length > 0 ? { selectedFields: request.columns.join(",") } : {};
  try {
    return await work(client, { projectId, datasetId, tableId }, options);
  } finally {
    client.close();
  }
}

function schemaOf(session) {
  const bytes = session?.arrowSchema?.serializedSchema;
  return bytes ? arrow.RecordBatchReader.from(bytes).open().schema : undefined;
}

/** An answer from the schema and a function that gives the values of one column. */
function table(schema, rows, columnOf) {
  const fields = schema?.fields ?? [];
  return {
    names: fields.map((field) => field.name ?? ""),
    types: fields.map((field) => String(field.type)),
    rows: counted(rows),
    columns: fields.map((field, column) => columnOf(column, field)),
  };
}

const ofBatches = (schema, batches) => table(
  schema,
  batches.reduce((rows, batch) => rows + batch.numRows, 0),
  (column) => batches.flatMap((batch) => span(batch.data.children[column], 0, batch.numRows)),
);

const rows = (request) => reading(request, async (client, name, options) => {
  const made = await client.createTableReader({ table: name });
  const [all, session] = await made.getRows(options);
  return table(schemaOf(session), all.length, (column, field) => {
    spend(all.length);
    return all.map((row) => plainOfRow(row.f[column].v, field.type));
  });
});

const batches = (request) => reading(request, async (client, name, options) => {
  const made = await client.createArrowTableReader({ table: name });
  const found = [];
  for await (const batch of await made.getRecordBatchStream(options)) found.push(batch);
  return ofBatches(found[0]?.schema ?? schemaOf(made.getSessionInfo()), found);
});

const joined = (request) => reading(request, async (client, name, options) => {
  const made = await client.createArrowTableReader({ table: name });
  const chunks = [];
  for await (const chunk of await made.getStream(options)) chunks.push(chunk);
  const bytes = Buffer.concat([made.getSessionInfo().arrowSchema.serializedSchema, ...chunks]);
  const decoded = arrow.RecordBatchReader.from(bytes).open();
  return ofBatches(decoded.schema, [...decoded]);
});

await serve({
  about: {
    implementation: "bigquery-node",
    title: "@google-cloud/bigquery-storage",
    language: "JavaScript",
    version,
    reads: [],
    writes: [],
    paths: ["rows", "batches", "joined"],
  },
  lacks: /^$/,
  fetch: { rows, batches, joined },
  classOf: (thrown) => (typeof thrown?.code === "number" ? grpc.status[thrown.code] : undefined),
});
