//! The JSON form of the values that the suite's streams have: the stored value, read through the library's own arrays.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::Array;
use arrow_flight::error::FlightError;
use arrow_schema::DataType;
use serde_json::{json, Value};

/// The plain value of one slot; a dictionary-encoded slot has the value that it refers to.
pub fn plain(column: &dyn Array, row: usize) -> Result<Value, FlightError> {
    if column.is_null(row) {
        return Ok(Value::Null);
    }
    Ok(match column.data_type() {
        DataType::Int32 => json!(column.as_primitive::<Int32Type>().value(row)),
        DataType::Int64 => json!(column.as_primitive::<Int64Type>().value(row)),
        DataType::Float64 => json!({ "f64": format!("{:016x}", column.as_primitive::<Float64Type>().value(row).to_bits()) }),
        DataType::Utf8 => json!(column.as_string::<i32>().value(row)),
        DataType::Binary => binary(column.as_binary::<i32>().value(row)),
        DataType::Dictionary(_, _) => {
            let held = column.as_any_dictionary();
            let key = plain(held.keys(), row)?.as_u64().unwrap_or(u64::MAX);
            if key >= held.values().len() as u64 {
                return Err(FlightError::DecodeError(format!("the key {key} is outside the dictionary")));
            }
            plain(held.values(), key as usize)?
        }
        other => return Err(FlightError::NotYetImplemented(format!("no stream of the suite has the type {other}"))),
    })
}

pub fn binary(bytes: &[u8]) -> Value {
    json!({ "hex": bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>() })
}
