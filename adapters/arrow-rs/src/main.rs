//! Adapter of Apache Arrow Rust (the crates arrow-array, arrow-ipc and arrow-select): reads and writes IPC streams and
//! files for the suite.
//!
//! Built by `python -m adapters arrow-rs`. Standard input has one JSON request per line, standard output one JSON answer
//! per line. Values come from the library's own arrays. A panic of the library becomes an error with `panicked`. Memory
//! that is refused, or a stack that overflows, ends the program, and the process that started it has to notice.

#[path = "../../rust/plain.rs"]
mod plain;
mod reading;
mod writing;

use std::any::Any;
use std::cell::Cell;
use std::io::{self, BufRead, Write};
use std::panic::{catch_unwind, AssertUnwindSafe};

use arrow_schema::ArrowError;
use base64::prelude::*;
use serde_json::{json, Value};

/// How the library says in a text that it lacks a feature, where the kind of the error does not.
const LACKS: [&str; 2] = ["not supported", "not yet supported"];

/// The current step, while it is not the library's own reader or writer.
type Stage = Cell<&'static str>;

fn hello() -> Value {
    json!({
        "status": "ok", "protocol": 1, "implementation": "arrow-rs", "title": "Apache Arrow Rust",
        "language": "Rust", "version": env!("LIBRARY_VERSION"),
        "reads": ["stream", "file"], "writes": ["stream", "file"],
        "read_options": {
            "included_fields": [], "chunk": [], "mapped": [false, true], "after": ["", "concatenated", "exported", "taken"],
        },
        "write_options": {
            "codec": ["", "lz4", "zstd"], "version": ["V5", "V4"], "legacy": [false, true], "alignment": [64, 8],
            "deltas": [false, true], "given": ["", "sliced", "encoded", "nulls"], "metadata": ["", "file"],
        },
    })
}

/// An error that says that the library has no way to do what was asked.
fn lacking(what: impl Into<String>) -> ArrowError {
    ArrowError::NotYetImplemented(what.into())
}

/// Refuses an operation, a kind or an option that hello does not list.
fn check(asked: &Value) -> Result<(), ArrowError> {
    let (about, op, kind) = (hello(), text(asked, "op"), &asked["kind"]);
    if !about[format!("{op}s")].as_array().is_some_and(|kinds| kinds.contains(kind)) {
        return Err(lacking(format!("cannot {op} kind {kind}")));
    }
    for (name, value) in asked["options"].as_object().into_iter().flatten() {
        let known = about[format!("{op}_options")][name].as_array();
        if !known.is_some_and(|values| values.is_empty() || values.contains(value)) {
            return Err(lacking(format!("there is no option {name} with the value {value}")));
        }
    }
    Ok(())
}

fn text<'a>(held: &'a Value, key: &str) -> &'a str {
    held[key].as_str().unwrap_or_default()
}

fn answered(asked: &Value, stage: &Stage) -> Result<Value, ArrowError> {
    if asked["op"] == "hello" {
        return Ok(hello());
    }
    check(asked)?;
    let (kind, options) = (text(asked, "kind"), &asked["options"]);
    let foreign = |error| ArrowError::from_external_error(Box::new(error));
    let data = BASE64_STANDARD.decode(text(asked, "data")).map_err(foreign)?;
    if asked["op"] == "read" {
        return reading::read(kind, data, options, stage);
    }
    let written = writing::write(kind, &data, options, stage)?;
    Ok(json!({ "status": "ok", "data": BASE64_STANDARD.encode(written) }))
}

/// True for an error by which the library says that it lacks a feature.
fn lacks(found: &ArrowError) -> bool {
    matches!(found, ArrowError::NotYetImplemented(_)) || LACKS.iter().any(|words| found.to_string().contains(words))
}

/// An error, named by its kind.
fn failure(found: &ArrowError) -> Value {
    let message = found.to_string();
    if lacks(found) {
        return json!({ "status": "unsupported", "message": message });
    }
    let kind = format!("{found:?}");
    let kind = kind.split(|each: char| !each.is_alphanumeric()).next().unwrap_or_default();
    json!({ "status": "error", "class": format!("ArrowError::{kind}"), "message": message })
}

/// The text of a panic.
fn said(thrown: &(dyn Any + Send)) -> &str {
    let text = thrown.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| thrown.downcast_ref::<&str>().copied()).unwrap_or("a panic without a text")
}

fn panicked(thrown: &(dyn Any + Send)) -> Value {
    json!({ "status": "error", "class": "panic", "message": said(thrown), "panicked": true })
}

fn respond(asked: &Value) -> Value {
    let stage = Stage::default();
    let mut made = match catch_unwind(AssertUnwindSafe(|| answered(asked, &stage))) {
        Ok(Ok(made)) => return made,
        Ok(Err(found)) => failure(&found),
        Err(thrown) => panicked(thrown.as_ref()),
    };
    if made["status"] == "error" && !stage.get().is_empty() {
        made["stage"] = stage.get().into();
    }
    made
}

fn main() -> io::Result<()> {
    for line in io::stdin().lock().split(b'\n') {
        let (id, mut made) = match serde_json::from_slice::<Value>(&line?) {
            Ok(asked) => (asked["id"].clone(), respond(&asked)),
            Err(wrong) => {
                (Value::Null, json!({ "status": "error", "class": "serde_json::Error", "message": wrong.to_string() }))
            }
        };
        made["id"] = id;
        let mut answers = io::stdout().lock();
        writeln!(answers, "{made}")?;
        answers.flush()?;
    }
    Ok(())
}
