//! `stats agreement` on files, good and bad.
#![allow(clippy::unwrap_used)]

use std::io::Write as _;

use fullbench_analysis::agreement::{AgreementOptions, AgreementReport, agreement};
use fullbench_analysis::{AnalysisError, Report};
use fullbench_stats::agreement::Level;

/// Krippendorff's example of 2011: for each observer the values of units 1 to 12, and a dot where there is none.
const EXAMPLE: [&str; 4] = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."];

fn example() -> String {
    let mut contents = "item,annotator,value\n".to_owned();
    for (annotator, values) in EXAMPLE.iter().enumerate() {
        for (item, value) in values.chars().enumerate().filter(|(_, value)| *value != '.') {
            contents += &format!("u{},{},{value}\n", item + 1, ["A", "B", "C", "D"][annotator]);
        }
    }
    contents
}

fn run(contents: &str, options: &AgreementOptions) -> Result<AgreementReport, AnalysisError> {
    let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    file.write_all(contents.as_bytes()).unwrap();
    agreement(file.path(), options)
}

fn at(level: Level) -> AgreementOptions {
    AgreementOptions { level, ..AgreementOptions::default() }
}

fn refused(contents: &str, options: &AgreementOptions) -> (Option<u64>, String) {
    match run(contents, options).unwrap_err() {
        AnalysisError::Input { line, message, .. } => (line, message),
        other => (None, other.to_string()),
    }
}

#[test]
fn the_example_of_2011_has_its_published_alphas() {
    let expected = [0.743, 0.815, 0.849, 0.797];
    for (level, expected) in Level::ALL.into_iter().zip(expected) {
        let report = run(&example(), &at(level)).unwrap();
        let alpha = report.alpha.value().unwrap();
        assert!((alpha.estimate.alpha - expected).abs() < 5e-4);
        let interval = alpha.interval.value().unwrap();
        assert!(interval.low < alpha.estimate.alpha && alpha.estimate.alpha <= interval.high);
        assert_eq!((report.items, report.paired_items, report.annotators), (12, 11, 4));
        assert_eq!((report.ratings, report.values), (41, 5));
        assert_eq!(report.pairs.value().unwrap().len(), 6);
        assert_eq!(report.disputed[0].item, "u6");
        assert_eq!(report.disputed[0].values, ["1", "2", "3", "4"]);
        for grid in report.grids() {
            assert!(grid.rows.iter().all(|row| row.len() == grid.header.len()));
        }
    }
    let report = run(&example(), &at(Level::Nominal)).unwrap();
    let meaning = report.conclusion().meaning.join(" ");
    assert!(meaning.contains("alpha is 0.7434"), "{meaning}");
    assert!(meaning.contains("Moderate reliability - acceptable for exploratory research"));
    assert!(report.conclusion().firmer.iter().any(|line| line.starts_with("1 of 12 items")));
}

#[test]
fn the_document_has_numbers_methods_and_reasons() {
    let report = run(&example(), &at(Level::Ordinal)).unwrap();
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["level"], "ordinal");
    assert!((json["alpha"]["alpha"].as_f64().unwrap() - 0.815_387_503_754_881_4).abs() < 1e-12);
    assert_eq!(json["alpha"]["resamples"]["seed"], 1);
    assert!(json["alpha"]["interval"]["low"].is_f64());
    assert_eq!(json["alpha"]["interval_method"], "BCa bootstrap over items");
    assert_eq!(json["weights"], "ordinal");
    assert!(json["gwet_ac"]["coefficient"].is_f64());
    assert!(json["conclusion"]["meaning"][0].is_string());
    let none = AgreementOptions { rounds: 0, ..AgreementOptions::default() };
    let json = serde_json::to_value(run(&example(), &none).unwrap()).unwrap();
    assert!(json["alpha"]["interval"]["undefined"].is_string());
}

#[test]
fn values_that_are_all_equal_are_no_perfect_agreement() {
    let report =
        run("item,annotator,value\na,x,1\na,y,1\nb,x,1\nb,y,1\n", &at(Level::Interval)).unwrap();
    assert!(report.alpha.reason().unwrap().contains("no variation"));
    assert!(report.fleiss_kappa.reason().is_some() && report.gwet_ac.reason().is_some());
    assert_eq!(report.percent_agreement.value().unwrap().agreement, 1.0);
    assert!(report.disputed.is_empty());
    assert!(report.conclusion().meaning[0].contains("not perfect agreement"));
    assert!(!report.grids().is_empty());
}

#[test]
fn bad_files_are_named_with_their_line() {
    let nominal = at(Level::Nominal);
    let twice = "item,annotator,value\na,x,1\na,y,1\nb,x,2\na,x,2\n";
    let (line, message) = refused(twice, &nominal);
    assert_eq!((line, message.as_str()), (Some(5), "`x` already rated item `a` on line 2"));
    // Rows without a value are missing ratings, and do not shift the lines of others.
    let (line, message) = refused("item,annotator,value\na,x,\na,y,1\nb,x,\na,y,2\n", &nominal);
    assert_eq!((line, message.as_str()), (Some(5), "`y` already rated item `a` on line 3"));
    let (_, message) = refused("item,annotator,value\na,x,1\nb,x,2\n", &nominal);
    assert!(message.contains("0 items with two ratings"), "{message}");
    assert_eq!(refused("item,annotator,value\na,x,\n", &nominal).1, "no row has a value");
    let (line, message) = refused("item,annotator,value\na,x,1\na,y,good\n", &at(Level::Ordinal));
    assert_eq!(line, Some(3));
    assert_eq!(message, "`good` is not a number, and the ordinal level needs one");
    let (line, _) = refused("item,annotator,value\na,x,1\na,y,-2\n", &at(Level::Ratio));
    assert_eq!(line, Some(3));
    let roles =
        AgreementOptions { columns: vec![("rater".into(), "who".into())], ..nominal.clone() };
    assert_eq!(refused(&example(), &roles).1, "there is no role `rater`");
    let sure = AgreementOptions { confidence: 1.5, ..nominal };
    assert!(refused(&example(), &sure).1.contains("confidence"));
}

#[test]
fn named_values_may_be_put_in_order() {
    let contents = "question,who,grade\na,x,low\na,y,high\nb,x,middle\nb,y,middle\nc,x,high\nc,y,high\nd,x,low\nd,y,\n";
    let names = [("item", "question"), ("annotator", "who"), ("value", "grade")];
    let columns = names.map(|(role, name)| (role.to_owned(), name.to_owned())).to_vec();
    let order = ["low", "middle", "high"].map(str::to_owned).to_vec();
    let options = AgreementOptions { columns: columns.clone(), order, ..at(Level::Ordinal) };
    let report = run(contents, &options).unwrap();
    assert_eq!(report.disputed[0].values, ["low", "high"]);
    assert_eq!(report.missing, 1);
    let short = AgreementOptions { order: vec!["low".into(), "high".into()], ..options.clone() };
    assert_eq!(
        refused(contents, &short),
        (Some(4), "`middle` is not in the order that was given".into())
    );
    let twice = AgreementOptions { order: vec!["low".into(), "low".into()], ..options };
    assert!(refused(contents, &twice).1.contains("twice"));
}

#[test]
fn many_annotators_are_not_compared_in_pairs() {
    let mut contents = "item,annotator,value\n".to_owned();
    for item in 0..30 {
        for annotator in 0..12 {
            contents += &format!("i{item},a{annotator},{}\n", (item + annotator / 9) % 3);
        }
    }
    let report = run(&contents, &at(Level::Nominal)).unwrap();
    assert!(report.pairs.reason().unwrap().starts_with("12 annotators"));
    assert_eq!(report.by_annotator.len(), 12);
    // Annotators 9 to 11 agree among themselves and with nobody else.
    let lowest = &report.by_annotator[9];
    assert!((lowest.agreement.unwrap() - 2.0 / 11.0).abs() < 1e-12);
    assert!(report.conclusion().firmer.iter().any(|line| line.contains("differs most")));
}
