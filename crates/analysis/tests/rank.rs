//! `stats rank` on files, good and bad.
#![allow(clippy::unwrap_used)]

use std::io::Write;

use fullbench_analysis::rank::{CovarianceMethod, RankOptions, RankReport, rank};
use fullbench_analysis::{AnalysisError, Report};
use fullbench_stats::ranking::{RankAdjustment, Regularization, Scale, Ties};
use tempfile::NamedTempFile;

fn file(content: &str, ending: &str) -> NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(ending).tempfile().unwrap();
    file.write_all(content.as_bytes()).unwrap();
    file
}

fn ranked(content: &str, options: &RankOptions) -> Result<RankReport, AnalysisError> {
    rank(file(content, ".csv").path(), options)
}

/// Duels given as `a,b,winner` with how often.
fn duels(rows: &[(&str, usize)]) -> String {
    let mut content = "a,b,winner\n".to_owned();
    for (row, count) in rows {
        content.extend(std::iter::repeat_n(format!("{row}\n"), *count));
    }
    content
}

fn arena() -> String {
    duels(&[
        ("gpt,claude,gpt", 40),
        ("claude,gpt,claude", 45),
        ("gpt,claude,tie", 15),
        ("gpt,llama,gpt", 60),
        ("llama,gpt,llama", 20),
        ("claude,llama,claude", 65),
        ("llama,claude,llama", 18),
        ("llama,claude,draw", 10),
    ])
}

fn problem(content: &str) -> (String, String) {
    let error = ranked(content, &RankOptions::default()).unwrap_err();
    let message = error.to_string();
    let message = message.rsplit_once(".csv").map_or(message.as_str(), |(_, rest)| rest);
    (message.to_owned(), error.hint().unwrap_or_default().to_owned())
}

#[test]
fn a_ranking_says_who_leads_and_who_is_not_told_apart() {
    let report = ranked(&arena(), &RankOptions::default()).unwrap();
    let names: Vec<&str> = report.ranking.iter().map(|model| model.model.as_str()).collect();
    assert_eq!(names, ["claude", "gpt", "llama"]);
    let ranges: Vec<_> = report
        .ranking
        .iter()
        .map(|model| (model.rank, model.best_rank, model.worst_rank))
        .collect();
    assert_eq!(ranges, [(1, 1, 2), (2, 1, 2), (3, 3, 3)]);
    assert_eq!(report.method.covariance, CovarianceMethod::Sandwich);
    assert_eq!(report.method.ridge, 0.0);
    let mean = report.ranking.iter().map(|model| model.rating).sum::<f64>() / 3.0;
    assert!((mean - 1000.0).abs() < 1e-9);
    let text = report.conclusion().meaning.join(" ");
    assert!(text.contains("`claude` has the highest rating"), "{text}");
    assert!(text.contains("do not tell it apart from `gpt`."), "{text}");
    assert!(text.contains("25 ties"), "{text}");
    let firmer = report.conclusion().firmer.join(" ");
    assert!(firmer.contains("more duels between `claude` and `gpt`"), "{firmer}");

    let grids = report.grids();
    assert_eq!(grids.len(), 2);
    for grid in &grids {
        assert!(grid.rows.iter().all(|row| row.len() == grid.header.len()));
    }
    assert_eq!(grids[0].rows[2][..3], ["3", "3", "llama"]);
    let neighbours: Vec<_> =
        grids[1].rows.iter().map(|row| (&*row[0], &*row[1], &*row[6])).collect();
    assert_eq!(neighbours, [("claude", "gpt", "no"), ("gpt", "llama", "yes")]);

    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["differences"].as_array().unwrap().len(), 3);
    assert_eq!(json["differences"][0]["battles"], 100);
    assert!(json["ranking"][0]["interval"]["low"].is_number());
    assert!(json["conclusion"]["meaning"].is_array());
    assert_eq!(json["method"]["scale"]["unit"], "elo");
}

/// A winner may be a name, a side, or a word for a tie, also in JSON Lines and under other names of columns.
#[test]
fn winners_may_be_written_in_many_ways() {
    let by_name = ranked(&arena(), &RankOptions::default()).unwrap();
    let mut lines = String::new();
    for line in arena().lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let winner = match cells[2] {
            name if name == cells[0] => "model_a",
            name if name == cells[1] => "Right",
            _ => "tie (bothbad)",
        };
        let (a, b) = (cells[0], cells[1]);
        lines += &format!("{{\"left\": \"{a}\", \"b\": \"{b}\", \"winner\": \"{winner}\"}}\n");
    }
    let columns = vec![("a".to_owned(), "left".to_owned())];
    let options = RankOptions { columns, ..RankOptions::default() };
    let by_side = rank(file(&lines, ".jsonl").path(), &options).unwrap();
    assert_eq!(serde_json::to_string(&by_name).unwrap(), serde_json::to_string(&by_side).unwrap());
    // A model may be called `tie` or `b`: names go first.
    let odd = "a,b,winner\ntie,b,tie\nb,tie,b\ntie,b,a\ntie,b,b\n";
    let report = ranked(odd, &RankOptions::default()).unwrap();
    assert_eq!((report.ties, report.ranking[0].win_rate.unwrap().wins), (0, 2));
}

#[test]
fn rows_that_are_no_duels_are_named() {
    let (message, hint) = problem("a,b,winner\nx,y,x\nx,y,z\n");
    assert_eq!(message, ":3: `winner`: the winner `z` is neither of the two");
    assert!(hint.contains("here `x` meets `y`") && hint.contains("`tie`"), "{hint}");
    let (message, _) = problem("a,b,winner\nx,y,x\nx,z,y\n");
    assert_eq!(message, ":3: `winner`: `y` did not take part in this duel");
    let (message, _) = problem("a,b,winner\nx,x,x\n");
    assert_eq!(message, ":2: `b`: `x` meets itself");
    let (message, _) = problem("a,b,winner,weight\nx,y,x,1\nx,y,y,-0.5\n");
    assert_eq!(message, ":3: `weight`: the weight -0.5 is negative");
    let (message, _) = problem("a,b,winner\nx,y,\n");
    assert!(message.starts_with(":2: `winner`"), "{message}");
    let (message, hint) = problem("a,b,winner\nx,y,x\ny,x,x\nu,v,u\n");
    assert_eq!(
        message,
        "the ranking is undefined: 2 groups are not connected by any chain of games"
    );
    assert!(hint.contains("`x` and `y` | `u` and `v`"), "{hint}");
    let (message, _) = problem("a,b,winner,group\nx,y,x,g\ny,x,y,g\n");
    assert!(message.contains("1 groups of battles"), "{message}");
}

#[test]
fn questions_that_make_no_sense_are_refused() {
    let refused = |options: RankOptions| ranked(&arena(), &options).unwrap_err().to_string();
    let role = vec![("judge".to_owned(), "j".to_owned())];
    assert!(refused(RankOptions { columns: role, ..Default::default() }).contains("`judge`"));
    assert!(refused(RankOptions { confidence: 95.0, ..Default::default() }).contains("95"));
    assert!(refused(RankOptions { rounds: 1, ..Default::default() }).contains("too few"));
    let regularization = Regularization::Always { ridge: -1.0 };
    assert!(refused(RankOptions { regularization, ..Default::default() }).contains("-1"));
    assert!(
        refused(RankOptions { group_within_pairs: true, ..Default::default() })
            .contains("no groups")
    );
    let covariates = vec!["length".to_owned()];
    assert!(refused(RankOptions { covariates, ..Default::default() }).contains("length"));
}

/// Who won everything gets a stated prior, and intervals that do not pretend to know.
#[test]
fn who_won_everything_is_ranked_with_a_stated_prior() {
    let content = duels(&[("best,x,best", 5), ("best,y,best", 5), ("x,y,x", 5), ("y,x,y", 5)]);
    let report = ranked(&content, &RankOptions::default()).unwrap();
    assert_eq!((report.method.ridge, report.method.covariance), (0.1, CovarianceMethod::Hessian));
    let text = report.conclusion().meaning.join(" ");
    assert!(text.contains("`best` never lost a point to `x` and `y`"), "{text}");
    assert!(text.contains("ridge of 0.1") && text.contains("2.24"), "{text}");
    let careful = report.ranking[0].standard_error.unwrap();
    let asked = RankOptions { covariance: Some(CovarianceMethod::Sandwich), ..Default::default() };
    let report = ranked(&content, &asked).unwrap();
    assert!(report.ranking[0].standard_error.unwrap() < careful / 2.0);
    assert!(report.conclusion().meaning.join(" ").contains("far too small"));
    let never = RankOptions { regularization: Regularization::Never, ..Default::default() };
    let error = ranked(&content, &never).unwrap_err();
    assert!(error.hint().unwrap().contains("`best`"), "{error}");
}

#[test]
fn groups_are_resampled_whole_and_the_seed_is_kept() {
    let mut content = "a,b,winner,group\n".to_owned();
    for (index, line) in arena().lines().skip(1).enumerate() {
        content += &format!("{line},judge{}\n", index % 30);
    }
    let options = RankOptions { rounds: 200, seed: 5, ..RankOptions::default() };
    let report = ranked(&content, &options).unwrap();
    assert_eq!(report.method.covariance, CovarianceMethod::Bootstrap);
    assert_eq!((report.groups, report.method.seed), (Some(30), Some(5)));
    assert_eq!(report.method.degrees_of_freedom, Some(29.0));
    assert!(report.ranking[0].resampled_ranks.is_some());
    let json = |report: &RankReport| serde_json::to_string(report).unwrap();
    assert_eq!(json(&report), json(&ranked(&content, &options).unwrap()));
    let within = RankOptions { group_within_pairs: true, ..options.clone() };
    assert!(ranked(&content, &within).unwrap().groups.unwrap() > 30);
    let ignored = RankOptions { covariance: Some(CovarianceMethod::Sandwich), ..options };
    let report = ranked(&content, &ignored).unwrap();
    assert!(report.notes.iter().any(|note| note.contains("`group` is not accounted for")));
}

#[test]
fn order_and_length_have_effects() {
    let mut content = "a,b,winner,longer\n".to_owned();
    // The first wins 70 of 100 whoever it is, and the longer answer somewhat more often.
    for (index, (a, b)) in [("x", "y"), ("y", "x")].repeat(100).into_iter().enumerate() {
        let winner = if index % 10 < 7 { a } else { b };
        let longer = (index * 37 % 21) as f64 - 10.0 + if winner == a { 2.0 } else { -2.0 };
        content += &format!("{a},{b},{winner},{longer}\n");
    }
    let options = RankOptions {
        order_effect: true,
        covariates: vec!["longer".to_owned()],
        scale: Scale::Natural,
        rank_adjustment: RankAdjustment::None,
        ..RankOptions::default()
    };
    let report = ranked(&content, &options).unwrap();
    let names: Vec<&str> = report.effects.iter().map(|effect| effect.name.as_str()).collect();
    assert_eq!(names, ["order", "longer"]);
    assert!(report.effects[0].interval.unwrap().low > 0.3);
    assert!(report.effects[1].interval.unwrap().low > 0.0);
    assert_eq!(report.grids().len(), 3);
    assert!(report.conclusion().meaning.join(" ").contains("the answer shown first wins"));
}

#[test]
fn davidson_without_ties_says_so() {
    let options = RankOptions { ties: Ties::Davidson, ..RankOptions::default() };
    let report = ranked(&arena(), &options).unwrap();
    assert!(report.method.tie_parameter.unwrap() > 0.0);
    let plain = duels(&[("x,y,x", 6), ("x,y,y", 4)]);
    let report = ranked(&plain, &options).unwrap();
    assert!(report.method.tie_parameter.is_none());
    assert!(report.notes[0].contains("no ties"));
    let tied = duels(&[("x,y,tie", 6)]);
    let report = ranked(&tied, &options).unwrap();
    assert!(report.notes[0].contains("nothing but ties"));
    assert!(report.ranking[0].undefined.is_some() && report.ranking[0].interval.is_none());
    assert!(report.conclusion().firmer[0].contains("exactly even"));
}
