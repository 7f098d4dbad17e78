/**
 * The codecs for both JavaScript libraries: neither contains any, and each has a registry for those of its user.
 *
 * LZ4 frames come from `lz4js`, ZSTD decoding from `fzstd` (including frames without a content size) and encoding from
 * `zstd-codec`. The results are copied to buffers of their own: the libraries make typed arrays over them, which must
 * start at a multiple of their element's size.
 */
import { decompress as decodeZstd } from "fzstd";
import lz4js from "lz4js";
import { ZstdCodec } from "zstd-codec";

const zstd = await new Promise((ready) => ZstdCodec.run((module) => ready(new module.Simple())));

const own = (bytes) => Uint8Array.from(bytes);

export const lz4 = {
  encode: (bytes) => own(lz4js.compress(bytes)),
  decode: (bytes) => own(lz4js.decompress(bytes)),
};

export const zstandard = {
  encode: (bytes) => own(zstd.compress(bytes)),
  decode: (bytes) => own(decodeZstd(bytes)),
};
