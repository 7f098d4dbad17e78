// A read ends with a status behind its response: can the caller catch the error? Argument: the status.
// Needs @google-cloud/bigquery-storage 5.1.2 and apache-arrow 21.2.0; set METADATA_SERVER_DETECTION=none.
const grpc = require("@grpc/grpc-js");
const arrow = require("apache-arrow");
const { reader, protos } = require("@google-cloud/bigquery-storage");

const v1 = protos.google.cloud.bigquery.storage.v1;
const table = arrow.tableFromArrays({ n: Int32Array.from([1, 2, 3]) });
const [schema, batch] = messages(arrow.tableToIPC(table, "stream"));
const name = "projects/p/locations/us/sessions/s";

/** The schema message and the batch message of a stream. */
function messages(bytes) {
  const at = 8 + Buffer.from(bytes).readInt32LE(4);
  return [bytes.subarray(0, at), bytes.subarray(at, bytes.length - 8)];
}

const method = (call, request, response, responseStream) => ({
  path: `/google.cloud.bigquery.storage.v1.BigQueryRead/${call}`,
  requestStream: false,
  responseStream,
  requestDeserialize: (data) => request.decode(data),
  responseSerialize: (message) => Buffer.from(response.encode(message).finish()),
});
const server = new grpc.Server();
server.addService(
  {
    create: method("CreateReadSession", v1.CreateReadSessionRequest, v1.ReadSession, false),
    read: method("ReadRows", v1.ReadRowsRequest, v1.ReadRowsResponse, true),
  },
  {
    create: (call, answer) =>
      answer(null, { name, streams: [{ name: `${name}/streams/0` }], arrowSchema: { serializedSchema: schema } }),
    read: (call) => {
      call.write({ rowCount: 3, arrowRecordBatch: { serializedRecordBatch: batch, rowCount: 3 } });
      setImmediate(() => call.emit("error", { code: grpc.status[process.argv[2] ?? "UNAVAILABLE"], details: "made up" }));
    },
  },
);

server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), async (_, port) => {
  const sslCreds = grpc.credentials.createInsecure();
  const client = new reader.ReadClient({ apiEndpoint: "127.0.0.1", port, sslCreds, projectId: "p" });
  try {
    const made = await client.createTableReader({ table: { projectId: "p", datasetId: "d", tableId: "t" } });
    const [rows] = await made.getRows();
    console.log(`${rows.length} rows`);
  } catch (error) {
    console.log(`the caller caught: ${error.message}`);
  }
  process.exit(0);
});
