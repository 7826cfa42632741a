//! What a scorer compares with: the value of its entry, or the references of the case.

use fullbench_types::{Score, UnscoredReason, text_of};
use serde_json::Value;

use crate::scorer::Item;

/// The expected values: the entry's own where it has one, else the references. None where there is nothing.
pub(crate) fn expected<'unit>(
    own: Option<&'unit Value>,
    item: &Item<'unit>,
) -> Option<&'unit [Value]> {
    let values = own.map_or(item.case.references.as_slice(), std::slice::from_ref);
    values.iter().any(|value| !value.is_null()).then_some(values)
}

/// The score where there is nothing to compare with.
pub(crate) fn missing_reference() -> Score {
    Score::unscored(UnscoredReason::MissingReference)
}

/// Expected values for a sentence: `"a" or "b"`, long ones cut.
pub(crate) fn listed(values: &[Value]) -> String {
    const MOST: usize = 3;
    let known = values.iter().filter(|value| !value.is_null());
    let shown: Vec<_> = known.clone().take(MOST).map(|value| quoted(&text_of(value))).collect();
    let more = known.count().saturating_sub(MOST);
    if more > 0 { format!("{} or {more} more", shown.join(" or ")) } else { shown.join(" or ") }
}

/// A text in quotes for a sentence, cut where it is long.
pub(crate) fn quoted(text: &str) -> String {
    const LONGEST: usize = 60;
    let text = text.trim();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}
