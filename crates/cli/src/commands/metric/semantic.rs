//! Metrics that need a model: embeddings of whole lines, and BERTScore.

use std::path::PathBuf;
use std::sync::Arc;

use fullbench_embed::{
    BertScore, BertScoreOptions, DEFAULT_MODEL, EmbedError, Embedder, ModelChoice, bert_score,
    cosine,
};
use fullbench_text::corpus::Segment;
use serde::{Deserialize, Serialize};

use crate::failure::CliError;

/// The options of `semantic_similarity`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SimilarityChoice {
    model: String,
    base_url: Option<String>,
    api_key_env: Option<String>,
}

/// The options of `bert_score`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct BertScoreChoice {
    model: String,
    layer: Option<usize>,
    measure: Part,
    idf: bool,
    baseline_file: Option<PathBuf>,
}

/// Which of the three numbers of BERTScore is the score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Part {
    F1,
    Precision,
    Recall,
}

impl Default for SimilarityChoice {
    fn default() -> Self {
        Self { model: DEFAULT_MODEL.to_owned(), base_url: None, api_key_env: None }
    }
}

impl Default for BertScoreChoice {
    fn default() -> Self {
        Self {
            model: DEFAULT_MODEL.to_owned(),
            layer: None,
            measure: Part::F1,
            idf: false,
            baseline_file: None,
        }
    }
}

/// A loaded model and what is asked of it.
pub(super) enum Semantic {
    Similarity(Arc<dyn Embedder>),
    BertScore(Arc<BertScore>, Part),
}

/// The number of each line, and how many of them do not see the whole of a text.
pub(super) struct SemanticScores {
    pub(super) scores: Vec<f64>,
    pub(super) truncated: usize,
}

impl Semantic {
    pub(super) fn similarity(choice: SimilarityChoice) -> Result<Self, CliError> {
        let SimilarityChoice { model, base_url, api_key_env } = choice;
        let choice = ModelChoice { model, base_url, api_key_env, dimensions: None };
        Ok(Self::Similarity(choice.embedder()?))
    }

    pub(super) fn bert_score(choice: BertScoreChoice) -> Result<Self, CliError> {
        let options = BertScoreOptions {
            layer: choice.layer,
            idf: choice.idf,
            baseline: None,
            baseline_file: choice.baseline_file,
        };
        Ok(Self::BertScore(bert_score(&choice.model, &options)?, choice.measure))
    }

    /// How the numbers are made.
    pub(super) fn signature(&self) -> String {
        match self {
            Self::Similarity(embedder) => embedder.signature(),
            Self::BertScore(model, part) => {
                let part = match part {
                    Part::F1 => "f1",
                    Part::Precision => "precision",
                    Part::Recall => "recall",
                };
                format!("measure:{part}|{}", model.signature())
            }
        }
    }

    /// The numbers of every line; of several references the best counts.
    pub(super) async fn scores(
        &self,
        segments: &[Segment<'_>],
    ) -> Result<SemanticScores, CliError> {
        match self {
            Self::Similarity(embedder) => similarities(embedder.as_ref(), segments).await,
            Self::BertScore(model, part) => {
                let pairs: Vec<(&str, Vec<&str>)> = segments
                    .iter()
                    .map(|segment| (segment.hypothesis, segment.references.to_vec()))
                    .collect();
                let results = model.score(&pairs)?;
                let score = |result: &fullbench_embed::BertScoreResult| match part {
                    Part::F1 => result.f1,
                    Part::Precision => result.precision,
                    Part::Recall => result.recall,
                };
                Ok(SemanticScores {
                    scores: results.iter().map(score).collect(),
                    truncated: results.iter().filter(|result| result.truncated).count(),
                })
            }
        }
    }
}

async fn similarities(
    embedder: &dyn Embedder,
    segments: &[Segment<'_>],
) -> Result<SemanticScores, CliError> {
    let mut texts = Vec::new();
    for segment in segments {
        texts.push(segment.hypothesis.to_owned());
        texts.extend(segment.references.iter().map(|reference| (*reference).to_owned()));
    }
    let embeddings = embedder.embed(&texts).await?;
    let (mut rest, mut scores, mut truncated) = (embeddings.as_slice(), Vec::new(), 0);
    for segment in segments {
        let (of_segment, after) = rest.split_at(1 + segment.references.len());
        rest = after;
        let (output, references) = (&of_segment[0], &of_segment[1..]);
        let cosines = references.iter().map(|other| cosine(&output.vector, &other.vector));
        scores.push(cosines.fold(-1.0, f64::max));
        truncated += usize::from(of_segment.iter().any(|embedding| embedding.truncated));
    }
    Ok(SemanticScores { scores, truncated })
}

impl From<EmbedError> for CliError {
    fn from(error: EmbedError) -> Self {
        Self::input(error.to_string(), error.hint())
    }
}
