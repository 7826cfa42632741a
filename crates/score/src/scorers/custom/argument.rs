//! What a function of the user gets.

use fullbench_types::text_of;
use serde_json::{Value, json};

use crate::scorer::Item;

/// The case and its output as one object: `input`, `output`, `reference`, `references`, `metadata`.
pub(super) fn argument(item: &Item<'_>) -> Value {
    let case = item.case;
    json!({
        "id": case.key,
        "input": case.input,
        "output": item.generation.text,
        "reference": case.references.first().map(|one| text_of(one).into_owned()),
        "references": case.references,
        "metadata": case.fields,
    })
}
