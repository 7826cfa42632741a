//! An output's way through the tiers.

use fullbench_types::{
    CascadeEnd, CascadePath, Score, ScorePath, SimilarPath, TierEntry, TierPath,
};
use serde_json::{Value, json};

use super::Cascade;
use super::condition::{Condition, Known, Whole};
use super::tier::BuiltTier;
use crate::scorer::{AskedCall, Item};
use crate::scorers::composite::{chance, full_cost, passing_reason, with_parts};

/// One output on its way.
struct Walker<'item> {
    item: Item<'item>,
    known: Known,
    probability: f64,
    entry: TierEntry,
    /// It could have ended, and goes all the way to be looked at.
    audited: Option<CascadeEnd>,
    /// A condition could not be decided.
    undecided: bool,
    path: Vec<TierPath>,
    /// Every score so far, with the index of its scorer.
    scores: Vec<(usize, Score)>,
    end: Option<End>,
}

/// Why an output goes no further.
enum End {
    /// In a cascade's own words.
    Reached(CascadeEnd, String),
    /// A scorer could not be asked: the whole is asked for again.
    Again(Box<Score>),
}

/// Whether an output goes on to a tier.
struct Step {
    probability: f64,
    entry: TierEntry,
    /// How it ends when it is not drawn.
    otherwise: (CascadeEnd, String),
}

impl Cascade {
    /// Scores outputs tier by tier, so that a tier sees all that come to it together.
    pub(super) async fn walk(&self, items: &[Item<'_>]) -> Vec<Score> {
        let mut walkers: Vec<Walker<'_>> = items.iter().map(|item| Walker::new(*item)).collect();
        for (index, tier) in self.tiers.iter().enumerate() {
            if index > 0 {
                for walker in walkers.iter_mut().filter(|walker| walker.end.is_none()) {
                    self.draw(index, walker);
                }
            }
            let here: Vec<usize> =
                (0..walkers.len()).filter(|at| walkers[*at].end.is_none()).collect();
            let asked: Vec<Item<'_>> = here.iter().map(|at| walkers[*at].item).collect();
            if asked.is_empty() {
                break;
            }
            let scores =
                self.children.scores_of(&asked, |child| tier.children.contains(&child)).await;
            for (at, scores) in here.into_iter().zip(scores) {
                let scores = scores.into_iter().enumerate();
                let scores = scores.filter_map(|(child, score)| Some((child, score?)));
                self.take(&mut walkers[at], tier, scores.collect());
            }
        }
        walkers.into_iter().map(|walker| self.finish(walker)).collect()
    }

    /// Decides whether an output goes on to a tier.
    fn draw(&self, index: usize, walker: &mut Walker<'_>) {
        walker.undecided |= self.is_undecided(index, walker);
        let step = self.step(index, walker);
        if self.chance(index, &walker.item) < step.probability {
            walker.probability *= step.probability;
            if step.entry == TierEntry::Audited {
                walker.audited = walker.audited.or(Some(step.otherwise.0));
            }
            walker.entry = step.entry;
        } else {
            let (end, why) = step.otherwise;
            walker.end = Some(End::Reached(end, why));
        }
    }

    /// The chance of going on: what a tier before says of the output decides it, and nothing else.
    fn step(&self, index: usize, walker: &Walker<'_>) -> Step {
        let (before, tier) = (&self.tiers[index - 1], &self.tiers[index]);
        if walker.audited.is_some() {
            let otherwise = (CascadeEnd::NotDrawn, String::new());
            return Step { probability: 1.0, entry: TierEntry::Audited, otherwise };
        }
        let holds = |condition: Option<bool>, undecided: bool| condition.unwrap_or(undecided);
        if let Some(condition) = &before.hard_fail
            && holds(condition.holds(&walker.known), false)
        {
            let why = format!("hard fail in {}: {}", before.name, condition.source());
            return self.short_cut(CascadeEnd::HardFail, why);
        }
        let escalates = tier
            .escalate
            .as_ref()
            .is_some_and(|escalate| holds(escalate.holds(&walker.known), true));
        if escalates {
            let otherwise = (CascadeEnd::NotDrawn, String::new());
            return Step { probability: 1.0, entry: TierEntry::Escalated, otherwise };
        }
        if let (Some(target), Some(confidence)) =
            (self.target_confidence, self.confidence(before, walker))
            && confidence >= target
        {
            let why = format!("{} is confident: {confidence:.3} reaches {target}", before.name);
            return self.short_cut(CascadeEnd::Confident, why);
        }
        let why = format!("not drawn for {} (share {})", tier.name, tier.sample);
        Step {
            probability: tier.sample,
            entry: TierEntry::Drawn,
            otherwise: (CascadeEnd::NotDrawn, why),
        }
    }

    /// Whether a condition before a tier cannot be decided for this output.
    fn is_undecided(&self, index: usize, walker: &Walker<'_>) -> bool {
        let conditions = [&self.tiers[index - 1].hard_fail, &self.tiers[index].escalate];
        let undecided = |condition: &Condition| condition.holds(&walker.known).is_none();
        walker.audited.is_none() && conditions.into_iter().flatten().any(undecided)
    }

    fn short_cut(&self, end: CascadeEnd, why: String) -> Step {
        Step { probability: self.audit, entry: TierEntry::Audited, otherwise: (end, why) }
    }

    fn confidence(&self, tier: &BuiltTier, walker: &Walker<'_>) -> Option<f64> {
        match &tier.confidence {
            Some(expression) => {
                expression.number(&walker.known).filter(|sure| (0.0..=1.0).contains(sure))
            }
            None => walker.known.confidence(&tier.name),
        }
    }

    /// What is drawn for an output before a tier.
    fn chance(&self, index: usize, item: &Item<'_>) -> f64 {
        chance(&format!("cascade {index}"), self.seed, item)
    }

    /// Takes in what a tier said.
    fn take(&self, walker: &mut Walker<'_>, tier: &BuiltTier, scores: Vec<(usize, Score)>) {
        let said: Vec<Score> = scores.iter().map(|(_, score)| score.clone()).collect();
        let again = passing_reason(&said.iter().collect::<Vec<_>>());
        let whole = Whole::of(&said);
        let names = scores.iter().map(|(child, score)| (self.name_of(*child), score));
        walker.known.add(&tier.name, &whole, names);
        walker.path.push(TierPath {
            probability: walker.probability,
            entry: walker.entry,
            outcome: whole.outcome,
            value: whole.value,
            cost: said.iter().filter_map(|score| score.cost).reduce(|sum, cost| sum + cost),
            full_cost: said.iter().filter_map(full_cost).reduce(|sum, cost| sum + cost),
            similar: said.iter().find_map(similar),
        });
        walker.scores.extend(scores);
        if let Some(again) = again {
            walker.end = Some(End::Again(Box::new(again)));
        }
    }

    fn name_of(&self, child: usize) -> &str {
        self.children.iter().nth(child).map_or("", |child| child.name.as_str())
    }

    /// The score of an output that has come to its end.
    fn finish(&self, walker: Walker<'_>) -> Score {
        let Walker { path, scores, end, audited, undecided, .. } = walker;
        let (whole, end) = match end {
            Some(End::Again(again)) => (*again, CascadeEnd::Open),
            Some(End::Reached(end, why)) => (Score::not_sampled().because(why), end),
            None => {
                let last = scores.last().map(|(_, score)| score.clone());
                (last.unwrap_or_else(Score::not_sampled), CascadeEnd::Judged)
            }
        };
        let whole =
            Score { evidence: Some(self.evidence(&path, &scores)), judgement: None, ..whole };
        let path = ScorePath::Cascade(CascadePath { end, audited, undecided, tiers: path });
        let parts = scores.into_iter().map(|(child, score)| (self.name_of(child), score));
        let whole = with_parts(whole, "cascade", parts.collect());
        Score { path: Some(Box::new(path)), ..whole }
    }

    /// What each tier said, for people.
    fn evidence(&self, path: &[TierPath], scores: &[(usize, Score)]) -> Value {
        let tiers = self.tiers.iter().zip(path).map(|(tier, step)| {
            let own = scores.iter().filter(|(child, _)| tier.children.contains(child));
            let said = own.map(|(child, score)| {
                json!({ "scorer": self.name_of(*child), "outcome": score.outcome.as_str(), "value": score.value,
                    "reasoning": score.reasoning, "evidence": score.evidence })
            });
            json!({ "tier": tier.name, "entry": step.entry, "probability": step.probability,
                "scores": said.collect::<Vec<_>>() })
        });
        json!({ "tiers": tiers.collect::<Vec<_>>() })
    }

    /// What may be asked about an output: the draws are known, what the tiers will say of it is not.
    pub(super) fn expected_calls(&self, item: &Item<'_>) -> Vec<AskedCall> {
        let mut calls = Vec::new();
        // Whether it comes here at least, and at most.
        let (mut surely, mut perhaps, mut audited) = (true, true, false);
        for (index, tier) in self.tiers.iter().enumerate() {
            if let Some(before) = index.checked_sub(1).map(|before| &self.tiers[before]) {
                let chance = self.chance(index, item);
                let may_end = before.hard_fail.is_some() || self.target_confidence.is_some();
                let least = if may_end { tier.sample.min(self.audit) } else { tier.sample };
                surely &= chance < least;
                audited |= perhaps && may_end && chance < self.audit;
                perhaps &= audited || tier.escalate.is_some() || chance < tier.sample;
            }
            let own = self.children.calls(item, |child| tier.children.contains(&child));
            calls.extend(own.into_iter().filter(|_| perhaps).map(|call| AskedCall {
                times: (if surely { call.times.0 } else { 0 }, call.times.1),
                ..call
            }));
        }
        calls
    }
}

impl<'item> Walker<'item> {
    fn new(item: Item<'item>) -> Self {
        Self {
            item,
            known: Known::of(&item),
            probability: 1.0,
            entry: TierEntry::Drawn,
            audited: None,
            undecided: false,
            path: Vec::new(),
            scores: Vec::new(),
            end: None,
        }
    }
}

/// The judged output that a score was taken from, or was compared with.
fn similar(score: &Score) -> Option<SimilarPath> {
    match score.path.as_deref() {
        Some(ScorePath::Similar(path)) => Some(path.clone()),
        _ => None,
    }
}
