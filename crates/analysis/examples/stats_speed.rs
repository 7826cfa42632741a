//! Times the statistics on tables in memory, for `bench/stats.py`:
//! `stats_speed alpha FOLDER REPETITIONS`, `stats_speed battles FOLDER ROUNDS`, `stats_speed labels FOLDER ITERATIONS`.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use fullbench_analysis::table::{Table, Texts, Wanted};
use fullbench_stats::agreement::{Level, Ratings, alpha};
use fullbench_stats::labels::{DawidSkeneOptions, dawid_skene};
use fullbench_stats::ranking::{Battles, BradleyTerryOptions, Covariance, Outcome, bradley_terry};
use serde_json::{Map, Value, json};

const REPETITIONS: usize = 3;

type Outcomes = Result<Value, Box<dyn Error>>;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, verb, folder, count] = arguments.as_slice() else {
        return Err("stats_speed VERB FOLDER COUNT".into());
    };
    let (folder, count) = (Path::new(folder), count.parse()?);
    let said = match verb.as_str() {
        "alpha" => alphas(folder, count)?,
        "battles" => battles(&folder.join("battles.csv"), count)?,
        "labels" => labels(&folder.join("labels.csv"), count)?,
        _ => return Err("alpha, battles or labels".into()),
    };
    println!("{said}");
    Ok(())
}

fn texts<'a>(table: &'a Table, role: &str) -> Result<&'a Texts, Box<dyn Error>> {
    table.texts(role).ok_or_else(|| format!("no column {role}").into())
}

/// A file of ratings, read.
struct Rated {
    table: Table,
    numbers: Vec<f64>,
}

impl Rated {
    fn read(path: &Path) -> Result<Self, Box<dyn Error>> {
        let wanted = [Wanted::text("item"), Wanted::text("annotator"), Wanted::text("value")];
        let table = Table::read(path, &wanted)?;
        let values = texts(&table, "value")?;
        let numbers: Result<Vec<f64>, _> = values.names.iter().map(|name| name.parse()).collect();
        Ok(Self { numbers: numbers?, table })
    }

    /// Alpha from the long table on: ratings are brought together by item each time.
    fn alpha(&self, level: Level) -> Result<f64, Box<dyn Error>> {
        let codes = |role| texts(&self.table, role).map(|texts| texts.codes.as_slice());
        let (items, annotators) = (codes("item")?, codes("annotator")?);
        let ratings = Ratings::with_numbers(items, annotators, codes("value")?, &self.numbers)?;
        Ok(alpha(&ratings, level)?.alpha)
    }
}

/// Alpha at each level: of a table in memory, and from each of the two files on.
fn alphas(folder: &Path, repetitions: usize) -> Outcomes {
    let rated = Rated::read(&folder.join("ratings.csv"))?;
    let mut said = Map::new();
    for level in Level::ALL {
        let name = level.name();
        said.insert(name.to_owned(), timed(repetitions, || rated.alpha(level))?);
        for file in ["ratings", "shuffled"] {
            let path = folder.join(file).with_extension("csv");
            let outcome = timed(repetitions, || Rated::read(&path)?.alpha(level))?;
            said.insert(format!("{file}-{name}"), outcome);
        }
    }
    Ok(said.into())
}

/// The times of each repetition, and what came out of the last.
fn timed(repetitions: usize, work: impl Fn() -> Result<f64, Box<dyn Error>>) -> Outcomes {
    let mut seconds = Vec::new();
    let mut value = 0.0;
    for _ in 0..repetitions {
        let started = Instant::now();
        value = work()?;
        seconds.push(started.elapsed().as_secs_f64());
    }
    Ok(json!({ "seconds": seconds, "alpha": value }))
}

/// Bradley–Terry with a bootstrap of so many rounds; the fit to all duels is part of the time.
fn battles(path: &Path, rounds: usize) -> Outcomes {
    let table = Table::read(path, &[Wanted::text("a"), Wanted::text("b"), Wanted::text("winner")])?;
    let (first, second) = (texts(&table, "a")?, texts(&table, "b")?);
    let winner = texts(&table, "winner")?;
    let names = &first.names;
    let number = |name: &str| names.iter().position(|other| other == name).map(|at| at as u32);
    let seconds: Option<Vec<u32>> = second.names.iter().map(number).collect();
    let seconds = seconds.ok_or("a model that is never first")?;
    let second: Vec<u32> = second.codes.iter().map(|code| seconds[*code as usize]).collect();
    let outcomes: Vec<Outcome> = (0..table.rows())
        .map(|row| match winner.get(row) == first.get(row) {
            true => Outcome::FirstWins,
            false => Outcome::SecondWins,
        })
        .collect();
    let battles = Battles {
        players: names.len(),
        first: &first.codes,
        second: &second,
        outcomes: &outcomes,
        ..Battles::default()
    };
    let options = BradleyTerryOptions {
        covariance: Covariance::Bootstrap { rounds, seed: 1 },
        ..BradleyTerryOptions::default()
    };
    let started = Instant::now();
    let fit = bradley_terry(&battles, &options)?;
    let elapsed = started.elapsed().as_secs_f64();
    let ratings: Map<String, Value> =
        names.iter().map(str::to_owned).zip(fit.strengths.into_iter().map(Value::from)).collect();
    Ok(json!({ "seconds": elapsed, "rounds": rounds, "ratings": ratings }))
}

/// Dawid–Skene with so many iterations.
fn labels(path: &Path, iterations: usize) -> Outcomes {
    let wanted = [Wanted::text("item"), Wanted::text("annotator"), Wanted::text("value")];
    let table = Table::read(path, &wanted)?;
    let (items, annotators) = (texts(&table, "item")?, texts(&table, "annotator")?);
    let values = texts(&table, "value")?;
    let mut seconds = Vec::new();
    let mut labels = Map::new();
    for _ in 0..REPETITIONS {
        let started = Instant::now();
        let ratings = Ratings::new(&items.codes, &annotators.codes, &values.codes)?;
        let options = DawidSkeneOptions { iterations, tolerance: 0.0 };
        let fitted = dawid_skene(&ratings, &options)?;
        seconds.push(started.elapsed().as_secs_f64());
        labels = items
            .names
            .iter()
            .enumerate()
            .map(|(item, name)| {
                let best = fitted.posteriors.best(item).map(|(label, _, _)| label as usize);
                (name.to_owned(), Value::from(best.map(|label| values.names.get(label))))
            })
            .collect();
    }
    Ok(json!({ "seconds": seconds, "labels": labels }))
}
