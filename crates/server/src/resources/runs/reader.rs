//! Results of a run, with the names that its spec gives to models and scorers.

use std::collections::BTreeMap;
use std::sync::Arc;

use fullbench_engine::{Column, ColumnType, DatasetSchema, stored_spec};
use fullbench_score::NamedScorer;
use fullbench_store::{CaseReader, ResultDetail, RunRecord, ScopedStore, StoreError, UnitResult};
use fullbench_types::{Generation, RunId, UnitKey};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::problem::Problem;
use crate::resources::evaluations::MetricResult;

/// One unit of a run: what a model answered to a case, and what the metrics say of it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EvaluationResult")]
pub(crate) struct ResultView {
    /// What identifies the case across versions and runs.
    case_key: String,
    /// The position of the case in its version.
    case_index: u64,
    model: String,
    /// Which of the model's answers to the case it is, counted from 0.
    repetition: u32,
    /// `answered`, or why there is no answer.
    status: String,
    /// What the model answered.
    output: Option<String>,
    /// What the provider said when it failed.
    error: Option<String>,
    scores: BTreeMap<String, MetricResult>,
    latency_ms: Option<f64>,
    cost_usd: Option<f64>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    /// The answer came from the response cache.
    cached: bool,
    /// Its texts are gone with the key that they were sealed with: `output` and reasons are null.
    texts_deleted: bool,
}

impl ResultView {
    /// Its scores alone.
    pub(crate) fn into_scores(self) -> BTreeMap<String, MetricResult> {
        self.scores
    }
}

/// Reads the results of a run.
pub(crate) struct RunReader {
    store: ScopedStore,
    run: RunId,
    models: Vec<String>,
    scorers: Vec<NamedScorer>,
    cases: CaseReader,
}

impl RunReader {
    /// A reader of this run.
    pub(crate) async fn open(store: &ScopedStore, run: &RunRecord) -> Result<Self, Problem> {
        let spec = stored_spec(store, run).await?;
        let dataset = Arc::new(store.dataset(&run.dataset).await?);
        Ok(Self {
            store: store.clone(),
            run: run.id,
            models: spec.models.iter().map(|model| model.display_name()).collect(),
            scorers: spec
                .scorers
                .iter()
                .filter_map(|scorer| fullbench_score::build(scorer).ok())
                .collect(),
            cases: store.cases(dataset).await?,
        })
    }

    /// The next results after a unit, those whose texts are gone among them.
    pub(crate) async fn page(
        &self,
        after: Option<UnitKey>,
        limit: u64,
    ) -> Result<Vec<UnitResult>, Problem> {
        Ok(self.store.results_to_show(self.run, after, limit, ResultDetail::Texts).await?)
    }

    /// Refuses where the texts are gone: an export is about them.
    pub(crate) async fn check_texts(&mut self) -> Result<(), Problem> {
        if let Some(first) = self.page(None, 1).await?.first() {
            if first.texts_deleted {
                return Err(StoreError::TextsDeleted.into());
            }
            self.cases.case(first.key.case_index)?;
        }
        Ok(())
    }

    /// A result as the API shows it.
    pub(crate) fn view(&self, unit: &UnitResult) -> ResultView {
        let scores = self.scorers.iter().filter_map(|scorer| {
            let entry = unit.scores.iter().find(|entry| entry.scorer == scorer.hash.short())?;
            let result = MetricResult::new(Some(&entry.score), &scorer.signature);
            Some((scorer.name.clone(), result))
        });
        let answer = unit.result.as_ref().ok();
        let failure = unit.result.as_ref().err();
        let usage = answer.and_then(|answer| answer.usage.as_ref());
        let is_there = |answer: &&Generation| !unit.texts_deleted || !answer.text.is_empty();
        ResultView {
            case_key: unit.case_key.clone(),
            case_index: unit.key.case_index,
            model: self.model(unit.key).to_owned(),
            repetition: unit.key.repetition,
            status: failure.map_or("answered", |failure| failure.reason.as_str()).to_owned(),
            output: answer.filter(is_there).map(|answer| answer.text.clone()),
            error: failure.map(|failure| failure.message.clone()),
            texts_deleted: unit.texts_deleted,
            scores: scores.collect(),
            latency_ms: answer.map(|answer| answer.latency_us as f64 / 1000.0),
            cost_usd: answer.and_then(|answer| answer.cost).map(|cost| cost.dollars()),
            input_tokens: usage.map(|usage| usage.input_tokens),
            output_tokens: usage.map(|usage| usage.output_tokens),
            cached: answer.is_some_and(|answer| answer.cached),
        }
    }

    /// The columns of an export.
    pub(crate) fn schema(&self) -> DatasetSchema {
        let texts = ["case_key", "input", "expected_output", "model", "status", "output", "error"];
        let mut columns: Vec<Column> =
            texts.into_iter().map(|name| Column::nullable(name, ColumnType::String)).collect();
        for name in ["case_index", "repetition", "input_tokens", "output_tokens"] {
            columns.push(Column::nullable(name, ColumnType::Integer));
        }
        for name in ["latency_ms", "cost_usd"] {
            columns.push(Column::nullable(name, ColumnType::Number));
        }
        for scorer in &self.scorers {
            let name = &scorer.name;
            columns.push(Column::nullable(format!("{name}.value"), ColumnType::Number));
            columns.push(Column::nullable(format!("{name}.raw"), ColumnType::Number));
            columns.push(Column::nullable(format!("{name}.outcome"), ColumnType::String));
            columns.push(Column::nullable(format!("{name}.reason"), ColumnType::String));
            columns.push(Column::nullable(format!("{name}.reasoning"), ColumnType::String));
        }
        DatasetSchema { columns }
    }

    /// A result as a row of an export.
    pub(crate) fn row(&mut self, unit: &UnitResult) -> Result<Map<String, Value>, Problem> {
        let case = self.cases.case(unit.key.case_index)?;
        let view = self.view(unit);
        let text = |value: &Value| fullbench_types::text_of(value).into_owned();
        let mut row = Map::new();
        let mut add = |name: &str, value: Value| row.insert(name.to_owned(), value);
        add("case_key", json!(view.case_key));
        add("case_index", json!(view.case_index));
        add("input", json!(text(&case.input)));
        add("expected_output", json!(case.references.first().map(text)));
        add("model", json!(view.model));
        add("repetition", json!(view.repetition));
        add("status", json!(view.status));
        add("output", json!(view.output));
        add("error", json!(view.error));
        add("latency_ms", json!(view.latency_ms));
        add("cost_usd", json!(view.cost_usd));
        add("input_tokens", json!(view.input_tokens));
        add("output_tokens", json!(view.output_tokens));
        for scorer in &self.scorers {
            let name = &scorer.name;
            let entry = unit.scores.iter().find(|entry| entry.scorer == scorer.hash.short());
            let score = entry.map(|entry| &entry.score);
            add(&format!("{name}.value"), json!(score.and_then(|score| score.value)));
            add(&format!("{name}.raw"), json!(score.and_then(|score| score.raw)));
            let outcome = score.map(|score| score.outcome.as_str());
            add(&format!("{name}.outcome"), json!(outcome));
            let reason = score.and_then(|score| score.outcome.reason());
            add(&format!("{name}.reason"), json!(reason.map(|reason| reason.as_str())));
            let reasoning = score.and_then(|score| score.reasoning.as_ref());
            add(&format!("{name}.reasoning"), json!(reasoning));
        }
        Ok(row)
    }

    fn model(&self, key: UnitKey) -> &str {
        self.models.get(key.model_index as usize).map_or("", String::as_str)
    }
}
