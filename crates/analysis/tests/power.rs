//! Plans of comparisons, from options and from pilot files.
#![allow(clippy::unwrap_used)]

use std::io::Write;

use fullbench_analysis::power::{PowerDesign, PowerOptions, PowerReport, power};
use fullbench_analysis::{AnalysisError, Report};
use tempfile::NamedTempFile;

fn file(text: &str) -> NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn planned(options: &PowerOptions) -> PowerReport {
    power(None, options).unwrap()
}

fn from_pilot(text: &str, options: &PowerOptions) -> Result<PowerReport, AnalysisError> {
    power(Some(file(text).path()), options)
}

fn refused(pilot: Option<&str>, options: &PowerOptions) -> String {
    let pilot = pilot.map(file);
    let error = power(pilot.as_ref().map(NamedTempFile::path), options).unwrap_err();
    assert!(error.hint().is_some_and(|hint| !hint.is_empty()));
    error.to_string()
}

fn close(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-9 * expected.abs().max(1.0), "{value} not {expected}");
}

#[test]
fn what_pairs_can_show_is_said_in_a_sentence() {
    let report = planned(&PowerOptions {
        units: Some(400),
        standard_deviation: Some(0.2425),
        ..PowerOptions::default()
    });
    assert_eq!(
        report.conclusion().meaning[0],
        "With 400 paired cases you can see a difference of 0.034 or more four times out of five."
    );
    assert!((report.effect.unwrap() - 2.8087 * 0.2425 / 20.0).abs() < 1e-5, "{report:?}");
    close(report.power.unwrap(), 0.8);
    for grid in report.grids() {
        assert!(grid.rows.iter().all(|row| row.len() == grid.header.len()));
    }
}

/// `TTestIndPower().solve_power(0.5, power=0.8, alpha=0.05)` of statsmodels is 63.77, and with 64 the power is 0.8015.
#[test]
fn needed_cases_equal_statsmodels() {
    let report = planned(&PowerOptions {
        design: PowerDesign::Independent,
        effect: Some(-1.0),
        standard_deviation: Some(2.0),
        ..PowerOptions::default()
    });
    assert_eq!((report.units, report.second_units), (64, Some(64)));
    assert!((report.power.unwrap() - 0.801_459_6).abs() < 1e-6, "{report:?}");
    assert!(report.conclusion().meaning[0].contains("four times out of five you need 64 cases"));
}

#[test]
fn clusters_and_repetitions_change_the_variance() {
    let options = PowerOptions {
        design: PowerDesign::Clustered,
        units: Some(50),
        effect: Some(0.1),
        changed: Some(0.16),
        cluster_size: Some(5.0),
        intra_cluster_correlation: Some(0.25),
        ..PowerOptions::default()
    };
    let once = planned(&options);
    close(once.standard_error, (0.16 * 2.0 / 250.0_f64).sqrt());
    close(once.degrees_of_freedom.unwrap(), 49.0);
    assert_eq!(once.cases, 250);
    // Half of the variance is chance within cases: four repetitions leave 0.625 of it, and the clusters' share is 0.4 then.
    let repeated =
        planned(&PowerOptions { repetitions: 4, within_share: Some(0.5), ..options.clone() });
    close(repeated.standard_error, (0.16 * 0.625 * (1.0 + 4.0 * 0.4) / 250.0_f64).sqrt());
    assert!(repeated.power > once.power);
    assert!(repeated.plans.iter().any(|plan| plan.repetitions == 8));
    // Endless repetitions leave 0.5 + 4 · 0.25 of the variance, these 0.625 + 4 · 0.25: the root of 1.5 / 1.625 is 0.961.
    assert!(repeated.conclusion().firmer.iter().any(|line| line.contains("96.1% of this")));
    let too_much = PowerOptions { within_share: Some(0.9), ..options };
    assert!(refused(None, &too_much).contains("more than all"));
}

/// The t test promised a difference of 0.21 here, more than the share of cases that change.
#[test]
fn too_few_changes_show_nothing() {
    let options = PowerOptions { changed: Some(0.1), units: Some(20), ..PowerOptions::default() };
    let report = planned(&options);
    assert_eq!((report.effect, report.power), (None, None));
    assert!(report.method.starts_with("McNemar"));
    let meaning = report.conclusion().meaning.join(" ");
    assert!(meaning.contains("20 paired cases cannot show any difference this way"), "{meaning}");
    assert!(meaning.contains("For that it takes 78 paired cases."), "{meaning}");
    let shown: Vec<String> =
        report.grids().into_iter().flat_map(|grid| grid.rows).flatten().collect();
    assert!(shown.contains(&"–".to_owned()), "{shown:?}");
    assert_eq!(
        report.plans.iter().map(|plan| plan.effect.is_some()).collect::<Vec<_>>(),
        [false, false, false, true]
    );
    // Repetitions make averages of yes and no, for which there is the t test.
    let repeated = planned(&PowerOptions { repetitions: 2, within_share: Some(0.3), ..options });
    assert!(repeated.method.contains("t test"));
}

/// The numbers are those of an enumeration with scipy, as `change_power` in `compare.py`.
#[test]
fn changes_are_planned_with_the_exact_test() {
    let options = PowerOptions { changed: Some(0.12), ..PowerOptions::default() };
    let seen = planned(&PowerOptions { units: Some(400), ..options.clone() });
    let needed = planned(&PowerOptions { effect: seen.effect, ..options.clone() });
    assert!(needed.units.abs_diff(400) <= 1, "{}", needed.units);
    let power = planned(&PowerOptions { units: Some(400), effect: Some(0.03), ..options });
    close(seen.effect.unwrap(), 0.049_810_895_857);
    close(power.power.unwrap(), 0.361_065_795_845);
}

/// Four of eight differences are 1, the others 0: their variance is 2/7.
#[test]
fn a_pilot_gives_the_spread_of_differences() {
    let rows: String = (0..8).map(|i| format!("{i},{},{}\n", i % 4, i % 4 + i % 2)).collect();
    let text = format!("item,before,after\n{rows}");
    let options = PowerOptions { effect: Some(0.5), ..PowerOptions::default() };
    let report = from_pilot(&text, &options).unwrap();
    close(report.standard_deviation.powi(2), 2.0 / 7.0);
    let pilot = report.pilot.unwrap();
    assert_eq!((pilot.cases, pilot.paired, pilot.within_share), (8, true, None));
    assert!(pilot.correlation.unwrap() > 0.8);
    assert!(report.conclusion().firmer.iter().any(|line| line.contains("8 pilot cases")));
}

/// Two runs of each item lie 1 below and above its level, a variance of 2 within. The levels of the three groups have means
/// 1.5, 4.5 and 7.5 and a variance of 5/3 within a group, so that 9 − 5/12 is between groups.
#[test]
fn a_pilot_gives_repetitions_and_groups() {
    let row = |item: u32, off: f64| {
        let level = f64::from(item / 4 * 3 + item % 4);
        format!("q{item},{},p{}\n", level + off, item / 4)
    };
    let rows: String = (0..12).map(|item| row(item, -1.0) + &row(item, 1.0)).collect();
    let text = format!("question,score,passage\n{rows}");
    let column = |role: &str, name: &str| (role.to_owned(), name.to_owned());
    let options = PowerOptions {
        design: PowerDesign::Clustered,
        units: Some(30),
        correlation: Some(0.5),
        columns: vec![
            column("item", "question"),
            column("value", "score"),
            column("group", "passage"),
        ],
        ..PowerOptions::default()
    };
    let report = from_pilot(&text, &options).unwrap();
    let pilot = report.pilot.unwrap();
    assert_eq!((pilot.rows, pilot.cases, pilot.clusters), (24, 12, Some(3)));
    let total = pilot.score_deviation.unwrap().powi(2);
    close(total, 9.0 - 5.0 / 12.0 + 5.0 / 3.0 - 1.0 + 2.0);
    close(pilot.within_share.unwrap() * total, 2.0);
    close(pilot.cluster_size.unwrap(), 4.0);
    close(pilot.intra_cluster_correlation.unwrap() * total, 9.0 - 5.0 / 12.0);
    assert!(report.conclusion().firmer.iter().any(|line| line.contains("that of scores")));
}

#[test]
fn the_document_has_the_numbers_and_the_sentences() {
    let report = planned(&PowerOptions {
        design: PowerDesign::Independent,
        units: Some(100),
        rate: Some(0.9),
        ..PowerOptions::default()
    });
    let document = serde_json::to_value(&report).unwrap();
    assert_eq!(document["design"], "independent");
    assert_eq!(document["solved"], "effect");
    close(document["standard_deviation"].as_f64().unwrap(), 0.3);
    assert!(document["effect"].as_f64().unwrap() > 0.1);
    let meaning = document["conclusion"]["meaning"].as_array().unwrap();
    assert!(meaning.iter().any(|line| line.as_str().unwrap().contains("only a fall")));
}

#[test]
fn questions_that_make_no_sense_are_refused() {
    let with = |change: fn(&mut PowerOptions)| {
        let mut options = PowerOptions {
            standard_deviation: Some(1.0),
            units: Some(50),
            ..PowerOptions::default()
        };
        change(&mut options);
        refused(None, &options)
    };
    assert!(with(|options| options.units = None).contains("neither"));
    assert!(with(|options| options.units = Some(1)).contains("fewer than two"));
    assert!(with(|options| options.effect = Some(0.0)).contains("nothing"));
    assert!(with(|options| options.effect = Some(f64::NAN)).contains("nothing"));
    let all = with(|options| (options.effect, options.power) = (Some(1.0), Some(0.8)));
    assert!(all.contains("all given"));
    assert!(with(|options| options.rate = Some(0.5)).contains("more than once"));
    assert!(with(|options| options.standard_deviation = None).contains("not known"));
    assert!(with(|options| options.standard_deviation = Some(-1.0)).contains("positive"));
    assert!(with(|options| options.alpha = 0.0).contains("alpha"));
    assert!(with(|options| options.power = Some(0.01)).contains("more than alpha"));
    assert!(with(|options| options.repetitions = 4).contains("repetitions"));
    assert!(with(|options| options.repetitions = 0).contains("must be run"));
    assert!(with(|options| options.ratio = 2.0).contains("ratio"));
    assert!(with(|options| options.design = PowerDesign::Clustered).contains("clustered design"));
    assert!(with(|options| options.correlation = Some(1.5)).contains("correlation"));
    let rate = PowerOptions { rate: Some(0.9), effect: Some(0.95), ..PowerOptions::default() };
    assert!(refused(None, &rate).contains("cannot change"));
    let changed = PowerOptions { changed: Some(0.1), effect: Some(0.2), ..PowerOptions::default() };
    assert!(refused(None, &changed).contains("difference of rates"));
}

#[test]
fn bad_pilots_are_named_with_their_line() {
    let options = PowerOptions { units: Some(50), ..PowerOptions::default() };
    let clustered = PowerOptions { design: PowerDesign::Clustered, ..options.clone() };
    assert!(refused(Some(""), &options).contains("empty"));
    assert!(refused(Some("item,score\n1,2\n"), &options).contains("neither a column `value`"));
    assert!(refused(Some("item,before,after\n1,2,x\n"), &options).contains(":2: `after`"));
    assert!(refused(Some("before,after\n1,2\n"), &options).contains("1 values"));
    assert!(refused(Some("before,after\n1,2\n3,4\n"), &options).contains("no variation"));
    let two_groups = "item,before,after,group\na,1,2,x\na,1,3,y\nb,2,2,y\n";
    assert!(refused(Some(two_groups), &clustered).contains(":3: `group`"));
    let one_group = "item,before,after,group\na,1,2,x\nb,1,3,x\n";
    assert!(refused(Some(one_group), &clustered).contains("1 clusters"));
    let unknown = PowerOptions { columns: vec![("rater".to_owned(), "x".to_owned())], ..options };
    assert!(refused(Some("value\n1\n"), &unknown).contains("no role `rater`"));
}
