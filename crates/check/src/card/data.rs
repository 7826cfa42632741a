//! Probes, what the judge gave for them, and what people said, brought together.

use std::collections::BTreeMap;

use crate::{CardOptions, Example, Judged, Observed, Probe, ProbeCase};

/// The pass mark of a judge that has none.
const DEFAULT_MARK: f64 = 0.5;

/// Everything that sections are made of.
pub(super) struct Data<'a> {
    pub(super) examples: &'a [Example],
    pub(super) probes: &'a [ProbeCase],
    pub(super) options: &'a CardOptions,
    pub(super) judged: Judged,
    pub(super) mark: f64,
    /// What was observed of each probe.
    pub(super) observed: Vec<Option<&'a Observed>>,
    /// Scores that are no number from 0 to 1; they are left out.
    pub(super) unusable_values: usize,
    /// Ratings that are no number from 0 to 1; they are left out.
    pub(super) unusable_ratings: usize,
    /// Base cases that people and judge scored.
    pub(super) labelled: Vec<Labelled>,
    /// The base case of each example, or pair of examples.
    bases: BTreeMap<(usize, Option<usize>), usize>,
}

/// A case that people and judge scored.
#[derive(Debug, Clone)]
pub(super) struct Labelled {
    pub(super) case: usize,
    pub(super) example: usize,
    pub(super) human: f64,
    pub(super) judge: f64,
    /// What it competes in.
    pub(super) group: u32,
}

/// A changed case beside the case as it is.
pub(super) struct Compared {
    pub(super) case: usize,
    pub(super) base: f64,
    pub(super) changed: f64,
}

impl<'a> Data<'a> {
    pub(super) fn new(
        examples: &'a [Example],
        probes: &'a [ProbeCase],
        observed: &'a [Observed],
        options: &'a CardOptions,
    ) -> Self {
        let mut by_case: Vec<Option<&Observed>> = vec![None; probes.len()];
        for one in observed {
            if let Some(slot @ None) = by_case.get_mut(one.case) {
                *slot = Some(one);
            }
        }
        let is_base = |case: &ProbeCase| matches!(case.probe, Probe::Base | Probe::Pair);
        let bases = probes.iter().enumerate().filter(|(_, case)| is_base(case));
        let is_pair = |case: &ProbeCase| case.other.is_some() && case.probe != Probe::Compared;
        let judged = if probes.iter().any(is_pair) { Judged::Pairs } else { Judged::Single };
        let is_odd = |one: &&Observed| one.value.is_some_and(|value| usable(value).is_none());
        let ratings = examples.iter().flat_map(|example| &example.ratings);
        let mut data = Self {
            examples,
            probes,
            options,
            judged,
            mark: match judged {
                Judged::Single => options.mark.and_then(usable).unwrap_or(DEFAULT_MARK),
                Judged::Pairs => DEFAULT_MARK,
            },
            unusable_values: by_case.iter().flatten().filter(|one| is_odd(one)).count(),
            unusable_ratings: ratings.filter(|rating| !rating.is_usable()).count(),
            observed: by_case,
            labelled: Vec::new(),
            bases: bases.map(|(index, case)| ((case.example, case.with), index)).collect(),
        };
        data.labelled = data.labelled_cases();
        data
    }

    /// The judge's score of a case, where it is one.
    pub(super) fn value(&self, case: usize) -> Option<f64> {
        self.observed.get(case).copied().flatten()?.value.and_then(usable)
    }

    /// What people said of a case as it is.
    fn human(&self, case: &ProbeCase) -> Option<f64> {
        let human = |example: usize| self.examples.get(example)?.human();
        match (self.judged, case.with) {
            (Judged::Single, _) => human(case.example),
            (Judged::Pairs, None) => human(case.example).map(preferred),
            (Judged::Pairs, Some(with)) => {
                let difference = human(case.example)? - human(with)?;
                Some(preferred(if difference.abs() < 1e-9 { 0.5 } else { 0.5 + difference / 2.0 }))
            }
        }
    }

    fn labelled_cases(&self) -> Vec<Labelled> {
        let mut groups: BTreeMap<(bool, &str), u32> = BTreeMap::new();
        let mut labelled = Vec::new();
        for &case in self.bases.values() {
            let probe = &self.probes[case];
            let Some(example) = self.examples.get(probe.example) else { continue };
            if let (Some(human), Some(judge)) = (self.human(probe), self.value(case)) {
                let next = groups.len() as u32;
                let group = *groups.entry(example.competes_in()).or_insert(next);
                labelled.push(Labelled { case, example: probe.example, human, judge, group });
            }
        }
        labelled
    }

    /// The groups of labelled cases, where a group has several.
    pub(super) fn clusters(&self) -> Option<Vec<u32>> {
        let groups: Vec<u32> = self.labelled.iter().map(|one| one.group).collect();
        let distinct = groups.iter().max().map_or(0, |last| *last as usize + 1);
        (distinct < groups.len()).then_some(groups)
    }

    /// Cases of the wanted kind beside what the judge gave for the example as it is; those without both scores are left out.
    pub(super) fn compared(&self, wanted: impl Fn(&Probe) -> bool) -> Vec<Compared> {
        let cases = self.probes.iter().enumerate().filter(|(_, case)| wanted(&case.probe));
        cases
            .filter_map(|(index, case)| {
                let base = self.bases.get(&(case.example, case.with))?;
                let (base, changed) = (self.value(*base)?, self.value(index)?);
                Some(Compared { case: index, base, changed })
            })
            .collect()
    }

    /// Whether an answer passes: at the mark, or preferred to the other.
    pub(super) fn passes(&self, value: f64) -> bool {
        match self.judged {
            Judged::Single => value >= self.mark,
            Judged::Pairs => value > self.mark,
        }
    }

    /// What a score says: fail or pass; of pairs the other, a tie, or the answer.
    pub(super) fn verdict(&self, value: f64) -> u32 {
        match self.judged {
            Judged::Single => u32::from(self.passes(value)),
            Judged::Pairs => (preferred(value) * 2.0) as u32,
        }
    }

    /// How many base cases the judge scored.
    pub(super) fn scored_bases(&self) -> Vec<usize> {
        self.bases.values().copied().filter(|&case| self.value(case).is_some()).collect()
    }
}

/// A number from 0 to 1.
pub(super) fn usable(value: f64) -> Option<f64> {
    (0.0..=1.0).contains(&value).then_some(value)
}

/// 1, 0.5 or 0: the side that a mean of preferences leans to.
fn preferred(mean: f64) -> f64 {
    if mean > 0.5 {
        1.0
    } else if mean < 0.5 {
        0.0
    } else {
        0.5
    }
}
