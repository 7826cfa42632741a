//! Says what an exception of the engine means to the user.

use rquickjs::{Ctx, Object, Value as Handle};

use crate::error::{Place, ScriptError};
use crate::job::Job;
use crate::sandbox::Phase;

/// The name under which the engine knows the user's source.
pub(crate) const MODULE: &str = "script";
/// Messages are cut here.
const LONGEST_MESSAGE: usize = 1000;

/// The exception that the engine holds, as an error. What the script made of it is read with care: it may throw again.
pub(crate) fn explained(ctx: &Ctx<'_>, job: &Job, source: &str, phase: Phase) -> ScriptError {
    let out_of_memory =
        |place| ScriptError::OutOfMemory { place, limit: job.limits.engine_memory() };
    if !ctx.has_exception() {
        return ScriptError::Sandbox {
            place: job.place(),
            reason: "stopped without a reason".to_owned(),
        };
    }
    let value = ctx.catch();
    // When there is no memory left even for an error, the engine throws null.
    let throws = source.contains("throw") || source.contains("reject");
    if value.is_null() && !throws {
        return out_of_memory(job.place());
    }
    let Some(object) = value.as_object().filter(|_| value.is_error()) else {
        return ScriptError::Thrown { place: job.place(), message: shown(ctx, &value) };
    };
    let name = field(ctx, object, "name").unwrap_or_default();
    let message = field(ctx, object, "message").unwrap_or_default();
    let stack = field(ctx, object, "stack").unwrap_or_default();
    let place = match position(&stack) {
        Some((line, column)) => Place::at(&job.name, line, in_characters(source, line, column)),
        None => job.place(),
    };
    match (name.as_str(), message.as_str()) {
        // The compiler of regular expressions says it with a SyntaxError.
        ("InternalError" | "SyntaxError", "out of memory") => out_of_memory(place),
        ("RangeError", "Maximum call stack size exceeded") => {
            let what = match phase {
                Phase::Loading => "the source is",
                Phase::Reading => "the argument is",
                Phase::Running => "function calls or values are",
            };
            ScriptError::TooDeep { place, what: what.to_owned() }
        }
        ("SyntaxError", _) if phase == Phase::Loading => ScriptError::Syntax { place, message },
        _ if phase == Phase::Loading => not_linked(job, source, message),
        ("", _) => ScriptError::Thrown { place, message },
        (_, "") => ScriptError::Thrown { place, message: name },
        _ => ScriptError::Thrown { place, message: format!("{name}: {message}") },
    }
}

/// A field of an error, if it can be had and is a text.
fn field<'js>(ctx: &Ctx<'js>, object: &Object<'js>, name: &str) -> Option<String> {
    match object.get::<_, Handle<'js>>(name) {
        Ok(value) => text(&value),
        Err(_) => {
            ctx.catch();
            None
        }
    }
}

/// A value that was thrown and is no error.
fn shown<'js>(ctx: &Ctx<'js>, value: &Handle<'js>) -> String {
    if value.is_null() {
        return "threw null, or had no memory left to say what is wrong".to_owned();
    }
    if let Some(text) = text(value) {
        return format!("threw the text {text:?}");
    }
    let json =
        ctx.json_stringify(value.clone()).ok().flatten().and_then(|json| text(json.as_value()));
    if ctx.has_exception() {
        ctx.catch();
    }
    match json {
        Some(json) => format!("threw {json}"),
        None => format!("threw a value of type {}", value.type_name()),
    }
}

fn text(value: &Handle<'_>) -> Option<String> {
    let mut text = value.as_string()?.to_string().ok()?;
    text.truncate(text.floor_char_boundary(LONGEST_MESSAGE));
    Some(text)
}

/// A module that asks for another one, of which there are none.
fn not_linked(job: &Job, source: &str, message: String) -> ScriptError {
    let imported =
        message.strip_prefix("could not load module '").and_then(|m| m.strip_suffix('\''));
    let Some(imported) = imported else {
        return ScriptError::Unsupported { place: job.place(), message };
    };
    // The engine has taken `./` off its beginning.
    let ended = ['\'', '"'].map(|quote| source.find(&format!("{imported}{quote}")));
    let place = match ended.into_iter().flatten().min() {
        Some(end) => {
            let start = source[..end].rfind(['\'', '"']).unwrap_or(end);
            Place::at_byte(&job.name, source, start)
        }
        None => job.place(),
    };
    ScriptError::Unsupported {
        place,
        message: format!("there is no module {imported:?} to import"),
    }
}

/// The first line and column of the user's source in a stack trace: `at name (script:3:14)`.
fn position(stack: &str) -> Option<(usize, usize)> {
    stack.lines().find_map(|frame| {
        let (_, place) = frame.rsplit_once(MODULE)?;
        let mut numbers = place.strip_prefix(':')?.trim_end_matches(')').split(':');
        Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    })
}

/// A column in characters. The engine counts bytes.
fn in_characters(source: &str, line: usize, column: usize) -> usize {
    let Some(text) = source.lines().nth(line.saturating_sub(1)) else { return column };
    text[..text.floor_char_boundary(column.saturating_sub(1))].chars().count() + 1
}
