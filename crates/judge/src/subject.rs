//! What is judged.

/// One output with what it is judged by, as borrowed text.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'text> {
    /// The case's key; recorded replies are found by it.
    pub key: &'text str,
    /// What was asked.
    pub input: &'text str,
    /// What was answered, and is judged.
    pub output: &'text str,
    /// Answers that are known to be right; each by itself.
    pub references: &'text [&'text str],
    /// Passages that the answer was to rest on.
    pub context: &'text [&'text str],
    /// Repetition of the unit, counted from 0.
    pub repetition: u32,
}

/// Two outputs for the same input.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'text> {
    /// The case's key; recorded replies are found by it.
    pub key: &'text str,
    /// What was asked.
    pub input: &'text str,
    /// One answer.
    pub first: &'text str,
    /// The other answer.
    pub second: &'text str,
    /// Answers that are known to be right; each by itself.
    pub references: &'text [&'text str],
    /// Passages that the answers were to rest on.
    pub context: &'text [&'text str],
    /// Repetition of the unit, counted from 0.
    pub repetition: u32,
}
