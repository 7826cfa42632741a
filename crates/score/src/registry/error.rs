//! What is wrong with an entry of `scorers:`.

use fullbench_types::ErrorCode;

/// Why a scorer cannot be built from its entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", field.as_ref().map(|field| format!("`{field}`: ")).unwrap_or_default())]
pub struct ScorerConfigError {
    /// The place inside the entry, such as `patterns[1]`; none where the entry as a whole is wrong.
    pub field: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl ScorerConfigError {
    /// An error about the entry as a whole.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { field: None, message: message.into(), hint: None }
    }

    /// An error at a place inside the entry.
    pub(crate) fn at(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: Some(field.into()), message: message.into(), hint: None }
    }

    /// The same error with advice.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The shared code of this error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        ErrorCode::InvalidInput
    }
}

/// The known name most like a mistyped one, and all names.
pub(crate) fn suggestion<'name>(
    mistyped: &str,
    what: &str,
    known: impl Iterator<Item = &'name str> + Clone,
) -> String {
    const ALIKE: f64 = 0.75;
    let wanted = mistyped.to_lowercase().replace(['-', ' '], "_");
    let likeness = |name: &str| strsim::jaro_winkler(&wanted, name);
    let nearest =
        known.clone().max_by(|first, second| likeness(first).total_cmp(&likeness(second)));
    let all = known.collect::<Vec<_>>().join(", ");
    match nearest.filter(|name| likeness(name) >= ALIKE) {
        Some(name) => format!("did you mean `{name}`? {what}: {all}"),
        None => format!("{what}: {all}"),
    }
}
