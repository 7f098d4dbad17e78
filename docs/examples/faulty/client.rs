//! Reads the table p.d.t of the servers in GRPC and REST as users of the crate gcloud-bigquery do: row by row.

use google_cloud_bigquery::client::{Client, ClientConfig};
use google_cloud_bigquery::http::table::TableReference;
use google_cloud_bigquery::storage::{row::Row, Error};
use std::{env::var, time::Duration};

async fn read() -> Result<(), Error> {
    let config = ClientConfig::new_with_emulator(&var("GRPC").unwrap(), var("REST").unwrap());
    let client = Client::new(config).await.unwrap();
    let table = TableReference { project_id: "p".into(), dataset_id: "d".into(), table_id: "t".into() };
    let mut rows = client.read_table::<Row>(&table, None).await?;
    while let Some(row) = rows.next().await? {
        println!("{:?}", row.column::<Option<String>>(0));
    }
    Ok(())
}

#[tokio::main]
async fn main() {
    match tokio::time::timeout(Duration::from_secs(30), read()).await {
        Ok(Ok(())) => println!("no more rows"),
        Ok(Err(error)) => println!("error: {error}"),
        Err(_) => println!("still running"),
    }
}
