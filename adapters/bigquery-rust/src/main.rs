//! Client of the crate gcloud-bigquery: reads tables of a server on the loopback interface for the suite.
//!
//! Built by `python -m adapters bigquery-rust`. Standard input has one JSON request per line, standard output one JSON
//! answer per line. The path `rows` is `Client::read_table` with a row type of its own, which takes the values from the
//! Arrow arrays that the client gives to every row type. The client gives no names of columns to it: they come from
//! `tables.get`. A panic becomes an answer with `panicked`.

use std::io::{self, BufRead, Write};

use google_cloud_bigquery::client::{Client, ClientConfig, ReadTableOption};
use google_cloud_bigquery::http::table::TableReference;
use google_cloud_bigquery::storage::array::{Array, ArrayRef, AsArray};
use google_cloud_bigquery::storage::datatypes::{
    DataType, Date32Type, Decimal128Type, Decimal256Type, Float64Type, Int64Type, IntervalMonthDayNanoType,
    IntervalUnit, Time64MicrosecondType, TimeUnit, TimestampMicrosecondType,
};
use google_cloud_bigquery::storage::value::{Error as ValueError, StructDecodable};
use google_cloud_bigquery::storage::Error;
use google_cloud_googleapis::cloud::bigquery::storage::v1::read_session::TableReadOptions;
use serde_json::{json, Value};

/// The largest number of values of one answer: a few bytes can declare any number, and a library may rely on them.
const MAX_VALUES: usize = 1 << 22;

struct Row(Vec<Value>);

impl StructDecodable for Row {
    fn decode_arrow(fields: &[ArrayRef], row: usize) -> Result<Self, ValueError> {
        fields.iter().map(|column| plain(column.as_ref(), row)).collect::<Result<_, _>>().map(Row)
    }
}

/// The plain value of one slot.
fn plain(column: &dyn Array, row: usize) -> Result<Value, ValueError> {
    if column.is_null(row) {
        return Ok(Value::Null);
    }
    Ok(match column.data_type() {
        DataType::Boolean => json!(column.as_boolean().value(row)),
        DataType::Int64 => json!(column.as_primitive::<Int64Type>().value(row)),
        DataType::Float64 => float(column.as_primitive::<Float64Type>().value(row)),
        DataType::Utf8 => json!(column.as_string::<i32>().value(row)),
        DataType::Binary => json!({ "hex": hex(column.as_binary::<i32>().value(row)) }),
        DataType::Date32 => json!(column.as_primitive::<Date32Type>().value(row)),
        DataType::Time64(TimeUnit::Microsecond) => json!(column.as_primitive::<Time64MicrosecondType>().value(row)),
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            json!(column.as_primitive::<TimestampMicrosecondType>().value(row))
        }
        DataType::Decimal128(_, _) => {
            json!({ "decimal": column.as_primitive::<Decimal128Type>().value(row).to_string() })
        }
        DataType::Decimal256(_, _) => {
            json!({ "decimal": column.as_primitive::<Decimal256Type>().value(row).to_string() })
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let value = column.as_primitive::<IntervalMonthDayNanoType>().value(row);
            json!({ "months": value.months, "days": value.days, "ns": value.nanoseconds })
        }
        DataType::List(_) => {
            let items = column.as_list::<i32>().value(row);
            (0..items.len()).map(|item| plain(items.as_ref(), item)).collect::<Result<_, _>>().map(Value::Array)?
        }
        DataType::Struct(_) => {
            let fields = column.as_struct().columns().iter();
            json!({ "struct": fields.map(|field| plain(field.as_ref(), row)).collect::<Result<Vec<_>, _>>()? })
        }
        other => return Err(ValueError::InvalidDataType(other.clone(), "a type of BigQuery")),
    })
}

fn float(value: f64) -> Value {
    let bits = if value.is_nan() { "nan".to_string() } else { format!("{:016x}", value.to_bits()) };
    json!({ "f64": bits })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn failure(class: &str, message: String) -> Value {
    json!({ "status": "error", "class": class, "message": message })
}

fn error(found: Error) -> Value {
    match &found {
        Error::GRPC(status) => failure(&format!("{:?}", status.code()), status.message().to_string()),
        Error::ArrowNative(_) => failure("ArrowError", found.to_string()),
        _ => failure("storage::Error", found.to_string()),
    }
}

async fn fetch(asked: Value) -> Value {
    let text = |key: &str| asked[key].as_str().unwrap_or_default().to_string();
    let name = text("table");
    let parts: Vec<&str> = name.split('/').collect();
    let [_, project, _, dataset, _, table] = parts[..] else {
        return failure("request", format!("expected projects/P/datasets/D/tables/T but got {name}"));
    };
    let selected: Vec<String> =
        asked["columns"].as_array().into_iter().flatten().filter_map(|one| one.as_str().map(str::to_string)).collect();
    if selected.iter().any(|column| column.contains('.')) {
        return json!({ "status": "unsupported", "message": "the names of nested columns are not known here" });
    }
    let config = ClientConfig::new_with_emulator(&text("grpc"), text("rest"));
    let client = match Client::new(config).await {
        Ok(client) => client,
        Err(found) => return failure("Client::new", found.to_string()),
    };
    let described = match client.table().get(project, dataset, table).await {
        Ok(described) => described,
        Err(found) => return failure("http::error::Error", found.to_string()),
    };
    // The order of the table, whatever the order of the selection.
    let fields = described.schema.map(|schema| schema.fields).unwrap_or_default();
    let wanted = |field: &str| selected.is_empty() || selected.iter().any(|one| one.eq_ignore_ascii_case(field));
    let names: Vec<String> = fields.iter().map(|field| field.name.clone()).filter(|field| wanted(field)).collect();
    let reference =
        TableReference { project_id: project.into(), dataset_id: dataset.into(), table_id: table.into() };
    let options = TableReadOptions {
        selected_fields: selected.clone(),
        row_restriction: text("restriction"),
        ..Default::default()
    };
    let option = ReadTableOption::default().with_session_read_options(options);
    let mut rows = match client.read_table::<Row>(&reference, Some(option)).await {
        Ok(rows) => rows,
        Err(found) => return error(found),
    };
    let mut columns: Vec<Vec<Value>> = vec![vec![]; names.len()];
    let mut count = 0;
    loop {
        match rows.next().await {
            Ok(Some(Row(values))) => {
                count += 1;
                if values.len() != names.len() || count * names.len().max(1) > MAX_VALUES {
                    let message = format!("{} values in row {count} of {} columns", values.len(), names.len());
                    return json!({ "status": "error", "class": "rows", "message": message, "stage": "values" });
                }
                columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
            }
            Ok(None) => break,
            Err(found) => return error(found),
        }
    }
    json!({ "status": "ok", "names": names, "rows": count, "columns": columns })
}

fn hello() -> Value {
    json!({
        "status": "ok", "protocol": 1, "implementation": "bigquery-rust", "title": "gcloud-bigquery",
        "language": "Rust", "version": env!("CLIENT_VERSION"), "reads": [], "writes": [], "paths": ["rows"],
    })
}

/// The answer to a request; each read runs in a task of its own, so that a panic ends the task alone.
async fn respond(asked: Value) -> Value {
    match asked["op"].as_str() {
        Some("hello") => hello(),
        Some("fetch") if asked["path"] == "rows" => match tokio::spawn(fetch(asked)).await {
            Ok(made) => made,
            Err(ended) => {
                let mut made = failure("panic", "the client panicked".to_string());
                if let Ok(thrown) = ended.try_into_panic() {
                    let text = thrown.downcast_ref::<String>().cloned();
                    let text = text.or_else(|| thrown.downcast_ref::<&str>().map(|one| one.to_string()));
                    made["message"] = json!(text.unwrap_or_else(|| "a panic without a text".to_string()));
                }
                made["panicked"] = json!(true);
                made
            }
        },
        _ => json!({ "status": "unsupported", "message": "there is no such operation or path" }),
    }
}

#[tokio::main]
async fn main() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let asked: Value = serde_json::from_str(&line?)?;
        let id = asked["id"].clone();
        let mut made = respond(asked).await;
        made["id"] = id;
        let mut answers = io::stdout().lock();
        writeln!(answers, "{made}")?;
        answers.flush()?;
    }
    Ok(())
}
