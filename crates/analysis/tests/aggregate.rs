//! `stats aggregate` on files, good and bad.
#![allow(clippy::unwrap_used)]

use std::io::Write as _;

use fullbench_analysis::aggregate::{AggregateOptions, AggregateReport, Method, aggregate};
use fullbench_analysis::{AnalysisError, Report};
use fullbench_stats::agreement::Level;
use fullbench_stats::labels::Decision;

fn run(contents: &str, options: &AggregateOptions) -> Result<AggregateReport, AnalysisError> {
    let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    file.write_all(contents.as_bytes()).unwrap();
    aggregate(file.path(), options)
}

fn by(method: Method) -> AggregateOptions {
    AggregateOptions { method, ..AggregateOptions::default() }
}

fn refused(contents: &str, options: &AggregateOptions) -> (Option<u64>, String) {
    match run(contents, options).unwrap_err() {
        AnalysisError::Input { line, message, .. } => (line, message),
        other => (None, other.to_string()),
    }
}

/// Five items: two of three, a tie, one rating, unanimous, and one that only a fourth of the ratings share.
const VOTES: &str = "item,annotator,value\n\
    a,x,yes\na,y,yes\na,z,no\n\
    b,x,yes\nb,y,no\n\
    c,x,no\n\
    d,x,no\nd,y,no\nd,z,no\n\
    e,w,maybe\ne,x,yes\ne,y,yes\ne,z,no\n";

#[test]
fn votes_are_counted_and_ties_reported() {
    let report = run(VOTES, &by(Method::Majority)).unwrap();
    let labels: Vec<(Option<&str>, Decision, bool)> =
        report.labels.iter().map(|item| (item.label.as_deref(), item.decision, item.tie)).collect();
    assert_eq!(
        labels,
        [
            (Some("yes"), Decision::Consensus, false),
            (None, Decision::NeedsAdjudication, true),
            (Some("no"), Decision::Insufficient, false),
            (Some("no"), Decision::Consensus, false),
            (Some("yes"), Decision::NeedsAdjudication, false),
        ]
    );
    assert_eq!(
        (report.consensus, report.needs_adjudication, report.ties, report.insufficient),
        (2, 2, 1, 1)
    );
    assert_eq!(report.distribution[0].items, 2);
    assert!(
        report.conclusion().meaning[0]
            .starts_with("2 of 5 items (40.0%) have a label that may stand; 2 need")
    );
    for grid in report.grids() {
        assert!(grid.rows.iter().all(|row| row.len() == grid.header.len()));
    }
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["method"], "majority");
    assert_eq!(json["labels"][1]["label"], serde_json::Value::Null);
    assert_eq!(json["labels"][1]["decision"], "needs_adjudication");
}

#[test]
fn weights_belong_to_annotators() {
    let weighted = by(Method::Weighted);
    let contents = "item,annotator,value,weight\na,x,yes,0.9\na,y,no,0.2\na,z,no,0.1\nb,x,no,0.9\n";
    let report = run(contents, &weighted).unwrap();
    assert_eq!(report.labels[0].label.as_deref(), Some("yes"));
    assert!((report.labels[0].confidence - 0.75).abs() < 1e-12);
    assert_eq!(report.by_annotator[0].weight, Some(0.9));
    let (_, message) = refused(VOTES, &weighted);
    assert_eq!(message, "weighted votes need the column `weight`");
    let negative = "item,annotator,value,weight\na,x,yes,1\na,y,no,-1\n";
    assert_eq!(refused(negative, &weighted).0, Some(3));
    // A column of this name may be anything where weights do not count.
    assert!(
        run("item,annotator,value,weight\na,x,1,heavy\na,y,1,light\n", &by(Method::Majority))
            .is_ok()
    );
    let two = "item,annotator,value,weight\na,x,yes,1\nb,x,no,2\n";
    let (line, message) = refused(two, &weighted);
    assert_eq!((line, message.as_str()), (Some(3), "`x` has the weight 2 here, and 1 on line 2"));
}

#[test]
fn ordered_labels_get_their_median() {
    let contents = "item,annotator,value\na,x,1\na,y,5\na,z,2\nb,x,3\nb,y,5\n";
    let options = AggregateOptions { level: Level::Ordinal, ..by(Method::Majority) };
    let report = run(contents, &options).unwrap();
    assert_eq!(report.labels[0].label.as_deref(), Some("2"));
    assert_eq!(report.labels[0].decision, Decision::Consensus);
    assert_eq!(report.labels[1].label.as_deref(), Some("3"));
    assert!(report.labels[1].tie && report.labels[1].decision == Decision::NeedsAdjudication);
    let order = ["bad", "fair", "good"].map(str::to_owned).to_vec();
    let named = "item,annotator,value\na,x,good\na,y,bad\na,z,fair\n";
    let report = run(named, &AggregateOptions { order, ..options.clone() }).unwrap();
    assert_eq!(report.labels[0].label.as_deref(), Some("fair"));
    let model = AggregateOptions { level: Level::Ordinal, ..by(Method::Mace) };
    assert!(refused(contents, &model).1.contains("knows no order"));
    let numbers = AggregateOptions { level: Level::Interval, ..by(Method::Majority) };
    assert!(refused(contents, &numbers).1.contains("not aggregated"));
}

/// Three good annotators and three who mostly guess: the models see through it, the majority does not.
fn three_who_guess() -> (String, Vec<&'static str>) {
    let mut contents = "item,annotator,value\n".to_owned();
    let mut truth = Vec::new();
    for item in 0..120 {
        let right = ["cat", "dog", "owl"][item % 3];
        let wrong = ["cat", "dog", "owl"][(item + 1) % 3];
        truth.push(right);
        for annotator in 0..6 {
            let value = match annotator {
                0..3 if item % 11 != annotator => right,
                0..3 => wrong,
                _ if (item * 7 + annotator * 5) % 4 == 0 => right,
                _ => ["cat", "dog", "owl"][(item * 5 + annotator * annotator + item / 7) % 3],
            };
            contents += &format!("i{item},a{annotator},{value}\n");
        }
    }
    (contents, truth)
}

#[test]
fn models_learn_whom_to_trust() {
    let (contents, truth) = three_who_guess();
    let right = |report: &AggregateReport| {
        let labels = report.labels.iter().zip(&truth);
        labels.filter(|(item, truth)| item.label.as_deref() == Some(**truth)).count()
    };
    let majority = right(&run(&contents, &by(Method::Majority)).unwrap());
    for method in [Method::DawidSkene, Method::Mace] {
        let report = run(&contents, &by(method)).unwrap();
        assert!(right(&report) > majority, "{}: {} {majority}", method.name(), right(&report));
        let quality: Vec<f64> =
            report.by_annotator.iter().map(|who| who.quality.unwrap()).collect();
        let best = quality[..3].iter().copied().fold(1.0, f64::min);
        let worst = quality[3..].iter().copied().fold(0.0, f64::max);
        assert!(best > worst + 0.2, "{quality:?}");
        assert!(report.by_annotator[5].low_agreement && !report.by_annotator[0].low_agreement);
        assert!(report.model.as_ref().unwrap().log_likelihood < 0.0);
    }
    let report = run(&contents, &by(Method::DawidSkene)).unwrap();
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["by_annotator"][0]["confusion"].as_array().unwrap().len(), 3);
    assert_eq!(json["method"], "dawid-skene");
}

#[test]
fn bad_files_are_named() {
    for method in [Method::Majority, Method::DawidSkene, Method::Mace] {
        let twice = "item,annotator,value\na,x,1\na,x,2\n";
        assert_eq!(refused(twice, &by(method)).0, Some(3));
        assert_eq!(refused("", &by(method)).1, "the file is empty");
    }
    let constant = "item,annotator,value\na,x,1\na,y,1\nb,x,1\n";
    assert!(refused(constant, &by(Method::DawidSkene)).1.contains("1 labels, and at least 2"));
    assert!(run(constant, &by(Method::Majority)).is_ok());
}
