//! A metric with its options, whichever it is.

use fullbench_text::corpus::{Mean, Segment, Statistics};
use fullbench_text::{
    Aggregate, Bleu, BleuOptions, Chrf, ChrfOptions, Conditions, CorpusMetric, InvalidOptions,
    Rouge, RougeKind, RougeOptions, Ter, TerOptions, bag, edit, squad,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::semantic::{BertScoreChoice, Semantic, SemanticScores, SimilarityChoice};
use crate::arguments::metric::{Level, MetricArguments, MetricName};
use crate::failure::CliError;

type Compare = Box<dyn Fn(&str, &[&str]) -> f64 + Send + Sync>;

/// What is measured, and how numbers are made of it.
pub(super) struct Measure {
    pub(super) name: String,
    kind: Kind,
    /// Known for BLEU alone: what the score is made of.
    bleu: Option<Bleu>,
}

enum Kind {
    /// Summed over the corpus, then scored.
    Corpus(Box<dyn CorpusMetric>),
    /// Scored line by line, then averaged.
    Mean { compare: Compare, signature: String },
    /// Scored by a model, all lines together, then averaged.
    Semantic(Semantic),
}

/// The numbers of every line of a system.
pub(super) struct Measured {
    pub(super) statistics: Statistics,
    /// Lines of which the model did not read the whole.
    pub(super) truncated: usize,
}

impl Measure {
    /// The metric that the arguments ask for.
    pub(super) fn new(arguments: &MetricArguments) -> Result<Self, CliError> {
        let mut given = match serde_json::to_value(&arguments.options) {
            Ok(Value::Object(given)) => given,
            _ => Map::new(),
        };
        let metric = arguments.metric;
        if metric == MetricName::Bleu && arguments.level == Level::Sentence {
            given.entry("effective_order").or_insert(json!(true));
        }
        let invalid = |error: InvalidOptions| {
            CliError::input(format!("--{} {}", error.option.replace('_', "-"), error.problem), None)
        };
        match metric {
            MetricName::Bleu => {
                let bleu = Bleu::new(options::<BleuOptions>(metric, given)?).map_err(invalid)?;
                Ok(Self { bleu: Some(bleu.clone()), ..Self::corpus(bleu) })
            }
            MetricName::Chrf => Ok(Self::corpus(
                Chrf::new(options::<ChrfOptions>(metric, given)?).map_err(invalid)?,
            )),
            MetricName::Ter => Ok(Self::corpus(Ter::new(options::<TerOptions>(metric, given)?))),
            MetricName::Rouge1 => Self::rouge(metric, RougeKind::N(1), given),
            MetricName::Rouge2 => Self::rouge(metric, RougeKind::N(2), given),
            MetricName::RougeL => Self::rouge(metric, RougeKind::L, given),
            MetricName::RougeLsum => Self::rouge(metric, RougeKind::Lsum, given),
            MetricName::TokenF1 => {
                Self::mean(metric, given, squad::signature(), Box::new(squad::token_f1))
            }
            MetricName::SquadExactMatch => {
                let exact = |output: &str, references: &[&str]| {
                    f64::from(u8::from(squad::exact_match(output, references)))
                };
                Self::mean(metric, given, squad::signature(), Box::new(exact))
            }
            MetricName::EditSimilarity => {
                Self::mean(metric, given, edit::signature(), best_of(edit::edit_similarity))
            }
            MetricName::Jaccard => {
                Self::mean(metric, given, bag::signature(), best_of(bag::jaccard))
            }
            MetricName::BagCosine => {
                Self::mean(metric, given, bag::signature(), best_of(bag::cosine))
            }
            MetricName::SemanticSimilarity => {
                let choice: SimilarityChoice = options(metric, given)?;
                Ok(Self::semantic(metric, Semantic::similarity(choice)?))
            }
            MetricName::BertScore => {
                let choice: BertScoreChoice = options(metric, given)?;
                Ok(Self::semantic(metric, Semantic::bert_score(choice)?))
            }
        }
    }

    fn semantic(metric: MetricName, semantic: Semantic) -> Self {
        Self { name: word(metric), kind: Kind::Semantic(semantic), bleu: None }
    }

    fn corpus(metric: impl CorpusMetric + 'static) -> Self {
        Self { name: metric.name(), kind: Kind::Corpus(Box::new(metric)), bleu: None }
    }

    fn rouge(
        metric: MetricName,
        kind: RougeKind,
        given: Map<String, Value>,
    ) -> Result<Self, CliError> {
        let chosen: RougeOptions = options(metric, given)?;
        let rouge = Rouge::new(RougeOptions { kind, ..chosen })
            .map_err(|error| CliError::input(error.to_string(), None))?;
        let signature = rouge.signature();
        let compare: Compare =
            Box::new(move |output, references| rouge.score(output, references).f_measure);
        Ok(Self { name: word(metric), kind: Kind::Mean { compare, signature }, bleu: None })
    }

    fn mean(
        metric: MetricName,
        given: Map<String, Value>,
        signature: String,
        compare: Compare,
    ) -> Result<Self, CliError> {
        if let Some(option) = given.keys().next() {
            return Err(no_such_option(metric, option, "it has none"));
        }
        Ok(Self { name: word(metric), kind: Kind::Mean { compare, signature }, bleu: None })
    }

    /// The numbers of every line.
    pub(super) async fn measure(&self, segments: &[Segment<'_>]) -> Result<Measured, CliError> {
        let statistics = match &self.kind {
            Kind::Corpus(metric) => Statistics::of(metric.as_ref(), segments),
            Kind::Mean { compare, .. } => Statistics::of_each(segments, |segment| {
                compare(segment.hypothesis, segment.references)
            }),
            Kind::Semantic(semantic) => {
                let SemanticScores { scores, truncated } = semantic.scores(segments).await?;
                return Ok(Measured { statistics: Statistics::of_scores(&scores), truncated });
            }
        };
        Ok(Measured { statistics, truncated: 0 })
    }

    /// How sums become a score.
    pub(super) fn aggregate(&self) -> &dyn Aggregate {
        match &self.kind {
            Kind::Corpus(metric) => metric.as_ref(),
            Kind::Mean { .. } | Kind::Semantic(_) => &Mean,
        }
    }

    /// How the numbers were made.
    pub(super) fn signature(&self, conditions: &Conditions) -> String {
        match &self.kind {
            Kind::Corpus(metric) => format!("{}|{}", self.name, metric.signature(conditions)),
            Kind::Mean { signature, .. } => self.mean_signature(signature, conditions),
            Kind::Semantic(semantic) => self.mean_signature(&semantic.signature(), conditions),
        }
    }

    fn mean_signature(&self, signature: &str, conditions: &Conditions) -> String {
        let resampled = conditions.bootstrap_samples.map(|samples| format!("|bs:{samples}"));
        let seed = conditions.seed.map(|seed| format!("|seed:{seed}"));
        let own = format!("{}|", self.name);
        let options = signature.strip_prefix(&own).unwrap_or(signature);
        let [resampled, seed] = [resampled, seed].map(Option::unwrap_or_default);
        format!("{}|nrefs:{}{resampled}{seed}|{options}", self.name, conditions.references)
    }

    /// Digits after the point: scores out of a hundred need fewer.
    pub(super) fn digits(&self) -> usize {
        match self.kind {
            Kind::Corpus(_) => 2,
            Kind::Mean { .. } | Kind::Semantic(_) => 4,
        }
    }

    /// What a score is made of, where that is known.
    pub(super) fn details(&self, total: &[f64]) -> Option<Value> {
        let details = self.bleu.as_ref()?.details(total);
        let orders = self.bleu.as_ref()?.options().max_order;
        Some(json!({
            "precisions": details.precisions[..orders],
            "counts": details.counts[..orders],
            "totals": details.totals[..orders],
            "brevity_penalty": details.brevity_penalty,
            "hypothesis_length": details.hypothesis_length,
            "reference_length": details.reference_length,
        }))
    }
}

fn best_of(compare: fn(&str, &str) -> f64) -> Compare {
    Box::new(move |output, references| {
        references.iter().map(|reference| compare(output, reference)).fold(0.0, f64::max)
    })
}

/// Options as the metric's own type; those it does not have are refused.
fn options<T: DeserializeOwned + Default + serde::Serialize>(
    metric: MetricName,
    given: Map<String, Value>,
) -> Result<T, CliError> {
    let known = serde_json::to_value(T::default()).unwrap_or_default();
    if let Some(unknown) = given.keys().find(|option| known.get(option.as_str()).is_none()) {
        let names: Vec<String> = known
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(name, _)| *name != "kind")
            .map(|(name, _)| flag(name))
            .collect();
        return Err(no_such_option(metric, unknown, &format!("it has {}", names.join(", "))));
    }
    serde_json::from_value(Value::Object(given))
        .map_err(|error| CliError::input(format!("an option of {}: {error}", word(metric)), None))
}

fn no_such_option(metric: MetricName, option: &str, hint: &str) -> CliError {
    CliError::input(
        format!("{} has no option {}", word(metric), flag(option)),
        Some(hint.to_owned()),
    )
}

fn flag(option: &str) -> String {
    format!("--{}", option.replace('_', "-"))
}

/// The metric as it is written on the command line.
fn word(metric: MetricName) -> String {
    use clap::ValueEnum;
    metric.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
