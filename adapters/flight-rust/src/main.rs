//! Flight client of the crate arrow-flight: makes the calls of one path against a server of the suite, and gives back
//! what came.
//!
//! Built by `python -m adapters flight-rust`. Standard input has one JSON request per line, standard output one JSON
//! answer per line. Each path is one way in which a program can read with the library; nothing is repaired. A panic that
//! leaves the library is an error with `panicked`.

#[path = "../../rust/plain.rs"]
mod plain;

use std::collections::HashMap;
use std::future::Future;
use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::time::Duration;

use arrow_array::{Int64Array, RecordBatch};
use arrow_buffer::Buffer;
use arrow_flight::decode::{DecodedPayload, FlightRecordBatchStream};
use arrow_flight::encode::{FlightDataEncoder, FlightDataEncoderBuilder};
use arrow_flight::error::{FlightError, Result};
use arrow_flight::flight_service_client::FlightServiceClient;
use arrow_flight::sql::client::FlightSqlServiceClient;
use arrow_flight::utils::{batches_to_flight_data, flight_data_to_arrow_batch, flight_data_to_batches};
use arrow_flight::{Action, FlightClient, FlightData, FlightDescriptor, FlightEndpoint, FlightInfo, PutResult, Ticket};
use arrow_ipc::reader::read_dictionary;
use arrow_ipc::root_as_message;
use arrow_schema::{ArrowError, Schema};
use futures::{stream, Stream, StreamExt, TryStreamExt};
use serde_json::{json, Value};
use tonic::transport::{Channel, Endpoint};

use plain::{binary, items, Budget};

const REUSE: &str = "arrow-flight-reuse-connection://?";
/// The deadline of a call, which tonic keeps until the answer begins.
const DEADLINE: Duration = Duration::from_secs(10);

/// The paths by name.
const PATHS: [&str; 22] = [
    "collect", "next", "decoder", "batches", "messages", "sql", "metadata", "flight", "sql-flight", "poll", "put",
    "put-messages", "sql-put", "exchange", "exchange-batches", "exchange-metadata", "action", "sql-action",
    "list-flights", "list-actions", "schema", "handshake",
];

/// An answer under construction, column by column.
#[derive(Default)]
struct Table {
    names: Vec<String>,
    types: Vec<String>,
    columns: Vec<Vec<Value>>,
    rows: usize,
    budget: Budget,
}

impl Table {
    fn of(name: &str, values: Vec<Value>) -> Self {
        let (names, types, rows) = (vec![name.into()], vec![String::new()], values.len());
        Self { names, types, columns: vec![values], rows, ..Self::default() }
    }

    fn schema(&mut self, schema: &Schema) {
        if self.names.is_empty() {
            self.names = schema.fields().iter().map(|field| field.name().clone()).collect();
            self.types = schema.fields().iter().map(|field| field.data_type().to_string()).collect();
            self.columns = vec![vec![]; self.names.len()];
        }
    }

    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        self.schema(&batch.schema());
        self.rows += batch.num_rows();
        if batch.num_columns() != self.columns.len() {
            return Err(FlightError::DecodeError(format!("{} columns in row {}", batch.num_columns(), self.rows)));
        }
        for (values, column) in self.columns.iter_mut().zip(batch.columns()) {
            values.extend(items(column, &mut self.budget)?);
        }
        Ok(())
    }

    fn add_all(&mut self, batches: &[RecordBatch]) -> Result<()> {
        batches.iter().try_for_each(|batch| self.add(batch))
    }
}

/// What is asked: the address of the server, and the name of everything.
#[derive(Clone)]
struct Asked {
    address: String,
    name: String,
}

impl Asked {
    async fn channel(&self) -> Result<Channel> {
        connect(&self.address).await
    }

    async fn client(&self) -> Result<FlightClient> {
        self.channel().await.map(FlightClient::new)
    }

    async fn raw(&self) -> Result<FlightServiceClient<Channel>> {
        self.channel().await.map(FlightServiceClient::new)
    }

    async fn sql(&self) -> Result<FlightSqlServiceClient<Channel>> {
        self.channel().await.map(FlightSqlServiceClient::new)
    }

    fn ticket(&self) -> Ticket {
        Ticket::new(self.name.clone())
    }

    fn descriptor(&self) -> FlightDescriptor {
        FlightDescriptor::new_path(vec![self.name.clone()])
    }

    async fn get(&self) -> Result<FlightRecordBatchStream> {
        self.client().await?.do_get(self.ticket()).await
    }

    /// The upload as the library's encoder writes it.
    fn encoded(&self) -> FlightDataEncoder {
        let builder = FlightDataEncoderBuilder::new().with_flight_descriptor(Some(self.descriptor()));
        builder.build(stream::iter([Ok(uploaded())]))
    }

    /// The upload as the library's function makes it; the descriptor is left to the program.
    fn messages(&self) -> Result<impl Stream<Item = FlightData>> {
        let batch = uploaded();
        let mut made = batches_to_flight_data(&batch.schema(), [&batch])?;
        made[0].flight_descriptor = Some(self.descriptor());
        Ok(stream::iter(made))
    }
}

async fn connect(address: &str) -> Result<Channel> {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).map_err(foreign)?;
    endpoint.timeout(DEADLINE).connect().await.map_err(foreign)
}

fn foreign(error: tonic::transport::Error) -> FlightError {
    FlightError::from_external_error(Box::new(error))
}

fn undecodable(error: impl std::fmt::Display) -> FlightError {
    FlightError::DecodeError(error.to_string())
}

/// What a path for DoPut or DoExchange writes.
fn uploaded() -> RecordBatch {
    RecordBatch::try_from_iter([("number", Arc::new(Int64Array::from(vec![1, 2, 3])) as _)]).expect("one column")
}

/// All batches of a stream at once.
async fn collected(mut stream: FlightRecordBatchStream, made: &mut Table) -> Result<()> {
    let batches: Vec<RecordBatch> = (&mut stream).try_collect().await?;
    if let Some(schema) = stream.schema() {
        made.schema(schema);
    }
    made.add_all(&batches)
}

async fn collect(asked: Asked) -> Result<Table> {
    let mut made = Table::default();
    collected(asked.get().await?, &mut made).await?;
    Ok(made)
}

async fn next(asked: Asked) -> Result<Table> {
    let (mut made, mut stream) = (Table::default(), asked.get().await?);
    while let Some(batch) = stream.next().await {
        made.add(&batch?)?;
    }
    if let Some(schema) = stream.schema() {
        made.schema(schema);
    }
    Ok(made)
}

async fn decoder(asked: Asked) -> Result<Table> {
    let (mut made, mut decoder) = (Table::default(), asked.get().await?.into_inner());
    let mut of: Option<Arc<Schema>> = None;
    while let Some(data) = decoder.next().await {
        match data?.payload {
            // The decoder goes on with another schema, and leaves it to the program what that means.
            DecodedPayload::Schema(schema) if of.as_ref().is_some_and(|known| *known != schema) => {
                return Err(FlightError::protocol("the program reads one schema, and another one came"));
            }
            DecodedPayload::Schema(schema) => {
                made.schema(&schema);
                of = Some(schema);
            }
            DecodedPayload::RecordBatch(batch) => made.add(&batch)?,
            DecodedPayload::None => {}
        }
    }
    Ok(made)
}

/// A table of all messages at once.
fn of_messages(messages: &[FlightData]) -> Result<Table> {
    let mut made = Table::default();
    let batches = flight_data_to_batches(messages)?;
    made.schema(&Schema::try_from(&messages[0])?);
    made.add_all(&batches)?;
    Ok(made)
}

async fn batches(asked: Asked) -> Result<Table> {
    let stream = asked.raw().await?.do_get(asked.ticket()).await?.into_inner();
    let messages: Vec<FlightData> = stream.try_collect().await?;
    of_messages(&messages)
}

async fn messages(asked: Asked) -> Result<Table> {
    let mut made = Table::default();
    let mut stream = asked.raw().await?.do_get(asked.ticket()).await?.into_inner();
    let first = stream.message().await?.ok_or_else(|| FlightError::protocol("there is no schema"))?;
    let schema = Arc::new(Schema::try_from(&first)?);
    made.schema(&schema);
    let mut dictionaries = HashMap::new();
    while let Some(data) = stream.message().await? {
        let message = root_as_message(&data.data_header).map_err(undecodable)?;
        if let Some(dictionary) = message.header_as_dictionary_batch() {
            let body = Buffer::from(data.data_body.as_ref());
            read_dictionary(&body, dictionary, &schema, &mut dictionaries, &message.version())?;
        } else {
            made.add(&flight_data_to_arrow_batch(&data, schema.clone(), &dictionaries)?)?;
        }
    }
    Ok(made)
}

async fn sql(asked: Asked) -> Result<Table> {
    let mut made = Table::default();
    collected(asked.sql().await?.do_get(asked.ticket()).await?, &mut made).await?;
    Ok(made)
}

/// The metadata of each message that the decoder shows.
async fn shown(stream: FlightRecordBatchStream) -> Result<Table> {
    let found: Vec<Value> = stream
        .into_inner()
        .try_filter_map(|data| async move {
            let held = &data.inner.app_metadata;
            Ok((!held.is_empty()).then(|| binary(held)))
        })
        .try_collect()
        .await?;
    Ok(Table::of("app_metadata", found))
}

async fn metadata(asked: Asked) -> Result<Table> {
    shown(asked.get().await?).await
}

/// The data of an endpoint at the first of its locations that can be used.
async fn redeem(channel: &Channel, endpoint: &FlightEndpoint, sql: bool) -> Result<FlightRecordBatchStream> {
    let ticket = endpoint.ticket.clone().ok_or_else(|| FlightError::protocol("an endpoint without a ticket"))?;
    let mut uris: Vec<&str> = endpoint.location.iter().map(|location| location.uri.as_str()).collect();
    if uris.is_empty() {
        uris.push(REUSE);
    }
    let mut last = None;
    for uri in uris {
        let at = match uri {
            "" | REUSE => Ok(channel.clone()),
            _ => match uri.strip_prefix("grpc+tcp://") {
                Some(address) => connect(address).await,
                None => Err(FlightError::protocol(format!("no way to {uri}"))),
            },
        };
        let got = match at {
            Ok(at) if sql => FlightSqlServiceClient::new(at).do_get(ticket.clone()).await,
            Ok(at) => FlightClient::new(at).do_get(ticket.clone()).await,
            Err(error) => Err(error),
        };
        match got {
            Ok(stream) => return Ok(stream),
            Err(error) => last = Some(error),
        }
    }
    Err(last.expect("there is a location"))
}

async fn endpoints(channel: Channel, info: FlightInfo, sql: bool) -> Result<Table> {
    let mut made = Table::default();
    for endpoint in &info.endpoint {
        collected(redeem(&channel, endpoint, sql).await?, &mut made).await?;
    }
    Ok(made)
}

async fn flight(asked: Asked) -> Result<Table> {
    let channel = asked.channel().await?;
    let info = FlightClient::new(channel.clone()).get_flight_info(asked.descriptor()).await?;
    endpoints(channel, info, false).await
}

async fn sql_flight(asked: Asked) -> Result<Table> {
    let channel = asked.channel().await?;
    let info = FlightSqlServiceClient::new(channel.clone()).execute(asked.name, None).await?;
    endpoints(channel, info, true).await
}

async fn poll(asked: Asked) -> Result<Table> {
    let channel = asked.channel().await?;
    let mut client = FlightClient::new(channel.clone());
    let mut descriptor = asked.descriptor();
    loop {
        let polled = client.poll_flight_info(descriptor).await?;
        match (polled.flight_descriptor, polled.info) {
            (Some(later), _) => descriptor = later,
            (None, Some(info)) => return endpoints(channel, info, false).await,
            (None, None) => return Err(FlightError::protocol("the query has ended without an info")),
        }
    }
}

/// One value of each message of a stream.
async fn each<T, E>(
    name: &str, messages: impl Stream<Item = std::result::Result<T, E>>, value: impl Fn(T) -> Value,
) -> Result<Table>
where
    FlightError: From<E>,
{
    let found: Vec<Value> = messages.map_ok(value).try_collect().await?;
    Ok(Table::of(name, found))
}

fn result(one: PutResult) -> Value {
    binary(&one.app_metadata)
}

async fn put(asked: Asked) -> Result<Table> {
    each("app_metadata", asked.client().await?.do_put(asked.encoded()).await?, result).await
}

async fn put_messages(asked: Asked) -> Result<Table> {
    each("app_metadata", asked.raw().await?.do_put(asked.messages()?).await?.into_inner(), result).await
}

async fn sql_put(asked: Asked) -> Result<Table> {
    each("app_metadata", asked.sql().await?.do_put(asked.messages()?).await?, result).await
}

async fn exchange(asked: Asked) -> Result<Table> {
    let mut made = Table::default();
    collected(asked.client().await?.do_exchange(asked.encoded()).await?, &mut made).await?;
    Ok(made)
}

async fn exchange_batches(asked: Asked) -> Result<Table> {
    let stream = asked.raw().await?.do_exchange(asked.messages()?).await?.into_inner();
    let messages: Vec<FlightData> = stream.try_collect().await?;
    of_messages(&messages)
}

async fn exchange_metadata(asked: Asked) -> Result<Table> {
    shown(asked.client().await?.do_exchange(asked.encoded()).await?).await
}

async fn action(asked: Asked) -> Result<Table> {
    let results = asked.client().await?.do_action(Action::new(asked.name, "")).await?;
    each("body", results, |body| binary(&body)).await
}

async fn sql_action(asked: Asked) -> Result<Table> {
    let results = asked.sql().await?.do_action(Action::new(asked.name, "")).await?;
    each("body", results, |one| binary(&one.body)).await
}

async fn list_flights(asked: Asked) -> Result<Table> {
    let path = |one: FlightInfo| json!(one.flight_descriptor.unwrap_or_default().path.join("/"));
    each("path", asked.client().await?.list_flights("").await?, path).await
}

async fn list_actions(asked: Asked) -> Result<Table> {
    each("type", asked.client().await?.list_actions().await?, |one| json!(one.r#type)).await
}

async fn schema(asked: Asked) -> Result<Table> {
    let found = asked.client().await?.get_schema(asked.descriptor()).await?;
    Ok(Table::of("name", found.fields().iter().map(|field| json!(field.name())).collect()))
}

async fn handshake(asked: Asked) -> Result<Table> {
    let token = asked.client().await?.handshake("password").await?;
    Ok(Table::of("token", vec![binary(&token)]))
}

/// The answer of a path; it runs in a task of its own, so that a panic ends the task alone.
async fn answer(path: impl Future<Output = Result<Table>> + Send + 'static) -> Value {
    match tokio::spawn(path).await {
        Ok(Ok(made)) => json!({
            "status": "ok", "names": made.names, "types": made.types, "rows": made.rows, "columns": made.columns,
        }),
        Ok(Err(found)) => error(&found),
        Err(ended) => {
            let thrown = ended.into_panic();
            let text = thrown.downcast_ref::<String>().cloned();
            let text = text.or_else(|| thrown.downcast_ref::<&str>().map(|one| one.to_string()));
            let text = text.unwrap_or_else(|| "a panic without a text".into());
            json!({ "status": "error", "class": "panic", "message": text, "panicked": true })
        }
    }
}

/// An error, named by its status code if it has one, else by its kind.
fn error(found: &FlightError) -> Value {
    let class = match found {
        FlightError::Tonic(status) => format!("{:?}", status.code()),
        FlightError::Arrow(ArrowError::ExternalError(_)) => "ExternalError".into(),
        FlightError::Arrow(_) => "ArrowError".into(),
        FlightError::NotYetImplemented(_) => "NotYetImplemented".into(),
        FlightError::ProtocolError(_) => "ProtocolError".into(),
        FlightError::DecodeError(_) => "DecodeError".into(),
        FlightError::ExternalError(_) => "ExternalError".into(),
    };
    json!({ "status": "error", "class": class, "message": found.to_string() })
}

fn hello() -> Value {
    json!({
        "status": "ok", "protocol": 1, "implementation": "flight-rust", "title": "arrow-flight",
        "language": "Rust", "version": env!("CLIENT_VERSION"), "reads": [], "writes": [], "paths": PATHS,
    })
}

async fn respond(request: &Value) -> Value {
    let text = |key: &str| request[key].as_str().unwrap_or_default().to_string();
    let asked = Asked { address: text("grpc"), name: text("name") };
    match (text("op").as_str(), text("path").as_str()) {
        ("hello", _) => hello(),
        ("flight", "collect") => answer(collect(asked)).await,
        ("flight", "next") => answer(next(asked)).await,
        ("flight", "decoder") => answer(decoder(asked)).await,
        ("flight", "batches") => answer(batches(asked)).await,
        ("flight", "messages") => answer(messages(asked)).await,
        ("flight", "sql") => answer(sql(asked)).await,
        ("flight", "metadata") => answer(metadata(asked)).await,
        ("flight", "flight") => answer(flight(asked)).await,
        ("flight", "sql-flight") => answer(sql_flight(asked)).await,
        ("flight", "poll") => answer(poll(asked)).await,
        ("flight", "put") => answer(put(asked)).await,
        ("flight", "put-messages") => answer(put_messages(asked)).await,
        ("flight", "sql-put") => answer(sql_put(asked)).await,
        ("flight", "exchange") => answer(exchange(asked)).await,
        ("flight", "exchange-batches") => answer(exchange_batches(asked)).await,
        ("flight", "exchange-metadata") => answer(exchange_metadata(asked)).await,
        ("flight", "action") => answer(action(asked)).await,
        ("flight", "sql-action") => answer(sql_action(asked)).await,
        ("flight", "list-flights") => answer(list_flights(asked)).await,
        ("flight", "list-actions") => answer(list_actions(asked)).await,
        ("flight", "schema") => answer(schema(asked)).await,
        ("flight", "handshake") => answer(handshake(asked)).await,
        _ => json!({ "status": "unsupported", "message": "there is no such operation or path" }),
    }
}

#[tokio::main]
async fn main() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let mut made = respond(&request).await;
        made["id"] = request["id"].clone();
        let mut answers = io::stdout().lock();
        writeln!(answers, "{made}")?;
        answers.flush()?;
    }
    Ok(())
}
