//! Takes the types out of TypeScript. They become blanks, so that every line and column stays where it was.

use std::sync::{Arc, Mutex, PoisonError};

use swc_common::errors::{DiagnosticBuilder, Emitter, Handler};
use swc_common::sync::Lrc;
use swc_common::{SourceMap, Span};
use swc_ts_fast_strip::{ErrorCode, Options, operate};

use crate::error::{Place, ScriptError};

/// What the parser complained of, first things first.
#[derive(Clone, Default)]
struct Complaints(Arc<Mutex<Vec<(String, Option<Span>)>>>);

impl Emitter for Complaints {
    fn emit(&mut self, diagnostic: &mut DiagnosticBuilder<'_>) {
        let complaint = (diagnostic.message(), diagnostic.span.primary_span());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(complaint);
    }
}

/// The JavaScript that is left of TypeScript without its types. Enums, namespaces and parameter properties, which
/// are more than types, are refused.
pub(crate) fn without_types(source: &str, name: &str) -> Result<String, ScriptError> {
    let files: Lrc<SourceMap> = Lrc::default();
    let complaints = Complaints::default();
    let handler = Handler::with_emitter(false, false, Box::new(complaints.clone()));
    let options = Options {
        module: Some(true),
        deprecated_ts_module_as_error: Some(true),
        ..Options::default()
    };
    let error = match operate(&files, &handler, source.to_owned(), options) {
        Ok(output) => return Ok(output.code),
        Err(error) => error,
    };
    let complaints =
        std::mem::take(&mut *complaints.0.lock().unwrap_or_else(PoisonError::into_inner));
    let (message, span) = complaints.into_iter().next().unwrap_or((error.message, None));
    let place = match span.filter(|span| !span.is_dummy()) {
        Some(span) => {
            let found = files.lookup_char_pos(span.lo);
            Place::at(name, found.line, found.col.0 + 1)
        }
        None => Place::of(name),
    };
    Err(match error.code {
        ErrorCode::UnsupportedSyntax => ScriptError::Unsupported { place, message },
        _ => ScriptError::Syntax { place, message },
    })
}
