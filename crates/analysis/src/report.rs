//! The shape every report has: numbers for machines, grids and sentences for people.

use serde::Serialize;

/// A report: it serializes to the JSON document, and shows itself as grids of text and sentences.
pub trait Report: Serialize {
    /// The grids, in the order they are printed.
    fn grids(&self) -> Vec<Grid>;
    /// What the numbers mean, and what would make it firmer.
    fn conclusion(&self) -> &Conclusion;
}

/// A grid of text: a header and rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// What it shows, where there are several.
    pub title: Option<String>,
    /// The header.
    pub header: Vec<&'static str>,
    /// The rows, each as long as the header.
    pub rows: Vec<Vec<String>>,
}

/// A report in plain words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Conclusion {
    /// What the numbers mean: whole sentences, the most important first.
    pub meaning: Vec<String>,
    /// What would make the conclusion firmer, or must be kept in mind.
    pub firmer: Vec<String>,
}

/// A number with four decimals, as grids and sentences show it.
#[must_use]
pub fn number(value: f64) -> String {
    let text = format!("{value:.4}");
    if text == "-0.0000" { "0.0000".to_owned() } else { text }
}

/// A share as a percentage with one decimal.
#[must_use]
pub fn share(value: f64) -> String {
    format!("{:.1}%", value * 100.0)
}

/// A confidence level as a percentage, with as many digits as it has: never "100%".
#[must_use]
pub fn level(confidence: f64) -> String {
    let percent = (confidence * 1e12).round() / 1e10;
    format!("{percent}%")
}

/// A p-value: never "0".
#[must_use]
pub fn p_value(value: f64) -> String {
    if value < 0.0001 { "<0.0001".to_owned() } else { format!("{value:.4}") }
}
