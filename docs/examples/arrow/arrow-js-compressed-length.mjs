// apache-arrow 21.2.0: the length before a compressed buffer is that of the compressed bytes, not of the uncompressed ones.
import {
  CompressionType, MessageReader, RecordBatchStreamWriter, compressionRegistry, tableFromArrays,
} from "apache-arrow";
import lz4js from "lz4js";

compressionRegistry.set(CompressionType.LZ4_FRAME, {
  encode: (bytes) => Uint8Array.from(lz4js.compress(bytes)),
  decode: (bytes) => Uint8Array.from(lz4js.decompress(bytes)),
});
const table = tableFromArrays({ n: new Int32Array(1000) });
const writer = new RecordBatchStreamWriter({ compressionType: CompressionType.LZ4_FRAME });
const stream = writer.writeAll(table).finish().toUint8Array(true);

const messages = new MessageReader(stream);
messages.readSchema();
const message = messages.readMessage();
const body = messages.readMessageBody(message.bodyLength);
const { offset, length } = message.header().buffers.find((buffer) => buffer.length > 8);
const declared = new DataView(body.buffer, body.byteOffset + offset).getBigInt64(0, true);
console.log(`declared ${declared}, compressed ${length - 8}, uncompressed 4000`);
