//! The JSON form of values: what is stored in a slot, read through the accessors of the library's own arrays.
//!
//! The Rust programs on these crates share it.

use std::fmt::Display;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_schema::{ArrowError, DataType, IntervalUnit, TimeUnit};
use serde_json::{json, Value};

/// The largest number of values of one answer: a few bytes can declare any number, and a library may rely on them.
const MAX_VALUES: usize = 1 << 22;

/// The number of values that an answer may still have.
pub struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(MAX_VALUES)
    }
}

impl Budget {
    /// Must be called before so many values are made.
    pub fn spend(&mut self, count: usize) -> Result<(), ArrowError> {
        let left = self.0.checked_sub(count).ok_or_else(|| {
            ArrowError::ExternalError(format!("the library announces more than {MAX_VALUES} values").into())
        })?;
        self.0 = left;
        Ok(())
    }
}

/// The plain values of all slots.
pub fn items(held: &dyn Array, budget: &mut Budget) -> Result<Vec<Value>, ArrowError> {
    budget.spend(held.len())?;
    (0..held.len()).map(|item| plain(held, item, budget)).collect()
}

/// The plain value of one slot. A dictionary-encoded or run-end encoded slot has the value that it refers to, a union
/// that of its active child.
fn plain(column: &dyn Array, row: usize, budget: &mut Budget) -> Result<Value, ArrowError> {
    // What has no validity bitmap is never null by itself: the values that it refers to decide.
    if column.is_null(row) {
        return Ok(Value::Null);
    }
    Ok(match column.data_type() {
        DataType::Null => Value::Null,
        DataType::Boolean => json!(column.as_boolean().value(row)),
        DataType::Int8 => stored::<Int8Type>(column, row),
        DataType::Int16 => stored::<Int16Type>(column, row),
        DataType::Int32 => stored::<Int32Type>(column, row),
        DataType::Int64 => stored::<Int64Type>(column, row),
        DataType::UInt8 => stored::<UInt8Type>(column, row),
        DataType::UInt16 => stored::<UInt16Type>(column, row),
        DataType::UInt32 => stored::<UInt32Type>(column, row),
        DataType::UInt64 => stored::<UInt64Type>(column, row),
        DataType::Date32 => stored::<Date32Type>(column, row),
        DataType::Date64 => stored::<Date64Type>(column, row),
        DataType::Time32(TimeUnit::Second) => stored::<Time32SecondType>(column, row),
        DataType::Time32(TimeUnit::Millisecond) => stored::<Time32MillisecondType>(column, row),
        DataType::Time64(TimeUnit::Microsecond) => stored::<Time64MicrosecondType>(column, row),
        DataType::Time64(TimeUnit::Nanosecond) => stored::<Time64NanosecondType>(column, row),
        DataType::Timestamp(TimeUnit::Second, _) => stored::<TimestampSecondType>(column, row),
        DataType::Timestamp(TimeUnit::Millisecond, _) => stored::<TimestampMillisecondType>(column, row),
        DataType::Timestamp(TimeUnit::Microsecond, _) => stored::<TimestampMicrosecondType>(column, row),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => stored::<TimestampNanosecondType>(column, row),
        DataType::Duration(TimeUnit::Second) => stored::<DurationSecondType>(column, row),
        DataType::Duration(TimeUnit::Millisecond) => stored::<DurationMillisecondType>(column, row),
        DataType::Duration(TimeUnit::Microsecond) => stored::<DurationMicrosecondType>(column, row),
        DataType::Duration(TimeUnit::Nanosecond) => stored::<DurationNanosecondType>(column, row),
        DataType::Float16 => float(column.as_primitive::<Float16Type>().value(row).to_f64()),
        DataType::Float32 => float(column.as_primitive::<Float32Type>().value(row).into()),
        DataType::Float64 => float(column.as_primitive::<Float64Type>().value(row)),
        DataType::Decimal32(_, _) => decimal::<Decimal32Type>(column, row),
        DataType::Decimal64(_, _) => decimal::<Decimal64Type>(column, row),
        DataType::Decimal128(_, _) => decimal::<Decimal128Type>(column, row),
        DataType::Decimal256(_, _) => decimal::<Decimal256Type>(column, row),
        DataType::Interval(IntervalUnit::YearMonth) => {
            json!({ "months": column.as_primitive::<IntervalYearMonthType>().value(row) })
        }
        DataType::Interval(IntervalUnit::DayTime) => {
            let value = column.as_primitive::<IntervalDayTimeType>().value(row);
            json!({ "days": value.days, "ms": value.milliseconds })
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let value = column.as_primitive::<IntervalMonthDayNanoType>().value(row);
            json!({ "months": value.months, "days": value.days, "ns": value.nanoseconds })
        }
        DataType::Utf8 => json!(column.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => json!(column.as_string::<i64>().value(row)),
        DataType::Utf8View => json!(column.as_string_view().value(row)),
        DataType::Binary => binary(column.as_binary::<i32>().value(row)),
        DataType::LargeBinary => binary(column.as_binary::<i64>().value(row)),
        DataType::BinaryView => binary(column.as_binary_view().value(row)),
        DataType::FixedSizeBinary(_) => binary(column.as_fixed_size_binary().value(row)),
        DataType::List(_) => Value::Array(items(&column.as_list::<i32>().value(row), budget)?),
        DataType::LargeList(_) => Value::Array(items(&column.as_list::<i64>().value(row), budget)?),
        DataType::ListView(_) => Value::Array(items(&column.as_list_view::<i32>().value(row), budget)?),
        DataType::LargeListView(_) => Value::Array(items(&column.as_list_view::<i64>().value(row), budget)?),
        DataType::FixedSizeList(_, _) => Value::Array(items(&column.as_fixed_size_list().value(row), budget)?),
        DataType::Map(_, _) => {
            let entries = column.as_map().value(row);
            let (keys, values) = (items(entries.column(0), budget)?, items(entries.column(1), budget)?);
            let pairs = keys.into_iter().zip(values).map(|(key, value)| Value::Array(vec![key, value]));
            one("map", pairs.collect())
        }
        DataType::Struct(_) => {
            let fields = column.as_struct().columns();
            budget.spend(fields.len())?;
            one("struct", fields.iter().map(|field| plain(field, row, budget)).collect::<Result<_, _>>()?)
        }
        DataType::Union(_, _) => {
            let held = column.as_union();
            plain(held.child(held.type_id(row)), held.value_offset(row), budget)?
        }
        DataType::Dictionary(_, _) => {
            let held = column.as_any_dictionary();
            let key = plain(held.keys(), row, budget)?.as_u64().unwrap_or(u64::MAX);
            if key >= held.values().len() as u64 {
                return Err(ArrowError::ExternalError(format!("the key {key} is outside the dictionary").into()));
            }
            plain(held.values(), key as usize, budget)?
        }
        DataType::RunEndEncoded(_, _) => plain(column.as_any_ree().values(), run_of(column, row), budget)?,
        other => return Err(ArrowError::NotYetImplemented(format!("no array has the type {other}"))),
    })
}

/// The number of the run that a row of run-end encoded values is in.
pub fn run_of(column: &dyn Array, row: usize) -> usize {
    match column.data_type() {
        DataType::RunEndEncoded(ends, _) if *ends.data_type() == DataType::Int16 => {
            column.as_run::<Int16Type>().get_physical_index(row)
        }
        DataType::RunEndEncoded(ends, _) if *ends.data_type() == DataType::Int32 => {
            column.as_run::<Int32Type>().get_physical_index(row)
        }
        _ => column.as_run::<Int64Type>().get_physical_index(row),
    }
}

/// An integer, or a date or time as the integer that is stored.
fn stored<T: ArrowPrimitiveType>(column: &dyn Array, row: usize) -> Value
where
    T::Native: Into<Value>,
{
    column.as_primitive::<T>().value(row).into()
}

fn decimal<T: ArrowPrimitiveType>(column: &dyn Array, row: usize) -> Value
where
    T::Native: Display,
{
    json!({ "decimal": column.as_primitive::<T>().value(row).to_string() })
}

/// The bits of the value as float64, with one form for NaN.
fn float(value: f64) -> Value {
    let bits = if value.is_nan() { "nan".to_string() } else { format!("{:016x}", value.to_bits()) };
    json!({ "f64": bits })
}

/// An object of one member; its values are moved, because those of the macro are copied at each level.
fn one(name: &str, values: Vec<Value>) -> Value {
    Value::Object([(name.to_string(), Value::Array(values))].into_iter().collect())
}

pub fn binary(bytes: &[u8]) -> Value {
    json!({ "hex": bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>() })
}
