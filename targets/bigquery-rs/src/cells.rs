//! The columns and rows of a request in the forms that the crate takes: column declarations, and rows of serde.

use base64::prelude::{Engine, BASE64_STANDARD};
use bigquery::{BigQueryRangeElementType, BigQuerySchemaColumn, BigQuerySchemaColumnsBuilder};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

pub fn columns(declared: &Value) -> Vec<BigQuerySchemaColumn> {
    list(declared).iter().map(column).collect()
}

fn column(declared: &Value) -> BigQuerySchemaColumn {
    let number = |name: &str| declared[name].as_u64();
    let digits = |name: &str| number(name).and_then(|digits| u8::try_from(digits).ok());
    let named = BigQuerySchemaColumnsBuilder.field(text(&declared["name"]));
    let typed = match declared["type"].as_str().unwrap_or_default() {
        "INT64" => named.int64(),
        "FLOAT64" => named.float64(),
        "BOOL" => named.bool(),
        "STRING" => match number("max_length") {
            Some(length) => named.string_with_max_length(length),
            None => named.string(),
        },
        "BYTES" => match number("max_length") {
            Some(length) => named.bytes_with_max_length(length),
            None => named.bytes(),
        },
        "NUMERIC" => match digits("precision") {
            Some(precision) => named.numeric_with(precision, digits("scale").unwrap_or(0)),
            None => named.numeric(),
        },
        "BIGNUMERIC" => match digits("precision") {
            Some(precision) => named.bignumeric_with(precision, digits("scale").unwrap_or(0)),
            None => named.bignumeric(),
        },
        "DATE" => named.date(),
        "TIME" => named.time(),
        "DATETIME" => named.datetime(),
        "TIMESTAMP" => named.timestamp(),
        "GEOGRAPHY" => named.geography(),
        "JSON" => named.json(),
        "INTERVAL" => named.interval(),
        "RANGE" => named.range(match declared["range_of"].as_str() {
            Some("DATE") => BigQueryRangeElementType::Date,
            Some("DATETIME") => BigQueryRangeElementType::DateTime,
            _ => BigQueryRangeElementType::Timestamp,
        }),
        "RECORD" => named.record(|_| columns(&declared["fields"])),
        _ => named, // without a type: the crate refuses the column, and its error says so
    };
    match declared["mode"].as_str() {
        Some("REQUIRED") => typed.required(),
        Some("REPEATED") => typed.repeated(),
        _ => typed,
    }
}

/// One value in the form in which the crate's encoder takes the type of its column.
pub enum Cell {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
    Json(Value),
    List(Vec<Cell>),
    Record(Vec<(String, Cell)>),
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Cell::Null => to.serialize_none(),
            Cell::Bool(value) => to.serialize_bool(*value),
            Cell::Int(value) => to.serialize_i64(*value),
            Cell::Float(value) => to.serialize_f64(*value),
            Cell::Text(value) => to.serialize_str(value),
            Cell::Bytes(value) => to.serialize_bytes(value),
            Cell::Json(value) => value.serialize(to),
            Cell::List(items) => to.collect_seq(items),
            Cell::Record(fields) => {
                let mut map = to.serialize_map(Some(fields.len()))?;
                for (name, value) in fields {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}

pub fn rows(declared: &Value, given: &Value) -> Vec<Cell> {
    list(given).iter().map(|row| record(declared, row)).collect()
}

fn record(declared: &Value, row: &Value) -> Cell {
    let field = |column: &Value| {
        let name = text(&column["name"]);
        let value = cell(column, &row[&name]);
        (name, value)
    };
    Cell::Record(list(declared).iter().map(field).collect())
}

fn cell(column: &Value, value: &Value) -> Cell {
    match column["mode"].as_str() {
        Some("REPEATED") => Cell::List(list(value).iter().map(|item| scalar(column, item)).collect()),
        _ => scalar(column, value),
    }
}

fn scalar(column: &Value, value: &Value) -> Cell {
    if value.is_null() {
        return Cell::Null;
    }
    match column["type"].as_str().unwrap_or_default() {
        "BOOL" => value.as_bool().map_or(Cell::Null, Cell::Bool),
        "INT64" => value.as_i64().map_or_else(|| Cell::Text(text(value)), Cell::Int),
        "FLOAT64" => Cell::Float(text(value).parse().unwrap_or(f64::NAN)),
        "BYTES" => BASE64_STANDARD.decode(text(value)).map_or(Cell::Null, Cell::Bytes),
        "JSON" => serde_json::from_str(&text(value)).map_or(Cell::Null, json),
        "INTERVAL" => Cell::Text(interval(value)),
        "RANGE" => {
            let end = |name: &str| match &value[name] {
                Value::Null => Cell::Null,
                bound => Cell::Text(text(bound)),
            };
            Cell::Record(vec![("start".into(), end("start")), ("end".into(), end("end"))])
        }
        "RECORD" => record(&column["fields"], value),
        _ => Cell::Text(text(value)),
    }
}

/// The crate takes a text in a JSON column for the text of JSON, and every other value for the value.
fn json(value: Value) -> Cell {
    match value {
        Value::String(_) => Cell::Text(value.to_string()),
        other => Cell::Json(other),
    }
}

/// Months, days and microseconds as `Y-M D H:M:S.F`, each part with its own sign.
fn interval(value: &Value) -> String {
    let part = |name: &str| {
        let number = value[name].as_i64().unwrap_or(0);
        (if number < 0 { "-" } else { "" }, number.unsigned_abs())
    };
    let ((sign, months), (day_sign, days), (time_sign, micros)) = (part("months"), part("days"), part("micros"));
    let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
    let clock = format!("{}:{}:{}.{fraction:06}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{sign}{}-{} {day_sign}{days} {time_sign}{clock}", months / 12, months % 12)
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
