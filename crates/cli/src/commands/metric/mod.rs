//! `fullbench metric`: files of texts scored without a run, with intervals and paired tests.

mod files;
mod measure;
mod semantic;

use std::path::Path;

use fullbench_text::Conditions;
use fullbench_text::corpus::{Segment, Statistics, reference_count};
use fullbench_text::significance::{
    PairedResult, Randomization, Resampling, bootstrap, paired_bootstrap, paired_randomization,
};
use serde::Serialize;
use serde_json::Value;

use self::measure::{Measure, Measured};
use crate::arguments::metric::{Level, MetricArguments, MetricFormat, PairedTest};
use crate::failure::{CliError, Exit};
use crate::output;
use crate::progress::write_line;

/// The numbers of every system.
#[derive(Debug, Serialize)]
struct CorpusReport {
    metric: String,
    signature: String,
    lines: usize,
    systems: Vec<SystemReport>,
}

#[derive(Debug, Serialize)]
struct SystemReport {
    system: String,
    #[serde(flatten)]
    result: PairedResult,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Value>,
    /// Lines of which the model did not read the whole.
    #[serde(skip_serializing_if = "is_zero")]
    truncated: usize,
}

/// The numbers of every line.
#[derive(Debug, Serialize)]
struct SentenceReport {
    metric: String,
    signature: String,
    systems: Vec<SentenceScores>,
}

#[derive(Debug, Serialize)]
struct SentenceScores {
    system: String,
    scores: Vec<f64>,
    /// Lines of which the model did not read the whole.
    #[serde(skip_serializing_if = "is_zero")]
    truncated: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Scores files of texts.
pub(crate) async fn run(arguments: &MetricArguments) -> Result<Exit, CliError> {
    let measure = Measure::new(arguments)?;
    let inputs = arguments.hypotheses.iter().chain(&arguments.references);
    if inputs.filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(CliError::input("standard input can be read only once", None));
    }
    let read = |paths: &[std::path::PathBuf]| -> Result<Vec<Vec<String>>, CliError> {
        paths.iter().map(|path| files::lines(path, arguments.metric)).collect()
    };
    let hypotheses = read(&arguments.hypotheses)?;
    let references = read(&arguments.references)?;
    let paths = arguments.hypotheses.iter().chain(&arguments.references);
    let contents = hypotheses.iter().chain(&references);
    let files: Vec<(&Path, &[String])> =
        paths.map(|path| path.as_path()).zip(contents.map(Vec::as_slice)).collect();
    files::check_lengths(&files)?;

    let count = references.first().map_or(0, Vec::len);
    let references_of_line: Vec<Vec<&str>> = (0..count)
        .map(|line| references.iter().map(|file| file[line].as_str()).collect())
        .collect();
    let mut systems = Vec::new();
    for (path, system) in arguments.hypotheses.iter().zip(&hypotheses) {
        let measured = measure.measure(&segments(system, &references_of_line)).await?;
        if measured.truncated > 0 {
            write_line(&format!(
                "note: {}: in {} of the lines a text is longer than the model reads; the rest of it does not count",
                path.display(),
                measured.truncated
            ));
        }
        systems.push(measured);
    }
    let plain = Conditions::plain(reference_count(&segments(&hypotheses[0], &references_of_line)));
    match arguments.level {
        Level::Corpus => print_corpus(
            &corpus_report(arguments, &measure, &systems, plain)?,
            arguments,
            &measure,
        )?,
        Level::Sentence => print_sentences(
            &sentence_report(arguments, &measure, &systems, &plain),
            arguments,
            &measure,
        )?,
    }
    Ok(Exit::Fine)
}

fn segments<'texts>(
    system: &'texts [String],
    references_of_line: &'texts [Vec<&'texts str>],
) -> Vec<Segment<'texts>> {
    let lines = system.iter().zip(references_of_line);
    lines.map(|(hypothesis, references)| Segment { hypothesis, references }).collect()
}

fn corpus_report(
    arguments: &MetricArguments,
    measure: &Measure,
    measured: &[Measured],
    plain: Conditions,
) -> Result<CorpusReport, CliError> {
    let aggregate = measure.aggregate();
    let systems: Vec<Statistics> =
        measured.iter().map(|system| system.statistics.clone()).collect();
    let resampling = Resampling { samples: arguments.samples, seed: arguments.seed };
    let paired = systems.len() > 1;
    let by_randomization = paired && arguments.test == PairedTest::Randomization;
    let results = if by_randomization {
        let randomization =
            Randomization { trials: arguments.trials, seed: arguments.seed, interval_samples: 0 };
        paired_randomization(aggregate, &systems, &randomization)
    } else if paired && arguments.samples > 0 {
        paired_bootstrap(aggregate, &systems, &resampling)
    } else {
        Ok(systems
            .iter()
            .map(|statistics| PairedResult {
                score: aggregate.score(&statistics.total()),
                p_value: None,
                interval: bootstrap(aggregate, statistics, &resampling),
            })
            .collect())
    };
    let mut results = results.map_err(|error| CliError::internal(error.to_string()))?;
    let baseline = results.first().map(|first| first.score);
    for (result, statistics) in results.iter_mut().zip(&systems) {
        // An interval does not depend on what else is compared.
        result.interval = bootstrap(aggregate, statistics, &resampling);
        // Without a difference none can be larger by chance; sacreBLEU would call it significant.
        if result.p_value.is_some() && Some(result.score) == baseline {
            result.p_value = Some(1.0);
        }
    }
    let random = arguments.samples > 0 || by_randomization;
    let conditions = Conditions {
        bootstrap_samples: (arguments.samples > 0).then_some(arguments.samples),
        randomization_trials: by_randomization.then_some(arguments.trials),
        seed: random.then_some(arguments.seed),
        ..plain
    };
    let described = arguments.hypotheses.iter().zip(results).zip(measured);
    Ok(CorpusReport {
        metric: measure.name.clone(),
        signature: measure.signature(&conditions),
        lines: systems.first().map_or(0, Statistics::len),
        systems: described
            .map(|((path, result), system)| SystemReport {
                system: path.display().to_string(),
                result,
                details: measure.details(&system.statistics.total()),
                truncated: system.truncated,
            })
            .collect(),
    })
}

fn print_corpus(
    report: &CorpusReport,
    arguments: &MetricArguments,
    measure: &Measure,
) -> Result<(), CliError> {
    let digits = measure.digits();
    match arguments.output {
        MetricFormat::Json => output::print_json(report),
        MetricFormat::Csv => output::print_text(&csv_text(
            &["system", "metric", "score", "low", "high", "p_value", "signature"],
            report.systems.iter().map(|system| {
                let SystemReport { system, result, .. } = system;
                let number =
                    |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
                vec![
                    system.clone(),
                    report.metric.clone(),
                    result.score.to_string(),
                    number(result.interval.map(|interval| interval.low)),
                    number(result.interval.map(|interval| interval.high)),
                    number(result.p_value),
                    report.signature.clone(),
                ]
            }),
        )?),
        MetricFormat::Table => {
            let mut table = output::table(&["system", &report.metric, "95% interval", "p"]);
            for SystemReport { system, result, .. } in &report.systems {
                let interval = result.interval.map_or_else(
                    || "–".to_owned(),
                    |interval| format!("{:.digits$} – {:.digits$}", interval.low, interval.high),
                );
                let p_value = result.p_value.map_or_else(|| "–".to_owned(), |p| format!("{p:.4}"));
                table.add_row(vec![
                    output::shortened(system, 60),
                    format!("{:.digits$}", result.score),
                    interval,
                    p_value,
                ]);
            }
            output::print_text(&format!("{table}\nsignature: {}\n", report.signature))
        }
    }
}

fn sentence_report(
    arguments: &MetricArguments,
    measure: &Measure,
    systems: &[Measured],
    plain: &Conditions,
) -> SentenceReport {
    let aggregate = measure.aggregate();
    let scores = arguments.hypotheses.iter().zip(systems).map(|(path, system)| SentenceScores {
        system: path.display().to_string(),
        scores: system.statistics.rows().map(|row| aggregate.score(row)).collect(),
        truncated: system.truncated,
    });
    SentenceReport {
        metric: measure.name.clone(),
        signature: measure.signature(plain),
        systems: scores.collect(),
    }
}

fn print_sentences(
    report: &SentenceReport,
    arguments: &MetricArguments,
    measure: &Measure,
) -> Result<(), CliError> {
    if arguments.output == MetricFormat::Json {
        return output::print_json(report);
    }
    let mut header = vec!["line"];
    header.extend(report.systems.iter().map(|system| system.system.as_str()));
    let lines = report.systems.first().map_or(0, |system| system.scores.len());
    let digits = measure.digits();
    let row = |line: usize, exact: bool| {
        let scores = report.systems.iter().map(|system| match exact {
            true => system.scores[line].to_string(),
            false => format!("{:.digits$}", system.scores[line]),
        });
        std::iter::once((line + 1).to_string()).chain(scores).collect::<Vec<_>>()
    };
    if arguments.output == MetricFormat::Csv {
        return output::print_text(&csv_text(&header, (0..lines).map(|line| row(line, true)))?);
    }
    let mut table = output::table(&header);
    for line in 0..lines {
        table.add_row(row(line, false));
    }
    output::print_text(&format!("{table}\nsignature: {}\n", report.signature))
}

fn csv_text(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Result<String, CliError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let failed = |error: csv::Error| CliError::internal(error.to_string());
    writer.write_record(header).map_err(failed)?;
    for row in rows {
        writer.write_record(row).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|error| CliError::internal(error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
