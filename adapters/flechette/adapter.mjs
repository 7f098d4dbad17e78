/**
 * Adapter of flechette (npm `@uwdata/flechette`): reads and writes IPC streams and files for the suite.
 *
 * Built by `python -m adapters flechette`, which puts this file next to the packages that package-lock.json pins.
 *
 * Values come from the library's own batches, extracted with exact 64-bit integers, timestamps and decimals. If an
 * accessor still rounds (dates become milliseconds, nanoseconds a float), the value comes from the typed array below.
 * A nested value is found by the library's own accessor, which runs over children that record its requests. The library
 * distinguishes files from streams by their first bytes; its interface has no parameter for that.
 */
import { readFileSync } from "node:fs";
import {
  CompressionType, IntervalUnit, Table, TimeUnit, Type, columnFromArray, dictionaryContext, setCompressionCodec, tableFromIPC, tableToIPC,
} from "@uwdata/flechette";
import { lz4, zstandard } from "./codecs.mjs";
import { counted, decimal, float, hex, missing, same, spend } from "./plain.mjs";
import { Unsupported, during, serve } from "./protocol.mjs";

setCompressionCodec(CompressionType.LZ4_FRAME, lz4);
setCompressionCodec(CompressionType.ZSTD, zstandard);

const CODECS = { "": undefined, lz4: CompressionType.LZ4_FRAME, zstd: CompressionType.ZSTD };
const EXACT = { useBigInt: true, useBigIntTimestamp: true, useDecimalInt: true };
const manifest = new URL("node_modules/@uwdata/flechette/package.json", import.meta.url);
const TYPE_NAMES = Object.fromEntries(Object.entries(Type).map(([name, number]) => [number, name]));

/** Children that return each request made to them: `at` an index, `slice` a range, with the child's own number. */
function noting(children) {
  return children.map((child, number) => ({
    at: (index) => ({ number, index }),
    slice: (begin, end) => ({ number, begin, end }),
    children: child.children && noting(child.children),
    values: child.values,
  }));
}

/** The request that the batch's accessor makes to its children for the value at `index`. */
function asked(batch, index) {
  return Object.create(batch, { children: { value: noting(batch.children) } }).value(index);
}

function span(batch, begin, end) {
  spend(end - begin);
  const values = [];
  for (let index = begin; index < end; index += 1) values.push(plain(batch, index));
  return values;
}

/** The first `rows` values of a column; missing ones are null, and further ones do not belong to the table. */
function rowsOf(column, rows) {
  const values = column.data.flatMap((batch) => span(batch, 0, batch.length)).slice(0, rows);
  spend(rows - values.length);
  while (values.length < rows) values.push(missing());
  return values;
}

/** The value at `index` of a column in batches. */
function indexed(column, index) {
  let at = Number(index);
  for (const batch of column.data) {
    if (at >= 0 && at < batch.length) return plain(batch, at);
    at -= batch.length;
  }
  return missing();
}

function interval(unit, values, index) {
  if (unit === IntervalUnit.YEAR_MONTH) return { months: same(values[index]) };
  if (unit === IntervalUnit.DAY_TIME) return { days: same(values[2 * index]), ms: same(values[2 * index + 1]) };
  if (values.byteLength < 16 * (index + 1)) return missing();
  const view = new DataView(values.buffer, values.byteOffset + 16 * index, 16);
  return { months: view.getInt32(0, true), days: view.getInt32(4, true), ns: view.getBigInt64(8, true) };
}

/** True if a slot is null by the library's own test: without counted nulls or without a bitmap, all are valid. */
function isNull(batch, index) {
  return batch.nullCount > 0 && batch.validity !== undefined && !batch.isValid(index);
}

/**
 * One slot as a plain value.
 *
 * @param {import("@uwdata/flechette").Batch} batch
 * @param {number} index
 */
function plain(batch, index) {
  const { type, values, children } = batch;
  if (type.typeId === Type.Null || isNull(batch, index)) return null;
  switch (type.typeId) {
    case Type.Bool: case Type.Utf8: case Type.LargeUtf8: case Type.Utf8View: return same(batch.value(index));
    case Type.Int: case Type.Time: case Type.Timestamp: case Type.Duration: return same(batch.value(index));
    case Type.Date: return same(values[index]);
    case Type.Float: return float(batch.value(index));
    case Type.Binary: case Type.LargeBinary: case Type.BinaryView: case Type.FixedSizeBinary:
      return hex(batch.value(index));
    case Type.Decimal: return decimal(batch.value(index));
    case Type.Interval: return interval(type.unit, values, index);
    case Type.List: case Type.LargeList: case Type.ListView: case Type.LargeListView: case Type.FixedSizeList: {
      const { begin, end } = asked(batch, index);
      return span(children[0], begin, end);
    }
    case Type.Struct: return { struct: children.map((child) => plain(child, index)) };
    case Type.Map: {
      const [keys, held] = children[0].children;
      return { map: asked(batch, index).map(([key, value]) => [plain(keys, key.index), plain(held, value.index)]) };
    }
    case Type.Union: case Type.RunEndEncoded: {
      const { number, index: inner } = asked(batch, index);
      return plain(children[number], inner);
    }
    case Type.Dictionary: return indexed(batch.dictionary, batch.key(index));
  }
  throw new Unsupported(`no accessor for type ${TYPE_NAMES[type.typeId] ?? type.typeId}`);
}

async function read(kind, data, options, schema) {
  const table = tableFromIPC(kind === "message" ? [schema, data] : data, EXACT);
  const { fields } = table.schema;
  return {
    names: fields.map((field) => field.name ?? ""),
    types: fields.map(({ type }) => TYPE_NAMES[type.typeId]),
    rows: await during("values", () => counted(table.numRows)),
    columns: await during("values", () => table.children.map((column) => rowsOf(column, table.numRows))),
  };
}

// The values to build columns from: decimals of 32 bits are numbers, and those of more bits integers, which hold all digits.
const BUILDING = { useBigInt: true, useDecimalInt: false };
const WHOLE = { useBigInt: true, useDecimalInt: true };

function contains(type, test) {
  const inner = type.typeId === Type.Dictionary ? [type.dictionary] : (type.children ?? []).map((field) => field.type);
  return test(type) || inner.some((each) => contains(each, test));
}

const isDecimal = ({ typeId }) => typeId === Type.Decimal;

// Why the JavaScript values of a type cannot hold all of its values, if they cannot; https://idl.uw.edu/flechette/api/data-types
// says what the values are.
function lossy({ typeId, unit, children }) {
  switch (typeId) {
    case Type.Timestamp: return unit > TimeUnit.MILLISECOND && "a number of milliseconds has no fractions of them";
    case Type.Interval: return unit === IntervalUnit.MONTH_DAY_NANO && "a number does not hold all nanoseconds";
    case Type.Union: return "a value does not say of which child it is";
    case Type.Struct: {
      return new Set(children.map((field) => field.name)).size < children.length && "an object has one value for each name";
    }
  }
  return false;
}

// A table whose columns the library builds from its own values of the rows.
function built(data) {
  const [numbers, whole] = [BUILDING, WHOLE].map((how) => tableFromIPC(data, how));
  const dictionaries = dictionaryContext();
  const columns = numbers.schema.fields.map(({ type }, place) => {
    let reason = false;
    contains(type, (each) => (reason ||= lossy(each)));
    if (reason) throw new Unsupported(reason);
    const wide = contains(type, (each) => isDecimal(each) && each.bitWidth > 32);
    if (wide && contains(type, (each) => isDecimal(each) && each.bitWidth === 32)) {
      throw new Unsupported("one option for decimals of 32 bits and of more");
    }
    return columnFromArray([...(wide ? whole : numbers).children[place]], type, {}, dictionaries);
  });
  return new Table(numbers.schema, columns);
}

async function write(kind, data, options) {
  const table = await during("source", () => tableFromIPC(data, EXACT));
  return tableToIPC(options.given === "built" ? built(data) : table, { format: kind, codec: CODECS[options.codec ?? ""] });
}

await serve({
  about: {
    implementation: "flechette",
    title: "flechette",
    language: "JavaScript",
    version: JSON.parse(readFileSync(manifest)).version,
    reads: ["stream", "file", "message"],
    writes: ["stream", "file"],
    read_options: {},
    write_options: { codec: Object.keys(CODECS), given: ["", "built"] },
  },
  lacks: /Unsupported data type|Missing compression codec/,
  read,
  write,
});
