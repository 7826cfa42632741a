//! Duels, read from a file.

use std::collections::HashMap;
use std::path::Path;

use fullbench_stats::Undefined;
use fullbench_stats::ranking::{Battles, Outcome};

use super::RankOptions;
use crate::AnalysisError;
use crate::columns::renamed;
use crate::table::{Table, Texts, Wanted};

/// Roles of covariates; there may be so many.
const COVARIATES: [&str; 8] = [
    "covariate 1",
    "covariate 2",
    "covariate 3",
    "covariate 4",
    "covariate 5",
    "covariate 6",
    "covariate 7",
    "covariate 8",
];
/// Names listed before the rest is counted.
const LISTED: usize = 5;

/// What a winner may be called besides by its name, in lower case.
const FIRST: [&str; 4] = ["a", "model_a", "first", "left"];
const SECOND: [&str; 4] = ["b", "model_b", "second", "right"];
const TIE: [&str; 9] =
    ["tie", "draw", "both", "neither", "none", "equal", "both_bad", "bothbad", "tie (bothbad)"];
const ALLOWED: &str = "allowed are the names of the two, `a` or `b` (also `model_a`, `first`, `left` and so on), and `tie`, `draw`, `both`, `neither`";

/// The duels of a file.
#[derive(Debug)]
pub(super) struct Duels {
    pub(super) models: Vec<String>,
    pub(super) first: Vec<u32>,
    pub(super) second: Vec<u32>,
    pub(super) outcomes: Vec<Outcome>,
    pub(super) ties: usize,
    pub(super) weights: Option<Vec<f64>>,
    pub(super) groups: Option<Vec<u32>>,
    pub(super) group_count: Option<usize>,
    pub(super) covariates: Vec<Vec<f64>>,
}

impl Duels {
    /// Hands the duels on as slices.
    pub(super) fn with_battles<T>(&self, then: impl FnOnce(&Battles) -> T) -> T {
        let covariates: Vec<&[f64]> = self.covariates.iter().map(Vec::as_slice).collect();
        then(&Battles {
            players: self.models.len(),
            first: &self.first,
            second: &self.second,
            outcomes: &self.outcomes,
            weights: self.weights.as_deref(),
            groups: self.groups.as_deref(),
            covariates: &covariates,
        })
    }

    /// How often each two met.
    pub(super) fn met(&self) -> HashMap<(u32, u32), u64> {
        let mut met = HashMap::new();
        for (&first, &second) in self.first.iter().zip(&self.second) {
            *met.entry((first.min(second), first.max(second))).or_insert(0) += 1;
        }
        met
    }
}

pub(super) fn read(path: &Path, options: &RankOptions) -> Result<Duels, AnalysisError> {
    if options.covariates.len() > COVARIATES.len() {
        return Err(AnalysisError::question(
            format!("there are {} covariates", options.covariates.len()),
            format!("give at most {}", COVARIATES.len()),
        ));
    }
    let roles = vec![
        Wanted::text("a"),
        Wanted::text("b"),
        Wanted::text("winner"),
        Wanted::number("weight").optional(),
        Wanted::text("group").optional(),
    ];
    let mut wanted = renamed(roles, &options.columns)?;
    for (role, column) in COVARIATES.iter().zip(&options.covariates) {
        wanted.push(Wanted::number(role).named(column));
    }
    let table = Table::read(path, &wanted)?;
    let (Some(a), Some(b), Some(winner)) =
        (table.texts("a"), table.texts("b"), table.texts("winner"))
    else {
        return Err(AnalysisError::question("the columns are missing", "`a`, `b` and `winner`"));
    };
    let mut models = Models::default();
    let of_a: Vec<u32> = a.names.iter().map(|name| models.code(name)).collect();
    let of_b: Vec<u32> = b.names.iter().map(|name| models.code(name)).collect();
    let first: Vec<u32> = a.codes.iter().map(|code| of_a[*code as usize]).collect();
    let second: Vec<u32> = b.codes.iter().map(|code| of_b[*code as usize]).collect();
    if let Some(row) = first.iter().zip(&second).position(|(first, second)| first == second) {
        let name = a.get(row).unwrap_or_default();
        let hint = "a duel is between two models: leave the row out";
        return Err(table.problem(row, Some("b"), format!("`{name}` meets itself"), hint));
    }
    let outcomes = outcomes(&table, winner, &models, &first, &second)?;
    let weights = table.numbers("weight").unwrap_or_default();
    if let Some(row) = weights.iter().position(|weight| *weight < 0.0) {
        let message = format!("the weight {} is negative", weights[row]);
        return Err(table.problem(row, Some("weight"), message, "weights are 0 or more"));
    }
    let groups = table.texts("group").map(|groups| groups.codes.clone());
    if options.group_within_pairs && groups.is_none() {
        return Err(AnalysisError::question(
            "there are no groups to divide by pairs",
            "the file has no column `group`; name one with the role `group`",
        ));
    }
    let groups = groups.map(|groups| {
        if options.group_within_pairs { within_pairs(&groups, &first, &second) } else { groups }
    });
    let distinct = |groups: &Vec<u32>| {
        let mut distinct = groups.clone();
        distinct.sort_unstable();
        distinct.dedup();
        distinct.len()
    };
    let covariate = |role: &&str| table.numbers(role).map(<[f64]>::to_vec);
    Ok(Duels {
        ties: outcomes.iter().filter(|outcome| **outcome == Outcome::Tie).count(),
        weights: table.numbers("weight").map(<[f64]>::to_vec),
        group_count: groups.as_ref().map(distinct),
        covariates: COVARIATES.iter().filter_map(covariate).collect(),
        models: models.names,
        first,
        second,
        outcomes,
        groups,
    })
}

/// Who won each duel. Names go before words such as `a` or `tie`, so that a model may be called so.
fn outcomes(
    table: &Table,
    winner: &Texts,
    models: &Models,
    first: &[u32],
    second: &[u32],
) -> Result<Vec<Outcome>, AnalysisError> {
    let meanings: Vec<(Option<u32>, Option<Outcome>)> =
        winner.names.iter().map(|name| (models.known(name), word(name))).collect();
    let mut outcomes = Vec::with_capacity(winner.codes.len());
    for (row, code) in winner.codes.iter().enumerate() {
        let (model, word) = meanings[*code as usize];
        let outcome = match model {
            Some(model) if model == first[row] => Some(Outcome::FirstWins),
            Some(model) if model == second[row] => Some(Outcome::SecondWins),
            Some(_) => None,
            None => word,
        };
        let Some(outcome) = outcome else {
            let name = winner.get(row).unwrap_or_default();
            let message = match model {
                Some(_) => format!("`{name}` did not take part in this duel"),
                None => format!("the winner `{name}` is neither of the two"),
            };
            let (a, b) = (models.name(first[row]), models.name(second[row]));
            let hint = format!("here `{a}` meets `{b}`; {ALLOWED}");
            return Err(table.problem(row, Some("winner"), message, hint));
        };
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

fn word(name: &str) -> Option<Outcome> {
    let name = name.trim().to_lowercase();
    let among = |words: &[&str]| words.contains(&name.as_str());
    if among(&FIRST) {
        Some(Outcome::FirstWins)
    } else if among(&SECOND) {
        Some(Outcome::SecondWins)
    } else if among(&TIE) {
        Some(Outcome::Tie)
    } else {
        None
    }
}

/// Numbers that are equal where group and pair are.
fn within_pairs(groups: &[u32], first: &[u32], second: &[u32]) -> Vec<u32> {
    let mut codes: HashMap<(u32, u32, u32), u32> = HashMap::new();
    let pairs = first.iter().zip(second);
    let code = |(&group, (&first, &second)): (&u32, (&u32, &u32))| {
        let next = codes.len() as u32;
        *codes.entry((group, first.min(second), first.max(second))).or_insert(next)
    };
    groups.iter().zip(pairs).map(code).collect()
}

#[derive(Default)]
struct Models {
    names: Vec<String>,
    codes: HashMap<String, u32>,
}

impl Models {
    fn code(&mut self, name: &str) -> u32 {
        if let Some(code) = self.known(name) {
            return code;
        }
        let code = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.codes.insert(name.to_owned(), code);
        code
    }

    fn known(&self, name: &str) -> Option<u32> {
        self.codes.get(name).copied()
    }

    fn name(&self, code: u32) -> &str {
        self.names.get(code as usize).map_or("", String::as_str)
    }
}

/// Why there is no ranking, with the names of the models.
pub(super) fn refusal(reason: Undefined, models: &[String]) -> AnalysisError {
    let name = |player: &usize| models.get(*player).map_or("", String::as_str);
    let hint = match &reason {
        Undefined::Disconnected { groups } => {
            let groups: Vec<String> =
                groups.iter().take(LISTED).map(|group| listed(group.iter().map(name))).collect();
            format!(
                "no chain of duels leads from one to the other of: {}; add duels between them, or rank them apart",
                groups.join(" | ")
            )
        }
        Undefined::Separated { above, below } => format!(
            "{} never lost a point to {}; leave out `--no-ridge`, or add duels",
            listed(above.iter().map(name)),
            listed(below.iter().map(name))
        ),
        Undefined::Confounded { .. } => {
            "leave out `--order-effect` or a `--covariate`: one is constant, equal to another, or the same in every duel of a model".to_owned()
        }
        Undefined::NotConverged { .. } => {
            "a covariate may decide every duel; leave it out, or give `--ridge`".to_owned()
        }
        Undefined::TooFew { what: "groups of battles", .. } => {
            "intervals by group need several groups; leave the column out if duels are independent".to_owned()
        }
        _ => "check the duels".to_owned(),
    };
    AnalysisError::undefined("the ranking", reason, hint)
}

/// Names in a row, the rest counted.
pub(super) fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if names.len() > LISTED + 1 {
        return format!("{} and {} more", names[..LISTED].join(", "), names.len() - LISTED);
    }
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}
