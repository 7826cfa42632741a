//! The shape of the evaluation file, and of the frozen spec.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use fullbench_llm::{Limits, ModelConfig};
use fullbench_score::ScorerConfig;
use fullbench_store::FieldMapping;
use fullbench_types::RunId;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::statistics::StatisticsConfig;
use crate::judge_check::JudgeCheck;
use crate::prompt::PromptTemplates;

/// An evaluation: a data set, a prompt, models, scorers, and the rules of the run.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Fullbench evaluation file")]
pub struct EvaluationFile {
    /// The name under which runs are listed. Default: the name of the folder or file.
    #[serde(default)]
    pub name: Option<String>,
    /// What this evaluation is for.
    #[serde(default)]
    pub description: Option<String>,
    /// The data set: a path to a `.csv`, `.tsv`, `.json`, `.jsonl` or `.parquet` file, or a mapping with `path` and how to read it.
    #[serde(default)]
    pub dataset: Option<DatasetConfig>,
    /// Cases written into this file, instead of `dataset`: each a mapping of fields, or just the input.
    #[serde(default)]
    pub cases: Option<Vec<Value>>,
    /// The field that identifies a case. Default: `id` where the data has it, else a hash of the input.
    #[serde(default)]
    pub id: Option<String>,
    /// The field with the input: text, or a conversation as a list of messages. Default: `input`.
    #[serde(default)]
    pub input: Option<String>,
    /// The field, or fields, with the accepted answer: one, or a list of which the best match counts. Default: `reference`.
    #[serde(default, deserialize_with = "one_or_many")]
    #[schemars(with = "Option<OneOrMany>")]
    pub reference: Option<Vec<String>>,
    /// The fields shown as metadata and offered for grouping. Default: every field that is nothing else.
    #[serde(default)]
    pub metadata: Option<Vec<String>>,
    /// The prompt: a path to a template file, or the template itself when it holds `{{`, `{%` or several lines. Jinja syntax over the case's fields.
    #[serde(default)]
    pub prompt: Option<String>,
    /// The prompt as messages: system, examples, user. Instead of `prompt`.
    #[serde(default)]
    pub messages: Option<MessageTemplates>,
    /// The models to run: `provider:model`, `recorded`, or a mapping.
    pub models: Vec<ModelEntry>,
    /// How often each model answers each case.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 10000))]
    pub repetitions: u32,
    /// What turns answers into scores.
    #[serde(default)]
    pub scorers: Vec<ScorerConfig>,
    /// Run only a part of the data set, chosen by a seed.
    #[serde(default)]
    pub sample: Option<SampleConfig>,
    /// Limits of each provider; a model may override them.
    #[serde(default)]
    pub limits: Limits,
    /// The response cache: `true`, `false`, or its limits.
    #[serde(default)]
    pub cache: CacheConfig,
    /// What the run may spend.
    #[serde(default)]
    pub budget: Option<BudgetConfig>,
    /// Conditions that must hold for every model, for example `exact_match.mean >= 0.8`; a failed gate makes the exit code 1.
    #[serde(default)]
    pub gates: Vec<String>,
    /// How the numbers are made.
    #[serde(default)]
    pub statistics: StatisticsConfig,
}

fn one() -> u32 {
    1
}

#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "describes the schema of a text or a list of texts")]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

fn one_or_many<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<String>>, D::Error> {
    struct Texts;
    impl<'de> Visitor<'de> for Texts {
        type Value = Option<Vec<String>>;
        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a field name or a list of field names")
        }
        fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
            Ok(Some(vec![text.to_owned()]))
        }
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(None)
        }
        fn visit_seq<A: serde::de::SeqAccess<'de>>(
            self,
            mut items: A,
        ) -> Result<Self::Value, A::Error> {
            let mut texts = Vec::new();
            while let Some(text) = items.next_element()? {
                texts.push(text);
            }
            Ok(Some(texts))
        }
    }
    deserializer.deserialize_any(Texts)
}

/// Where the data set is and how to read it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DatasetFile")]
pub struct DatasetMap {
    /// The path, seen from the evaluation file.
    pub path: String,
    /// `csv`, `tsv`, `json`, `jsonl` or `parquet`. Default: by the ending of the path.
    #[serde(default)]
    pub format: Option<String>,
    /// Names of the columns of a CSV file without a header line.
    #[serde(default)]
    pub columns: Option<Vec<String>>,
}

/// Where the data set is: a path, or a mapping.
#[derive(Debug, Clone)]
pub struct DatasetConfig(pub DatasetMap);

impl<'de> Deserialize<'de> for DatasetConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PathOrMap;
        impl<'de> Visitor<'de> for PathOrMap {
            type Value = DatasetConfig;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a path, or a mapping with `path`")
            }
            fn visit_str<E>(self, path: &str) -> Result<Self::Value, E> {
                Ok(DatasetConfig(DatasetMap { path: path.to_owned(), format: None, columns: None }))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                DatasetMap::deserialize(MapAccessDeserializer::new(map)).map(DatasetConfig)
            }
        }
        deserializer.deserialize_any(PathOrMap)
    }
}

impl JsonSchema for DatasetConfig {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Dataset".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let map = generator.subschema_for::<DatasetMap>();
        json_schema!({ "anyOf": [{ "type": "string" }, map] })
    }
}

/// A model: the short form `provider:model`, or a mapping.
#[derive(Debug, Clone)]
pub struct ModelEntry(pub ModelConfig);

impl<'de> Deserialize<'de> for ModelEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrMap;
        impl<'de> Visitor<'de> for TextOrMap {
            type Value = ModelEntry;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("`provider:model`, `recorded`, or a mapping with `provider`")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
                ModelConfig::parse(text).map(ModelEntry).map_err(|error| {
                    let hint = error.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
                    E::custom(format!("{}{hint}", error.message))
                })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                ModelConfig::deserialize(MapAccessDeserializer::new(map)).map(ModelEntry)
            }
        }
        deserializer.deserialize_any(TextOrMap)
    }
}

impl JsonSchema for ModelEntry {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Model".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let map = generator.subschema_for::<ModelConfig>();
        json_schema!({
            "anyOf": [
                { "type": "string", "examples": ["openai:gpt-4o-mini", "recorded"] },
                map
            ]
        })
    }
}

/// The prompt as messages; each text is a template over the case's fields.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessageTemplates {
    /// Instructions that stand above the conversation.
    #[serde(default)]
    pub system: Option<String>,
    /// Question and answer pairs shown before the question.
    #[serde(default)]
    pub examples: Vec<ExampleTemplate>,
    /// The question. Default: the case's input, or its whole conversation.
    #[serde(default)]
    pub user: Option<String>,
}

/// An example: a question and its answer.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExampleTemplate {
    /// What the user asks.
    pub user: String,
    /// What the assistant answers.
    pub assistant: String,
}

/// How a sample is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SampleStrategy {
    /// The first cases of the file.
    First,
    /// Any cases, each as likely as the other.
    #[default]
    Random,
    /// Of every value of the field `by`, in proportion.
    Stratified,
}

/// A part of the data set, chosen by a seed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SampleConfig {
    /// How many cases.
    #[schemars(range(min = 1))]
    pub size: u64,
    /// How they are chosen.
    #[serde(default)]
    pub strategy: SampleStrategy,
    /// The field whose values are the strata.
    #[serde(default)]
    pub by: Option<String>,
    /// The seed: the same seed gives the same sample.
    #[serde(default)]
    pub seed: u64,
}

/// The response cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CacheConfig {
    /// Whether replies are kept and served.
    pub enabled: bool,
    /// Replies older than this are not served, for example `14d`.
    pub max_age: String,
    /// Above this size the longest unused replies go, for example `2GB`.
    pub max_size: String,
}

/// The limits of the response cache.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Cache")]
struct CacheMap {
    /// Whether replies are kept and served.
    #[serde(default = "enabled")]
    enabled: bool,
    /// Replies older than this are not served, for example `14d`.
    #[serde(default = "default_max_age")]
    max_age: String,
    /// Above this size the longest unused replies go, for example `2GB`.
    #[serde(default = "default_max_size")]
    max_size: String,
}

fn enabled() -> bool {
    true
}

fn default_max_age() -> String {
    "14d".to_owned()
}

fn default_max_size() -> String {
    "2GB".to_owned()
}

impl Default for CacheConfig {
    fn default() -> Self {
        Self { enabled: true, max_age: default_max_age(), max_size: default_max_size() }
    }
}

impl CacheConfig {
    /// The age as a duration.
    pub(crate) fn max_age(&self) -> Result<Duration, String> {
        humantime::parse_duration(&self.max_age)
            .map_err(|error| format!("`{}` is no duration: {error}", self.max_age))
    }

    /// The size in bytes.
    pub(crate) fn max_bytes(&self) -> Result<u64, String> {
        let size = self.max_size.parse::<bytesize::ByteSize>();
        size.map(|size| size.as_u64())
            .map_err(|error| format!("`{}` is no size: {error}", self.max_size))
    }
}

impl<'de> Deserialize<'de> for CacheConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SwitchOrMap;
        impl<'de> Visitor<'de> for SwitchOrMap {
            type Value = CacheConfig;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("true, false, or a mapping with `max_age` and `max_size`")
            }
            fn visit_bool<E>(self, enabled: bool) -> Result<Self::Value, E> {
                Ok(CacheConfig { enabled, ..CacheConfig::default() })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let CacheMap { enabled, max_age, max_size } =
                    CacheMap::deserialize(MapAccessDeserializer::new(map))?;
                Ok(CacheConfig { enabled, max_age, max_size })
            }
        }
        deserializer.deserialize_any(SwitchOrMap)
    }
}

impl JsonSchema for CacheConfig {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CacheSetting".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let map = generator.subschema_for::<CacheMap>();
        json_schema!({ "anyOf": [{ "type": "boolean" }, map] })
    }
}

/// What a run may spend.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetConfig {
    /// Dollars.
    #[schemars(range(min = 0.0))]
    pub usd: f64,
}

/// Everything a run rests on, with all files read in: stored with the run and never changed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EvaluationSpec {
    /// The name under which the run is listed.
    pub name: String,
    /// What the evaluation is for.
    #[serde(default)]
    pub description: Option<String>,
    /// Where the cases came from, as the user wrote it.
    pub dataset: String,
    /// What of a row is input and reference.
    pub mapping: FieldMapping,
    /// The fields shown as metadata; none means all others.
    pub metadata: Option<Vec<String>>,
    /// The prompt's templates, with their content.
    pub prompt: PromptTemplates,
    /// The models.
    pub models: Vec<ModelConfig>,
    /// How often each model answers each case.
    pub repetitions: u32,
    /// The scorers, with the files they name read in.
    pub scorers: Vec<ScorerConfig>,
    /// The part of the data set.
    pub sample: Option<SampleConfig>,
    /// Limits of each provider.
    pub limits: Limits,
    /// The response cache.
    pub cache: CacheConfig,
    /// What the run may spend.
    pub budget: Option<BudgetConfig>,
    /// Conditions that must hold for every model.
    pub gates: Vec<String>,
    /// The field whose values group cases in intervals and tests; none where the data has no such field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The runs that the baselines named in the gates stood for when the run began.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub baselines: BTreeMap<String, RunId>,
    /// The check of a judge that the run is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge_check: Option<JudgeCheck>,
}
