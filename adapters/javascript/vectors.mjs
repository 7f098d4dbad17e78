/**
 * Plain values of vectors of Apache Arrow JavaScript, for every program that gets some from it.
 *
 * Its `get` turns dates and timestamps into milliseconds and decimals into words; those values are read from the typed
 * arrays that the library made over the bytes, with its own validity test. Lists, maps, unions and dictionaries are
 * followed in the same way as by its `get`.
 */
import { decimalOfWords, float, hex, missing, same, spend } from "./plain.mjs";
import { Unsupported } from "./protocol.mjs";

/**
 * Functions over the vectors of one copy of the library: a program can have two, as module and as script.
 *
 * @param {typeof import("apache-arrow")} arrow
 */
export function plainVectors({ IntervalUnit, Type, UnionMode, Vector }) {
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
      case Type.Dictionary:
        if (typeof values[index] === "bigint") got(data, index); // it may raise an error, which its users get
        return indexed(data.dictionary, values[index]);
    }
    throw new Unsupported(`no accessor for type ${type}`);
  }

  return { interval, plain, span };
}
