//! Every built-in scorer, and what they share: parameters that describe themselves, one score per item.

mod bounds;
mod cascade;
mod choice_letter;
mod composite;
mod contains;
mod custom;
mod exact_match;
mod expectation;
mod human_review;
mod json_equal;
mod json_field;
mod json_schema;
mod json_text;
mod json_valid;
mod judge;
mod multiple_choice;
mod number;
mod numeric_match;
mod regex;
mod routed;
mod scorecard;
mod semantic;
mod text;

use std::sync::Arc;

use async_trait::async_trait;
use fullbench_llm::{ModelConfig, ModelHandle};
use fullbench_types::{ContentHash, Criterion, Score};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::memory::Memory;
use crate::registry::{Built, ScorerConfigError, canonical};
use crate::scorer::{AskedCall, Item, Scorer};
use composite::Children;

pub(crate) use human_review::HumanReview;
pub(crate) use scorecard::ScorecardParameters;
pub use scorecard::{Band, Bands, CriterionScore, Evidence, EvidenceType, Feedback, Scorecard};

/// The parameters of a scorer as the evaluation file gives them.
pub(crate) trait Parameters: DeserializeOwned + Serialize + JsonSchema {
    /// What it builds.
    type Scorer: BatchScorer;

    /// The name in `type:`.
    const KIND: &'static str;
    /// What it does, in a line.
    const SUMMARY: &'static str;
    /// An entry as YAML.
    const EXAMPLE: &'static str;
    /// Raised whenever the same parameters begin to give other scores.
    const VERSION: u32 = 1;
    /// Compares with references unless a parameter says what to expect.
    const NEEDS_REFERENCE: bool = false;
    /// Yes or no with the default parameters.
    const BINARY: bool = true;
    /// Parameters that may be the path of a JSON file.
    const FILE_PARAMETERS: &'static [&'static str] = &[];
    /// Parameters that may be the path of a JSON Lines file, by their path.
    const LINES_PARAMETERS: &'static [&'static str] = &[];
    /// Parameters that are the path of a text file, each with the parameter that gets its content.
    const CODE_PARAMETERS: &'static [(&'static str, &'static str)] = &[];
    /// Parameters that may be the path of a model's folder, by their path: `model`, `similar.model`.
    const MODEL_PARAMETERS: &'static [&'static str] = &[];
    /// Parameters that are language models, by their path: `model`, `judges.model`.
    const LANGUAGE_MODEL_PARAMETERS: &'static [&'static str] = &[];
    /// Parameters that are scorers themselves, by their path: `members.scorer`.
    const SCORER_PARAMETERS: &'static [&'static str] = &[];

    /// Checks the parameters and prepares whatever can be prepared once.
    fn build(self) -> Result<Self::Scorer, ScorerConfigError>;
}

/// A scorer that looks at several items together, for which it may need something of the machine.
#[async_trait]
pub(crate) trait BatchScorer: Send + Sync + 'static {
    /// Every score is yes or no.
    fn is_binary(&self) -> bool {
        false
    }

    /// The scorers it is made of: what is asked of it below is asked of them, unless it says otherwise.
    fn children(&self) -> Option<&Children> {
        None
    }

    /// Makes sure that everything is there that scoring needs.
    fn ready(&self) -> Result<(), ScorerConfigError> {
        self.children().map_or(Ok(()), Children::ready)
    }

    /// The models it asks, one entry for each kind of request it makes.
    fn models(&self) -> Vec<ModelConfig> {
        self.children().map_or_else(Vec::new, Children::models)
    }

    /// The models of embeddings that it asks at providers.
    fn embedders(&self) -> Vec<ModelConfig> {
        self.children().map_or_else(Vec::new, Children::embedders)
    }

    /// Gives it the models it asks, in the same order.
    fn connect(&self, models: Vec<Arc<ModelHandle>>) {
        if let Some(children) = self.children() {
            children.connect(models);
        }
    }

    /// How many outputs it wants to see together.
    fn batch_size(&self) -> usize {
        self.children().map_or(1, Children::batch_size)
    }

    /// Gives it places for what it keeps from one run to the next.
    fn remember(&self, memory: &Memory) {
        if let Some(children) = self.children() {
            children.remember(memory);
        }
    }

    /// What it judges by.
    fn criterion(&self) -> Option<&Criterion> {
        None
    }

    /// The tiers that outputs go through.
    fn tiers(&self) -> Vec<String> {
        Vec::new()
    }

    /// Scores say which way an output took.
    fn has_paths(&self) -> bool {
        false
    }

    /// The model of the run whose answers the outputs are compared with.
    fn opponent(&self) -> Option<&str> {
        None
    }

    /// What would be asked about an output.
    fn calls(&self, item: &Item<'_>) -> Vec<AskedCall> {
        self.children().map_or_else(Vec::new, |children| children.calls(item, |_| true))
    }

    /// What would be asked if every output were judged as the dearest part of it does.
    fn calls_for_all(&self, item: &Item<'_>) -> Vec<AskedCall> {
        self.calls(item)
    }

    /// One score for each item, in the same order.
    async fn score_items(&self, items: &[Item<'_>]) -> Vec<Score>;
}

#[async_trait]
impl<S: ItemScorer> BatchScorer for S {
    fn is_binary(&self) -> bool {
        ItemScorer::is_binary(self)
    }

    async fn score_items(&self, items: &[Item<'_>]) -> Vec<Score> {
        items.iter().map(|item| self.score_item(item)).collect()
    }
}

/// A scorer that looks at one item at a time.
pub(crate) trait ItemScorer: Send + Sync + 'static {
    /// Every score is yes or no.
    fn is_binary(&self) -> bool {
        true
    }

    /// The score of one item.
    fn score_item(&self, item: &Item<'_>) -> Score;
}

/// What the registry knows of a scorer.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) example: &'static str,
    pub(crate) version: u32,
    pub(crate) needs_reference: bool,
    pub(crate) binary: bool,
    pub(crate) file_parameters: &'static [&'static str],
    pub(crate) lines_parameters: &'static [&'static str],
    pub(crate) code_parameters: &'static [(&'static str, &'static str)],
    pub(crate) model_parameters: &'static [&'static str],
    pub(crate) language_model_parameters: &'static [&'static str],
    pub(crate) scorer_parameters: &'static [&'static str],
    pub(crate) schema: fn(&mut SchemaGenerator) -> Schema,
    pub(crate) build: fn(&Map<String, Value>) -> Result<Built, ScorerConfigError>,
}

/// Every scorer, by name.
pub(crate) const KINDS: &[Kind] = &[
    kind::<text::BagCosine>(),
    kind::<semantic::BertScoreParameters>(),
    kind::<judge::Binary>(),
    kind::<text::BleuParameters>(),
    kind::<cascade::CascadeParameters>(),
    kind::<text::ChrfParameters>(),
    kind::<judge::Claims>(),
    kind::<custom::Command>(),
    kind::<contains::Contains>(),
    kind::<bounds::Cost>(),
    kind::<text::EditSimilarity>(),
    kind::<composite::EnsembleParameters>(),
    kind::<exact_match::ExactMatch>(),
    kind::<judge::GEval>(),
    kind::<HumanReview>(),
    kind::<text::Jaccard>(),
    kind::<custom::JavaScript>(),
    kind::<json_equal::JsonEqual>(),
    kind::<json_field::JsonField>(),
    kind::<json_schema::JsonSchemaMatch>(),
    kind::<json_valid::JsonValid>(),
    kind::<judge::StoredJudge>(),
    kind::<composite::JudgeCheck>(),
    kind::<bounds::Latency>(),
    kind::<bounds::Length>(),
    kind::<multiple_choice::MultipleChoice>(),
    kind::<contains::NotContains>(),
    kind::<numeric_match::NumericMatch>(),
    kind::<judge::Pairwise>(),
    kind::<judge::JudgePanel>(),
    kind::<judge::Reference>(),
    kind::<regex::Patterns>(),
    kind::<text::Rouge1>(),
    kind::<text::Rouge2>(),
    kind::<text::RougeL>(),
    kind::<text::RougeLsum>(),
    kind::<routed::RoutedParameters>(),
    kind::<judge::Rubric>(),
    kind::<ScorecardParameters>(),
    kind::<semantic::SemanticSimilarity>(),
    kind::<text::SquadExactMatch>(),
    kind::<text::TerParameters>(),
    kind::<text::TokenF1>(),
];

const fn kind<P: Parameters>() -> Kind {
    Kind {
        name: P::KIND,
        summary: P::SUMMARY,
        example: P::EXAMPLE,
        version: P::VERSION,
        needs_reference: P::NEEDS_REFERENCE,
        binary: P::BINARY,
        file_parameters: P::FILE_PARAMETERS,
        lines_parameters: P::LINES_PARAMETERS,
        code_parameters: P::CODE_PARAMETERS,
        model_parameters: P::MODEL_PARAMETERS,
        language_model_parameters: P::LANGUAGE_MODEL_PARAMETERS,
        scorer_parameters: P::SCORER_PARAMETERS,
        schema: P::json_schema,
        build: built::<P>,
    }
}

fn built<P: Parameters>(given: &Map<String, Value>) -> Result<Built, ScorerConfigError> {
    let parameters: P =
        serde_path_to_error::deserialize(Value::Object(given.clone())).map_err(|error| {
            let path = error.path().to_string();
            ScorerConfigError {
                field: (path != "." && !path.is_empty()).then_some(path),
                message: error.into_inner().to_string(),
                hint: None,
            }
        })?;
    let filled = serde_json::to_value(&parameters)
        .map_err(|error| ScorerConfigError::new(error.to_string()))?;
    let canonical = canonical(filled);
    let signature = signature::<P>(&canonical);
    let scorer = Arc::new(Signed { scorer: parameters.build()?, signature });
    Ok(Built { scorer, canonical })
}

/// Kind, every parameter and the version, as sacreBLEU writes it: `exact_match|ignore_case:no|trim:yes|v:1`.
fn signature<P: Parameters>(canonical: &Value) -> String {
    let mut signature = P::KIND.to_owned();
    for (name, value) in canonical.as_object().into_iter().flatten() {
        let shown = match value {
            Value::Null => continue,
            Value::Bool(true) => "yes".to_owned(),
            Value::Bool(false) => "no".to_owned(),
            Value::String(text) => shortened(text.clone()),
            other => shortened(other.to_string()),
        };
        signature.push_str(&format!("|{name}:{shown}"));
    }
    signature.push_str(&format!("|v:{}", P::VERSION));
    signature
}

/// The text, or a hash of it where it is long or would not stay on its part of the line.
fn shortened(text: String) -> String {
    const LONGEST: usize = 48;
    if text.len() <= LONGEST && !text.contains(['|', '\n', '\r']) {
        return text;
    }
    let hash = ContentHash::of(text.as_bytes()).to_string();
    format!("#{}", &hash[..12])
}

/// A scorer with its signature.
struct Signed<S> {
    scorer: S,
    signature: String,
}

#[async_trait]
impl<S: BatchScorer> Scorer for Signed<S> {
    fn signature(&self) -> String {
        self.signature.clone()
    }

    fn is_binary(&self) -> bool {
        self.scorer.is_binary()
    }

    fn ready(&self) -> Result<(), ScorerConfigError> {
        self.scorer.ready()
    }

    fn models(&self) -> Vec<ModelConfig> {
        self.scorer.models()
    }

    fn embedders(&self) -> Vec<ModelConfig> {
        self.scorer.embedders()
    }

    fn connect(&self, models: Vec<Arc<ModelHandle>>) {
        self.scorer.connect(models);
    }

    fn batch_size(&self) -> usize {
        self.scorer.batch_size()
    }

    fn remember(&self, memory: &Memory) {
        self.scorer.remember(memory);
    }

    fn criterion(&self) -> Option<&Criterion> {
        self.scorer.criterion()
    }

    fn tiers(&self) -> Vec<String> {
        self.scorer.tiers()
    }

    fn has_paths(&self) -> bool {
        self.scorer.has_paths()
    }

    fn opponent(&self) -> Option<&str> {
        self.scorer.opponent()
    }

    fn calls(&self, item: &Item<'_>) -> Vec<AskedCall> {
        self.scorer.calls(item)
    }

    fn calls_for_all(&self, item: &Item<'_>) -> Vec<AskedCall> {
        self.scorer.calls_for_all(item)
    }

    async fn score(&self, items: &[Item<'_>]) -> Vec<Score> {
        self.scorer.score_items(items).await
    }
}

#[cfg(test)]
pub(crate) mod fixture;
