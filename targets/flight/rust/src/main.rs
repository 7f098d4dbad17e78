//! A Flight server on the crate arrow-flight, with the tables in memory: DoPut stores a table under the path of its
//! descriptor, and the path is also the ticket. Findings are about the crate unless they are about the lines below.
//!
//!     arrow-rs-flight ADDRESS

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use arrow_array::RecordBatch;
use arrow_flight::decode::{DecodedPayload, FlightDataDecoder};
use arrow_flight::encode::FlightDataEncoderBuilder;
use arrow_flight::error::FlightError;
use arrow_flight::flight_descriptor::DescriptorType;
use arrow_flight::flight_service_server::{FlightService, FlightServiceServer};
use arrow_flight::{
    Action, ActionType, Criteria, Empty, FlightData, FlightDescriptor, FlightEndpoint, FlightInfo, HandshakeRequest,
    HandshakeResponse, PollInfo, PutResult, SchemaAsIpc, SchemaResult, Ticket,
};
use arrow_ipc::writer::IpcWriteOptions;
use arrow_schema::SchemaRef;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server;
use tonic::{Request, Response, Status, Streaming};

type Answers<T> = BoxStream<'static, Result<T, Status>>;

#[derive(Clone)]
struct Table {
    descriptor: FlightDescriptor,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

#[derive(Clone, Default)]
struct Tables {
    by_ticket: Arc<Mutex<BTreeMap<String, Table>>>,
}

fn ticket_of(descriptor: &FlightDescriptor) -> Result<String, Status> {
    if descriptor.r#type != DescriptorType::Path as i32 || descriptor.path.is_empty() {
        return Err(Status::invalid_argument("a flight is named by a path"));
    }
    Ok(descriptor.path.join("\0"))
}

fn answer<T: Send + 'static>(items: Vec<Result<T, Status>>) -> Response<Answers<T>> {
    Response::new(stream::iter(items).boxed())
}

impl Tables {
    fn table(&self, ticket: &str) -> Result<Table, Status> {
        let tables = self.by_ticket.lock().unwrap();
        tables.get(ticket).cloned().ok_or_else(|| Status::not_found(format!("there is no table {ticket:?}")))
    }

    fn info(&self, ticket: &str) -> Result<FlightInfo, Status> {
        let table = self.table(ticket)?;
        let rows: usize = table.batches.iter().map(RecordBatch::num_rows).sum();
        let endpoint = FlightEndpoint::new().with_ticket(Ticket::new(ticket.to_owned()));
        FlightInfo::new()
            .try_with_schema(&table.schema)
            .map(|info| info.with_descriptor(table.descriptor).with_endpoint(endpoint).with_total_records(rows as i64))
            .map_err(|error| Status::internal(error.to_string()))
    }
}

#[tonic::async_trait]
impl FlightService for Tables {
    type HandshakeStream = Answers<HandshakeResponse>;
    type ListFlightsStream = Answers<FlightInfo>;
    type DoGetStream = Answers<FlightData>;
    type DoPutStream = Answers<PutResult>;
    type DoActionStream = Answers<arrow_flight::Result>;
    type ListActionsStream = Answers<ActionType>;
    type DoExchangeStream = Answers<FlightData>;

    async fn handshake(
        &self,
        _: Request<Streaming<HandshakeRequest>>,
    ) -> Result<Response<Self::HandshakeStream>, Status> {
        Err(Status::unimplemented("there is no login"))
    }

    async fn list_flights(&self, asked: Request<Criteria>) -> Result<Response<Self::ListFlightsStream>, Status> {
        let wanted = asked.into_inner().expression;
        let tickets: Vec<String> = self.by_ticket.lock().unwrap().keys().cloned().collect();
        let found = tickets.iter().filter(|ticket| ticket.as_bytes().starts_with(&wanted));
        Ok(answer(found.map(|ticket| self.info(ticket)).collect()))
    }

    async fn get_flight_info(&self, asked: Request<FlightDescriptor>) -> Result<Response<FlightInfo>, Status> {
        self.info(&ticket_of(&asked.into_inner())?).map(Response::new)
    }

    async fn poll_flight_info(&self, _: Request<FlightDescriptor>) -> Result<Response<PollInfo>, Status> {
        Err(Status::unimplemented("no query is polled"))
    }

    async fn get_schema(&self, asked: Request<FlightDescriptor>) -> Result<Response<SchemaResult>, Status> {
        let table = self.table(&ticket_of(&asked.into_inner())?)?;
        SchemaAsIpc::new(&table.schema, &IpcWriteOptions::default())
            .try_into()
            .map(Response::new)
            .map_err(|error: arrow_schema::ArrowError| Status::internal(error.to_string()))
    }

    async fn do_get(&self, asked: Request<Ticket>) -> Result<Response<Self::DoGetStream>, Status> {
        let ticket = String::from_utf8_lossy(&asked.into_inner().ticket).into_owned();
        let table = self.table(&ticket)?;
        let batches = stream::iter(table.batches.into_iter().map(Ok::<_, FlightError>));
        let data = FlightDataEncoderBuilder::new().with_schema(table.schema).build(batches);
        Ok(Response::new(data.map_err(Status::from).boxed()))
    }

    async fn do_put(&self, asked: Request<Streaming<FlightData>>) -> Result<Response<Self::DoPutStream>, Status> {
        let mut messages = FlightDataDecoder::new(asked.into_inner().map_err(FlightError::from));
        let mut results = Vec::new();
        let mut put: Option<(String, Table)> = None;
        while let Some(message) = messages.try_next().await? {
            match (message.payload, &mut put) {
                (DecodedPayload::Schema(schema), None) => {
                    let Some(descriptor) = message.inner.flight_descriptor else {
                        return Err(Status::invalid_argument("the first message has no descriptor"));
                    };
                    put = Some((ticket_of(&descriptor)?, Table { descriptor, schema, batches: Vec::new() }));
                }
                (DecodedPayload::RecordBatch(batch), Some((_, table))) => table.batches.push(batch),
                (DecodedPayload::None, _) => {}
                _ => return Err(Status::invalid_argument("a table has one schema, and it comes first")),
            }
            if !message.inner.app_metadata.is_empty() {
                results.push(Ok(PutResult { app_metadata: message.inner.app_metadata }));
            }
        }
        let Some((ticket, table)) = put else {
            return Err(Status::invalid_argument("no message has a schema"));
        };
        self.by_ticket.lock().unwrap().insert(ticket, table);
        Ok(answer(results))
    }

    async fn do_exchange(
        &self,
        _: Request<Streaming<FlightData>>,
    ) -> Result<Response<Self::DoExchangeStream>, Status> {
        Err(Status::unimplemented("there is no exchange"))
    }

    async fn list_actions(&self, _: Request<Empty>) -> Result<Response<Self::ListActionsStream>, Status> {
        let description = "Remove the table whose ticket is the body.".to_owned();
        Ok(answer(vec![Ok(ActionType { r#type: "drop_dataset".to_owned(), description })]))
    }

    async fn do_action(&self, asked: Request<Action>) -> Result<Response<Self::DoActionStream>, Status> {
        let asked = asked.into_inner();
        if asked.r#type != "drop_dataset" {
            return Err(Status::unimplemented(format!("there is no action {:?}", asked.r#type)));
        }
        let ticket = String::from_utf8_lossy(&asked.body).into_owned();
        self.table(&ticket)?;
        self.by_ticket.lock().unwrap().remove(&ticket);
        Ok(answer(Vec::new()))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).ok_or("expected an address")?;
    let listener = TcpListener::bind(address).await?;
    println!("{{\"event\": \"grpc.listen\", \"port\": {}}}", listener.local_addr()?.port());
    let service = FlightServiceServer::new(Tables::default());
    Server::builder().add_service(service).serve_with_incoming(TcpListenerStream::new(listener)).await?;
    Ok(())
}
