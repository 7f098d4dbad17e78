//! Reads the stream of the server in FLIGHT as users of the crate arrow-flight do: all batches, or with an argument
//! `decoder`, `batches` or `exchange`.

use arrow_array::{cast::AsArray, RecordBatch};
use arrow_flight::decode::DecodedPayload;
use arrow_flight::encode::FlightDataEncoderBuilder;
use arrow_flight::{error::Result, utils::flight_data_to_batches, FlightClient, FlightData, Ticket};
use futures::{stream, StreamExt, TryStreamExt};
use tonic::transport::Endpoint;

async fn read(how: &str) -> Result<Vec<RecordBatch>> {
    let address = format!("http://{}", std::env::var("FLIGHT").unwrap());
    let mut client = FlightClient::new(Endpoint::from_shared(address).unwrap().connect().await.unwrap());
    match how {
        "batches" => {
            let stream = client.inner_mut().do_get(Ticket::new("ticket")).await?.into_inner();
            let messages: Vec<FlightData> = stream.try_collect().await?;
            Ok(flight_data_to_batches(&messages)?)
        }
        "decoder" => {
            let mut decoder = client.do_get(Ticket::new("ticket")).await?.into_inner();
            let mut found = vec![];
            while let Some(data) = decoder.next().await {
                if let DecodedPayload::RecordBatch(batch) = data?.payload {
                    found.push(batch);
                }
            }
            Ok(found)
        }
        "exchange" => {
            let nothing = FlightDataEncoderBuilder::new().build(stream::empty());
            client.do_exchange(nothing).await?.try_collect().await
        }
        _ => client.do_get(Ticket::new("ticket")).await?.try_collect().await,
    }
}

#[tokio::main]
async fn main() {
    match read(&std::env::args().nth(1).unwrap_or_default()).await {
        Ok(batches) => {
            let texts = batches.iter().flat_map(|batch| batch.column(0).as_string::<i32>().iter());
            println!("{:?}", texts.flatten().collect::<Vec<_>>());
        }
        Err(error) => println!("error: {error}"),
    }
}
