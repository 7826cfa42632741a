//! The data of the HTML report.

use std::sync::Arc;

use fullbench_engine::{Clustering, GateResult, ModelSummary, RunReport, ScorerInfo};
use fullbench_store::{ResultDetail, RunRecord, ScopedStore, StoreError, UnitResult};
use fullbench_types::{Outcome, text_of};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::failure::CliError;
use crate::output::evidence::{self, EvidenceLine};
use crate::output::results::RunContext;
use crate::output::savings::{self, Saving};

/// What is said in place of results whose texts cannot be read any more.
const DELETED: &str =
    "the texts are gone with the key that they were sealed with: only numbers are shown";
/// A shown text is cut after this many characters; `fullbench show --case` has the whole.
const MAX_TEXT: usize = 20_000;

#[derive(Serialize)]
pub(super) struct ReportData<'report> {
    version: &'static str,
    generated_at: String,
    run: RunData<'report>,
    scorers: &'report [ScorerInfo],
    models: &'report [ModelSummary],
    clustering: Option<&'report Clustering>,
    groups: Option<GroupData<'report>>,
    gates: &'report [GateResult],
    savings: Vec<Saving>,
    cases_total: u64,
    cases_shown: usize,
    cases: Vec<CaseData>,
}

#[derive(Serialize)]
struct RunData<'report> {
    id: &'report str,
    name: &'report str,
    state: &'report str,
    created_at: &'report str,
    finished_at: Option<&'report str>,
    dataset: DatasetData<'report>,
    repetitions: u32,
    spec_hash: &'report str,
    cost_usd: Option<f64>,
    scoring_cost_usd: Option<f64>,
    prices_as_of: String,
    seconds: Option<f64>,
    notes: Vec<&'report str>,
}

#[derive(Serialize)]
struct DatasetData<'report> {
    source: &'report str,
    hash: &'report str,
    cases: u64,
}

#[derive(Serialize)]
struct GroupData<'report> {
    by: &'report str,
    values: Vec<GroupValue<'report>>,
}

#[derive(Serialize)]
struct GroupValue<'report> {
    value: &'report str,
    models: &'report [ModelSummary],
}

#[derive(Serialize)]
struct CaseData {
    key: String,
    m: u32,
    rep: u32,
    input: String,
    output: Option<String>,
    references: Vec<String>,
    failure: Option<FailureData>,
    latency_ms: Option<f64>,
    cost_usd: Option<f64>,
    cached: bool,
    finish: Option<&'static str>,
    metadata: Map<String, Value>,
    scores: Vec<Option<ScoreData>>,
}

#[derive(Serialize)]
struct FailureData {
    reason: &'static str,
    message: String,
}

#[derive(Serialize)]
struct ScoreData {
    o: &'static str,
    v: Option<f64>,
    r: Option<&'static str>,
    why: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    evidence: Vec<EvidenceLine>,
}

/// Reads the results, those that need a look first when there are more than the limit.
pub(super) async fn collect<'report>(
    report: &'report RunReport,
    store: &ScopedStore,
    run: &RunRecord,
    limit: u64,
) -> Result<ReportData<'report>, CliError> {
    let dataset = Arc::new(store.dataset(&run.dataset).await?);
    let mut context = RunContext::new(store, run, dataset).await?;
    let recorded: u64 = report
        .models
        .iter()
        .map(|model| model.answered + model.failures.values().sum::<u64>())
        .sum();
    let mut cases = Vec::new();
    let mut fine = Vec::new();
    let mut deleted = context.are_cases_deleted().then_some(DELETED);
    let mut after = None;
    while deleted.is_none() {
        let page = match store.results_after(run.id, after, 2000, ResultDetail::Texts).await {
            Err(StoreError::TextsDeleted) => {
                (cases, fine, deleted) = (Vec::new(), Vec::new(), Some(DELETED));
                continue;
            }
            page => page?,
        };
        let Some(last) = page.last() else { break };
        after = Some(last.key);
        for unit in &page {
            let wants_look = recorded <= limit || needs_look(unit);
            let list = if wants_look { &mut cases } else { &mut fine };
            if (list.len() as u64) < limit {
                list.push(case_data(unit, &mut context)?);
            }
        }
    }
    let room = (limit as usize).saturating_sub(cases.len());
    cases.extend(fine.into_iter().take(room));
    let seconds = run
        .finished_at
        .map(|end| (end.as_millisecond() - run.created_at.as_millisecond()) as f64 / 1000.0);
    let costs: Option<Vec<f64>> = report.models.iter().map(|model| model.cost_usd).collect();
    Ok(ReportData {
        version: env!("CARGO_PKG_VERSION"),
        generated_at: Timestamp::now().to_string(),
        run: RunData {
            id: &report.id,
            name: &report.name,
            state: &report.state,
            created_at: &report.created_at,
            finished_at: report.finished_at.as_deref(),
            dataset: DatasetData {
                source: &report.dataset,
                hash: &report.dataset_hash,
                cases: report.cases,
            },
            repetitions: report.repetitions,
            spec_hash: &report.spec_hash,
            cost_usd: costs
                .map(|costs| costs.iter().sum::<f64>() + report.scoring_cost_usd.unwrap_or(0.0)),
            scoring_cost_usd: report.scoring_cost_usd,
            prices_as_of: fullbench_llm::price_table().as_of.to_string(),
            seconds,
            notes: report.notes.iter().map(String::as_str).chain(deleted).collect(),
        },
        scorers: &report.scorers,
        models: &report.models,
        savings: savings::of(report),
        clustering: report.clustering.as_ref(),
        groups: report.groups.as_ref().map(|groups| GroupData {
            by: &groups.by,
            values: groups
                .values
                .iter()
                .map(|(value, models)| GroupValue { value, models })
                .collect(),
        }),
        gates: &report.gates,
        cases_total: recorded,
        cases_shown: cases.len(),
        cases,
    })
}

/// Failed, unscored or without an answer.
fn needs_look(unit: &UnitResult) -> bool {
    let bad = |outcome: Outcome| matches!(outcome, Outcome::Failed | Outcome::Unscored(_));
    unit.result.is_err() || unit.scores.iter().any(|entry| bad(entry.score.outcome))
}

fn case_data(unit: &UnitResult, context: &mut RunContext) -> Result<CaseData, CliError> {
    let case = context.case(unit)?;
    let generation = unit.result.as_ref().ok();
    let no_answer = unit.result.as_ref().err().map(|failure| failure.reason.as_str());
    let scores = context.scores(unit).map(|(_, entry)| match (entry, no_answer) {
        (None, None) => None,
        (None, Some(reason)) => {
            let evidence = Vec::new();
            Some(ScoreData { o: "unscored", v: None, r: Some(reason), why: None, evidence })
        }
        (Some(entry), _) => Some(ScoreData {
            o: entry.score.outcome.as_str(),
            v: entry.score.value,
            r: entry.score.outcome.reason().map(|reason| reason.as_str()),
            why: entry.score.reasoning.clone(),
            evidence: evidence::lines(&entry.score),
        }),
    });
    Ok(CaseData {
        key: unit.case_key.clone(),
        m: unit.key.model_index,
        rep: unit.key.repetition,
        scores: scores.collect(),
        metadata: context.metadata(&case),
        input: cut(flattened(&case.input)),
        output: generation.map(|generation| cut(generation.text.clone())),
        references: case
            .references
            .iter()
            .map(|reference| cut(text_of(reference).into_owned()))
            .collect(),
        failure: unit.result.as_ref().err().map(|failure| FailureData {
            reason: failure.reason.as_str(),
            message: failure.message.clone(),
        }),
        latency_ms: generation
            .filter(|generation| generation.latency_us > 0)
            .map(|generation| generation.latency_us as f64 / 1000.0),
        cost_usd: generation.and_then(|generation| generation.cost).map(|cost| cost.dollars()),
        cached: generation.is_some_and(|generation| generation.cached),
        finish: generation.map(|generation| generation.finish_reason.as_str()),
    })
}

/// A conversation as lines, any other input as text.
fn flattened(input: &Value) -> String {
    let Some(messages) = input.as_array() else { return text_of(input).into_owned() };
    let line = |message: &Value| {
        Some(format!("{}: {}", message.get("role")?.as_str()?, message.get("content")?.as_str()?))
    };
    let lines: Option<Vec<String>> = messages.iter().map(line).collect();
    lines.map_or_else(|| input.to_string(), |lines| lines.join("\n"))
}

fn cut(text: String) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        None => text,
        Some((end, _)) => {
            format!("{}… (cut; {} characters in all)", &text[..end], text.chars().count())
        }
    }
}
