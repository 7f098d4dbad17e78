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
import {
  CompressionType, DataType, DateUnit, IntervalUnit, Precision, RecordBatchFileWriter, RecordBatchReader,
  RecordBatchStreamWriter, Type, UnionMode, Vector, compressionRegistry,
} from "apache-arrow";
import { lz4, zstandard } from "./codecs.mjs";
import { counted, decimalOfWords, float, hex, missing, same, spend } from "./plain.mjs";
import { Unsupported, during, serve } from "./protocol.mjs";

compressionRegistry.set(CompressionType.LZ4_FRAME, lz4);
compressionRegistry.set(CompressionType.ZSTD, zstandard);

const CODECS = { "": null, lz4: CompressionType.LZ4_FRAME, zstd: CompressionType.ZSTD };
const version = JSON.parse(readFileSync(new URL("node_modules/apache-arrow/package.json", import.meta.url))).version;

const vectors = new WeakMap();

/** The value of one slot of a `Data` from the library's `get`, for types whose values `get` does not change. */
function got(data, index) {
  if (!vectors.has(data)) vectors.set(data, new Vector([data]));
  return vectors.get(data).get(index);
}

function interval(unit, values, index) {
  if (unit === IntervalUnit.YEAR_MONTH) return { months: same(values[index]) };
  if (unit === IntervalUnit.DAY_TIME) return { days: same(values[2 * index]), ms: same(values[2 * index + 1]) };
  const [months, days, low, high] = values.subarray(4 * index, 4 * index + 4);
  if (high === undefined) return missing();
  return { months, days, ns: BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt(low >>> 0)) };
}

/** All values of a `Data` from `begin` to `end`. */
function span(data, begin, end) {
  spend(Number(end) - Number(begin));
  const values = [];
  for (let index = Number(begin); index < Number(end); index += 1) values.push(plain(data, index));
  return values;
}

/** The value at `index` of a vector in pieces, found like by `Vector.get`. */
function indexed(vector, index) {
  let at = Number(index);
  for (const data of vector.data) {
    if (at >= 0 && at < data.length) return plain(data, at);
    at -= data.length;
  }
  return missing();
}

function union(data, index) {
  const { type, typeIds, valueOffsets, children } = data;
  const child = children[type.typeIdToChildIndex[typeIds[index]]];
  if (child === undefined) return missing();
  return plain(child, type.mode === UnionMode.Dense ? valueOffsets[index] : index);
}

/**
 * One slot as a plain value.
 *
 * @param {import("apache-arrow").Data} data
 * @param {number} index
 */
function plain(data, index) {
  const { type, values, stride, valueOffsets, children } = data;
  // Numbers of the library's own enumeration; it has a `Dictionary`, which is not a type of the format.
  switch (type.typeId) {
    case Type.Union: return union(data, index);
    case Type.Null: return null;
  }
  if (!data.getValid(index)) return null;
  switch (type.typeId) {
    case Type.Bool: case Type.Utf8: case Type.LargeUtf8: case Type.Utf8View: return same(got(data, index));
    case Type.Int: case Type.Date: case Type.Time: case Type.Timestamp: case Type.Duration: return same(values[index]);
    case Type.Float: return float(got(data, index));
    case Type.Binary: case Type.LargeBinary: case Type.BinaryView: case Type.FixedSizeBinary:
      return hex(got(data, index));
    case Type.Decimal: return decimalOfWords(values.subarray(stride * index, stride * (index + 1)));
    case Type.Interval: return interval(type.unit, values, index);
    case Type.List: case Type.LargeList: return span(children[0], valueOffsets[index], valueOffsets[index + 1]);
    case Type.FixedSizeList: return span(children[0], index * stride, (index + 1) * stride);
    case Type.Struct: return { struct: children.map((child) => plain(child, index)) };
    case Type.Map: {
      const { children: [keys, held] } = children[0];
      const pairs = [];
      spend(valueOffsets[index + 1] - valueOffsets[index]);
      for (let at = valueOffsets[index]; at < valueOffsets[index + 1]; at += 1) {
        pairs.push([plain(keys, at), plain(held, at)]);
      }
      return { map: pairs };
    }
    case Type.Dictionary: return indexed(data.dictionary, values[index]);
  }
  throw new Unsupported(`no accessor for type ${type}`);
}

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

async function read(kind, data, options) {
  const { schema, batches } = await decoded(data, options.chunk);
  // Without a schema the reader throws nothing, and the library's own table has no columns.
  const fields = schema?.fields ?? [];
  return {
    names: fields.map((field) => field.name ?? ""),
    types: fields.map((field) => String(field.type)),
    rows: await during("values", () => counted(batches.reduce((rows, batch) => rows + batch.numRows, 0))),
    columns: await during("values", () => fields.map((_, column) => batches.flatMap((batch) => (
      span(batch.data.children[column], 0, batch.numRows)
    )))),
  };
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
  for (const batch of batches) writer.write(batch);
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
    read_options: { chunk: [] },
    write_options: { codec: Object.keys(CODECS), legacy: [false, true] },
  },
  lacks: /Unrecognized type|codec not found|does not support|Legacy IPC format does not/,
  read,
  write,
});
