//! Every metric against its reference library, to 1e-9: on the lines kept in the repository, and on the thousands that
//! `tests/text/reference.py` writes where `FULLBENCH_TEXT_REFERENCE` names its file.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::path::{Path, PathBuf};

use fullbench_text::significance::{
    PairedResult, Randomization, Resampling, bootstrap, paired_bootstrap, paired_randomization,
};
use fullbench_text::{
    Bleu, Chrf, Conditions, CorpusMetric, ReferenceCount, Rouge, Segment, Statistics, Ter, edit,
    squad,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

fn close(ours: f64, theirs: f64) -> bool {
    (ours - theirs).abs() <= 1e-9
}

fn options<T: DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap()
}

fn metric(name: &str, chosen: &Value) -> Box<dyn CorpusMetric> {
    match name {
        "bleu" => Box::new(Bleu::new(options(chosen)).unwrap()),
        "chrf" => Box::new(Chrf::new(options(chosen)).unwrap()),
        _ => Box::new(Ter::new(options(chosen))),
    }
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// Metrics with each of the options that the file uses.
struct Metrics {
    corpus: Vec<(&'static str, Vec<Box<dyn CorpusMetric>>)>,
    rouge: Vec<Rouge>,
}

impl Metrics {
    fn read(line: &Value) -> Self {
        let all = |name: &'static str| {
            let chosen = line[name].as_array().unwrap().iter();
            (name, chosen.map(|chosen| metric(name, chosen)).collect())
        };
        let rouge = line["rouge"].as_array().unwrap().iter();
        Self {
            corpus: ["bleu", "chrf", "ter"].map(all).into(),
            rouge: rouge.map(|chosen| Rouge::new(options(chosen)).unwrap()).collect(),
        }
    }

    fn check_segment(&self, line: &Value) {
        let hypothesis = line["hypothesis"].as_str().unwrap();
        let references = strings(&line["references"]);
        let place = format!("{hypothesis:?} and {references:?}");
        for (name, metrics) in &self.corpus {
            for (metric, theirs) in metrics.iter().zip(numbers(&line[name])) {
                let ours = metric.sentence_score(hypothesis, &references);
                let signature = metric.signature(&Conditions::plain(ReferenceCount::Each(1)));
                assert!(close(ours, theirs), "{name} {signature}: {ours} and {theirs}: {place}");
            }
        }
        for (rouge, theirs) in self.rouge.iter().zip(line["rouge"].as_array().unwrap()) {
            let ours = rouge.score(hypothesis, &references);
            for (ours, theirs) in
                [ours.precision, ours.recall, ours.f_measure].into_iter().zip(numbers(theirs))
            {
                assert!(close(ours, theirs), "{}: {ours} and {theirs}: {place}", rouge.signature());
            }
        }
        assert_eq!(
            squad::exact_match(hypothesis, &references),
            line["squad"][0].as_bool().unwrap(),
            "{place}"
        );
        assert!(
            close(squad::token_f1(hypothesis, &references), line["squad"][1].as_f64().unwrap()),
            "{place}"
        );
        if let Some(distance) = line["levenshtein"].as_u64() {
            assert_eq!(edit::levenshtein(hypothesis, references[0]) as u64, distance, "{place}");
        }
    }
}

fn check_corpus(line: &Value) {
    let metric = metric(line["metric"].as_str().unwrap(), &line["options"]);
    let references: Vec<Vec<&str>> =
        line["references"].as_array().unwrap().iter().map(strings).collect();
    let systems: Vec<Vec<&str>> = line["systems"].as_array().unwrap().iter().map(strings).collect();
    let of_system = |hypotheses: &Vec<&str>| -> Statistics {
        let pairs = hypotheses.iter().zip(&references);
        let segments: Vec<Segment<'_>> =
            pairs.map(|(hypothesis, references)| Segment { hypothesis, references }).collect();
        Statistics::of(metric.as_ref(), &segments)
    };
    let statistics: Vec<Statistics> = systems.iter().map(of_system).collect();
    let samples = line["samples"].as_u64().unwrap() as usize;
    let trials = line["trials"].as_u64().unwrap() as usize;
    let place = format!("{} {}", line["metric"], line["options"]);

    assert_eq!(metric.name(), line["name"].as_str().unwrap());
    let number = |name: &str| line[name].as_f64().unwrap();
    let score = metric.score(&statistics[0].total());
    assert!(close(score, number("score")), "{place}: {score} and {}", number("score"));
    let resampling = Resampling { samples, seed: 12345 };
    let interval = bootstrap(metric.as_ref(), &statistics[0], &resampling).unwrap();
    assert!(close(interval.mean, number("mean")), "{place}: {interval:?} and {}", number("mean"));
    assert!(
        close(interval.half_width, number("half_width")),
        "{place}: {interval:?} and {}",
        number("half_width")
    );

    let reference_count = ReferenceCount::of(references.iter().map(Vec::len));
    let plain = Conditions::plain(reference_count);
    let resampled = Conditions { bootstrap_samples: Some(samples), seed: Some(12345), ..plain };
    assert_eq!(metric.signature(&resampled), signature(&line["signature"]));
    assert_eq!(metric.signature(&resampled), signature(&line["paired_bs"]["signature"]));
    let randomized = Conditions { randomization_trials: Some(trials), ..resampled };
    assert_eq!(metric.signature(&randomized), signature(&line["paired_ar"]["signature"]));

    let tested = paired_bootstrap(metric.as_ref(), &statistics, &resampling).unwrap();
    check_tests(&tested, &line["paired_bs"]["results"], &format!("{place} paired_bs"));
    let randomization = Randomization { trials, seed: 12345, interval_samples: samples };
    let tested = paired_randomization(metric.as_ref(), &statistics, &randomization).unwrap();
    check_tests(&tested, &line["paired_ar"]["results"], &format!("{place} paired_ar"));
}

/// sacreBLEU's signature as ours, which names another version.
fn signature(value: &Value) -> String {
    let theirs = value.as_str().unwrap();
    let start = theirs.rfind("version:").unwrap();
    format!("{}fullbench:{}", &theirs[..start], env!("CARGO_PKG_VERSION"))
}

fn check_tests(ours: &[PairedResult], theirs: &Value, place: &str) {
    for (ours, theirs) in ours.iter().zip(theirs.as_array().unwrap()) {
        let interval = ours.interval.unwrap();
        assert_eq!(ours.p_value.is_some(), theirs["p_value"].is_number());
        let values = [
            (ours.score, &theirs["score"]),
            (ours.p_value.unwrap_or(0.0), &theirs["p_value"]),
            (interval.mean, &theirs["mean"]),
            (interval.half_width, &theirs["half_width"]),
        ];
        for (ours, theirs) in values {
            assert!(close(ours, theirs.as_f64().unwrap_or(0.0)), "{place}: {ours} and {theirs}");
        }
    }
}

fn check_file(path: &Path) -> usize {
    let text = std::fs::read_to_string(path).unwrap();
    let mut metrics = None;
    let mut checked = 0;
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        match line["kind"].as_str().unwrap() {
            "options" => metrics = Some(Metrics::read(&line)),
            "segment" => metrics.as_ref().unwrap().check_segment(&line),
            "corpus" => check_corpus(&line),
            _ => continue,
        }
        checked += 1;
    }
    checked
}

#[test]
fn kept_values_are_equal() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/reference.jsonl");
    assert!(check_file(Path::new(path)) > 40);
}

#[test]
fn all_values_are_equal() {
    let Some(path) = std::env::var_os("FULLBENCH_TEXT_REFERENCE").map(PathBuf::from) else {
        eprintln!(
            "SKIPPED: FULLBENCH_TEXT_REFERENCE does not name the file of tests/text/reference.py"
        );
        return;
    };
    assert!(check_file(&path) >= 2000);
}
