// Loaded before bigquery-local (node --import), so that it starts without a network and listens on this machine alone.
//
// Two things are changed, and no code that serves requests: it loads DuckDB's community extension `crypto` at every
// start, which it needs for SHA512 only and which no package registry has; and it has no option for its address.
import { createRequire } from "node:module";
import net from "node:net";
import path from "node:path";

const { DuckDBConnection } = createRequire(path.resolve(process.argv[1]))("@duckdb/node-api");
const run = DuckDBConnection.prototype.run;
DuckDBConnection.prototype.run = async function (sql, ...more) {
  return /^(INSTALL|LOAD) crypto\b/.test(sql) ? undefined : run.call(this, sql, ...more);
};

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (first, ...more) {
  const options = typeof first === "object" ? first : { port: first };
  return listen.call(this, { ...options, host: "127.0.0.1" }, ...more.filter((each) => typeof each === "function"));
};
