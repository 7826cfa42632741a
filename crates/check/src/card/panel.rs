//! The members of a panel, each beside people.

use fullbench_analysis::Measured;
use fullbench_analysis::stacking::{Member, StackingReport, weigh};
use fullbench_stats::validity::{Coefficient, CrossValidation, bias, correlate};
use serde::Serialize;

use super::data::{Data, usable};
use crate::{CardOptions, Estimate};

/// The members of a panel.
#[derive(Debug, Clone, Serialize)]
pub struct PanelSection {
    /// Each member beside people.
    pub members: Vec<MemberLine>,
    /// What each member gave to labelled answers: what weights are learned from.
    pub rows: Vec<PanelRow>,
    /// Weights of the members that fit people best, and whether learning them pays.
    pub weights: Measured<StackingReport>,
}

/// One member beside people.
#[derive(Debug, Clone, Serialize)]
pub struct MemberLine {
    /// Its name.
    pub name: String,
    /// Its place in the panel, from 0.
    pub member: usize,
    /// Labelled answers that it scored.
    pub scored: usize,
    /// Labelled answers that it did not.
    pub unscored: usize,
    /// Spearman's correlation with people, as of independent answers.
    pub spearman: Measured<Estimate>,
    /// Mean of member − human.
    pub bias: Measured<Estimate>,
}

/// What a panel gave to one labelled answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PanelRow {
    /// The example's id.
    pub example: String,
    /// What people said.
    pub human: f64,
    /// What each member said.
    pub members: Vec<Option<f64>>,
}

/// None for a judge that is no panel.
pub(super) fn of(data: &Data<'_>) -> Option<PanelSection> {
    let members = data.observed.iter().flatten().map(|one| one.members.len()).max()?;
    if members < 2 {
        return None;
    }
    let rows: Vec<PanelRow> = data
        .labelled
        .iter()
        .map(|one| {
            let given = data.observed[one.case].map_or(&[][..], |observed| &observed.members);
            let member = |place: usize| given.get(place).copied().flatten().and_then(usable);
            PanelRow {
                example: data.examples[one.example].id.clone(),
                human: one.human,
                members: (0..members).map(member).collect(),
            }
        })
        .collect();
    let confidence = data.options.confidence;
    let name = |member: usize| {
        let given = data.options.members.get(member).cloned();
        given.unwrap_or_else(|| format!("member {}", member + 1))
    };
    let line = |member: usize| {
        let pairs = rows.iter().filter_map(|row| Some((row.members[member]?, row.human)));
        let (scores, human): (Vec<f64>, Vec<f64>) = pairs.unzip();
        let spearman = correlate(Coefficient::Spearman, &scores, &human, confidence)
            .map(|found| Estimate::new(found.pairs, found.value, found.interval));
        let bias = bias(&scores, &human, None, confidence)
            .map(|found| Estimate::new(found.pairs, found.mean_difference, found.interval));
        MemberLine {
            name: name(member),
            member,
            scored: scores.len(),
            unscored: rows.len() - scores.len(),
            spearman: spearman.into(),
            bias: bias.into(),
        }
    };
    let members: Vec<MemberLine> = (0..members).map(line).collect();
    let weights = weights(&members, &rows, data.options);
    Some(PanelSection { members, rows, weights })
}

/// Learned from the answers that every member scored.
fn weights(
    members: &[MemberLine],
    rows: &[PanelRow],
    options: &CardOptions,
) -> Measured<StackingReport> {
    let whole: Vec<&PanelRow> =
        rows.iter().filter(|row| row.members.iter().all(Option::is_some)).collect();
    let human: Vec<f64> = whole.iter().map(|row| row.human).collect();
    let scores = members
        .iter()
        .map(|line| whole.iter().filter_map(|row| row.members[line.member]).collect::<Vec<f64>>());
    let scores: Vec<Vec<f64>> = scores.collect();
    let members: Vec<Member<'_>> = members
        .iter()
        .zip(&scores)
        .map(|(line, scores)| Member { name: &line.name, scores })
        .collect();
    let validation = CrossValidation {
        seed: options.seed,
        confidence: options.confidence,
        ..CrossValidation::default()
    };
    match weigh(&members, &human, &validation) {
        Ok(report) => Measured::Value(report),
        Err(error) => Measured::undefined(error.to_string()),
    }
}
