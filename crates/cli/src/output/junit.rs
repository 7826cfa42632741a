//! JUnit XML: a suite for each model with a test for each unit, and a suite of gates.

use std::io::{BufWriter, Write};
use std::sync::Arc;

use fullbench_engine::{ModelSummary, RunReport};
use fullbench_store::{ResultDetail, RunRecord, ScopedStore, ScoreEntry, UnitResult};
use fullbench_types::{CascadeEnd, Outcome, ScorePath};

use super::results::RunContext;
use super::summary::because;
use crate::failure::CliError;

/// Writes the document, reading the results of one model after the other.
pub(super) async fn print(
    report: &RunReport,
    store: &ScopedStore,
    run: &RunRecord,
) -> Result<(), CliError> {
    let dataset = Arc::new(store.dataset(&run.dataset).await?);
    let context = RunContext::new(store, run, dataset).await?;
    let mut out = BufWriter::new(std::io::stdout());
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites name=\"{}\">", escaped(&report.name))?;
    for (index, model) in report.models.iter().enumerate() {
        write_model(&mut out, index, model, store, run, &context).await?;
    }
    write_gates(&mut out, report)?;
    writeln!(out, "</testsuites>")?;
    Ok(out.flush()?)
}

async fn write_model(
    out: &mut impl Write,
    index: usize,
    model: &ModelSummary,
    store: &ScopedStore,
    run: &RunRecord,
    context: &RunContext,
) -> Result<(), CliError> {
    let mut tests = Vec::new();
    let (mut count, mut failures, mut errors, mut skipped) = (0, 0, 0, 0);
    let mut after = None;
    loop {
        let page = store.results_to_show(run.id, after, 2000, ResultDetail::Texts).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.key);
        for unit in page.iter().filter(|unit| unit.key.model_index as usize == index) {
            count += 1;
            let verdict = verdict(unit, context);
            match verdict.0 {
                "failure" => failures += 1,
                "error" => errors += 1,
                "skipped" => skipped += 1,
                _ => {}
            }
            write_test(&mut tests, model, unit, &verdict)?;
        }
    }
    writeln!(
        out,
        "  <testsuite name=\"{}\" tests=\"{count}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\">",
        escaped(&model.model)
    )?;
    out.write_all(&tests)?;
    writeln!(out, "  </testsuite>")?;
    Ok(())
}

/// What became of a unit: an element name, and its message.
fn verdict(unit: &UnitResult, context: &RunContext) -> (&'static str, String) {
    if let Err(failure) = &unit.result {
        return ("error", format!("{}: {}", failure.reason, failure.message));
    }
    let mut failed = Vec::new();
    let mut unscored = Vec::new();
    for (name, entry) in context.scores(unit) {
        let why = entry.and_then(|entry| entry.score.reasoning.as_deref()).unwrap_or_default();
        match entry.map(|entry| entry.score.outcome) {
            Some(Outcome::Failed) => failed.push(format!("{name} {why}").trim_end().to_owned()),
            Some(Outcome::Unscored(reason)) => {
                unscored.push(format!("{name}: {reason} {why}").trim_end().to_owned())
            }
            Some(Outcome::NotSampled) if is_hard_fail(entry) => {
                failed.push(format!("{name} {why}").trim_end().to_owned());
            }
            Some(Outcome::NotSampled) => unscored.push(format!("{name}: {why}")),
            None => unscored.push(format!("{name}: not scored yet")),
            _ => {}
        }
    }
    if !failed.is_empty() {
        ("failure", failed.join("; "))
    } else if !unscored.is_empty() {
        ("skipped", unscored.join("; "))
    } else {
        ("", String::new())
    }
}

/// Whether a cascade failed the output without a judge.
fn is_hard_fail(entry: Option<&ScoreEntry>) -> bool {
    let path = entry.and_then(|entry| entry.score.path.as_deref());
    matches!(path, Some(ScorePath::Cascade(path)) if path.end == CascadeEnd::HardFail)
}

fn write_test(
    out: &mut Vec<u8>,
    model: &ModelSummary,
    unit: &UnitResult,
    (element, message): &(&'static str, String),
) -> Result<(), CliError> {
    let repetition = if unit.key.repetition > 0 {
        format!(" #{}", unit.key.repetition + 1)
    } else {
        String::new()
    };
    let seconds = unit.result.as_ref().map_or(0.0, |generation| generation.latency_us as f64 / 1e6);
    write!(
        out,
        "    <testcase classname=\"{}\" name=\"{}{repetition}\" time=\"{seconds:.3}\"",
        escaped(&model.model),
        escaped(&unit.case_key)
    )?;
    if element.is_empty() {
        writeln!(out, "/>")?;
    } else {
        writeln!(out, "><{element} message=\"{}\"/></testcase>", escaped(message))?;
    }
    Ok(())
}

fn write_gates(out: &mut impl Write, report: &RunReport) -> Result<(), CliError> {
    if report.gates.is_empty() {
        return Ok(());
    }
    let failures = report.gates.iter().filter(|gate| !gate.passed).count();
    writeln!(
        out,
        "  <testsuite name=\"gates\" tests=\"{}\" failures=\"{failures}\">",
        report.gates.len()
    )?;
    for gate in &report.gates {
        write!(
            out,
            "    <testcase classname=\"gates\" name=\"{} · {}\"",
            escaped(&gate.expression),
            escaped(&gate.model)
        )?;
        match (gate.passed, &gate.warning) {
            (true, None) => writeln!(out, "/>")?,
            (true, Some(_)) => {
                let text = escaped(&because(gate));
                writeln!(out, "><system-out>warning: {text}</system-out></testcase>")?;
            }
            (false, _) => {
                writeln!(out, "><failure message=\"{}\"/></testcase>", escaped(&gate.detail))?;
            }
        }
    }
    writeln!(out, "  </testsuite>")?;
    Ok(())
}

/// Text for an XML attribute; characters that XML 1.0 does not allow are left out.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' => safe.push_str("&#10;"),
            '\t' => safe.push_str("&#9;"),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {}
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_control_characters_cannot_break_the_document() {
        assert_eq!(escaped("a<b>&\"\u{0}\u{1b}c\n"), "a&lt;b&gt;&amp;&quot;c&#10;");
    }
}
