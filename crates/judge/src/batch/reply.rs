//! The parts of a batch's reply, by the ids of the items.

use std::collections::HashMap;

use fullbench_types::{FinishReason, Generation};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::reply::Object;

/// What names an entry.
#[derive(Deserialize)]
struct Named {
    id: String,
}

/// For each id its judgement as it stands in the reply, or why it has none.
pub(super) fn read_items(generation: &Generation, ids: &[String]) -> Vec<Result<String, String>> {
    let entries = match entries(generation) {
        Ok(entries) => entries,
        Err(problem) => return ids.iter().map(|_| Err(problem.clone())).collect(),
    };
    let mut by_id: HashMap<&str, Vec<&str>> = HashMap::new();
    for (id, entry) in &entries {
        by_id.entry(id.as_str()).or_default().push(entry.as_str());
    }
    let part = |id: &String| match by_id.get(id.as_str()).map(Vec::as_slice) {
        Some([entry]) => Ok((*entry).to_owned()),
        Some(_) => Err("the reply judges the item more than once".to_owned()),
        None => Err("the reply does not judge the item".to_owned()),
    };
    ids.iter().map(part).collect()
}

/// The entries with their ids. An entry whose id cannot be read names no item; one that has two ids is read as neither.
fn entries(generation: &Generation) -> Result<Vec<(String, String)>, String> {
    if generation.finish_reason == FinishReason::Length {
        return Err("the reply was cut at the limit of tokens".to_owned());
    }
    let object = Object::find(&generation.text, &["judgements"])?;
    let entries: Vec<Box<RawValue>> = object.read("judgements", "a list of objects")?;
    let named = entries.into_iter().filter_map(|entry| {
        // A field that comes twice is an error to serde.
        let Named { id } = serde_json::from_str(entry.get()).ok()?;
        Some((id, entry.get().to_owned()))
    });
    Ok(named.collect())
}
