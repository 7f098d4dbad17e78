/**
 * The codecs that both JavaScript libraries leave to their user: neither brings any, each has a registry.
 *
 * LZ4 frames from `lz4js`, ZSTD decoding from `fzstd` (frames without a content size too) and encoding from
 * `zstd-codec`. What comes out starts a buffer of its own: the libraries lay typed arrays over it, which must start on
 * a multiple of their element's size.
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
