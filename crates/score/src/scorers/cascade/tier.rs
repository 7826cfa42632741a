//! The tiers of a cascade as the evaluation file has them, checked.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::condition::{Condition, Names};
use crate::registry::ScorerConfigError;
use crate::scorers::composite::{Children, NestedScorer};

/// Words of the expression language, which cannot be names.
const RESERVED: [&str; 14] = [
    "none", "None", "true", "True", "false", "False", "not", "and", "or", "in", "is", "if", "else",
    "loop",
];

/// A tier of a cascade.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tier {
    /// Its name, by which conditions and reports speak of it.
    name: String,
    /// Its scorers; the last tier has one, whose mean is estimated.
    scorers: Vec<NestedScorer>,
    /// The share drawn for this tier of the outputs that the tier before scored, above 0 and up to 1; everything comes to the first.
    #[serde(default = "everything")]
    #[schemars(range(min = 0.0, max = 1.0))]
    sample: f64,
    /// A condition on the tiers before: every output for which it holds comes here. The last tier takes what the one before fails or doubts, unless it says otherwise.
    #[serde(default)]
    escalate: Option<String>,
    /// A condition on this tier and those before: an output for which it holds has failed and goes no further, but for the audit.
    #[serde(default)]
    hard_fail: Option<String>,
    /// How confident the tier is of an output, 0 to 1, as an expression; the lowest confidence its scorers measured, unless given.
    #[serde(default)]
    confidence: Option<String>,
}

fn everything() -> f64 {
    1.0
}

/// A tier that can be asked.
pub(super) struct BuiltTier {
    pub(super) name: String,
    /// Its scorers among those of the cascade.
    pub(super) children: Range<usize>,
    pub(super) sample: f64,
    pub(super) escalate: Option<Condition>,
    pub(super) hard_fail: Option<Condition>,
    pub(super) confidence: Option<Condition>,
}

/// Builds the tiers and all their scorers.
pub(super) fn build_tiers(tiers: &[Tier]) -> Result<(Vec<BuiltTier>, Children), ScorerConfigError> {
    if tiers.len() < 2 {
        return Err(ScorerConfigError::at("tiers", "a cascade has at least two tiers")
            .hint("list a cheap tier and a dear one; for one tier use its scorer by itself"));
    }
    let mut entries = Vec::new();
    for (index, tier) in tiers.iter().enumerate() {
        check(tier, index, index + 1 == tiers.len())?;
        let place = |at: usize| format!("tiers[{index}].scorers[{at}]");
        entries.extend(tier.scorers.iter().enumerate().map(|(at, scorer)| (place(at), scorer)));
    }
    let children = Children::build_with(entries, |child| {
        !matches!(child.kind.as_str(), "cascade" | "routed")
    })?;
    let mut names = Names::default();
    let mut built = Vec::new();
    let mut first = 0;
    for (index, tier) in tiers.iter().enumerate() {
        let own = first..first + tier.scorers.len();
        first = own.end;
        let read = |field: &str, source: &str, names: &Names| {
            Condition::read(source, names).map_err(|error| ScorerConfigError {
                field: Some(format!("tiers[{index}].{field}")),
                ..error
            })
        };
        let default = (index > 0 && index + 1 == tiers.len())
            .then(|| format!("{0}.failed or {0}.doubt", tiers[index - 1].name));
        let escalate = tier.escalate.clone().or(default);
        let escalate = escalate.map(|source| read("escalate", &source, &names)).transpose()?;
        let scorers = children.iter().skip(own.start).take(own.len());
        names.add(&tier.name, scorers.map(|child| child.name.as_str())).map_err(|error| {
            ScorerConfigError { field: Some(format!("tiers[{index}].name")), ..error }
        })?;
        let condition = |field, source: &Option<String>| {
            source.as_deref().map(|source| read(field, source, &names)).transpose()
        };
        built.push(BuiltTier {
            name: tier.name.clone(),
            children: own,
            sample: tier.sample,
            escalate,
            hard_fail: condition("hard_fail", &tier.hard_fail)?,
            confidence: condition("confidence", &tier.confidence)?,
        });
    }
    Ok((built, children))
}

/// What can be said of a tier by itself.
fn check(tier: &Tier, index: usize, is_last: bool) -> Result<(), ScorerConfigError> {
    let at = |field: &str, message: &str| {
        ScorerConfigError::at(format!("tiers[{index}].{field}"), message)
    };
    let mut letters = tier.name.chars();
    let starts_well =
        letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    if RESERVED.contains(&tier.name.as_str()) {
        return Err(at("name", "this word means something else in conditions"));
    }
    if !starts_well || !letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
        return Err(at("name", "a name consists of letters, digits and underscores"));
    }
    if tier.scorers.is_empty() {
        return Err(at("scorers", "a tier needs a scorer"));
    }
    if is_last && tier.scorers.len() > 1 {
        return Err(at("scorers", "the last tier has one scorer").hint(
            "its mean is what the cascade estimates; combine several with `type: ensemble`",
        ));
    }
    if !(tier.sample > 0.0 && tier.sample <= 1.0) {
        return Err(at("sample", "a share is above 0 and at most 1").hint(
            "outputs that are never drawn make the mean of all unknowable: give a small share, such as 0.01",
        ));
    }
    if index == 0 && tier.sample < 1.0 {
        return Err(at("sample", "every output comes to the first tier")
            .hint("use `sample:` of the evaluation for fewer cases"));
    }
    if index == 0 && tier.escalate.is_some() {
        return Err(at("escalate", "there is no tier before the first"));
    }
    for (field, given) in [("hard_fail", &tier.hard_fail), ("confidence", &tier.confidence)] {
        if is_last && given.is_some() {
            return Err(at(field, "nothing comes after the last tier"));
        }
    }
    Ok(())
}
