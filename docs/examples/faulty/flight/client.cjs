// Reads the stream of the server in FLIGHT as programs in JavaScript do, which have no Flight library: gRPC and apache-arrow.
// Each message gets the prefix of a stream; the messages are one stream of bytes or, with the argument `reader`, many.
const grpc = require("@grpc/grpc-js");
const arrow = require("apache-arrow");

/** The fields of a message of protobuf that have bytes. */
function fields(message) {
  const found = {};
  for (let at = 0; at < message.length; ) {
    const [key, length] = [0, 1].map(() => {
      let value = 0;
      for (let shift = 0; ; shift += 7) {
        value |= (message[at] & 127) << shift;
        if (message[at++] < 128) return value;
      }
    });
    found[key >> 3] = message.subarray(at, at + length);
    at += length;
  }
  return found;
}

/** A FlightData as it is in a stream of Arrow. */
function prefixed(message) {
  const { 2: header, 1000: body = Buffer.alloc(0) } = fields(message);
  if (!header) return Buffer.alloc(0);
  const prefix = Buffer.alloc(8, 255);
  const size = Math.ceil(header.length / 8) * 8;
  prefix.writeInt32LE(size, 4);
  return Buffer.concat([prefix, header, Buffer.alloc(size - header.length), body]);
}

async function main() {
  const same = (bytes) => bytes;
  const call = { path: "/arrow.flight.protocol.FlightService/DoGet", responseStream: true, requestSerialize: same, responseDeserialize: same };
  const Flight = grpc.makeGenericClientConstructor({ get: { ...call, requestStream: false } }, "Flight");
  const client = new Flight(process.env.FLIGHT, grpc.credentials.createInsecure());
  const parts = [];
  for await (const message of client.get(Buffer.from("\x0a\x06ticket"))) parts.push(prefixed(message));
  if (process.argv[2] !== "reader") return [...arrow.tableFromIPC(Buffer.concat(parts)).getChild("s") ?? []];
  const reader = await (await arrow.RecordBatchReader.from((async function* each() { yield* parts; })())).open();
  const found = [];
  for await (const batch of reader) found.push(...batch.getChild("s") ?? ["no column s"]);
  return found;
}

main().then((rows) => { console.log(rows); process.exit(0); }, (error) => { console.log(`error: ${error.message}`); process.exit(0); });
