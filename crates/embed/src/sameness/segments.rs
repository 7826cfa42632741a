//! Code and quotes apart from the text around them.

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Segment<'a> {
    /// Words, which may be said otherwise.
    Text(&'a str),
    /// Code between backticks, which is compared character by character.
    Code(&'a str),
    /// What stands between double quotes, which is compared character by character.
    Quote(&'a str),
}

/// The parts of a text in order. A delimiter that is not closed is part of the text.
pub(super) fn segments(text: &str) -> Vec<Segment<'_>> {
    let mut parts = Vec::new();
    let (mut rest, mut from) = (text, 0);
    let last_close = text.rfind('”').unwrap_or(0);
    while let Some(found) = rest[from..].find(['`', '"', '“']) {
        let start = from + found;
        let opening = opening(&rest[start..]);
        let is_closed = opening != "“" || text.len() - rest.len() + start < last_close;
        let inner = &rest[start + opening.len()..];
        let closing = if opening == "“" { "”" } else { opening };
        let Some(length) = is_closed.then(|| inner.find(closing)).flatten() else {
            from = start + opening.len();
            continue;
        };
        push_text(&mut parts, &rest[..start]);
        let inner = &inner[..length];
        let is_code = opening.starts_with('`');
        parts.push(if is_code { Segment::Code(inner) } else { Segment::Quote(inner) });
        rest = &rest[start + opening.len() + length + closing.len()..];
        from = 0;
    }
    push_text(&mut parts, rest);
    parts
}

/// The delimiter a text begins with: all its backticks, or a quotation mark.
fn opening(text: &str) -> &str {
    let ticks = text.len() - text.trim_start_matches('`').len();
    let length = if ticks > 0 { ticks } else { text.chars().next().map_or(0, char::len_utf8) };
    &text[..length]
}

fn push_text<'a>(parts: &mut Vec<Segment<'a>>, text: &'a str) {
    if !text.trim().is_empty() {
        parts.push(Segment::Text(text));
    }
}
