//! Takes the types out of TypeScript. They become blanks, so that every line and column stays where it was.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use swc_common::errors::{DiagnosticBuilder, Emitter, Handler};
use swc_common::sync::Lrc;
use swc_common::{SourceMap, Span};
use swc_ts_fast_strip::{ErrorCode, Options, operate};

use crate::error::{Place, ScriptError, TYPESCRIPT};

/// What the parser complained of first.
#[derive(Clone, Default)]
struct Complaint(Arc<Mutex<Option<Diagnosis>>>);

struct Diagnosis {
    message: String,
    span: Option<Span>,
}

impl Emitter for Complaint {
    fn emit(&mut self, diagnostic: &mut DiagnosticBuilder<'_>) {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| Diagnosis {
            message: diagnostic.message(),
            span: diagnostic.span.primary_span(),
        });
    }
}

/// How many bytes of TypeScript are read. The parser calls itself for every level of nesting, and there can be a level
/// for each byte.
const LONGEST_SOURCE: usize = 64 << 10;
/// The stack it gets: twice what the longest source can use. Only what is used is backed by memory.
const STACK: usize = 512 << 20;

/// The JavaScript that is left of TypeScript without its types. Enums, namespaces and parameter properties, which
/// are more than types, are refused.
pub(crate) fn without_types(source: &str, name: &str) -> Result<String, ScriptError> {
    if source.len() > LONGEST_SOURCE {
        let what = TYPESCRIPT.to_owned();
        return Err(ScriptError::TooLarge { place: Place::of(name), what, limit: LONGEST_SOURCE });
    }
    let failed = |reason: &str| {
        let reason = format!("could not read the TypeScript: {reason}");
        ScriptError::Sandbox { place: Place::of(name), reason }
    };
    thread::scope(|scope| {
        let reader = thread::Builder::new().stack_size(STACK);
        let reader = reader.spawn_scoped(scope, || stripped(source, name));
        let reader = reader.map_err(|error| failed(&error.to_string()))?;
        // Some texts that are no program find a fault in the parser: for whoever wrote them they are wrong all the same.
        reader.join().map_err(|_| ScriptError::Syntax {
            place: Place::of(name),
            message: "this cannot be read as TypeScript".to_owned(),
        })?
    })
}

fn stripped(source: &str, name: &str) -> Result<String, ScriptError> {
    let files: Lrc<SourceMap> = Lrc::default();
    let complaint = Complaint::default();
    let handler = Handler::with_emitter(false, false, Box::new(complaint.clone()));
    let options = Options {
        module: Some(true),
        deprecated_ts_module_as_error: Some(true),
        ..Options::default()
    };
    let error = match operate(&files, &handler, source.to_owned(), options) {
        Ok(output) => return Ok(output.code),
        Err(error) => error,
    };
    let first = complaint.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Diagnosis { message, span } =
        first.unwrap_or(Diagnosis { message: error.message, span: None });
    let place = match span.filter(|span| !span.is_dummy()) {
        Some(span) => {
            let found = files.lookup_char_pos(span.lo);
            Place::at(name, found.line, found.col.0 + 1)
        }
        None => Place::of(name),
    };
    Err(match error.code {
        ErrorCode::UnsupportedSyntax => {
            let message =
                message.replace(" in strip-only mode", "").replace(" in type strip mode", "");
            ScriptError::Unsupported { place, message }
        }
        _ => ScriptError::Syntax { place, message },
    })
}
