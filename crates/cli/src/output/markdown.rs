//! The summary in Markdown, for pull requests and job summaries.

use fullbench_engine::RunReport;

use super::savings;
use super::summary::{because, cost, interval, number, unscored};

/// A document with a table of scores, one of models, and the gates.
pub(super) fn document(report: &RunReport) -> String {
    let mut text = format!("## {}\n\n", escaped(&report.name));
    text.push_str(&format!(
        "Run `{}` · {} · {} cases · data `{}`\n\n",
        report.id,
        report.state,
        report.cases,
        &report.dataset_hash[..12]
    ));
    for note in &report.notes {
        text.push_str(&format!("> {}\n\n", escaped(note)));
    }
    text.push_str(&row(&[
        "model",
        "scorer",
        "mean",
        "95% interval",
        "n",
        "passed",
        "failed",
        "unscored",
    ]));
    text.push_str(&row(&["---", "---", "---:", "---", "---:", "---:", "---:", "---"]));
    for model in &report.models {
        for scores in &model.scores {
            text.push_str(&row(&[
                &escaped(&model.model),
                &escaped(&scores.scorer),
                &number(scores.mean),
                &interval(scores),
                &scores.count.to_string(),
                &scores.passed.to_string(),
                &scores.failed.to_string(),
                &unscored(scores),
            ]));
        }
    }
    text.push('\n');
    if let Some(clustering) = &report.clustering {
        text.push_str(&format!("{}\n\n", escaped(&clustering.sentence)));
    }
    for saving in savings::of(report) {
        text.push_str(&format!("**{}**\n\n", escaped(&saving.title)));
        for sentence in &saving.sentences {
            text.push_str(&format!("- {}\n", escaped(sentence)));
        }
        text.push('\n');
        if !saving.rows.is_empty() {
            text.push_str(&row(&saving.header));
            text.push_str(&row(&vec!["---"; saving.header.len()]));
            for cells in &saving.rows {
                let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
                text.push_str(&row(&cells.iter().map(String::as_str).collect::<Vec<_>>()));
            }
            text.push('\n');
        }
    }
    text.push_str(&row(&["model", "answered", "cost", "latency p50", "latency p95"]));
    text.push_str(&row(&["---", "---:", "---:", "---:", "---:"]));
    for model in &report.models {
        let latency = |which: fn(&fullbench_engine::LatencySummary) -> f64| {
            model
                .latency_ms
                .as_ref()
                .map_or_else(|| "–".to_owned(), |latency| format!("{:.0} ms", which(latency)))
        };
        let answered = format!("{}/{}", model.answered, model.planned);
        let times = (latency(|latency| latency.p50), latency(|latency| latency.p95));
        text.push_str(&row(&[&escaped(&model.model), &answered, &cost(model), &times.0, &times.1]));
    }
    if !report.gates.is_empty() {
        text.push('\n');
        text.push_str(&row(&["gate", "model", "holds", "because"]));
        text.push_str(&row(&["---", "---", "---", "---"]));
        for gate in &report.gates {
            let holds = match (gate.passed, &gate.warning) {
                (false, _) => "❌",
                (true, Some(_)) => "⚠️ cannot tell",
                (true, None) => "✅",
            };
            text.push_str(&row(&[
                &format!("`{}`", gate.expression.replace(['`', '|', '\n'], " ")),
                &escaped(&gate.model),
                holds,
                &escaped(&because(gate)),
            ]));
        }
    }
    text
}

fn row(cells: &[&str]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// Text that cannot break a table or become markup.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' => {
                safe.push('\\');
                safe.push(letter);
            }
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            letter if letter.is_control() => safe.push(' '),
            letter => safe.push(letter),
        }
    }
    safe
}
