//! What can be chosen about BERTScore.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::EmbedError;

/// How BERTScore is computed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BertScoreOptions {
    /// The layer of the model whose values are compared, from 0 (the embeddings) to the model's last. Unless given, it
    /// is the layer that the `bert-score` library tuned for a model of this name (17 for `roberta-large`), and the last
    /// one of any other model. Scores of different layers cannot be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<usize>,
    /// Let rare words count more than frequent ones. How rare a word is comes from all references that are scored
    /// together, so a score then depends on the whole set; with one reference alone no word is rarer than another, and
    /// scores are 0.
    pub idf: bool,
    /// Rescale scores so that 0 is what unrelated sentences get, with these values for the model and layer. Raw scores
    /// are all within a narrow range close to 1; rescaled ones are easier to read and rank the same. They may be
    /// negative.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Baseline>,
    /// Rescale with the values of the layer in a file as the `bert-score` library has them for its models: a line
    /// `LAYER,P,R,F`, then one for each layer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline_file: Option<PathBuf>,
}

/// What unrelated sentences score on average; each less than 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// Of precision.
    pub precision: f64,
    /// Of recall.
    pub recall: f64,
    /// Of F1.
    pub f1: f64,
}

impl BertScoreOptions {
    /// The baseline for a layer, from wherever it is given.
    pub(super) fn baseline_of(&self, layer: usize) -> Result<Option<Baseline>, EmbedError> {
        let baseline = match (self.baseline, &self.baseline_file) {
            (Some(_), Some(_)) => {
                let message = "`baseline` and `baseline_file` are both given: leave one out";
                return Err(EmbedError::BadOption(message.to_owned()));
            }
            (None, None) => return Ok(None),
            (Some(baseline), None) => baseline,
            (None, Some(path)) => Baseline::read(path, layer)?,
        };
        let parts = [baseline.precision, baseline.recall, baseline.f1];
        if let Some(part) = parts.iter().find(|part| !(part.is_finite() && **part < 1.0)) {
            let message = format!("a baseline of {part} cannot be: it is less than 1");
            return Err(EmbedError::BadOption(message));
        }
        Ok(Some(baseline))
    }
}

impl Baseline {
    fn read(path: &Path, layer: usize) -> Result<Self, EmbedError> {
        let unreadable = |reason: String| EmbedError::Unreadable { path: path.to_owned(), reason };
        let bytes = crate::files::read(path)?;
        let text = String::from_utf8(bytes).map_err(|error| unreadable(error.to_string()))?;
        let has_header = text.lines().next().is_some_and(|line| line.starts_with("LAYER"));
        for (index, line) in text.lines().enumerate().skip(usize::from(has_header)) {
            let fields: Vec<&str> = line.split([',', '\t']).map(str::trim).collect();
            if fields == [""] {
                continue;
            }
            let numbers: Result<Vec<f64>, _> = fields.iter().map(|field| field.parse()).collect();
            let Ok([of_layer, precision, recall, f1]) = numbers.as_deref() else {
                return Err(unreadable(format!(
                    "line {} is `{line}`, not a layer and three numbers",
                    index + 1
                )));
            };
            if *of_layer == layer as f64 {
                return Ok(Self { precision: *precision, recall: *recall, f1: *f1 });
            }
        }
        Err(unreadable(format!("there is no line for layer {layer}")))
    }

    /// What is left above the baseline, as a share of what can be.
    pub(super) fn rescaled(value: f64, baseline: f64) -> f64 {
        (value - baseline) / (1.0 - baseline)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn file(text: &str) -> (tempfile::TempDir, BertScoreOptions) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("baseline.tsv");
        std::fs::write(&path, text).unwrap();
        (folder, BertScoreOptions { baseline_file: Some(path), ..Default::default() })
    }

    #[test]
    fn the_line_of_the_layer_is_taken() {
        let (_folder, options) = file("LAYER,P,R,F\n0,0.1,0.2,0.3\n1,0.4,0.5,0.6\n\n");
        let baseline = options.baseline_of(1).unwrap().unwrap();
        assert_eq!(baseline, Baseline { precision: 0.4, recall: 0.5, f1: 0.6 });
        let error = options.baseline_of(2).unwrap_err().to_string();
        assert!(error.ends_with("there is no line for layer 2"), "{error}");
    }

    #[test]
    fn a_broken_baseline_is_told() {
        for (text, message) in [
            ("LAYER,P,R,F\n0,0.1,0.2", "line 2 is `0,0.1,0.2`, not a layer and three numbers"),
            ("LAYER,P,R,F\n0,0.1,0.2,high", "not a layer and three numbers"),
            ("LAYER,P,R,F\n0,0.1,0.2,1.5", "a baseline of 1.5 cannot be: it is less than 1"),
            ("LAYER,P,R,F\n0,0.1,0.2,nan", "a baseline of NaN cannot be: it is less than 1"),
        ] {
            let (_folder, options) = file(text);
            let error = options.baseline_of(0).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn a_wrong_name_of_an_option_is_refused() {
        let error = serde_json::from_str::<BertScoreOptions>(r#"{"layers": 3}"#).unwrap_err();
        assert!(error.to_string().contains("unknown field `layers`"), "{error}");
        let options: BertScoreOptions = serde_json::from_str("{}").unwrap();
        assert_eq!(options, BertScoreOptions::default());
    }
}
