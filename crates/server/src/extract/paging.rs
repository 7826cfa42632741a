//! Lists in pages.

use fullbench_store::Page;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::problem::Problem;

/// The most of a page.
const MAX_LIMIT: u64 = 100;
/// The most that can be left out.
const MAX_OFFSET: u64 = 1_000_000_000;

/// Which page of a list to give.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PageQuery {
    /// How many to give.
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 1, max = 100))]
    pub(crate) limit: u64,
    /// How many to leave out.
    #[serde(default)]
    #[schemars(range(max = 1_000_000_000))]
    pub(crate) offset: u64,
}

/// How many are given where nothing is said.
pub(crate) fn usual_limit() -> u64 {
    20
}

/// The page, if it is within bounds.
pub(crate) fn page(limit: u64, offset: u64) -> Result<Page, Problem> {
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(Problem::field("limit", format!("use 1 to {MAX_LIMIT}")));
    }
    if offset > MAX_OFFSET {
        return Err(Problem::field("offset", format!("use 0 to {MAX_OFFSET}")));
    }
    Ok(Page { offset, limit })
}

/// The page of a short list that is there whole, how many there are, and whether more follow.
pub(crate) fn slice<T>(all: Vec<T>, page: Page) -> (Vec<T>, u64, bool) {
    let total = all.len() as u64;
    let items = all.into_iter().skip(page.offset as usize).take(page.limit as usize).collect();
    (items, total, has_more(page, total))
}

/// Whether more follow after a page.
pub(crate) fn has_more(page: Page, total: u64) -> bool {
    page.offset.saturating_add(page.limit) < total
}
