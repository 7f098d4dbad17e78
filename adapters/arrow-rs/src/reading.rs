//! Reading: each reader of the crate arrow-ipc, and what a program can do with the rows before it looks at them.

use std::fs::{remove_file, File};
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{Array, RecordBatch, RecordBatchIterator, RecordBatchReader, UInt64Array};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{read_footer_length, FileDecoder, FileReader, StreamDecoder, StreamReader};
use arrow_ipc::{root_as_footer, Block};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use bytes::Bytes;
use memmap2::Mmap;
use serde_json::{json, Value};

use crate::plain::{items, run_of, Budget};
use crate::writing::slices;
use crate::{lacks, said, text, Stage};

/// The most differences that are noted of one answer, and the most characters of a value in one.
const MOST: usize = 5;
const SHOWN: usize = 80;

/// What was read.
type Rows = (SchemaRef, Vec<RecordBatch>);

pub fn read(kind: &str, data: Vec<u8>, options: &Value, stage: &Stage) -> Result<Value, ArrowError> {
    let (schema, batches) = decoded(kind, data, options)?;
    stage.set("values");
    let columns = values(&schema, &batches)?;
    let mut made = json!({
        "status": "ok",
        "names": schema.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>(),
        "types": schema.fields().iter().map(|field| field.data_type().to_string()).collect::<Vec<_>>(),
        "rows": batches.iter().fold(0, |rows: usize, batch| rows.saturating_add(batch.num_rows())),
    });
    if let Some(found) = ways(text(options, "after"), &schema, batches, &columns) {
        made["ways"] = json!(found);
    }
    made["columns"] = Value::Array(columns);
    Ok(made)
}

/// The plain values of each column.
fn values(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<Vec<Value>, ArrowError> {
    let mut budget = Budget::default();
    let mut columns = vec![vec![]; schema.fields().len()];
    for batch in batches {
        for (values, column) in columns.iter_mut().zip(batch.columns()) {
            values.extend(items(column, &mut budget)?);
        }
    }
    Ok(columns.into_iter().map(Value::Array).collect())
}

fn decoded(kind: &str, data: Vec<u8>, options: &Value) -> Result<Rows, ArrowError> {
    let numbers = |all: &Vec<Value>| all.iter().filter_map(Value::as_u64).map(|number| number as usize).collect();
    let fields: Option<Vec<usize>> = options["included_fields"].as_array().map(numbers);
    let most = options["chunk"].as_u64().map(|bytes| bytes.max(1) as usize);
    let mapped = options["mapped"] == true;
    let bytes = if mapped { mapping(&data)? } else { Buffer::from_vec(data) };
    if kind == "file" && mapped {
        return in_place(&bytes, fields);
    }
    if kind == "stream" && (mapped || most.is_some()) {
        return pushed(&bytes, most.unwrap_or(usize::MAX), fields);
    }
    let source = Pieces { bytes: Cursor::new(bytes.as_slice()), most: most.unwrap_or(usize::MAX) };
    if kind == "file" {
        return collected(FileReader::try_new(source, fields)?);
    }
    collected(StreamReader::try_new(source, fields)?)
}

fn collected(reader: impl RecordBatchReader) -> Result<Rows, ArrowError> {
    Ok((reader.schema(), reader.collect::<Result<_, _>>()?))
}

/// A source that gives at most so many bytes at a time.
struct Pieces<'a> {
    bytes: Cursor<&'a [u8]>,
    most: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = self.most.min(into.len());
        self.bytes.read(&mut into[..most])
    }
}

impl Seek for Pieces<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

/// The bytes in a file that is mapped into memory; it has no name any more.
fn mapping(data: &[u8]) -> Result<Buffer, ArrowError> {
    let path = std::env::temp_dir().join(format!("conformance-arrow-rs-{}", std::process::id()));
    std::fs::write(&path, data)?;
    let file = File::open(&path)?;
    remove_file(&path)?;
    // Nobody else knows the file, so it does not change.
    Ok(Buffer::from(Bytes::from_owner(unsafe { Mmap::map(&file) }?)))
}

/// A stream that is pushed in pieces, as the documentation of the decoder does. The decoder reads all columns, so they
/// are selected afterwards.
fn pushed(bytes: &Buffer, most: usize, fields: Option<Vec<usize>>) -> Result<Rows, ArrowError> {
    let (mut decoder, mut batches) = (StreamDecoder::new(), vec![]);
    for at in (0..bytes.len()).step_by(most) {
        let mut piece = bytes.slice_with_length(at, most.min(bytes.len() - at));
        while !piece.is_empty() {
            batches.extend(decoder.decode(&mut piece)?);
        }
    }
    decoder.finish()?;
    let schema = decoder.schema().ok_or_else(|| ArrowError::IpcError("the stream has no schema".into()))?;
    let Some(fields) = fields else { return Ok((schema, batches)) };
    let batches = batches.iter().map(|batch| batch.project(&fields)).collect::<Result<_, _>>()?;
    Ok((Arc::new(schema.project(&fields)?), batches))
}

/// A file whose blocks are decoded where they are, as the library's example of memory mapping does, within bounds and in
/// this machine's byte order: the decoder checks neither.
fn in_place(bytes: &Buffer, fields: Option<Vec<usize>>) -> Result<Rows, ArrowError> {
    let outside = || ArrowError::IpcError("the Footer, or a block of it, is outside the file".into());
    let (front, trailer) = bytes.split_last_chunk().ok_or_else(outside)?;
    let begin = front.len().checked_sub(read_footer_length(*trailer)?).ok_or_else(outside)?;
    let footer = root_as_footer(&front[begin..]).map_err(|error| ArrowError::ParseError(error.to_string()))?;
    let described = footer.schema().ok_or_else(|| ArrowError::ParseError("the Footer has no schema".into()))?;
    if !described.endianness().equals_to_target_endianness() {
        return Err(ArrowError::IpcError("the endianness of the file is not that of the machine".into()));
    }
    let whole = Arc::new(try_fb_to_schema(described)?);
    let mut schema = whole.clone();
    let mut decoder = FileDecoder::new(whole, footer.version());
    if let Some(fields) = fields {
        schema = Arc::new(schema.project(&fields)?);
        decoder = decoder.with_projection(fields);
    }
    let block_of = |block: &Block| {
        let begin = usize::try_from(block.offset()).ok()?;
        let length = usize::try_from(block.bodyLength().checked_add(block.metaDataLength().into())?).ok()?;
        (begin.checked_add(length)? <= bytes.len()).then(|| bytes.slice_with_length(begin, length))
    };
    for block in footer.dictionaries().into_iter().flatten() {
        decoder.read_dictionary(block, &block_of(block).ok_or_else(outside)?)?;
    }
    let mut batches = vec![];
    for block in footer.recordBatches().into_iter().flatten() {
        batches.extend(decoder.read_record_batch(block, &block_of(block).ok_or_else(outside)?)?);
    }
    Ok((schema, batches))
}

/// The columns that have other values after something was done with the rows, or the error; None if nothing is asked, or
/// if the library says that it lacks it.
fn ways(what: &str, schema: &SchemaRef, batches: Vec<RecordBatch>, before: &[Value]) -> Option<Vec<String>> {
    if what.is_empty() {
        return None;
    }
    let types = active(schema, &batches);
    let used = catch_unwind(AssertUnwindSafe(|| {
        let made = after(what, schema, batches)?;
        Ok((values(schema, &made)?, active(schema, &made)))
    }));
    let found = match used {
        Ok(Ok((columns, afterwards))) => {
            let mut found = differences(before, &columns);
            let others = differences(&types, &afterwards);
            found.extend(others.iter().map(|difference| format!("type ids of unions, {difference}")));
            found.truncate(MOST);
            found
        }
        Ok(Err(error)) if lacks(&error) => return None,
        Ok(Err(error)) => vec![error.to_string()],
        Err(thrown) => vec![format!("a panic: {}", said(thrown.as_ref()))],
    };
    Some(found.iter().map(|difference| format!("{what}: {difference}")).collect())
}

/// The type ids of each row of each column, which the plain value of a null does not show.
fn active(schema: &SchemaRef, batches: &[RecordBatch]) -> Vec<Value> {
    let of_column = |column: usize| {
        let arrays = batches.iter().map(|batch| batch.column(column));
        arrays.flat_map(|array| (0..array.len()).map(|row| json!(type_ids(array, row)))).collect()
    };
    (0..schema.fields().len()).map(|column| Value::Array(of_column(column))).collect()
}

/// The type ids of the unions that a value is in, through structs and runs.
fn type_ids(held: &dyn Array, row: usize) -> Vec<i8> {
    match held.data_type() {
        DataType::Union(_, _) => {
            let held = held.as_union();
            let id = held.type_id(row);
            [vec![id], type_ids(held.child(id), held.value_offset(row))].concat()
        }
        DataType::Struct(_) => held.as_struct().columns().iter().flat_map(|field| type_ids(field, row)).collect(),
        DataType::RunEndEncoded(_, _) => type_ids(held.as_any_ree().values(), run_of(held, row)),
        _ => vec![],
    }
}

/// The first difference of each column, of a few columns.
fn differences(before: &[Value], after: &[Value]) -> Vec<String> {
    let shown = |value: Option<&Value>| value.map_or("no value".into(), |value| value.to_string());
    let clipped = |value: Option<&Value>| shown(value).chars().take(SHOWN).collect::<String>();
    let of_column = |(column, (before, after)): (usize, (&Value, &Value))| {
        let rows = before.as_array().map_or(0, Vec::len).max(after.as_array().map_or(0, Vec::len));
        let row = (0..rows).find(|row| before.get(row) != after.get(row))?;
        let (expected, got) = (clipped(before.get(row)), clipped(after.get(row)));
        Some(format!("column {column}, row {row}: expected {expected}, got {got}"))
    };
    before.iter().zip(after).enumerate().filter_map(of_column).take(MOST).collect()
}

/// The batches after something else was done with them; to be concatenated, each is cut into slices before.
fn after(what: &str, schema: &SchemaRef, batches: Vec<RecordBatch>) -> Result<Vec<RecordBatch>, ArrowError> {
    match what {
        "concatenated" => {
            let pieces: Vec<RecordBatch> = batches.iter().flat_map(slices).collect();
            Ok(vec![concat_batches(schema, &pieces)?])
        }
        "exported" => {
            let reader = RecordBatchIterator::new(batches.into_iter().map(Ok), schema.clone());
            RecordBatchStreamReader::try_new(FFI_ArrowArrayStream::new(Box::new(reader)))?.collect()
        }
        "taken" => batches.iter().map(|batch| backwards(&backwards(batch)?)).collect(),
        _ => Ok(batches),
    }
}

/// The rows of a batch in reverse order.
fn backwards(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    take_record_batch(batch, &UInt64Array::from_iter_values((0..batch.num_rows() as u64).rev()))
}
