//! The fake of the crate `bigquery` as a server: it has no REST, so tables arrive on standard input.
//!
//! Each line is a request of the conformance suite, and each answer a line on standard output; the port is reported on
//! standard error. conformance/targets/protocol.schema.json describes the messages.

mod cells;

use bigquery::errors::BigQueryError;
use bigquery::testing::BigQueryFake;
use bigquery::{BigQueryDbOptions, BigQueryResult, BigQueryTableRef};
use cells::{columns, rows};
use serde_json::{json, Value};
use std::io::{BufRead, Write};

/// A session of the fake has as many streams as its table says, and no more than the request allows.
const STREAMS: usize = 4;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let project = std::env::args().nth(1).ok_or("expected the project as the first argument")?;
    let fake = BigQueryFake::start_with(BigQueryDbOptions::new(project)).await?;
    let port = fake.db().options().effective_bigquery_storage_api_url().port();
    eprintln!("{}", json!({"event": "grpc.listen", "port": port}));
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let mut answer = answered(&fake, &request).await;
        answer["id"] = request["id"].clone();
        let mut out = std::io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    // Dropping the fake would panic if a call was not scripted, which many cases of the suite are.
    std::process::exit(0)
}

async fn answered(fake: &BigQueryFake, request: &Value) -> Value {
    let done = match request["op"].as_str() {
        Some("hello") => {
            return json!({
                "status": "ok", "protocol": 1, "name": "bigquery-rs", "version": "0.9.0",
                "capabilities": [], "input": "rows"
            })
        }
        Some("make") => make(fake, request),
        Some("append") => append(fake, request).await,
        _ => return json!({"status": "unsupported"}),
    };
    match done {
        Ok(()) => json!({"status": "ok"}),
        Err(BigQueryError::DataConflictError(error)) => {
            json!({"status": "error", "message": error.to_string(), "code": "ALREADY_EXISTS"})
        }
        Err(error) => json!({"status": "error", "message": error.to_string()}),
    }
}

fn make(fake: &BigQueryFake, request: &Value) -> BigQueryResult<()> {
    let declared = columns(&request["columns"]);
    fake.table(table(request)?, |builder| builder.fields(declared))
        .rows(rows(&request["columns"], &request["rows"]))
        .read_streams(STREAMS)
        .create()
}

/// The fake's own client writes the rows: the fake has no call for rows of an existing table.
async fn append(fake: &BigQueryFake, request: &Value) -> BigQueryResult<()> {
    let more = rows(&request["columns"], &request["rows"]);
    fake.db().fluent().insert().into(table(request)?).objects(more).execute().await?;
    Ok(())
}

fn table(request: &Value) -> BigQueryResult<BigQueryTableRef> {
    let part = |name: &str| request[name].as_str().unwrap_or_default().to_string();
    format!("{}.{}.{}", part("project"), part("dataset"), part("table")).parse()
}
