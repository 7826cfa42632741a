//! What stored judgements show: performance, agreement, difficulty, failures, cost.

use std::collections::BTreeSet;

use fullbench_stats::agreement::{Level, Ratings, alpha, interpretation};
use fullbench_store::{DocumentScore, JudgementFilter, Performance, ScopedStore};
use serde_json::{Value, json};

use super::criterion_of;
use crate::arguments::PlainFormat;
use crate::arguments::judging::FilterArguments;
use crate::failure::CliError;
use crate::output;
use crate::progress::write_line;

/// Outputs that `difficulty` lists.
const LISTED: usize = 20;

async fn filter(store: &ScopedStore, said: &FilterArguments) -> Result<JudgementFilter, CliError> {
    let run = match &said.run {
        Some(run) => Some(store.find_run(run).await?.id),
        None => None,
    };
    if let Some(judge) = &said.judge {
        store.judge(judge).await?;
    }
    if let Some(criterion) = &said.criterion {
        criterion_of(store, criterion).await?;
    }
    Ok(JudgementFilter {
        run,
        judge: said.judge.clone(),
        criterion: said.criterion.clone(),
        ..JudgementFilter::default()
    })
}

/// Prints a table, or the same as JSON; a line where there is nothing.
fn print(
    said: &FilterArguments,
    header: &[&str],
    rows: Vec<(Vec<String>, Value)>,
) -> Result<(), CliError> {
    if said.printing.output == PlainFormat::Json {
        let values: Vec<Value> = rows.into_iter().map(|(_, value)| value).collect();
        return output::print_json(&values);
    }
    if rows.is_empty() {
        write_line("no judgement to look at: run an evaluation with a judge among its scorers");
        return Ok(());
    }
    let mut table = output::table(header);
    for (row, _) in rows {
        table.add_row(row);
    }
    output::print_text(&format!("{table}\n"))
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| format!("{value:.3}"))
}

/// Compares judges, and below them the models that judge.
pub(super) async fn performance(
    store: &ScopedStore,
    said: &FilterArguments,
) -> Result<(), CliError> {
    let filter = filter(store, said).await?;
    let judges = store.judge_performance(&filter).await?;
    let models = store.judging_model_performance(&filter).await?;
    let judges = judges.into_iter().map(|one| ("judge", one.judge.to_string(), one.performance));
    let models = models.into_iter().map(|one| ("model", one.model, one.performance));
    let rows = judges.chain(models).map(|(what, name, performance)| {
        let Performance { judgements, mean, spread, unscored, mean_seconds, p95_seconds, .. } =
            &performance;
        let missing: u64 = unscored.iter().map(|(_, count)| count).sum();
        let cost = performance.cost.dollars();
        let row = vec![
            format!("{what} {name}"),
            judgements.to_string(),
            number(*mean),
            number(*spread),
            number(performance.pass_rate()),
            missing.to_string(),
            number(*mean_seconds),
            number(*p95_seconds),
            format!("{} / {}", performance.input_tokens, performance.output_tokens),
            format!("{cost:.4}"),
        ];
        let unscored: serde_json::Map<String, Value> = unscored
            .iter()
            .map(|(reason, count)| (reason.as_str().to_owned(), json!(count)))
            .collect();
        let value = json!({ "kind": what, "name": name, "judgements": judgements, "mean": mean,
            "spread": spread, "pass_rate": performance.pass_rate(), "unscored": unscored,
            "mean_seconds": mean_seconds, "p95_seconds": p95_seconds,
            "input_tokens": performance.input_tokens, "output_tokens": performance.output_tokens,
            "cost_usd": cost });
        (row, value)
    });
    let header = [
        "",
        "judgements",
        "mean",
        "spread",
        "pass rate",
        "unscored",
        "seconds",
        "p95",
        "tokens in / out",
        "USD",
    ];
    print(said, &header, rows.collect())
}

/// How far judges of a criterion agree on the same outputs: alpha of their values, at the interval level.
pub(super) async fn agreement(store: &ScopedStore, said: &FilterArguments) -> Result<(), CliError> {
    let scores = store.document_scores(&filter(store, said).await?).await?;
    let criteria: BTreeSet<&str> = scores.judges.iter().map(|one| one.criterion.as_str()).collect();
    let mut rows = Vec::new();
    for criterion in criteria {
        let is_of = |one: &&DocumentScore| {
            scores.judges.get(one.judge as usize).is_some_and(|judge| judge.criterion == criterion)
        };
        let own: Vec<&DocumentScore> = scores.scores.iter().filter(is_of).collect();
        let mut numbers: Vec<f64> = own.iter().map(|one| one.value).collect();
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        let code = |value: f64| numbers.partition_point(|other| *other < value) as u32;
        let documents: Vec<u32> = own.iter().map(|one| one.document).collect();
        let judges: Vec<u32> = own.iter().map(|one| one.judge).collect();
        let values: Vec<u32> = own.iter().map(|one| code(one.value)).collect();
        let agreed = Ratings::with_numbers(&documents, &judges, &values, &numbers)
            .and_then(|ratings| alpha(&ratings, Level::Interval));
        let count = documents.iter().collect::<BTreeSet<_>>().len();
        let judging = scores.judges.iter().filter(|judge| judge.criterion == criterion);
        let names: Vec<String> = judging.map(ToString::to_string).collect();
        let (alpha, paired, words) = match &agreed {
            Ok(found) => {
                (Some(found.alpha), found.paired_items, interpretation(found.alpha).to_owned())
            }
            Err(undefined) => (None, 0, format!("undefined: {undefined}")),
        };
        let row = vec![
            criterion.to_owned(),
            names.join(", "),
            count.to_string(),
            paired.to_string(),
            number(alpha),
            words.clone(),
        ];
        let value = json!({ "criterion": criterion, "judges": names, "documents": count,
            "judged_by_several": paired, "alpha": alpha, "meaning": words });
        rows.push((row, value));
    }
    let header = [
        "criterion",
        "judges",
        "outputs",
        "by several",
        "Krippendorff's alpha (interval)",
        "meaning",
    ];
    print(said, &header, rows)
}

/// The outputs that judges find worst.
pub(super) async fn difficulty(
    store: &ScopedStore,
    said: &FilterArguments,
) -> Result<(), CliError> {
    let hardest = store.document_difficulty(&filter(store, said).await?, LISTED).await?;
    let rows = hardest.into_iter().map(|one| {
        let row = vec![
            one.document.case_key.clone(),
            number(Some(one.mean)),
            number(one.spread),
            one.judges.to_string(),
            one.document.run.to_string(),
        ];
        let value = json!({ "case": one.document.case_key, "mean": one.mean, "spread": one.spread,
            "judges": one.judges, "run": one.document.run });
        (row, value)
    });
    print(said, &["case", "mean", "spread", "judges", "run"], rows.collect())
}

/// Why judgements are missing.
pub(super) async fn errors(store: &ScopedStore, said: &FilterArguments) -> Result<(), CliError> {
    let patterns = store.failure_patterns(&filter(store, said).await?).await?;
    let rows = patterns.into_iter().map(|one| {
        let judge = one.judge.to_string();
        let row = vec![
            one.count.to_string(),
            one.reason.as_str().to_owned(),
            judge.clone(),
            output::shortened(&one.pattern, 60),
            output::shortened(&one.example, 60),
        ];
        let value = json!({ "count": one.count, "reason": one.reason, "judge": judge,
            "pattern": one.pattern, "example": one.example, "run": one.run });
        (row, value)
    });
    print(said, &["count", "reason", "judge", "pattern", "example"], rows.collect())
}

/// What judges cost by day.
pub(super) async fn cost(store: &ScopedStore, said: &FilterArguments) -> Result<(), CliError> {
    let costs = store.judge_costs(&filter(store, said).await?).await?;
    let rows = costs.into_iter().map(|one| {
        let (day, judge, usd) = (one.day.to_string(), one.judge.to_string(), one.cost.dollars());
        let row = vec![
            day.clone(),
            judge.clone(),
            one.judgements.to_string(),
            one.input_tokens.to_string(),
            one.output_tokens.to_string(),
            format!("{usd:.4}"),
        ];
        let value = json!({ "day": day, "judge": judge, "judgements": one.judgements, "priced": one.priced,
            "input_tokens": one.input_tokens, "output_tokens": one.output_tokens, "cost_usd": usd });
        (row, value)
    });
    print(said, &["day", "judge", "judgements", "tokens in", "tokens out", "USD"], rows.collect())
}
