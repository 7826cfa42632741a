//! `fullbench metric` gives the numbers of sacreBLEU 2.6.0, and clear words about files that do not fit.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use serde_json::Value;
use support::{Folder, Said};

/// Two systems and two references of four lines.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.file(
        "h1.txt",
        "The cat sat on the mat.\nIt costs $1,000.50, doesn't it?\nHe went to school yesterday\nDer Hund läuft schnell.\n",
    );
    folder.file(
        "h2.txt",
        "A cat is on the mat.\nIt cost 1,000.50 dollars\nYesterday he went to the school\nEin Hund lief schnell weg.\n",
    );
    folder.file(
        "r1.txt",
        "The cat is sitting on the mat.\nIt costs $1,000.50, does it not?\nHe went to school yesterday.\nDer Hund läuft sehr schnell.\n",
    );
    folder.file(
        "r2.txt",
        "A cat sits on a mat.\nThe price is $1,000.50.\nYesterday, he went to school.\nSchnell läuft der Hund.\n",
    );
    folder
}

fn metric(folder: &Folder, arguments: &str) -> Said {
    let words: Vec<&str> = std::iter::once("metric").chain(arguments.split_whitespace()).collect();
    folder.run(&words)
}

fn near(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - expected).abs() < 1e-9, "{value} instead of {expected}");
}

const FILES: &str = "--hyp h1.txt --hyp h2.txt --ref r1.txt --ref r2.txt --output json";

#[test]
fn scores_intervals_and_p_values_are_those_of_sacrebleu() {
    let report = metric(&folder(), &format!("bleu {FILES}")).json();
    let systems = &report["systems"];
    near(&systems[0]["score"], 55.831_134_049_398_24);
    near(&systems[0]["interval"]["mean"], 55.623_932_687_574_56);
    near(&systems[0]["interval"]["half_width"], 13.697_258_438_830_644);
    assert!(systems[0]["p_value"].is_null());
    near(&systems[1]["score"], 24.317_054_670_000_587);
    near(&systems[1]["interval"]["half_width"], 20.256_368_349_528_895);
    near(&systems[1]["p_value"], 0.000_999_000_999_000_999);
    assert_eq!(
        report["signature"].as_str().unwrap().rsplit_once('|').unwrap().0,
        "BLEU|nrefs:2|bs:1000|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp"
    );

    let randomized = metric(&folder(), &format!("bleu {FILES} --test randomization")).json();
    near(&randomized["systems"][1]["p_value"], 0.127_287_271_272_872_7);
    for (name, first, second, p_value) in [
        ("chrf", 75.808_064_126_808_05, 46.928_759_735_240_654, 9.999_000_099_990_002e-5),
        ("ter", 33.333_333_333_333_33, 61.904_761_904_761_905, 9.999_000_099_990_002e-5),
    ] {
        let report = metric(&folder(), &format!("{name} {FILES} --test randomization")).json();
        near(&report["systems"][0]["score"], first);
        near(&report["systems"][1]["score"], second);
        near(&report["systems"][1]["p_value"], p_value);
    }
}

#[test]
fn lines_are_scored_one_by_one() {
    let said = metric(
        &folder(),
        "bleu --hyp h1.txt --ref r1.txt --ref r2.txt --level sentence --output csv",
    );
    let scores: Vec<f64> = said
        .stdout
        .lines()
        .skip(1)
        .map(|line| line.split_once(',').unwrap().1.parse().unwrap())
        .collect();
    let expected = [48.892_302_24, 49.626_447_77, 81.873_075_31, 50.0];
    assert_eq!(scores.len(), expected.len());
    for (score, expected) in scores.iter().zip(expected) {
        assert!((score - expected).abs() < 1e-8, "{score} instead of {expected}");
    }
}

#[test]
fn other_metrics_are_means_over_lines_with_intervals() {
    let folder = folder();
    for name in
        ["rouge_1", "rouge_2", "rouge_l", "token_f1", "edit_similarity", "jaccard", "bag_cosine"]
    {
        let report =
            metric(&folder, &format!("{name} --hyp h1.txt --ref r1.txt --output json")).json();
        let system = &report["systems"][0];
        let score = system["score"].as_f64().unwrap();
        assert!((0.3..1.0).contains(&score), "{name}: {score}");
        assert!(system["interval"]["low"].as_f64().unwrap() <= score);
        assert!(system["interval"]["high"].as_f64().unwrap() >= score);
        let itself =
            metric(&folder, &format!("{name} --hyp r1.txt --ref r1.txt --output json")).json();
        near(&itself["systems"][0]["score"], 1.0);
    }
    folder.file("s1.txt", "first line\\nsecond line\n");
    folder.file("s2.txt", "second line\\nfirst line\n");
    let whole = metric(&folder, "rouge_l --hyp s1.txt --ref s2.txt --output json").json();
    let by_line = metric(&folder, "rouge_lsum --hyp s1.txt --ref s2.txt --output json").json();
    assert!(whole["systems"][0]["score"].as_f64().unwrap() < 0.9);
    near(&by_line["systems"][0]["score"], 1.0);
}

#[test]
fn equal_systems_do_not_differ_and_an_interval_does_not_depend_on_the_others() {
    let folder = folder();
    folder.file("blanks.txt", "The cat sat on the mat. \t\nIt costs $1,000.50, doesn't it?\u{a0}\nHe went to school yesterday\u{1f}\nDer Hund läuft schnell.\r\n");
    let alone = metric(&folder, "chrf --whitespace --hyp h1.txt --ref r1.txt --output json").json();
    for test in ["bootstrap", "randomization"] {
        let both = metric(
            &folder,
            &format!("chrf --whitespace --hyp h1.txt --hyp blanks.txt --ref r1.txt --test {test} --output json"),
        )
        .json();
        for system in 0..2 {
            assert_eq!(both["systems"][system]["score"], alone["systems"][0]["score"]);
            assert_eq!(both["systems"][system]["interval"], alone["systems"][0]["interval"]);
        }
        near(&both["systems"][1]["p_value"], 1.0);
    }
}

#[test]
fn what_does_not_fit_is_refused_with_a_hint() {
    let folder = folder();
    folder.file("short.txt", "one line\n");
    folder.file("empty.txt", "");
    folder.file("latin.txt", b"fine\nna\xefve\n");
    for (arguments, words) in [
        ("bleu --hyp h1.txt --ref short.txt", "h1.txt has 4 lines and short.txt has 1"),
        ("bleu --hyp empty.txt --ref r1.txt", "empty.txt has no lines"),
        ("bleu --hyp latin.txt --ref r1.txt", "latin.txt:2: the text is not UTF-8"),
        ("bleu --hyp missing.txt --ref r1.txt", "missing.txt cannot be read"),
        ("bleu --stemmer --hyp h1.txt --ref r1.txt", "bleu has no option --stemmer"),
        ("jaccard --lowercase --hyp h1.txt --ref r1.txt", "jaccard has no option --lowercase"),
        ("bleu --max-order 9 --hyp h1.txt --ref r1.txt", "--max-order must be from 1 to 4"),
        ("bleu --hyp - --hyp - --ref r1.txt", "standard input can be read only once"),
        ("bleu --samples 99999999999 --hyp h1.txt --ref r1.txt", "from 100 to 1000000"),
        ("bleu --smoothing-value nan --hyp h1.txt --ref r1.txt", "not negative"),
        ("bleu --tokenizer x --hyp h1.txt --ref r1.txt", "unknown variant `x`"),
    ] {
        let said = metric(&folder, arguments);
        assert_eq!(said.code, Some(2), "{arguments}");
        assert!(said.stderr.contains(words), "{arguments}: {}", said.stderr);
        assert!(said.stdout.is_empty());
    }
}
