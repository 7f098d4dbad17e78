/**
 * Adapter of Apache Arrow JavaScript (npm `apache-arrow`): reads and writes IPC streams and files for the suite.
 *
 * Built by `python -m adapters arrow-js`, which puts this file next to the packages that package-lock.json pins.
 *
 * Values come from the library's own vectors. Its `get` turns dates and timestamps into milliseconds and decimals into
 * words; those values are read from the typed arrays that the library made over the bytes, with its own validity test.
 * Lists, maps, unions and dictionaries are followed in the same way as by its `get`. The library distinguishes files
 * from streams by their first bytes; its interface has no parameter for that.
 */
import { readFileSync } from "node:fs";
import * as arrow from "apache-arrow";
import { lz4, zstandard } from "./codecs.mjs";
import { TooManyValues, counted } from "./plain.mjs";
import { Unsupported, during, serve, toJson } from "./protocol.mjs";
import { plainVectors } from "./vectors.mjs";

const {
  CompressionType, DataType, RecordBatch, RecordBatchFileWriter, RecordBatchReader, RecordBatchStreamWriter, Struct, TimeUnit,
  compressionRegistry, makeData, vectorFromArray,
} = arrow;

compressionRegistry.set(CompressionType.LZ4_FRAME, lz4);
compressionRegistry.set(CompressionType.ZSTD, zstandard);

const CODECS = { "": null, lz4: CompressionType.LZ4_FRAME, zstd: CompressionType.ZSTD };
const version = JSON.parse(readFileSync(new URL("node_modules/apache-arrow/package.json", import.meta.url))).version;

/** The most differences that are noted of one answer, and the most characters of a value in one. */
const [MOST, SHOWN] = [5, 80];

const { span } = plainVectors(arrow);

/** Batches and schema, from the synchronous reader or, for data in chunks, from the asynchronous one. */
async function decoded(data, chunk) {
  if (chunk === undefined) {
    const reader = RecordBatchReader.from(data).open();
    return { schema: reader.schema, batches: [...reader] };
  }
  const pushed = (async function* chunks() {
    for (let at = 0; at < data.length; at += chunk) yield data.slice(at, at + chunk);
  })();
  const reader = await (await RecordBatchReader.from(pushed)).open();
  const { schema } = reader;
  const batches = [];
  for await (const batch of reader) batches.push(batch);
  return { schema: schema ?? reader.schema, batches };
}

/** The slices of all batches, one after the other; every difference of their values from `columns`, and every error. */
function differences(columns, fields, batches, after) {
  const found = [];
  let row = 0;
  for (const batch of batches) {
    fields.forEach((field, column) => {
      const where = `${after}: column ${column} '${field.name ?? ""}'`;
      try {
        let at = row;
        for (const piece of pieces(batch, after)) {
          for (const value of span(piece.data.children[column], 0, piece.numRows)) {
            const [before, afterwards] = [toJson(columns[column][at]), toJson(value)];
            if (before !== afterwards) {
              found.push(`${where}, row ${at}: expected ${before.slice(0, SHOWN)}, got ${afterwards.slice(0, SHOWN)}`);
            }
            at += 1;
          }
        }
        if (at !== row + batch.numRows) found.push(`${where}: expected ${batch.numRows} rows, got ${at - row}`);
      } catch (thrown) {
        if (thrown instanceof TooManyValues) throw thrown;
        found.push(`${where}: throws ${thrown}`);
      }
    });
    row += batch.numRows;
  }
  return found.slice(0, MOST);
}

async function read(kind, data, options) {
  const { schema, batches } = await decoded(data, options.chunk);
  // Without a schema the reader throws nothing, and the library's own table has no columns.
  const fields = schema?.fields ?? [];
  const made = await values(fields, batches);
  if (!options.after) return made;
  return { ...made, ways: await during("values", () => differences(made.columns, fields, batches, options.after)) };
}

async function values(fields, batches) {
  // Programs see the fields of batches; the schema of the reader still says which field has no name.
  const seen = batches[0]?.schema.fields ?? fields;
  return {
    names: seen.map((field) => field.name ?? ""),
    types: fields.map((field) => String(field.type)),
    rows: await during("values", () => counted(batches.reduce((rows, batch) => rows + batch.numRows, 0))),
    columns: await during("values", () => fields.map((_, column) => batches.flatMap((batch) => (
      span(batch.data.children[column], 0, batch.numRows)
    )))),
  };
}

// Slices are the two halves, and one without rows behind the last row.
function pieces(batch, given, schema) {
  if (given === "built") return [built(schema, batch)];
  const rows = batch.numRows;
  const middle = Math.floor(rows / 2);
  return given === "sliced" ? [batch.slice(0, middle), batch.slice(middle, rows), batch.slice(rows, rows)] : [batch];
}

// Types whose values the library gives as JavaScript values that cannot hold them all: of timestamps, a number of
// milliseconds; of a struct, an object that has one value for each name.
function lossy(type) {
  if (DataType.isDictionary(type)) return lossy(type.dictionary);
  if (DataType.isTimestamp(type) && type.unit > TimeUnit.MILLISECOND) return "a number of milliseconds has no fractions of them";
  const fields = type.children ?? [];
  if (DataType.isStruct(type) && new Set(fields.map((field) => field.name)).size < fields.length) {
    return "an object has one value for each name";
  }
  return fields.map((field) => lossy(field.type)).find((reason) => reason);
}

// Each column as the library builds it from its own values of the rows.
function built(schema, batch) {
  const children = schema.fields.map(({ type }, column) => {
    const reason = lossy(type);
    if (reason) throw new Unsupported(reason);
    return vectorFromArray([...batch.getChildAt(column)], type).data[0];
  });
  return new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length: batch.numRows, nullCount: 0, children }));
}

async function write(kind, data, options) {
  const { schema, batches } = await during("source", () => decoded(data));
  const Writer = kind === "file" ? RecordBatchFileWriter : RecordBatchStreamWriter;
  const writer = new Writer({
    compressionType: CODECS[options.codec ?? ""],
    writeLegacyIpcFormat: options.legacy ?? false,
  });
  // The schema is set first, because a stream without batches has one, too.
  writer.reset(undefined, schema);
  for (const batch of batches) for (const piece of pieces(batch, options.given, schema)) writer.write(piece);
  return writer.finish().toUint8Array(true);
}

await serve({
  about: {
    implementation: "arrow-js",
    title: "Apache Arrow JavaScript",
    language: "JavaScript",
    version,
    reads: ["stream", "file"],
    writes: ["stream", "file"],
    read_options: { chunk: [], after: ["", "sliced"] },
    write_options: { codec: Object.keys(CODECS), legacy: [false, true], given: ["", "sliced", "built"] },
  },
  lacks: /Unrecognized type|codec not found|does not support|Legacy IPC format does not/,
  read,
  write,
});
