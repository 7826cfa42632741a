//! Whether texts that are no answers pass.

use std::collections::BTreeMap;

use fullbench_analysis::Measured;
use fullbench_judge::{Attack, AttackKind, attacks};
use fullbench_stats::clopper_pearson_interval;
use serde::Serialize;

use super::data::Data;
use crate::{Estimate, Probe};

/// The attack that is a constant answer; the others of its kind are empty.
const CONSTANT: &str = "constant";

/// Whether texts that are no answers pass.
#[derive(Debug, Clone, Serialize)]
pub struct AttackSection {
    /// All attacks in place of an answer but empty and constant ones.
    pub attacks: AttackLine,
    /// The same by kind.
    pub kinds: Vec<AttackLine>,
    /// Empty answers: success may be deserved where the criterion is met by saying nothing.
    pub empty: AttackLine,
    /// Constant answers: the same.
    pub constant: AttackLine,
    /// Attacks after poor answers: of those that failed as they were, the share that passes with the attack.
    pub injected: AttackLine,
}

/// Attacks of one sort.
#[derive(Debug, Clone, Serialize)]
pub struct AttackLine {
    /// Which, in words.
    pub name: &'static str,
    /// The kind; none for lines of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<AttackKind>,
    /// How many the judge gave a score.
    pub scored: usize,
    /// How many it gave none.
    pub unscored: usize,
    /// The share that succeeded, with the exact interval of Clopper and Pearson.
    pub succeeded: Measured<Estimate>,
    /// The names of those that did.
    pub by: Vec<String>,
}

/// Counts of one sort of attacks.
#[derive(Default)]
struct Tally {
    scored: usize,
    unscored: usize,
    by: Vec<String>,
}

impl Tally {
    fn add(&mut self, name: &str, succeeded: Option<bool>) {
        match succeeded {
            None => self.unscored += 1,
            Some(succeeded) => {
                self.scored += 1;
                if succeeded {
                    self.by.push(name.to_owned());
                }
            }
        }
    }

    fn line(self, name: &'static str, confidence: f64, of: &str) -> AttackLine {
        let interval = clopper_pearson_interval;
        AttackLine {
            name,
            kind: None,
            scored: self.scored,
            unscored: self.unscored,
            succeeded: Estimate::share_by(interval, self.by.len(), self.scored, confidence, of),
            by: self.by,
        }
    }
}

pub(super) fn of(data: &Data<'_>) -> AttackSection {
    let known = attacks();
    let confidence = data.options.confidence;
    let (mut all, mut empty, mut constant) = (Tally::default(), Tally::default(), Tally::default());
    let mut kinds: BTreeMap<AttackKind, Tally> = BTreeMap::new();
    for (index, case) in data.probes.iter().enumerate() {
        let Probe::Attack { attack } = &case.probe else { continue };
        let succeeded = data.value(index).map(|value| data.passes(value));
        let kind = known.iter().find(|one: &&Attack| one.name == attack).map(|one| one.kind);
        match kind {
            Some(AttackKind::Empty) if attack == CONSTANT => constant.add(attack, succeeded),
            Some(AttackKind::Empty) => empty.add(attack, succeeded),
            kind => {
                all.add(attack, succeeded);
                if let Some(kind) = kind {
                    kinds.entry(kind).or_default().add(attack, succeeded);
                }
            }
        }
    }
    let of = "scored attacks";
    let kinds = kinds.into_iter().map(|(kind, tally)| AttackLine {
        kind: Some(kind),
        ..tally.line(name(kind), confidence, of)
    });
    AttackSection {
        attacks: all.line("all in place of an answer", confidence, of),
        kinds: kinds.collect(),
        empty: empty.line("empty answer", confidence, "scored empty answers"),
        constant: constant.line("constant answer", confidence, "scored constant answers"),
        injected: injected(data),
    }
}

fn injected(data: &Data<'_>) -> AttackLine {
    let is_injected = |probe: &Probe| matches!(probe, Probe::Injected { .. });
    let planned = data.probes.iter().filter(|case| is_injected(&case.probe)).count();
    let compared = data.compared(is_injected);
    let mut tally = Tally { unscored: planned - compared.len(), ..Tally::default() };
    for one in compared.iter().filter(|one| !data.passes(one.base)) {
        if let Probe::Injected { attack } = &data.probes[one.case].probe {
            tally.add(attack, Some(data.passes(one.changed)));
        }
    }
    let of = if planned == 0 {
        "poor answers by human labels to add an attack to"
    } else {
        "poor answers that the judge failed without the attack"
    };
    tally.line("after a poor answer", data.options.confidence, of)
}

/// A kind in words.
fn name(kind: AttackKind) -> &'static str {
    match kind {
        AttackKind::Delimiter => "closes the frame",
        AttackKind::Lookalike => "look-alike of the frame",
        AttackKind::RoleMarker => "speaks in another role",
        AttackKind::Instruction => "tells the judge what to do",
        AttackKind::FakeReply => "gives the judge's reply",
        AttackKind::FakeEnding => "pretends to be the end",
        AttackKind::Padding => "pushes the prompt out of sight",
        AttackKind::Hidden => "hidden characters",
        AttackKind::Template => "code of templates",
        AttackKind::Empty => "empty answer",
    }
}
