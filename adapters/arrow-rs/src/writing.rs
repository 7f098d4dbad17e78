//! Writing: the writers of the crate arrow-ipc, with their options. Not driven is the level of a codec: the library refuses
//! one for LZ4, and the suite pairs every level with every codec.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{new_null_array, ArrayRef, DictionaryArray, Int32Array, RecordBatch, RecordBatchOptions};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use arrow_ipc::{CompressionType, MetadataVersion};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use serde_json::Value;

use crate::{lacking, text, Stage};

/// The pairs that the option `metadata` puts on a file.
const METADATA: [(&str, &str); 3] = [("writer", "pyarrow"), ("größe", "7"), ("empty", "")];

pub fn write(kind: &str, data: &[u8], options: &Value, stage: &Stage) -> Result<Vec<u8>, ArrowError> {
    // The library refuses what does not go together; its options have no way to ask for it.
    let how = write_options(options).map_err(|error| lacking(error.to_string()))?;
    stage.set("source");
    let source = StreamReader::try_new(data, None)?;
    let schema = source.schema();
    let batches = source.collect::<Result<Vec<RecordBatch>, _>>()?;
    stage.set("");
    let (schema, batches) = match text(options, "given") {
        "sliced" => (schema, batches.iter().flat_map(slices).collect()),
        "encoded" => {
            let schema = Arc::new(encoded_schema(&schema));
            let made = batches.iter().map(|batch| encoded(batch, &schema)).collect::<Result<_, _>>()?;
            (schema, made)
        }
        "nulls" => {
            let made = batches.iter().map(nulls).collect::<Result<_, _>>()?;
            (schema, made)
        }
        _ => (schema, batches),
    };
    let mut out = vec![];
    if kind == "file" {
        let mut writer = FileWriter::try_new_with_options(&mut out, &schema, how)?;
        if text(options, "metadata") == "file" {
            METADATA.iter().for_each(|(key, value)| writer.write_metadata(*key, *value));
        }
        batches.iter().try_for_each(|batch| writer.write(batch))?;
        writer.finish()?;
    } else {
        let mut writer = StreamWriter::try_new_with_options(&mut out, &schema, how)?;
        batches.iter().try_for_each(|batch| writer.write(batch))?;
        writer.finish()?;
    }
    Ok(out)
}

fn write_options(options: &Value) -> Result<IpcWriteOptions, ArrowError> {
    let legacy = options["legacy"] == true;
    let version = match text(options, "version") {
        // The library has the legacy framing in V4 alone.
        "V4" => MetadataVersion::V4,
        "" if legacy => MetadataVersion::V4,
        _ => MetadataVersion::V5,
    };
    let codec = match text(options, "codec") {
        "lz4" => Some(CompressionType::LZ4_FRAME),
        "zstd" => Some(CompressionType::ZSTD),
        _ => None,
    };
    let handling = if options["deltas"] == true { DictionaryHandling::Delta } else { DictionaryHandling::Resend };
    let alignment = options["alignment"].as_u64().unwrap_or(64) as usize;
    Ok(IpcWriteOptions::try_new(alignment, legacy, version)?
        .try_with_compression(codec)?
        .with_dictionary_handling(handling))
}

/// The halves of a batch, and a slice without rows behind its last row.
pub fn slices(batch: &RecordBatch) -> [RecordBatch; 3] {
    let (rows, middle) = (batch.num_rows(), batch.num_rows() / 2);
    [batch.slice(0, middle), batch.slice(middle, rows - middle), batch.slice(rows, 0)]
}

/// As many rows, all of them null, as the library makes them.
fn nulls(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    if !batch.schema().fields().iter().all(|field| takes_nulls(field)) {
        return Err(lacking("a field that is not nullable has no nulls".to_string()));
    }
    let columns = batch.schema().fields().iter().map(|field| new_null_array(field.data_type(), batch.num_rows())).collect();
    let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(batch.schema(), columns, &rows)
}

/// Whether a field, and each field below it that has a row for each of its nulls, may be null.
fn takes_nulls(field: &Field) -> bool {
    field.is_nullable()
        && match field.data_type() {
            DataType::Struct(below) => below.iter().all(|one| takes_nulls(one)),
            DataType::Union(below, _) => below.iter().all(|(_, one)| takes_nulls(one)),
            DataType::FixedSizeList(below, _) => takes_nulls(below),
            _ => true,
        }
}

/// The schema of batches whose columns are dictionaries.
fn encoded_schema(schema: &Schema) -> Schema {
    let fields = schema.fields().iter().map(|field| {
        let kind = DataType::Dictionary(Box::new(DataType::Int32), Box::new(field.data_type().clone()));
        field.as_ref().clone().with_data_type(kind)
    });
    Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone())
}

/// A batch with each column as a dictionary of its own values.
fn encoded(batch: &RecordBatch, schema: &Arc<Schema>) -> Result<RecordBatch, ArrowError> {
    if batch.num_columns() == 0 {
        return Ok(batch.clone());
    }
    let places = Int32Array::from_iter_values(0..batch.num_rows() as i32);
    let encode = |column: &ArrayRef| -> Result<ArrayRef, ArrowError> {
        Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(places.clone(), column.clone())?))
    };
    RecordBatch::try_new(schema.clone(), batch.columns().iter().map(encode).collect::<Result<_, _>>()?)
}
