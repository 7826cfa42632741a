//! How complex an output seems to judge: its length, the words of its domain, and how much its criterion leaves open.
//!
//! Heuristics, not a measurement: what the choice costs in agreement is measured by the audit.

use std::collections::{BTreeMap, HashSet};

use fullbench_types::{Criterion, text_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scorer::Item;

/// Characters of an output that make one point.
const CHARACTERS_PER_POINT: f64 = 1000.0;

/// Words that tell a domain, and how many points it makes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Domain {
    /// Words, in lower case; one of them in the input or the output is enough.
    pub(super) words: Vec<String>,
    /// Points for it.
    #[serde(default = "one")]
    pub(super) points: f64,
}

fn one() -> f64 {
    1.0
}

/// The domains unless others are given.
pub(super) fn default_domains() -> BTreeMap<String, Domain> {
    let domain = |words: &str| Domain {
        words: words.split(' ').map(str::to_owned).collect(),
        points: one(),
    };
    BTreeMap::from([
        (
            "finance".to_owned(),
            domain(
                "equity bond dividend portfolio hedge derivative yield liability collateral amortization depreciation",
            ),
        ),
        (
            "law".to_owned(),
            domain(
                "plaintiff defendant statute liability contract tort jurisdiction appeal negligence court clause",
            ),
        ),
        (
            "mathematics".to_owned(),
            domain(
                "theorem proof integral derivative matrix equation lemma polynomial probability eigenvalue",
            ),
        ),
        (
            "medicine".to_owned(),
            domain(
                "diagnosis patient dosage symptom symptoms treatment therapy clinical tumor infection prescription mg",
            ),
        ),
        (
            "programming".to_owned(),
            domain(
                "algorithm compiler recursion mutex async pointer complexity regex database thread",
            ),
        ),
    ])
}

/// What the complexity of an output is made of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Complexity {
    /// All points.
    pub(super) points: f64,
    /// Points of its length.
    length: f64,
    /// The domain that makes the most points, where one is found.
    domain: Option<String>,
    /// Points of the criterion.
    ambiguity: f64,
}

impl Complexity {
    pub(super) fn of(item: &Item<'_>, domains: &BTreeMap<String, Domain>, ambiguity: f64) -> Self {
        let output = &item.generation.text;
        let input = text_of(&item.case.input);
        let words: HashSet<String> = input
            .split(|letter: char| !letter.is_alphanumeric())
            .chain(output.split(|letter: char| !letter.is_alphanumeric()))
            .map(str::to_lowercase)
            .collect();
        let found = domains
            .iter()
            .filter(|(_, domain)| domain.words.iter().any(|word| words.contains(word.as_str())));
        let found = found.max_by(|left, right| left.1.points.total_cmp(&right.1.points));
        let length = output.chars().count() as f64 / CHARACTERS_PER_POINT;
        let of_domain = found.map_or(0.0, |(_, domain)| domain.points);
        Self {
            points: length + of_domain + ambiguity,
            length,
            domain: found.map(|(name, _)| name.clone()),
            ambiguity,
        }
    }
}

/// How much a criterion leaves open: a point where its levels are not described, and one where there is nothing to compare with.
pub(super) fn ambiguity(criterion: &Criterion) -> f64 {
    let undescribed = criterion.levels.is_empty();
    let nothing_to_compare = !criterion.needs_reference && !criterion.needs_context;
    f64::from(u8::from(undescribed)) + f64::from(u8::from(nothing_to_compare))
}
