//! Agreement with people.

use std::collections::BTreeMap;

use fullbench_analysis::Measured;
use fullbench_stats::agreement::{
    CategoryWeights, Level, Ratings, alpha, alpha_interval, cohen_kappa,
};
use fullbench_stats::validity::{
    Against, Bias, BiasSlope, Coefficient, Confusion, Resampled, Resampling, bias, bias_slope,
    clustered_interval, confusion, correlate, group_correlation, system_correlations,
};
use fullbench_stats::{Interval, Undefined};
use serde::Serialize;

use super::data::Data;
use crate::{Estimate, Judged};

/// A table of more steps than this hides more than it shows.
const MOST_STEPS: u32 = 100;
/// Why there is no interval of kappa.
const NO_KAPPA_INTERVAL: &str = "fewer than ten items, or no disagreement at all";

/// Agreement with people.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "judged", rename_all = "snake_case")]
pub enum Agreement {
    /// Of scores.
    Single(Box<SingleAgreement>),
    /// Of preferences.
    Pairs(Box<PairAgreement>),
}

/// How far scores of judge and people agree; the human score is the mean of an answer's ratings.
#[derive(Debug, Clone, Serialize)]
pub struct SingleAgreement {
    /// Answers that people and judge scored.
    pub labelled: usize,
    /// Krippendorff's alpha of the judge and the mean person, as two annotators.
    pub alpha: Measured<Estimate>,
    /// Krippendorff's alpha with the judge as one more annotator among people.
    pub alpha_among_people: Measured<Estimate>,
    /// Krippendorff's alpha of people alone, on the same answers: what can be hoped for.
    pub alpha_of_people: Measured<Estimate>,
    /// Cohen's kappa on the steps of the scale, with quadratic weights from three steps on.
    pub kappa: Measured<Estimate>,
    /// Cohen's kappa of pass and fail at the mark.
    pub verdict_kappa: Measured<Estimate>,
    /// Fail and pass at the mark: a row for each human verdict, a column for each of the judge.
    pub verdicts: Measured<Confused>,
    /// Correlations of scores at three levels.
    pub correlations: Vec<CorrelationLine>,
    /// Judge − human.
    pub bias: Measured<Bias>,
    /// Whether that grows with the score.
    pub bias_slope: Measured<BiasSlope>,
}

/// How far preferences of judge and people agree.
#[derive(Debug, Clone, Serialize)]
pub struct PairAgreement {
    /// Pairs that people and judge compared.
    pub labelled: usize,
    /// Cohen's kappa of the three labels, without weights.
    pub kappa: Measured<Estimate>,
    /// The three labels: a row for each human one, a column for each of the judge.
    pub preferences: Measured<Confused>,
    /// Of pairs in which neither sees a tie, the share with the same winner.
    pub agreement_without_ties: Measured<Estimate>,
}

/// A confusion table with the names of its labels.
#[derive(Debug, Clone, Serialize)]
pub struct Confused {
    /// The labels, in the order of rows and columns.
    pub labels: Vec<&'static str>,
    /// The table and what is read from it.
    #[serde(flatten)]
    pub confusion: Confusion,
}

/// What is correlated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CorrelationLevel {
    /// All answers.
    Item,
    /// The answers of a group, then the mean over groups.
    Group,
    /// The means of systems.
    System,
}

/// One coefficient at one level.
#[derive(Debug, Clone, Serialize)]
pub struct CorrelationLine {
    /// What is correlated.
    pub level: CorrelationLevel,
    /// Which coefficient.
    pub coefficient: Coefficient,
    /// The estimate; `n` counts answers, groups or systems.
    pub estimate: Measured<Estimate>,
}

pub(super) fn of(data: &Data<'_>) -> Agreement {
    match data.judged {
        Judged::Single => Agreement::Single(Box::new(single(data))),
        Judged::Pairs => Agreement::Pairs(Box::new(pairs(data))),
    }
}

fn single(data: &Data<'_>) -> SingleAgreement {
    let confidence = data.options.confidence;
    let (judge, human) = sides(data);
    let clusters = data.clusters();
    let (verdict_kappa, verdicts) = verdicts(data, vec!["fail", "pass"]);
    SingleAgreement {
        labelled: judge.len(),
        alpha: match nothing_to_compare(data) {
            Some(reason) => Measured::undefined(reason),
            None => alpha_of(&two_annotators(&judge, &human), data),
        },
        alpha_among_people: alpha_of(&ratings(data, true), data),
        alpha_of_people: alpha_of(&ratings(data, false), data),
        kappa: step_kappa(data, &judge, &human),
        verdict_kappa,
        verdicts,
        correlations: correlations(data, &judge, &human, clusters.as_deref()),
        bias: bias(&judge, &human, clusters.as_deref(), confidence).into(),
        bias_slope: bias_slope(&judge, &human, Against::Mean, clusters.as_deref(), confidence)
            .into(),
    }
}

/// Why judge and people have nothing in common.
fn nothing_to_compare(data: &Data<'_>) -> Option<&'static str> {
    let is_labelled = data.examples.iter().any(|example| example.human().is_some());
    match (data.labelled.is_empty(), is_labelled) {
        (false, _) => None,
        (true, false) => Some("no answer has a label of a person"),
        (true, true) => Some("the judge scored none of the labelled answers"),
    }
}

fn pairs(data: &Data<'_>) -> PairAgreement {
    let (kappa, preferences) = verdicts(data, vec!["the other", "tie", "the answer"]);
    let kappa = nothing_to_compare(data).map_or(kappa, Measured::undefined);
    let clear = data.labelled.iter().filter(|one| one.human != 0.5 && one.judge != 0.5);
    let same = clear.clone().filter(|one| data.verdict(one.human) == data.verdict(one.judge));
    let (same, clear) = (same.count(), clear.count());
    let of = "labelled pairs without a tie";
    PairAgreement {
        labelled: data.labelled.len(),
        kappa,
        preferences,
        agreement_without_ties: Estimate::share(same, clear, data.options.confidence, of),
    }
}

fn sides(data: &Data<'_>) -> (Vec<f64>, Vec<f64>) {
    data.labelled.iter().map(|one| (one.judge, one.human)).unzip()
}

/// Kappa and the table of verdicts.
fn verdicts(
    data: &Data<'_>,
    labels: Vec<&'static str>,
) -> (Measured<Estimate>, Measured<Confused>) {
    let codes = data.labelled.iter().map(|one| (data.verdict(one.judge), data.verdict(one.human)));
    let (judge, human): (Vec<u32>, Vec<u32>) = codes.unzip();
    match confusion(&judge, &human, labels.len(), data.options.confidence) {
        Ok(confusion) => {
            let weights = CategoryWeights::identity(labels.len());
            let kappa = kappa_of(&confusion.table, weights, data.options.confidence);
            (kappa, Measured::Value(Confused { labels, confusion }))
        }
        Err(reason) => (Err(reason.clone()).into(), Err(reason).into()),
    }
}

fn kappa_of(
    table: &[Vec<u64>],
    weights: Result<CategoryWeights, Undefined>,
    confidence: f64,
) -> Measured<Estimate> {
    let kappa = weights.and_then(|weights| cohen_kappa(table, &weights, confidence));
    let estimate = kappa.map(|kappa| Estimate {
        n: kappa.items as usize,
        value: kappa.coefficient,
        interval: kappa
            .interval
            .map_or_else(|| Measured::undefined(NO_KAPPA_INTERVAL), Measured::Value),
    });
    estimate.into()
}

/// Kappa of both sides rounded to the nearest step.
fn step_kappa(data: &Data<'_>, judge: &[f64], human: &[f64]) -> Measured<Estimate> {
    let levels = match data.options.levels {
        Some(levels @ 2..=MOST_STEPS) => levels,
        Some(levels) => {
            return Measured::undefined(format!(
                "the scale has {levels} steps, and kappa is for 2 to {MOST_STEPS}"
            ));
        }
        None => return Measured::undefined("the scale has no steps"),
    };
    let steps = |values: &[f64]| -> Vec<u32> {
        values.iter().map(|value| (value * f64::from(levels - 1)).round() as u32).collect()
    };
    let numbers: Vec<f64> = (0..levels).map(f64::from).collect();
    let weights = match levels {
        2 => CategoryWeights::identity(2),
        _ => CategoryWeights::quadratic(&numbers),
    };
    let confidence = data.options.confidence;
    match confusion(&steps(judge), &steps(human), levels as usize, confidence) {
        Ok(confusion) => kappa_of(&confusion.table, weights, confidence),
        Err(reason) => Err(reason).into(),
    }
}

/// Ratings in long format.
#[derive(Default)]
struct Long {
    items: Vec<u32>,
    annotators: Vec<u32>,
    numbers: Vec<f64>,
}

impl Long {
    fn add(&mut self, item: usize, annotator: u32, value: f64) {
        self.items.push(item as u32);
        self.annotators.push(annotator);
        self.numbers.push(value);
    }
}

fn two_annotators(judge: &[f64], human: &[f64]) -> Long {
    let mut long = Long::default();
    for (item, (judge, human)) in judge.iter().zip(human).enumerate() {
        long.add(item, 0, *judge);
        long.add(item, 1, *human);
    }
    long
}

/// What people said of the labelled answers, each person once, with the judge as annotator 0 where asked for.
fn ratings(data: &Data<'_>, with_judge: bool) -> Long {
    let mut long = Long::default();
    let mut people: BTreeMap<&str, u32> = BTreeMap::new();
    for (item, one) in data.labelled.iter().enumerate() {
        if with_judge {
            long.add(item, 0, one.judge);
        }
        let mut said: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        let ratings = data.examples[one.example].ratings.iter();
        for rating in ratings.filter(|rating| rating.is_usable()) {
            let next = people.len() as u32 + 1;
            let person = *people.entry(&rating.annotator).or_insert(next);
            let sum = said.entry(person).or_default();
            *sum = (sum.0 + rating.value, sum.1 + 1.0);
        }
        for (person, (sum, count)) in said {
            long.add(item, person, sum / count);
        }
    }
    long
}

/// Alpha at the interval level with its bootstrap interval; `n` counts answers with two values.
fn alpha_of(long: &Long, data: &Data<'_>) -> Measured<Estimate> {
    let codes: Vec<u32> = (0..long.numbers.len() as u32).collect();
    let found = Ratings::with_numbers(&long.items, &long.annotators, &codes, &long.numbers)
        .and_then(|ratings| {
            let found = alpha(&ratings, Level::Interval)?;
            let options = data.options;
            let (confidence, rounds, seed) = (options.confidence, options.rounds, options.seed);
            let interval = alpha_interval(&ratings, Level::Interval, confidence, rounds, seed);
            let interval = interval.map(|interval| interval.interval);
            Ok(Estimate::new(found.paired_items, found.alpha, interval))
        });
    found.into()
}

fn correlations(
    data: &Data<'_>,
    judge: &[f64],
    human: &[f64],
    clusters: Option<&[u32]>,
) -> Vec<CorrelationLine> {
    let options = data.options;
    let (confidence, rounds, seed) = (options.confidence, options.rounds, options.seed);
    let resampling = Resampling { rounds, seed, confidence };
    let line = |level, coefficient, estimate: Result<Estimate, Undefined>| CorrelationLine {
        level,
        coefficient,
        estimate: estimate.into(),
    };
    let mut lines = Vec::new();
    for coefficient in Coefficient::ALL {
        let found = correlate(coefficient, judge, human, confidence).map(|found| {
            let interval: Result<Interval, Undefined> = match clusters {
                None => found.interval,
                Some(groups) => clustered_interval(coefficient, judge, human, groups, confidence),
            };
            Estimate::new(found.pairs, found.value, interval)
        });
        lines.push(line(CorrelationLevel::Item, coefficient, found));
    }
    if let Some(groups) = clusters {
        for coefficient in Coefficient::ALL {
            let found = group_correlation(coefficient, judge, human, groups, &resampling)
                .map(|found| Estimate::new(found.groups, found.value, found.interval));
            lines.push(line(CorrelationLevel::Group, coefficient, found));
        }
    }
    lines.extend(
        of_systems(data, &resampling)
            .into_iter()
            .map(|(coefficient, found)| line(CorrelationLevel::System, coefficient, found)),
    );
    lines
}

/// Correlations of system means over the answers whose system is known; none where no system is.
fn of_systems(
    data: &Data<'_>,
    resampling: &Resampling,
) -> Vec<(Coefficient, Result<Estimate, Undefined>)> {
    let mut codes: BTreeMap<&str, u32> = BTreeMap::new();
    let (mut judge, mut human) = (Vec::new(), Vec::new());
    let (mut systems, mut items) = (Vec::new(), Vec::new());
    for one in &data.labelled {
        let Some(system) = &data.examples[one.example].system else { continue };
        let next = codes.len() as u32;
        systems.push(*codes.entry(system).or_insert(next));
        items.push(one.group);
        judge.push(one.judge);
        human.push(one.human);
    }
    if codes.len() < 2 {
        return Vec::new();
    }
    let all = Coefficient::ALL;
    let found =
        system_correlations(&all, &judge, &human, &systems, &items, Resampled::Both, resampling);
    let found = found.unwrap_or_else(|reason| all.map(|_| Err(reason.clone())).into());
    let estimates = found
        .into_iter()
        .map(|found| found.map(|found| Estimate::new(found.systems, found.value, found.interval)));
    all.into_iter().zip(estimates).collect()
}
