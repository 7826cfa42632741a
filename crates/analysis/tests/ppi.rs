//! `stats ppi` on real files, good and bad.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;

use fullbench_analysis::ppi::{Design, PpiOptions, PpiReport, ppi};
use fullbench_analysis::{AnalysisError, Report};

fn run(text: &str, options: &PpiOptions) -> Result<PpiReport, AnalysisError> {
    let folder = tempfile::tempdir().unwrap();
    let name = if text.starts_with('{') { "scores.jsonl" } else { "scores.csv" };
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    ppi(&path, options)
}

fn plain(text: &str) -> Result<PpiReport, AnalysisError> {
    run(text, &PpiOptions::default())
}

/// Numbers that look random and are the same on every machine.
fn noise(index: u32, salt: u32) -> f64 {
    let word = index.wrapping_mul(2_654_435_761).wrapping_add(salt.wrapping_mul(40_503));
    let word = (word ^ (word >> 15)).wrapping_mul(2_246_822_519);
    f64::from((word ^ (word >> 13)) % 10_000) / 10_000.0
}

/// 1,000 answers, every tenth labelled; people accept 60%, the judge a good part of the rest.
fn yes_or_no() -> String {
    let mut text = "item,judge,human\n".to_owned();
    for item in 0..1000 {
        let human = u8::from(noise(item, 1) < 0.6);
        let judge = if noise(item, 2) < 0.15 { 1 } else { human };
        let label = if item % 10 == 0 { human.to_string() } else { String::new() };
        writeln!(text, "q{item},{judge},{label}").unwrap();
    }
    text
}

/// Two systems on 300 items each; `labelled` says which rows have a label.
fn two_systems(labelled: impl Fn(u32, u32) -> bool, shared: bool) -> String {
    let mut text = "item,system,judge,human\n".to_owned();
    for item in 0..300 {
        for system in 0..2 {
            let index = 2 * item + system;
            let human = noise(item, 3) + 0.3 * f64::from(system) + 0.5 * noise(index, 4);
            let judge = human + 0.2 + 0.3 * noise(index, 5);
            let label = if labelled(item, system) { format!("{human:.3}") } else { String::new() };
            let name = if shared { format!("q{item}") } else { format!("q{item}-{system}") };
            writeln!(text, "{name},{},{judge:.3},{label}", ["old", "new"][system as usize])
                .unwrap();
        }
    }
    text
}

#[test]
fn a_few_labels_correct_a_generous_judge() {
    let report = plain(&yes_or_no()).unwrap();
    let system = &report.systems[0];
    let powered = system.prediction_powered.as_ref().unwrap();
    assert_eq!((system.labelled, system.unlabelled), (100, 900));
    assert!(powered.lambda > 0.5 && powered.lambda <= 1.0);
    assert!(powered.variance_ratio < 0.6, "{powered:?}");
    let rate = system.rogan_gladen.as_ref().unwrap().as_ref().unwrap();
    assert!((rate.estimate - powered.estimate).abs() < 0.05, "{rate:?} {powered:?}");
    assert!(system.judge_only > powered.estimate);
    let json = serde_json::to_value(&report).unwrap();
    assert!(json["conclusion"]["firmer"].to_string().contains("chosen at random"));
    assert!(json["systems"][0]["saved_labels"].as_f64().unwrap() > 50.0);
    assert!(json["systems"][0]["prediction_powered"]["interval"]["low"].is_number());
    let grids = report.grids();
    assert_eq!(grids[0].rows.len(), 4);
    assert!(grids.iter().all(|grid| grid.rows.iter().all(|row| row.len() == grid.header.len())));
}

#[test]
fn labels_still_needed() {
    let ask = |half_width| {
        let options = PpiOptions { half_width: Some(half_width), ..PpiOptions::default() };
        let json = serde_json::to_value(run(&yes_or_no(), &options).unwrap()).unwrap();
        json["wanted"]["answers"][0].clone()
    };
    let answer = ask(0.04);
    let with_judge = answer["with_judge"]["more"].as_u64().unwrap();
    let alone = answer["human_only"]["more"].as_u64().unwrap();
    assert!(with_judge > 0 && with_judge < alone, "{answer}");
    assert_eq!(ask(0.2)["with_judge"]["more"], 0);
    let impossible = ask(0.001);
    assert_eq!(impossible["with_judge"]["answer"], "out_of_reach");
    assert!(impossible["with_judge"]["smallest"].as_f64().unwrap() > 0.02);
}

#[test]
fn two_systems_by_how_their_items_go_together() {
    let paired = plain(&two_systems(|item, _| item % 5 == 0, true)).unwrap();
    let overlapping = plain(&two_systems(|item, system| item % 5 == system, true)).unwrap();
    let independent = plain(&two_systems(|item, _| item % 5 == 0, false)).unwrap();
    let designs = [Design::Paired, Design::Overlapping, Design::Independent];
    let mut widths = Vec::new();
    for (report, design) in [paired, overlapping, independent].iter().zip(designs) {
        let difference = report.difference.as_ref().unwrap();
        assert_eq!(difference.design, design);
        assert_eq!((difference.first.as_str(), difference.second.as_str()), ("old", "new"));
        let found = difference.result.as_ref().unwrap();
        assert!((found.estimate() + 0.3).abs() < 0.1, "{}", found.estimate());
        assert!(found.interval().high < 0.0);
        assert!(report.conclusion.meaning[0].contains("new scores higher than old"));
        widths.push(found.interval().high - found.interval().low);
    }
    assert!(widths[0] < widths[1] && widths[0] < widths[2], "{widths:?}");
}

#[test]
fn more_systems_have_means_and_no_difference() {
    let text = two_systems(|item, _| item % 5 == 0, false);
    let third: String = (0..40).map(|item| format!("z{item},third,{item},{item}\n")).collect();
    let report = plain(&format!("{text}{third}")).unwrap();
    assert_eq!(report.systems.len(), 3);
    assert!(report.difference.is_none());
    // All of the third are labelled: the mean stands, and there is nothing to combine.
    assert!(report.systems[2].prediction_powered.is_err());
    assert_eq!(report.systems[2].human_only, 19.5);
}

#[test]
fn labels_all_alike_have_no_combined_interval() {
    let rows: String = (0..50)
        .map(|item| format!("q{item},{},{}\n", item % 2, if item < 20 { "1" } else { "" }))
        .collect();
    let report = plain(&format!("item,judge,human\n{rows}")).unwrap();
    let system = &report.systems[0];
    assert!(system.prediction_powered.is_err());
    assert!(system.rogan_gladen.as_ref().unwrap().is_err());
    let interval = system.human_only_interval.as_ref().unwrap();
    assert!(interval.low > 0.8 && interval.high == 1.0);
    let json = serde_json::to_value(&report).unwrap();
    let reason = json["systems"][0]["prediction_powered"]["undefined"].as_str().unwrap();
    assert!(reason.contains("no variation"), "{reason}");
}

#[test]
fn json_lines_without_the_field_are_unlabelled() {
    let text = "{\"item\":1,\"judge\":0.5}\n{\"item\":2,\"judge\":0.4,\"human\":1}\n{\"item\":3,\"judge\":0.9,\"human\":2}\n\
                {\"item\":4,\"judge\":0.3}\n";
    let report = plain(text).unwrap();
    assert_eq!((report.systems[0].labelled, report.systems[0].unlabelled), (2, 2));
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let message = |text: &str| plain(text).unwrap_err().to_string();
    let empty = message("item,judge,human\na,1,1\nb,,2\n");
    assert!(empty.contains(":3: `judge`: the cell is empty"), "{empty}");
    let word = message("item,judge,human\na,1,1\nb,1,good\n");
    assert!(word.contains(":3: `human`: `good` is not a finite number"), "{word}");
    let twice = message("item,judge,human\na,1,1\na,1,\n");
    assert!(twice.contains(":3: `item`: item `a` is already on line 2"), "{twice}");
    assert!(message("item,judge,human\na,1,\nb,0,\n").contains("no human label"));
    assert!(message("item,judge\na,1\nb,0\n").contains("no human label"));
    let one = message("item,system,judge,human\na,x,1,1\nb,x,0,\na,y,1,\nb,y,0,\n");
    assert!(one.contains("0 human labels"), "{one}");
    let negative = PpiOptions { half_width: Some(-0.1), ..PpiOptions::default() };
    let message = run("item,judge,human\na,1,1\n", &negative).unwrap_err().to_string();
    assert!(message.contains("half-width"), "{message}");
    let role = PpiOptions { columns: vec![("group".into(), "x".into())], ..PpiOptions::default() };
    let error = run("item,judge,human\na,1,1\n", &role).unwrap_err();
    assert!(error.hint().unwrap().contains("`system`"), "{error:?}");
}
