// Reads the table p.d.t of the server in GRPC as users of @google-cloud/bigquery-storage do.
process.env.METADATA_SERVER_DETECTION = "none";
const grpc = require("@grpc/grpc-js");
const { reader } = require("@google-cloud/bigquery-storage");

async function main() {
  const [apiEndpoint, port] = process.env.GRPC.split(":");
  const sslCreds = grpc.credentials.createInsecure();
  const client = new reader.ReadClient({ apiEndpoint, port: Number(port), sslCreds, projectId: "p" });
  const table = await client.createTableReader({ table: { projectId: "p", datasetId: "d", tableId: "t" } });
  const [rows] = await table.getRows();
  console.log(rows.map((row) => row.f[0].v));
}

main().then(() => process.exit(0), (error) => console.log(`caught: ${error.message}`));
