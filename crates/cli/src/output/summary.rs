//! The summary as tables, and as one record for each model and scorer.

use std::io::Write;

use fullbench_engine::{GateResult, ModelSummary, RunReport, ScorerSummary};
use fullbench_types::NanoDollars;
use serde::Serialize;

use super::{savings, table, visible};
use crate::failure::CliError;

/// Tables for people: scores, then models, then groups and gates where there are any.
pub(super) fn tables(report: &RunReport) -> String {
    let mut text = format!("{}\n", score_table(report.models.iter().map(|model| (None, model))));
    if let Some(clustering) = &report.clustering {
        text.push_str(&format!("{}\n\n", visible(&clustering.sentence)));
    }
    for saving in savings::of(report) {
        text.push_str(&format!("{}\n", visible(&saving.title)));
        for sentence in &saving.sentences {
            text.push_str(&format!("  {}\n", visible(sentence)));
        }
        if !saving.rows.is_empty() {
            let mut table = table(&saving.header);
            for row in saving.rows {
                table.add_row(row);
            }
            text.push_str(&format!("{table}\n"));
        }
    }
    text.push_str(&format!("{}\n", model_table(&report.models)));
    if let Some(usd) = report.scoring_cost_usd {
        let cost = NanoDollars::from_dollars(usd);
        text.push_str(&format!("scoring cost {cost} beside the answers\n"));
    }
    if let Some(groups) = &report.groups {
        let rows = groups.values.iter().flat_map(|(value, models)| {
            models.iter().map(move |model| (Some(value.as_str()), model))
        });
        text.push_str(&format!("by {}\n{}\n", groups.by, score_table(rows)));
    }
    if !report.gates.is_empty() {
        let mut gates = table(&["gate", "model", "holds", "because"]);
        for gate in &report.gates {
            let holds = match (gate.passed, &gate.warning) {
                (false, _) => "NO",
                (true, Some(_)) => "CANNOT TELL",
                (true, None) => "yes",
            };
            let because = because(gate);
            gates.add_row(vec![&gate.expression, &gate.model, holds, &because]);
        }
        text.push_str(&format!("{gates}\n"));
    }
    text
}

/// What a gate rests on, and what that leaves open.
pub(super) fn because(gate: &GateResult) -> String {
    match &gate.warning {
        Some(warning) => format!("{warning} · {}", gate.detail),
        None => gate.detail.clone(),
    }
}

fn score_table<'report>(
    rows: impl Iterator<Item = (Option<&'report str>, &'report ModelSummary)>,
) -> comfy_table::Table {
    let rows: Vec<_> = rows.collect();
    let grouped = rows.iter().any(|(group, _)| group.is_some());
    let bounded =
        rows.iter().any(|(_, model)| model.scores.iter().any(|scores| scores.unscored_count() > 0));
    let mut header =
        vec!["model", "scorer", "mean", "95% interval", "n", "passed", "failed", "unscored"];
    if grouped {
        header.insert(0, "value");
    } else {
        header.extend(["p50", "p95"]);
    }
    if bounded {
        header.push("worst – best");
    }
    let mut table = table(&header);
    for (group, model) in rows {
        for scores in &model.scores {
            let mut row = vec![
                model.model.clone(),
                scores.scorer.clone(),
                number(scores.mean),
                interval(scores),
                scores.count.to_string(),
                scores.passed.to_string(),
                scores.failed.to_string(),
                unscored(scores),
            ];
            match group {
                Some(group) => row.insert(0, super::shortened(group, 30)),
                None => row.extend([number(scores.p50), number(scores.p95)]),
            }
            if bounded {
                let bounds = scores.unscored_count() > 0;
                row.push(if bounds {
                    format!("{} – {}", number(scores.worst_mean), number(scores.best_mean))
                } else {
                    String::new()
                });
            }
            table.add_row(row);
        }
    }
    table
}

fn model_table(models: &[ModelSummary]) -> comfy_table::Table {
    let mut table = table(&[
        "model",
        "answered",
        "no answer",
        "cached",
        "cost",
        "tokens in / out",
        "latency p50 / p95",
        "retries",
    ]);
    for model in models {
        let latency = model.latency_ms.as_ref();
        table.add_row(vec![
            model.model.clone(),
            format!("{}/{}", model.answered, model.planned),
            reasons(model),
            model.from_cache.to_string(),
            cost(model),
            format!("{} / {}", model.input_tokens, model.output_tokens),
            latency.map_or_else(
                || "–".to_owned(),
                |latency| format!("{:.0} / {:.0} ms", latency.p50, latency.p95),
            ),
            model.retries.to_string(),
        ]);
    }
    table
}

pub(super) fn cost(model: &ModelSummary) -> String {
    model.cost_usd.map_or_else(|| "–".to_owned(), |usd| NanoDollars::from_dollars(usd).to_string())
}

fn reasons(model: &ModelSummary) -> String {
    let mut parts: Vec<String> =
        model.failures.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    if model.remaining > 0 {
        parts.push(format!("{} not run", model.remaining));
    }
    if parts.is_empty() { "0".to_owned() } else { parts.join(", ") }
}

pub(super) fn unscored(scores: &ScorerSummary) -> String {
    let parts: Vec<String> =
        scores.unscored.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    if parts.is_empty() { "0".to_owned() } else { parts.join(", ") }
}

pub(super) fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.4}"))
}

pub(super) fn interval(scores: &ScorerSummary) -> String {
    match (scores.low, scores.high) {
        (Some(low), Some(high)) => format!("{low:.4} – {high:.4}"),
        _ => "–".to_owned(),
    }
}

/// One model and scorer as a flat record.
#[derive(Serialize)]
struct Record<'report> {
    run: &'report str,
    group: Option<&'report str>,
    model: &'report str,
    scorer: &'report str,
    count: u64,
    mean: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    interval: Option<&'report str>,
    clusters: Option<u64>,
    p50: Option<f64>,
    p95: Option<f64>,
    passed: u64,
    failed: u64,
    scored: u64,
    unscored: u64,
    worst_mean: Option<f64>,
    best_mean: Option<f64>,
    cost_usd: Option<f64>,
    latency_p50_ms: Option<f64>,
    latency_p95_ms: Option<f64>,
}

fn records(report: &RunReport) -> Vec<Record<'_>> {
    let whole = report.models.iter().map(|model| (None, model));
    let groups = report.groups.iter().flat_map(|groups| &groups.values);
    let grouped = groups
        .flat_map(|(value, models)| models.iter().map(move |model| (Some(value.as_str()), model)));
    let mut records = Vec::new();
    for (group, model) in whole.chain(grouped) {
        for scores in &model.scores {
            records.push(Record {
                run: &report.id,
                group,
                model: &model.model,
                scorer: &scores.scorer,
                count: scores.count,
                mean: scores.mean,
                low: scores.low,
                high: scores.high,
                interval: scores.interval.as_deref(),
                clusters: scores.clusters,
                p50: scores.p50,
                p95: scores.p95,
                passed: scores.passed,
                failed: scores.failed,
                scored: scores.scored,
                unscored: scores.unscored_count(),
                worst_mean: scores.worst_mean,
                best_mean: scores.best_mean,
                cost_usd: model.cost_usd,
                latency_p50_ms: model.latency_ms.as_ref().map(|latency| latency.p50),
                latency_p95_ms: model.latency_ms.as_ref().map(|latency| latency.p95),
            });
        }
    }
    records
}

/// One JSON object a line.
pub(super) fn print_lines(report: &RunReport) -> Result<(), CliError> {
    let mut stdout = std::io::stdout().lock();
    for record in records(report) {
        serde_json::to_writer(&mut stdout, &record)?;
        writeln!(stdout)?;
    }
    Ok(())
}

/// One CSV row each.
pub(super) fn print_csv(report: &RunReport) -> Result<(), CliError> {
    let mut writer = csv::Writer::from_writer(std::io::stdout().lock());
    for record in records(report) {
        writer.serialize(record)?;
    }
    Ok(writer.flush()?)
}
