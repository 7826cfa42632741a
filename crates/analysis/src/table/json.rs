//! JSON Lines.

use std::borrow::Cow;
use std::collections::HashMap;

use memchr::memchr_iter;
use serde_json::value::RawValue;

use super::Wanted;
use super::cells::{Broken, Part};

/// Reads lines that are objects each.
pub(super) fn lines(bytes: &[u8], wanted: &[&Wanted]) -> Part {
    let mut part = Part::new(wanted);
    let mut start = 0;
    for end in memchr_iter(b'\n', bytes).chain((!bytes.ends_with(b"\n")).then_some(bytes.len())) {
        let line = bytes[start..end].trim_ascii();
        start = end + 1;
        let number = part.line_count;
        part.line_count += 1;
        if line.is_empty() {
            continue;
        }
        if let Err(broken) = object(line, number, wanted, &mut part) {
            part.broken = Some(broken);
            break;
        }
        part.lines.push(number);
    }
    part
}

/// The names of the fields of an object.
pub(super) fn names(line: &[u8]) -> Vec<String> {
    let fields: Result<HashMap<String, &RawValue>, _> = serde_json::from_slice(line);
    let mut names: Vec<String> =
        fields.map(|fields| fields.into_keys().collect()).unwrap_or_default();
    names.sort_unstable();
    names
}

fn object(line: &[u8], number: u32, wanted: &[&Wanted], part: &mut Part) -> Result<(), Broken> {
    let broken = |field: Option<&str>, message: String, hint: &str| Broken {
        line: number,
        field: field.map(str::to_owned),
        message,
        hint: hint.to_owned(),
    };
    let fields: HashMap<Cow<'_, str>, &RawValue> =
        serde_json::from_slice(line).map_err(|error| {
            let reason = error.to_string();
            let reason = reason.split(" at line ").next().unwrap_or_default().to_owned();
            let message =
                format!("this is not a JSON object: {reason} (column {})", error.column());
            broken(None, message, "JSON Lines has one complete object a line")
        })?;
    for (index, wanted) in wanted.iter().enumerate() {
        let column = wanted.column.as_str();
        let raw = fields.get(column).map_or("null", |raw| raw.get());
        let text: Cow<'_, str> = match raw.as_bytes().first() {
            Some(b'n') => Cow::Borrowed(""),
            Some(b'"') => Cow::Owned(serde_json::from_str(raw).unwrap_or_default()),
            Some(b'{' | b'[') => {
                let message = "a text, a number, true or false is needed".to_owned();
                return Err(broken(
                    Some(column),
                    message,
                    "take the value out of the list or object",
                ));
            }
            _ => Cow::Borrowed(raw),
        };
        part.add(index, wanted, text.as_bytes())
            .map_err(|(message, hint)| broken(Some(column), message, &hint))?;
    }
    Ok(())
}
