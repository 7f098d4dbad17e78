// @uwdata/flechette 2.6.0: when a dictionary changes between two batches, the first one is written for both.
import {
  columnFromArray, dictionary, tableFromColumns, tableFromIPC, tableToIPC, utf8,
} from "@uwdata/flechette";

const stream = (values) =>
  Buffer.from(tableToIPC(tableFromColumns({ t: columnFromArray(values, dictionary(utf8())) }), { format: "stream" }));
const first = stream(["a", "b"]);
const second = stream(["c", "d"]);
// One stream of both: the schema, dictionary and batch of the first, then dictionary and batch of the second.
const schema = 8 + second.readInt32LE(4);
const both = Buffer.concat([first.subarray(0, -8), second.subarray(schema)]);

const read = tableFromIPC(both);
console.log("read:   ", read.getChild("t").toArray());
console.log("written:", tableFromIPC(tableToIPC(read, { format: "stream" })).getChild("t").toArray());
