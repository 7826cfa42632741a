//! Pass marks: what each decides, and how well that fits the labels of people.

use serde::Serialize;

use crate::Undefined;

/// Values this large leave no room for a mark beyond them.
const LARGEST: f64 = 1e300;
/// Two marks whose goals differ by less than this are tied: the difference is rounding.
const TIED: f64 = 1e-14;

/// What a pass mark should be best at. Each goal is a number whose higher value is better.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[serde(tag = "goal", rename_all = "snake_case")]
pub enum Goal {
    /// Youden's J (1950): sensitivity + specificity − 1. What people passed and what they failed count alike, however many
    /// there are of each; 0 is no better than passing everything or nothing, 1 is without mistakes.
    #[default]
    Youden,
    /// The share of items on which mark and people agree.
    Accuracy,
    /// F1 of passing (van Rijsbergen 1979): the harmonic mean of precision and recall.
    F1,
    /// Mistakes that cost unlike: the accuracy in which each item that people failed counts `ratio` times. The mark that makes
    /// it largest makes the total cost smallest.
    Cost {
        /// What a false pass costs, where a false failure costs 1.
        ratio: f64,
    },
}

impl Goal {
    /// How well these decisions meet the goal. Undefined unless people passed some items and failed others, and for a cost
    /// ratio that is not positive.
    pub fn value(self, counts: &MarkCounts) -> Result<f64, Undefined> {
        self.check()?;
        unless_both(counts.passing(), counts.failing())?;
        Ok(self.score(counts))
    }

    pub(super) fn check(self) -> Result<(), Undefined> {
        match self {
            Self::Cost { ratio } => Undefined::unless_positive("the cost ratio", ratio),
            _ => Ok(()),
        }
    }

    /// The same of counts that have both labels.
    pub(super) fn score(self, counts: &MarkCounts) -> f64 {
        let right_passes = counts.true_passes as f64;
        let right_failures = counts.true_failures as f64;
        let (passing, failing) = (counts.passing() as f64, counts.failing() as f64);
        match self {
            Self::Youden => right_passes / passing + right_failures / failing - 1.0,
            Self::Accuracy => (right_passes + right_failures) / (passing + failing),
            Self::F1 => 2.0 * right_passes / (right_passes + passing + counts.false_passes as f64),
            Self::Cost { ratio } => {
                (right_passes + ratio * right_failures) / (passing + ratio * failing)
            }
        }
    }
}

/// What one mark decides, beside the labels of people. A value at or above the mark passes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MarkCounts {
    /// The mark.
    pub mark: f64,
    /// Items that pass, and that people passed.
    pub true_passes: u64,
    /// Items that pass, and that people failed.
    pub false_passes: u64,
    /// Items that fail, and that people failed.
    pub true_failures: u64,
    /// Items that fail, and that people passed.
    pub false_failures: u64,
}

impl MarkCounts {
    /// The decisions of any mark. Undefined where mark or values are not finite, and where values and labels are not pairs.
    pub fn at(mark: f64, values: &[f64], passes: &[bool]) -> Result<Self, Undefined> {
        Undefined::unless_finite("mark", &[mark])?;
        Undefined::unless_paired("values and labels", values.len(), passes.len())?;
        Undefined::unless_finite("value", values)?;
        let count = |decision: bool, label: bool| {
            let items = values.iter().zip(passes);
            items.filter(|(value, pass)| (**value >= mark) == decision && **pass == label).count()
        };
        Ok(Self {
            mark,
            true_passes: count(true, true) as u64,
            false_passes: count(true, false) as u64,
            true_failures: count(false, false) as u64,
            false_failures: count(false, true) as u64,
        })
    }

    /// How many items people passed.
    #[must_use]
    pub fn passing(&self) -> u64 {
        self.true_passes + self.false_failures
    }

    /// How many items people failed.
    #[must_use]
    pub fn failing(&self) -> u64 {
        self.true_failures + self.false_passes
    }

    /// Of what people passed, the share that passes; undefined when people passed nothing.
    pub fn sensitivity(&self) -> Result<f64, Undefined> {
        share("items that people passed", self.true_passes, self.passing())
    }

    /// Of what people failed, the share that fails; undefined when people failed nothing.
    pub fn specificity(&self) -> Result<f64, Undefined> {
        share("items that people failed", self.true_failures, self.failing())
    }

    /// The share of items on which mark and people agree; undefined without items.
    pub fn accuracy(&self) -> Result<f64, Undefined> {
        let right = self.true_passes + self.true_failures;
        share("items", right, self.passing() + self.failing())
    }
}

fn share(what: &'static str, part: u64, of: u64) -> Result<f64, Undefined> {
    Undefined::unless_enough(what, of as usize, 1).map(|()| part as f64 / of as f64)
}

/// Refuses labels that are all equal.
pub(super) fn unless_both(passing: u64, failing: u64) -> Result<(), Undefined> {
    Undefined::unless_enough("pairs", (passing + failing) as usize, 1)?;
    if passing == 0 || failing == 0 {
        return Err(Undefined::NoVariation { what: "labels" });
    }
    Ok(())
}

/// One distinct value, and how many items that have it people passed and failed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Step {
    pub(super) value: f64,
    pub(super) passing: u64,
    pub(super) failing: u64,
}

/// The distinct values, smallest first, and the place among them of each item.
pub(super) fn steps(values: &[f64], passes: &[bool]) -> Result<(Vec<Step>, Vec<usize>), Undefined> {
    Undefined::unless_paired("values and labels", values.len(), passes.len())?;
    Undefined::unless_enough("pairs", values.len(), 1)?;
    Undefined::unless_finite("value", values)?;
    if let Some(&value) = values.iter().find(|value| value.abs() > LARGEST) {
        let allowed = "of a size below 1e300";
        return Err(Undefined::OutOfRange { what: "a value", value, allowed });
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&left, &right| values[left].total_cmp(&values[right]));
    let (mut steps, mut places) = (Vec::<Step>::new(), vec![0; values.len()]);
    for index in order {
        let value = values[index];
        if steps.last().is_none_or(|step| step.value != value) {
            steps.push(Step { value, passing: 0, failing: 0 });
        }
        places[index] = steps.len() - 1;
        if let Some(step) = steps.last_mut() {
            if passes[index] { step.passing += 1 } else { step.failing += 1 }
        }
    }
    let total = |part: fn(&Step) -> u64| steps.iter().map(part).sum();
    unless_both(total(|step| step.passing), total(|step| step.failing))?;
    Ok((steps, places))
}

/// Every mark that decides differently, lowest first: half a step below the lowest value, between neighbours, and half a step
/// above the highest. Fewer than two steps have none.
pub(super) fn curve(steps: &[Step]) -> Vec<MarkCounts> {
    let ([first, second, ..], [.., before, last]) = (steps, steps) else { return Vec::new() };
    let mut counts = MarkCounts {
        mark: first.value - (second.value - first.value) / 2.0,
        true_passes: steps.iter().map(|step| step.passing).sum(),
        false_passes: steps.iter().map(|step| step.failing).sum(),
        true_failures: 0,
        false_failures: 0,
    };
    let beyond = (last.value + (last.value - before.value) / 2.0).max(last.value.next_up());
    let mut curve = vec![counts];
    for (index, step) in steps.iter().enumerate() {
        counts.true_passes -= step.passing;
        counts.false_failures += step.passing;
        counts.false_passes -= step.failing;
        counts.true_failures += step.failing;
        counts.mark = steps.get(index + 1).map_or(beyond, |next| between(step.value, next.value));
        curve.push(counts);
    }
    curve
}

/// The middle, or the upper of two numbers that have no other between them.
fn between(low: f64, high: f64) -> f64 {
    let middle = f64::midpoint(low, high);
    if middle > low { middle } else { high }
}

/// The best mark of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Best {
    /// Where it is on the curve.
    pub(super) place: usize,
    /// The places around it that meet the goal as well.
    pub(super) first: usize,
    pub(super) last: usize,
    /// The marks around it that meet the goal as well: above `low`, and up to `high`.
    pub(super) low: f64,
    pub(super) high: f64,
    /// How many marks of the curve meet the goal as well, it included.
    pub(super) tied: usize,
}

/// The mark nearest to the middle of the widest interval in which every mark meets the goal best; of equals the lower.
pub(super) fn best(curve: &[MarkCounts], steps: &[Step], goal: Goal) -> Option<Best> {
    let scores: Vec<f64> = curve.iter().map(|counts| goal.score(counts)).collect();
    let highest = scores.iter().copied().reduce(f64::max)?;
    let is_best = |place: usize| scores[place] >= highest - TIED;
    let tied = (0..curve.len()).filter(|&place| is_best(place)).count();
    // The mark at a place decides like all marks above the value before it, up to the value after it.
    let low = |place: usize| if place == 0 { curve[0].mark } else { steps[place - 1].value };
    let high = |place: usize| steps.get(place).map_or(curve[place].mark, |step| step.value);
    let mut found: Option<Best> = None;
    let mut place = 0;
    while place < curve.len() {
        let start = place;
        while place < curve.len() && is_best(place) {
            place += 1;
        }
        if place == start {
            place += 1;
            continue;
        }
        let (first, last) = (start, place - 1);
        let (low, high) = (low(first), high(last));
        if found.is_none_or(|found| high - low > found.high - found.low) {
            let middle = f64::midpoint(low, high);
            let distance = |place: &usize| (curve[*place].mark - middle).abs();
            let nearest = (first..=last).min_by(|a, b| distance(a).total_cmp(&distance(b)));
            found = nearest.map(|place| Best { place, first, last, low, high, tied });
        }
    }
    found
}
