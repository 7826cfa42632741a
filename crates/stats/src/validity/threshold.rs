//! A pass mark suggested from labels of people.

use rand::RngExt;
use serde::Serialize;

use super::auc::{AreaUnderCurve, area_of};
use super::marks::{Best, Goal, MarkCounts, Step, best, curve, steps};
use super::{Resampling, value_or_reason};
use crate::{Interval, Undefined};

/// A pass mark that fits labels of people.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SuggestedThreshold {
    /// What the mark is best at.
    #[serde(flatten)]
    pub goal: Goal,
    /// How many labelled items.
    pub pairs: usize,
    /// How many of them people passed.
    pub passing: u64,
    /// How many of them people failed.
    pub failing: u64,
    /// The mark: a value at or above it passes.
    pub mark: f64,
    /// Marks that meet the goal as well on these items: above `low`, and up to `high`.
    pub best_marks: Interval,
    /// How many marks of the curve meet the goal as well, this one included; more than 1 is a tie.
    pub tied: usize,
    /// Percentile bootstrap interval of the mark; undefined when (nearly) all rounds chose the same.
    #[serde(serialize_with = "value_or_reason")]
    pub interval: Result<Interval, Undefined>,
    /// The share of bootstrap rounds whose mark is one of `best_marks`.
    #[serde(serialize_with = "value_or_reason")]
    pub same_choice: Result<f64, Undefined>,
    /// What the mark decides.
    pub counts: MarkCounts,
    /// Of what people passed, the share that passes.
    pub sensitivity: f64,
    /// Of what people failed, the share that fails.
    pub specificity: f64,
    /// The share of items on which mark and people agree.
    pub accuracy: f64,
    /// The goal at the mark, on the items that the mark was chosen on: too good.
    pub apparent: f64,
    /// By how much it is too good, on average over bootstrap rounds.
    #[serde(serialize_with = "value_or_reason")]
    pub optimism: Result<f64, Undefined>,
    /// The goal to expect on other items: apparent − optimism, where that is positive.
    #[serde(serialize_with = "value_or_reason")]
    pub corrected: Result<f64, Undefined>,
    /// Bootstrap rounds whose items all have one label or one value; they have no mark and are left out.
    pub undefined_rounds: usize,
    /// How well the values tell passing from failing items, whatever the mark.
    pub area: AreaUnderCurve,
    /// Every mark that decides differently, lowest first.
    pub curve: Vec<MarkCounts>,
}

/// The pass mark (a value at or above it passes) that fits the pass and fail labels of people best.
///
/// Tried are the middles between neighbouring distinct values, so that the mark does not sit on an observed value, and half a
/// step beyond both ends (everything passes, nothing passes). Where several meet the goal equally well, the mark is the one
/// nearest to the middle of the widest interval of such marks, and of equals the lower.
///
/// Items are independent, and chosen without regard to their values or labels. The mark was chosen on the items it is
/// measured on, so that the goal there is too good: [`SuggestedThreshold::corrected`] subtracts the optimism, the mean over
/// bootstrap rounds of the goal of a round's mark on that round less its goal on all items (Efron 1983; Harrell, Lee and Mark
/// 1996). The interval of the mark is the percentile bootstrap's. A best cut settles slowly, with the cube root of the number
/// of items (Kim and Pollard 1990), and the theory of the bootstrap does not reach it (Abrevaya and Huang 2005). By
/// simulation it covers about what it says from some 200 items on, 40 of each label, and as little as 75% with 30; the
/// correction takes away most of the optimism, not all. The area under the curve is that of [`super::area_under_curve`].
///
/// Undefined without pairs, for values that are not finite or beyond 1e300, where all labels or all values are equal, and for
/// a cost ratio that is not positive. Values that order items the wrong way get a mark all the same, at an end, with a J of
/// 0.
pub fn suggest_threshold(
    values: &[f64],
    passes: &[bool],
    goal: Goal,
    resampling: &Resampling,
) -> Result<SuggestedThreshold, Undefined> {
    resampling.check()?;
    goal.check()?;
    let (steps, places) = steps(values, passes)?;
    let curve = curve(&steps);
    let Some(chosen) = best(&curve, &steps, goal) else {
        return Err(Undefined::NoVariation { what: "values" });
    };
    let counts = curve[chosen.place];
    let all = Labelled { steps: &steps, curve: &curve, places: &places, passes };
    let drawn = resampling.rounds(|random| all.round(goal, &chosen, random));
    let rounds: Vec<Round> = drawn.into_iter().flatten().collect();
    let undefined_rounds = resampling.rounds - rounds.len();
    let enough = || {
        let what = "bootstrap rounds with both labels";
        Undefined::unless_enough(what, rounds.len(), resampling.rounds.div_ceil(2))
    };
    let mean = |of: fn(&Round) -> f64| {
        enough().map(|()| rounds.iter().map(of).sum::<f64>() / rounds.len() as f64)
    };
    let apparent = goal.score(&counts);
    let optimism = mean(|round| round.optimism);
    Ok(SuggestedThreshold {
        goal,
        pairs: values.len(),
        passing: counts.passing(),
        failing: counts.failing(),
        mark: counts.mark,
        best_marks: Interval { low: chosen.low, high: chosen.high },
        tied: chosen.tied,
        interval: resampling.percentiles(rounds.iter().map(|round| round.mark).collect()),
        same_choice: mean(|round| f64::from(u8::from(round.same))),
        counts,
        sensitivity: counts.sensitivity()?,
        specificity: counts.specificity()?,
        accuracy: counts.accuracy()?,
        apparent,
        // By chance the mean over the rounds can be negative: the choice never makes a mark look worse than it is.
        corrected: optimism.clone().map(|optimism| apparent - optimism.max(0.0)),
        optimism,
        undefined_rounds,
        area: area_of(&steps, resampling.confidence),
        curve,
    })
}

/// The items, as rounds draw from them.
struct Labelled<'a> {
    steps: &'a [Step],
    curve: &'a [MarkCounts],
    /// The step of each item.
    places: &'a [usize],
    passes: &'a [bool],
}

/// What a bootstrap round chose.
struct Round {
    mark: f64,
    /// The goal of its mark on its own items, less the goal on all items.
    optimism: f64,
    /// Its mark is among the best of all items that surround the suggested one.
    same: bool,
}

impl Labelled<'_> {
    /// The mark of items drawn with replacement; none where they have one label or one value.
    fn round(&self, goal: Goal, chosen: &Best, random: &mut rand_pcg::Pcg64) -> Option<Round> {
        let mut drawn: Vec<Step> =
            self.steps.iter().map(|step| Step { passing: 0, failing: 0, ..*step }).collect();
        for _ in 0..self.places.len() {
            let item = random.random_range(0..self.places.len());
            let step = &mut drawn[self.places[item]];
            if self.passes[item] { step.passing += 1 } else { step.failing += 1 }
        }
        drawn.retain(|step| step.passing + step.failing > 0);
        let own = curve(&drawn);
        let everything = own.first()?;
        if everything.passing() == 0 || everything.failing() == 0 {
            return None;
        }
        let counts = own[best(&own, &drawn, goal)?.place];
        let place = self.steps.partition_point(|step| step.value < counts.mark);
        Some(Round {
            mark: counts.mark,
            optimism: goal.score(&counts) - goal.score(&self.curve[place]),
            same: (chosen.first..=chosen.last).contains(&place),
        })
    }
}
