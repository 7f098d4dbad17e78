/**
 * Plain values: the JSON form of single values in which every adapter answers, independent of the library's types.
 *
 * A JavaScript library may return `undefined` without an error if it reads past the end of a buffer. Such a value
 * becomes null, like in `JSON.stringify`: the row exists, but the library has no value for it.
 */

/** The largest number of values of one answer: a few bytes can declare any number, and a library may rely on them. */
const MAX_VALUES = 2 ** 22;

export class TooManyValues extends Error {}

let left = MAX_VALUES;

/** Begin an answer: the library's row count `rows`, checked to be a count. */
export function counted(rows) {
  left = MAX_VALUES;
  if (!Number.isSafeInteger(rows) || rows < 0) throw new TypeError(`the library counts ${rows} rows`);
  return rows;
}

/**
 * Must be called before `count` values are made; throws if the answer would have too many. A count below zero, as of
 * offsets that go down, gives nothing back, and neither does one that is no number.
 */
export function spend(count) {
  if (count > 0) left -= count;
  if (left < 0) throw new TooManyValues(`the library announces more than ${MAX_VALUES} values`);
}

const bits = new DataView(new ArrayBuffer(8));

/** A float of any width as the bits of its value as float64; NaN has one form. */
export function float(value) {
  if (value === undefined) return missing();
  if (Number.isNaN(value)) return { f64: "nan" };
  bits.setFloat64(0, value);
  return { f64: bits.getBigUint64(0).toString(16).padStart(16, "0") };
}

export function hex(bytes) {
  if (bytes === undefined || bytes === null) return missing();
  return { hex: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex") };
}

/** A boolean, integer or text, as the library returns it. */
export function same(value) {
  return value === undefined ? missing() : value;
}

/** The unscaled integer of a decimal. */
export function decimal(unscaled) {
  return unscaled === undefined ? missing() : { decimal: String(unscaled) };
}

/**
 * The unscaled integer from 32-bit words, least significant first, in two's complement.
 *
 * @param {ArrayLike<number>} words
 */
export function decimalOfWords(words) {
  if (words.length === 0) return missing();
  let unscaled = 0n;
  for (let at = words.length - 1; at >= 0; at -= 1) unscaled = (unscaled << 32n) | BigInt(words[at] >>> 0);
  return decimal(BigInt.asIntN(32 * words.length, unscaled));
}

/** The value in place of the library's `undefined`. */
export function missing() {
  return null;
}
