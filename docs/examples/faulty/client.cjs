// Reads the table p.d.t of the server in GRPC as users of @google-cloud/bigquery-storage do: by rows or, with the
// argument `joined`, as one stream of bytes for apache-arrow. It knows codecs if fzstd and lz4js are installed.
process.env.METADATA_SERVER_DETECTION = "none";
const grpc = require("@grpc/grpc-js");
const { reader } = require("@google-cloud/bigquery-storage");
const arrow = require("apache-arrow");

try {
  const [fzstd, lz4] = [require("fzstd"), require("lz4js")];
  arrow.compressionRegistry.set(arrow.CompressionType.ZSTD, { decode: (bytes) => Uint8Array.from(fzstd.decompress(bytes)) });
  arrow.compressionRegistry.set(arrow.CompressionType.LZ4_FRAME, { decode: (bytes) => Uint8Array.from(lz4.decompress(bytes)) });
} catch (error) { /* no codecs */ }

async function main() {
  const [apiEndpoint, port] = process.env.GRPC.split(":");
  const sslCreds = grpc.credentials.createInsecure();
  const client = new reader.ReadClient({ apiEndpoint, port: Number(port), sslCreds, projectId: "p" });
  const name = { table: { projectId: "p", datasetId: "d", tableId: "t" } };
  if (process.argv[2] === "joined") {
    const table = await client.createArrowTableReader(name);
    const chunks = [];
    for await (const chunk of await table.getStream()) chunks.push(chunk);
    const bytes = Buffer.concat([table.getSessionInfo().arrowSchema.serializedSchema, ...chunks]);
    return arrow.tableFromIPC(bytes).toArray().map((row) => row.s);
  }
  const [rows] = await (await client.createTableReader(name)).getRows();
  return rows.map((row) => row.f[0].v);
}

main().then((rows) => { console.log(rows); process.exit(0); }, (error) => console.log(`caught: ${error.message}`));
