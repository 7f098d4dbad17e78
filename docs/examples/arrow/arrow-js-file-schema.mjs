// apache-arrow 21.2.0: a file has its schema in the footer alone, so the stream inside the file cannot be read.
import { MessageReader, tableFromArrays, tableFromIPC, tableToIPC } from "apache-arrow";

const file = tableToIPC(tableFromArrays({ n: new Int32Array([1, 2]) }), "file");
const first = new MessageReader(file.subarray(8)).readMessage();
console.log(`the file has ${tableFromIPC(file).numRows} rows`);
console.log(`the first message in it is a schema: ${first.isSchema()}, a batch: ${first.isRecordBatch()}`);
try {
  console.log(`the stream inside it has ${tableFromIPC(file.subarray(8)).numRows} rows`);
} catch (error) {
  console.log(`the stream inside it: ${error.message}`);
}
