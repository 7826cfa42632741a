//! Criteria that belong together, and which scorers they ask.

use fullbench_types::{Outcome, Score, UnscoredReason, text_of};
use serde_json::Value;

use super::card::{Band, Bands, CriterionScore, Evidence, EvidenceType, FULL};
use super::criterion::{CardCriterion, Rule};
use super::defaults::{Default as Given, TaskType};
use crate::scorer::Item;
use crate::scorers::composite::{Children, NestedScorer};

/// The criteria of a scorecard, or of a type of task.
pub(super) struct Set {
    pub(super) task: Option<TaskType>,
    entries: Vec<Entry>,
}

struct Entry {
    name: String,
    weight: f64,
    max_score: f64,
    bands: Bands,
    person_decides: bool,
    source: Source,
    /// Each rule with the scorer that decides about it.
    rules: Vec<(usize, Rule)>,
}

/// Where a criterion's score comes from.
enum Source {
    Scorer(usize),
    Constraints,
    Unavailable(&'static str),
}

impl Set {
    /// The criteria of an evaluation file; their scorers are added to `nested`.
    pub(super) fn given(
        criteria: &[CardCriterion],
        nested: &mut Vec<(String, NestedScorer)>,
    ) -> Self {
        let entries = criteria.iter().enumerate();
        let entries = entries.map(|(at, one)| Entry::new(one, &format!("criteria[{at}]"), nested));
        Self { task: None, entries: entries.collect() }
    }

    /// The criteria of a type of task.
    pub(super) fn of_task(
        task: TaskType,
        criteria: Vec<Given>,
        nested: &mut Vec<(String, NestedScorer)>,
    ) -> Self {
        let entry = |given| match given {
            Given::Scored(criterion) => Entry::new(&criterion, "model", nested),
            Given::Unavailable { name, weight, reason } => {
                Entry::plain(name, weight, Source::Unavailable(reason))
            }
            Given::Constraints { name, weight } => Entry::plain(name, weight, Source::Constraints),
        };
        Self { task: Some(task), entries: criteria.into_iter().map(entry).collect() }
    }

    /// Whether a scorer is asked, for all criteria or for those that are named.
    pub(super) fn asks(&self, child: usize, names: Option<&[String]>) -> bool {
        let wanted = |entry: &&Entry| names.is_none_or(|names| names.contains(&entry.name));
        self.entries.iter().filter(wanted).any(|entry| {
            matches!(entry.source, Source::Scorer(own) if own == child)
                || entry.rules.iter().any(|(own, _)| *own == child)
        })
    }

    /// The scores of the criteria, or of those that are named.
    pub(super) fn criteria(
        &self,
        item: &Item<'_>,
        scores: &[Option<Score>],
        children: &Children,
        names: Option<&[String]>,
    ) -> Result<Vec<CriterionScore>, String> {
        for name in names.into_iter().flatten() {
            if !self.entries.iter().any(|entry| entry.name == *name) {
                let known: Vec<&str> =
                    self.entries.iter().map(|entry| entry.name.as_str()).collect();
                let known = known.join(", ");
                return Err(format!("the case names the criterion `{name}`; there are {known}"));
            }
        }
        let wanted = |entry: &&Entry| names.is_none_or(|names| names.contains(&entry.name));
        let criteria = self.entries.iter().filter(wanted);
        Ok(criteria.map(|entry| entry.scored(item, scores, children)).collect())
    }
}

impl Entry {
    fn new(
        criterion: &CardCriterion,
        place: &str,
        nested: &mut Vec<(String, NestedScorer)>,
    ) -> Self {
        let mut add = |place: String, scorer: &NestedScorer| {
            nested.push((place, scorer.clone()));
            nested.len() - 1
        };
        let source = Source::Scorer(add(format!("{place}.scorer"), &criterion.scorer));
        let rules =
            criterion.rules.iter().enumerate().map(|(at, rule)| {
                (add(format!("{place}.rules[{at}].when"), &rule.when), rule.clone())
            });
        Self {
            name: criterion.name.clone(),
            weight: criterion.weight,
            max_score: criterion.max_score,
            bands: criterion.bands,
            person_decides: criterion.person_decides,
            source,
            rules: rules.collect(),
        }
    }

    fn plain(name: &str, weight: f64, source: Source) -> Self {
        Self {
            name: name.to_owned(),
            weight,
            max_score: FULL,
            bands: Bands::default(),
            person_decides: false,
            source,
            rules: Vec::new(),
        }
    }

    fn scored(
        &self,
        item: &Item<'_>,
        scores: &[Option<Score>],
        children: &Children,
    ) -> CriterionScore {
        let mut criterion = match &self.source {
            Source::Scorer(child) => {
                let kind = children.iter().nth(*child).map_or("", |child| child.kind.as_str());
                match scores.get(*child).and_then(Option::as_ref) {
                    Some(score) => self.score_as(score, kind),
                    None => self.without(UnscoredReason::ScorerError, "its scorer was not asked"),
                }
            }
            Source::Constraints => self.matched_constraints(item),
            Source::Unavailable(reason) => self.without(UnscoredReason::ScorerError, reason),
        };
        for (child, rule) in &self.rules {
            let outcome = scores.get(*child).and_then(Option::as_ref).map(|score| score.outcome);
            self.apply(rule, outcome, &mut criterion);
        }
        if self.person_decides && criterion.reviewer.is_none() {
            criterion.suggested = criterion.score.take();
            criterion.unscored = Some(UnscoredReason::PendingHuman);
        }
        criterion.band = criterion.score.map(|score| self.band(score));
        criterion
    }

    fn band(&self, score: f64) -> Band {
        self.bands.of(FULL * score / self.max_score)
    }

    fn score_as(&self, score: &Score, kind: &str) -> CriterionScore {
        let Some(value) = score.value else {
            let reason = score.outcome.reason().unwrap_or(UnscoredReason::ScorerError);
            return self.without(reason, score.reasoning.as_deref().unwrap_or(reason.as_str()));
        };
        let points = value * self.max_score;
        let words = format!("{points:.1} of {}", self.max_score);
        let mut evidence = evidence_of(score, kind);
        if evidence.is_empty() {
            evidence.push(Evidence {
                kind: evidence_type(kind),
                content: score.reasoning.clone().unwrap_or_else(|| words.clone()),
                relevance: None,
                source: kind.to_owned(),
            });
        }
        CriterionScore {
            score: Some(points),
            feedback: score.reasoning.clone().unwrap_or(words),
            evidence,
            confidence: score.confidence,
            unscored: None,
            ..self.without(UnscoredReason::ScorerError, "")
        }
    }

    fn matched_constraints(&self, item: &Item<'_>) -> CriterionScore {
        let patterns = match item.case.field("constraints") {
            Some(Value::Array(patterns)) if !patterns.is_empty() => patterns,
            _ => {
                let message = "the case has no `constraints`, a list of patterns";
                return self.without(UnscoredReason::ScorerError, message);
            }
        };
        let mut matched = 0;
        let mut evidence = Vec::new();
        for pattern in patterns {
            let pattern = text_of(pattern);
            let found = match regex::Regex::new(&pattern) {
                Ok(regex) => regex.is_match(&item.generation.text),
                Err(_) => {
                    let message = format!("the constraint `{pattern}` is no regular expression");
                    return self.without(UnscoredReason::ScorerError, &message);
                }
            };
            matched += usize::from(found);
            let word = if found { "matches" } else { "does not match" };
            evidence.push(Evidence {
                kind: EvidenceType::FormatCompliance,
                content: format!("the output {word} `{pattern}`"),
                relevance: None,
                source: "constraints".to_owned(),
            });
        }
        let share = matched as f64 / patterns.len() as f64;
        CriterionScore {
            score: Some(share * self.max_score),
            evidence,
            unscored: None,
            ..self.without(
                UnscoredReason::ScorerError,
                &format!("{matched} of {} patterns match", patterns.len()),
            )
        }
    }

    fn without(&self, reason: UnscoredReason, feedback: &str) -> CriterionScore {
        CriterionScore {
            name: self.name.clone(),
            score: None,
            max_score: self.max_score,
            weight: self.weight,
            bands: self.bands,
            band: None,
            feedback: feedback.to_owned(),
            evidence: Vec::new(),
            confidence: None,
            unscored: Some(reason),
            suggested: None,
            reviewer: None,
        }
    }

    fn apply(&self, rule: &Rule, outcome: Option<Outcome>, criterion: &mut CriterionScore) {
        let acts = match outcome {
            Some(Outcome::Passed) => !rule.fails,
            Some(Outcome::Failed) => rule.fails,
            _ => false,
        };
        let Some(score) = criterion.score.filter(|_| acts) else { return };
        let after = rule.action.apply(score, rule.points, self.max_score);
        let name = rule.when.0.name();
        let word = if rule.fails { "fails" } else { "passes" };
        criterion.score = Some(after);
        criterion.evidence.push(Evidence {
            kind: EvidenceType::CustomRule,
            content: format!("{name} {word}: {}, {score} becomes {after}", rule.action.words()),
            relevance: None,
            source: "rule".to_owned(),
        });
    }
}

/// The evidence that a judge or a function gives, as far as it has the usual shape.
fn evidence_of(score: &Score, kind: &str) -> Vec<Evidence> {
    let list = match &score.evidence {
        Some(Value::Array(list)) => list.as_slice(),
        Some(Value::Object(fields)) => {
            fields.get("evidence").and_then(Value::as_array).map_or(&[][..], Vec::as_slice)
        }
        _ => &[],
    };
    let one = |entry: &Value| {
        let content = match entry {
            Value::String(text) => text.clone(),
            entry => entry.get("content").or_else(|| entry.get("quote"))?.as_str()?.to_owned(),
        };
        let relevance = entry.get("relevance").and_then(Value::as_f64);
        let relevance = relevance.filter(|share| (0.0..=1.0).contains(share));
        Some(Evidence { kind: evidence_type(kind), content, relevance, source: kind.to_owned() })
    };
    list.iter().filter_map(one).collect()
}

/// What kind of evidence a kind of scorer gives.
fn evidence_type(kind: &str) -> EvidenceType {
    match kind {
        "exact_match" | "contains" | "not_contains" | "numeric_match" | "multiple_choice"
        | "token_f1" | "squad_exact_match" | "bleu" | "chrf" | "ter" | "rouge_1" | "rouge_2"
        | "rouge_l" | "rouge_lsum" | "edit_similarity" | "jaccard" | "bag_cosine" => {
            EvidenceType::TextMatch
        }
        "semantic_similarity" | "bert_score" => EvidenceType::SemanticSimilarity,
        "json_schema" | "json_equal" | "json_field" => EvidenceType::StructuralMatch,
        "regex" | "json_valid" | "length" => EvidenceType::FormatCompliance,
        _ => EvidenceType::CustomRule,
    }
}
