//! `fullbench stats`: each verb from a file to numbers and sentences, and what it says of bad data.
#![allow(clippy::unwrap_used)]

mod support;

use support::{Folder, Said};

/// The table of Krippendorff (2011), whose alphas are known.
const RATINGS: [&str; 4] = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."];

fn ratings() -> String {
    let mut text = String::from("item,annotator,value\n");
    for (annotator, values) in RATINGS.iter().enumerate() {
        for (item, value) in values.chars().enumerate().filter(|(_, value)| value.is_ascii_digit())
        {
            text.push_str(&format!("u{item},r{annotator},{value}\n"));
        }
    }
    text
}

fn stats(folder: &Folder, arguments: &[&str]) -> Said {
    let mut all = vec!["stats"];
    all.extend_from_slice(arguments);
    folder.run(&all)
}

/// The code, and the error with the place it names.
fn refused(folder: &Folder, arguments: &[&str], content: &str) -> String {
    folder.file("data.csv", content);
    let said = stats(folder, arguments);
    assert_eq!(said.code, Some(2), "{arguments:?} on {content:?}: {}{}", said.stdout, said.stderr);
    assert!(said.stderr.contains("hint: ") && !said.stderr.contains("panicked"), "{}", said.stderr);
    assert!(said.stdout.is_empty(), "{}", said.stdout);
    said.stderr
}

#[test]
fn agreement_in_numbers_and_words() {
    let folder = Folder::new();
    folder.file("ratings.csv", ratings());
    let said = stats(&folder, &["agreement", "ratings.csv", "--level", "ordinal", "-o", "json"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let alpha = said.json()["alpha"]["alpha"].as_f64().unwrap();
    assert!((alpha - 0.815_387_503_754_881_4).abs() < 1e-9, "{alpha}");
    let table = stats(&folder, &["agreement", "ratings.csv", "--level", "ordinal"]);
    assert!(table.stdout.contains("Krippendorff's alpha is 0.8154"), "{}", table.stdout);
    assert!(table.stdout.contains("To be firmer:"), "{}", table.stdout);
    let again = stats(&folder, &["agreement", "ratings.csv", "--level", "ordinal"]);
    assert_eq!(table.stdout, again.stdout, "the same seed gives the same interval");
}

#[test]
fn labels_from_votes_and_from_a_model() {
    let folder = Folder::new();
    folder
        .file("labels.csv", "item,annotator,value\na,x,cat\na,y,cat\na,z,dog\nb,x,cat\nb,y,dog\n");
    let said = stats(&folder, &["aggregate", "labels.csv", "-o", "json"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let modelled = stats(&folder, &["aggregate", "labels.csv", "--method", "dawid-skene"]);
    assert_eq!(modelled.code, Some(0), "{}", modelled.stderr);
    let table = stats(&folder, &["aggregate", "labels.csv"]);
    assert!(table.stdout.contains("cat"), "{}", table.stdout);
}

#[test]
fn ranking_says_who_leads() {
    let folder = Folder::new();
    let mut battles = String::from("a,b,winner\n");
    for (winner, loser, count) in [("B", "A", 3), ("A", "B", 2), ("D", "A", 4), ("A", "D", 1)] {
        battles.push_str(&format!("{winner},{loser},{winner}\n").repeat(count));
    }
    for (winner, loser, count) in [("B", "C", 5), ("C", "B", 3), ("D", "C", 3), ("C", "D", 1)] {
        battles.push_str(&format!("{winner},{loser},{winner}\n").repeat(count));
    }
    folder.file("battles.csv", battles);
    let said = stats(&folder, &["rank", "battles.csv", "--scale", "natural", "-o", "json"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let text = said.json().to_string();
    assert!(text.contains("0.819945"), "the strength of D after choix: {text}");
    let table = stats(&folder, &["rank", "battles.csv"]);
    assert!(table.stdout.contains("`D` has the highest rating"), "{}", table.stdout);
}

#[test]
fn experiments_by_three_methods() {
    let folder = Folder::new();
    let control = [0.62, 0.71, 0.55, 0.8, 0.66, 0.59, 0.73, 0.68, 0.61, 0.77, 0.64, 0.7];
    let treatment = [0.72, 0.79, 0.66, 0.85, 0.7, 0.69, 0.74, 0.81, 0.65, 0.88, 0.71, 0.76];
    let column = |values: &[f64]| {
        let lines: Vec<String> = values.iter().map(f64::to_string).collect();
        format!("value\n{}\n", lines.join("\n"))
    };
    folder.file("a.csv", column(&control));
    folder.file("b.csv", column(&treatment));
    let ab = |method: &str| {
        stats(&folder, &["ab", "--control", "a.csv", "--treatment", "b.csv", "--method", method])
    };
    assert!(ab("frequentist").stdout.contains("Treatment is significantly BETTER than control"));
    assert!(ab("bayesian").stdout.contains("High confidence treatment is BETTER (>95%)"));
    assert!(ab("sequential").stdout.contains("Insufficient evidence, continue experiment"));
}

#[test]
fn judges_against_people_and_plans() {
    let folder = Folder::new();
    let mut scores = String::from("item,judge,human\n");
    for item in 0..60 {
        let human = f64::from(item % 7) / 6.0;
        let judge = 0.8 * human + f64::from(item * 5 % 11) / 55.0;
        let label = if item % 2 == 0 { human.to_string() } else { String::new() };
        scores.push_str(&format!("q{item},{judge},{label}\n"));
    }
    folder.file("scores.csv", scores);
    let correlated = stats(&folder, &["correlate", "scores.csv"]);
    assert!(correlated.stdout.contains("Kendall"), "{}{}", correlated.stdout, correlated.stderr);
    let corrected = stats(&folder, &["ppi", "scores.csv", "--half-width", "0.05"]);
    assert!(corrected.stdout.contains("PPI++"), "{}{}", corrected.stdout, corrected.stderr);
    let planned = stats(&folder, &["power", "--deviation", "0.268", "--cases", "400"]);
    assert!(planned.stdout.contains("four times out of five"), "{}", planned.stdout);
}

/// Every command of `examples/statistics/README.md` does what it says there.
#[test]
fn the_examples_can_be_tried() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/statistics");
    let page = std::fs::read_to_string(format!("{examples}/README.md")).unwrap();
    let commands: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("fullbench stats ")).collect();
    assert!(commands.len() > 6, "{page}");
    let folder = Folder::new();
    for command in commands {
        let words = command.split('#').next().unwrap_or_default().split_whitespace();
        let arguments: Vec<String> = words
            .map(|word| match word.ends_with(".csv") {
                true => format!("{examples}/{word}"),
                false => word.to_owned(),
            })
            .collect();
        let said = stats(&folder, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(said.code, Some(0), "{command}: {}", said.stderr);
        assert!(said.stdout.contains("To be firmer:"), "{command}: {}", said.stdout);
    }
}

#[test]
fn bad_data_is_named_with_its_line() {
    let folder = Folder::new();
    let agreement = ["agreement", "data.csv"];
    let duels = ["rank", "data.csv"];
    let cases: [(&[&str], &str, &str); 9] = [
        (&agreement, "item,annotator,value\na,x,1\nb,x,2\n", "0 items with two ratings"),
        (&agreement, "item,annotator,value\na,x,1\na,y\n", "data.csv:3: the line has 2 fields"),
        (&agreement, "item,rater,value\na,x,1\n", "there is no column `annotator`"),
        (&agreement, "item,annotator,value\na,x,1\na,x,2\n", "data.csv:3"),
        (&duels, "a,b,winner\nm,n,m\nm,n,o\n", "data.csv:3: `winner`"),
        (&duels, "a,b,winner,weight\nm,n,m,1\nm,n,n,-2\n", "data.csv:3: `weight`"),
        (&duels, "a,b,winner\nm,n,m\nn,m,m\no,p,o\np,o,p\n", "connect"),
        (&duels, "a,b,winner\nm,m,m\n", "data.csv:2"),
        (&["ppi", "data.csv"], "item,judge,human\na,high,1\n", "data.csv:2: `judge`"),
    ];
    for (arguments, content, expected) in cases {
        let message = refused(&folder, arguments, content);
        assert!(message.contains(expected), "{arguments:?} on {content:?}: {message}");
    }
    let typo =
        refused(&folder, &["rank", "data.csv", "--column", "group=jugde"], "a,b,winner\nm,n,m\n");
    assert!(typo.contains("there is no column `jugde`"), "{typo}");
}

/// Labels without variation are data: their agreement is shown, alpha is undefined, not 1.
#[test]
fn constant_labels_have_no_alpha() {
    let folder = Folder::new();
    folder.file("data.csv", "item,annotator,value\na,x,1\na,y,1\nb,x,1\nb,y,1\n");
    let said = stats(&folder, &["agreement", "data.csv"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("undefined: no variation"), "{}", said.stdout);
    assert!(said.stdout.contains("100.0%"), "{}", said.stdout);
}

/// A broken line deep in a large file, which several threads read, is told by its number.
#[test]
fn a_broken_line_in_a_large_file() {
    let folder = Folder::new();
    let mut text = String::from("item,annotator,value\n");
    for row in 0..400_000 {
        text.push_str(&format!("q{},r{},{}\n", row / 5, row % 5, row % 3));
    }
    text.push_str("q1,r9\n");
    let message = refused(&folder, &["agreement", "data.csv"], &text);
    assert!(message.contains("data.csv:400002: the line has 2 fields"), "{message}");
}
