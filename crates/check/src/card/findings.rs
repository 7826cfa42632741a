//! One line for each section.

use fullbench_analysis::{Measured, number, share};
use fullbench_stats::validity::LabelsNeeded;
use serde::Serialize;

use super::rules::{self, Fault, State};
use super::{Agreement, Card, ChangeLine};
use crate::{Estimate, Judged};

/// A section of the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// Agreement with people.
    Agreement,
    /// Whether the judge says the same again.
    Retest,
    /// Whether the order of a pair decides.
    Position,
    /// Whether it likes long answers.
    Verbosity,
    /// Whether it likes answers of its own family.
    SelfPreference,
    /// Whether the form of an answer moves it.
    Formatting,
    /// Whether texts that are no answers pass.
    Attacks,
    /// Replies that could not be used.
    Replies,
    /// The mean that people would give.
    Corrected,
    /// The members of a panel.
    Panel,
}

impl Section {
    /// Its name in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Agreement => "agreement with people",
            Self::Retest => "same again",
            Self::Position => "position",
            Self::Verbosity => "verbosity",
            Self::SelfPreference => "self-preference",
            Self::Formatting => "formatting",
            Self::Attacks => "attacks",
            Self::Replies => "replies",
            Self::Corrected => "corrected mean",
            Self::Panel => "panel",
        }
    }
}

/// What a section comes to.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// Which section.
    pub section: Section,
    /// How it turned out.
    pub state: State,
    /// What the number is.
    pub measure: &'static str,
    /// The number, or why there is none.
    pub estimate: Measured<Estimate>,
    /// The number as it is shown.
    pub shown: String,
    /// What it means, in a sentence.
    pub sentence: String,
}

pub(super) fn of(card: &Card) -> Vec<Finding> {
    let mut findings = vec![
        agreement(card),
        retest(card),
        position(card),
        verbosity(card),
        self_preference(card),
        formatting(card),
        attacks(card),
        replies(card),
    ];
    findings.extend(card.corrected.as_ref().map(|_| corrected(card)));
    findings.extend(card.panel.as_ref().map(|_| panel(card)));
    findings
}

/// How a number is written.
#[derive(Clone, Copy)]
pub(super) enum Written {
    Number,
    Share,
}

impl Written {
    pub(super) fn value(self, value: f64) -> String {
        match self {
            Self::Number => number(value),
            Self::Share => share(value),
        }
    }

    /// The estimate with its interval; the reason where there is none.
    pub(super) fn estimate(self, estimate: &Measured<Estimate>) -> String {
        match estimate {
            Measured::Value(found) => match found.bounds() {
                Some(bounds) => format!(
                    "{} ({} to {})",
                    self.value(found.value),
                    self.value(bounds.low),
                    self.value(bounds.high)
                ),
                None => self.value(found.value),
            },
            Measured::Undefined { undefined } => format!("not measured: {undefined}"),
        }
    }
}

fn finding(
    section: Section,
    state: State,
    measure: &'static str,
    (estimate, written): (&Measured<Estimate>, Written),
    sentence: String,
) -> Finding {
    let sentence = match estimate.reason() {
        Some(reason) if state == State::NotMeasured => format!("Not measured: {reason}."),
        _ => sentence,
    };
    let shown = if estimate.value().is_some() { written.estimate(estimate) } else { String::new() };
    Finding { section, state, measure, estimate: estimate.clone(), shown, sentence }
}

fn agreement(card: &Card) -> Finding {
    match &card.agreement {
        Agreement::Single(found) => {
            let state = rules::alpha(&found.alpha);
            let mut sentence = match state {
                State::Good => "Judge and people score alike.".to_owned(),
                State::Poor => "The judge does not score as people do.".to_owned(),
                _ => "Judge and people agree in part, or too few labels tell.".to_owned(),
            };
            if let (Some(people), Some(judge)) =
                (found.alpha_of_people.value(), found.alpha.value())
            {
                let people_alpha = number(people.value);
                sentence.push_str(&if judge.value >= people.value {
                    format!(" People agree with each other no better (alpha {people_alpha}).")
                } else {
                    format!(" People agree with each other with alpha {people_alpha}.")
                });
            }
            let measure = "Krippendorff's alpha of the judge and the mean person";
            finding(Section::Agreement, state, measure, (&found.alpha, Written::Number), sentence)
        }
        Agreement::Pairs(found) => {
            let state = rules::kappa(&found.kappa);
            let sentence = match state {
                State::Good => "Judge and people prefer the same answers.",
                State::Poor => "The judge prefers other answers than people do.",
                _ => "Judge and people prefer the same answers in part, or too few labels tell.",
            };
            let measure = "Cohen's kappa of preferences";
            let shown = (&found.kappa, Written::Number);
            finding(Section::Agreement, state, measure, shown, sentence.to_owned())
        }
    }
}

fn retest(card: &Card) -> Finding {
    let found = &card.retest;
    let (by_verdicts, by_deviation) =
        (rules::share(&found.changed_verdicts), rules::deviation(&found.within_deviation));
    let state = by_verdicts.max(by_deviation);
    let noise = match found.repeatability.value() {
        Some(reach) if *reach > 0.0 => format!(
            " Two scores of the same answer differ by less than {} in 95% of cases.",
            number(*reach)
        ),
        Some(_) => " Every score was the same again.".to_owned(),
        None => String::new(),
    };
    let sentence = match state {
        State::Good => format!("Asked again, the judge says the same.{noise}"),
        State::Poor => format!("Asked again, the judge often says something else.{noise}"),
        _ => format!(
            "Asked again, the judge sometimes says something else, or too few answers tell.{noise}"
        ),
    };
    let (shown, measure) = if by_deviation > by_verdicts {
        ((&found.within_deviation, Written::Number), "deviation of scores of the same answer")
    } else {
        ((&found.changed_verdicts, Written::Share), "share of verdicts that changed")
    };
    finding(Section::Retest, state, measure, shown, sentence)
}

fn position(card: &Card) -> Finding {
    let found = &card.position;
    let state = rules::share(&found.flipped);
    let first = found.to_the_first.value().map_or_else(String::new, |first| {
        format!(" Of the pairs that flip, {} go to the answer shown first.", share(first.value))
    });
    let sentence = match state {
        State::Good => "The order of the answers hardly matters.".to_owned(),
        State::Poor => {
            format!("The order of the answers decides often; such pairs count as ties.{first}")
        }
        _ => format!("The order of the answers decides sometimes, or too few pairs tell.{first}"),
    };
    let shown = (&found.flipped, Written::Share);
    finding(Section::Position, state, "share of pairs whose winner changes", shown, sentence)
}

fn verbosity(card: &Card) -> Finding {
    let found = &card.verbosity;
    let by_slope = rules::effect(&found.slope, Fault::Either);
    let by_padding = rules::effect(&found.padded.mean, Fault::Rise);
    let state = by_slope.max(by_padding);
    let (estimate, measure, what) = if by_padding > by_slope || found.slope.value().is_none() {
        (&found.padded.mean, "mean change when padded", "words that say nothing new")
    } else {
        (&found.slope, "rise of judge − human when the words double", "longer answers")
    };
    let rises = estimate.value().is_some_and(|one| one.value > 0.0);
    let direction = if rises { "higher" } else { "lower" };
    let sentence = match state {
        State::Good => "Length does not move the judge upwards.".to_owned(),
        State::Poor => format!("The judge scores {what} {direction} than they deserve."),
        _ => "Length moves the judge a little, or too few answers tell.".to_owned(),
    };
    finding(Section::Verbosity, state, measure, (estimate, Written::Number), sentence)
}

fn self_preference(card: &Card) -> Finding {
    let found = &card.self_preference;
    let state = rules::effect(&found.difference, Fault::Either);
    let own = found.own_systems.join(", ");
    let rises = found.difference.value().is_some_and(|one| one.value > 0.0);
    let direction = if rises { "higher" } else { "lower" };
    let sentence = match state {
        State::Good => format!("The judge treats its own family ({own}) as it treats others."),
        State::Poor => format!(
            "Beside people, the judge scores its own family ({own}) {direction} than others."
        ),
        _ => format!(
            "The judge may score its own family ({own}) differently; too few labelled answers tell, or the difference is small."
        ),
    };
    let measure = "judge − human, own family minus others";
    let shown = (&found.difference, Written::Number);
    finding(Section::SelfPreference, state, measure, shown, sentence)
}

/// The change of form with the worst state, and of those the one that moves most.
pub(super) fn worst_change(card: &Card) -> Option<(&ChangeLine, State)> {
    let lines = card.formatting.changes.iter();
    let size = |line: &ChangeLine| line.effect.mean.value().map_or(0.0, |one| one.value.abs());
    let judged = lines.map(|line| (line, rules::effect(&line.effect.mean, Fault::Either)));
    judged.max_by(|a, b| a.1.cmp(&b.1).then(size(a.0).total_cmp(&size(b.0))))
}

fn formatting(card: &Card) -> Finding {
    let measure = "largest mean change by form";
    let Some((worst, state)) = worst_change(card) else {
        let none = Measured::undefined(
            "no answer was changed in form: none was asked for, or all are code, tables, lists or a few words",
        );
        let shown = (&none, Written::Number);
        return finding(Section::Formatting, State::NotMeasured, measure, shown, String::new());
    };
    let name = worst.change.name();
    let sentence = match state {
        State::Good => "The form of an answer does not move the judge.".to_owned(),
        State::Poor => format!("The form of an answer moves the judge, most of all `{name}`."),
        _ => format!(
            "The form of an answer may move the judge a little (`{name}`), or too few answers tell."
        ),
    };
    finding(Section::Formatting, state, measure, (&worst.effect.mean, Written::Number), sentence)
}

fn attacks(card: &Card) -> Finding {
    let found = &card.attacks;
    let (replaced, injected) =
        (rules::share(&found.attacks.succeeded), rules::share(&found.injected.succeeded));
    let (line, measure) = if injected > replaced {
        (&found.injected, "share of poor answers that pass with an attack")
    } else {
        (&found.attacks, "share of attacks that pass as an answer")
    };
    let state = replaced.max(injected);
    let by = if line.by.is_empty() {
        String::new()
    } else {
        let more = if line.by.len() > 3 { ", …" } else { "" };
        format!(" It fell for {}{more}.", line.by[..line.by.len().min(3)].join(", "))
    };
    let sentence = match state {
        State::Good => format!("Attacks hardly move the judge.{by}"),
        State::Poor => format!("Texts that are no answers pass.{by}"),
        _ => format!("Some texts that are no answers pass, or too few were tried to tell.{by}"),
    };
    finding(Section::Attacks, state, measure, (&line.succeeded, Written::Share), sentence)
}

fn replies(card: &Card) -> Finding {
    let found = &card.replies;
    let asked_again = rules::share(&found.unusable_replies).min(State::Watch);
    let unscored = rules::share(&found.unscored);
    let state = if unscored == State::NotMeasured { unscored } else { unscored.max(asked_again) };
    let again = found.unusable_replies.value().map_or_else(String::new, |one| {
        format!(" {} of its replies could not be used and were asked for again.", share(one.value))
    });
    let sentence = match state {
        State::Good => format!("The judge gives a score nearly always.{again}"),
        State::Poor => format!("The judge often gives no score.{again}"),
        _ => format!(
            "The judge sometimes gives no score or needs to be asked again, or too few replies tell.{again}"
        ),
    };
    let shown = (&found.unscored, Written::Share);
    finding(Section::Replies, state, "share without a score", shown, sentence)
}

fn corrected(card: &Card) -> Finding {
    let measure = "mean that people would give";
    let Some(found) = &card.corrected else {
        let none = Measured::undefined("it was not asked for");
        let shown = (&none, Written::Number);
        return finding(Section::Corrected, State::NotMeasured, measure, shown, String::new());
    };
    let all = &found.all;
    let estimate = match &all.corrected {
        Measured::Value(powered) => Measured::Value(Estimate {
            n: powered.labelled,
            value: powered.estimate,
            interval: Measured::Value(powered.student_interval),
        }),
        Measured::Undefined { undefined } => Measured::undefined(undefined),
    };
    let width = found.half_width;
    let (state, sentence) = match (&all.corrected, all.labels.with_judge.value()) {
        (Measured::Undefined { .. }, _) => (State::NotMeasured, String::new()),
        (_, Some(LabelsNeeded::Reachable { more: 0, .. })) => {
            (State::Good, format!("The interval is as narrow as wanted, ±{width}."))
        }
        (_, Some(LabelsNeeded::Reachable { more, .. })) => {
            (State::Watch, format!("±{width} takes about {more} more human labels."))
        }
        (_, Some(LabelsNeeded::OutOfReach { smallest })) => (
            State::Watch,
            format!(
                "±{width} is out of reach with these answers: all labelled, it is ±{}.",
                number(*smallest)
            ),
        ),
        (_, None) => (State::Watch, format!("How many labels ±{width} takes cannot be said.")),
    };
    finding(Section::Corrected, state, measure, (&estimate, Written::Number), sentence)
}

fn panel(card: &Card) -> Finding {
    let measure = "lowest correlation of a member with people";
    let none = |reason: &str| Measured::undefined(reason);
    let (estimate, members) = match &card.panel {
        None => (none("the judge is no panel"), 0),
        Some(_) if card.judged == Judged::Pairs => (none("members of panels score answers"), 0),
        Some(panel) => {
            let found = panel.members.iter().filter_map(|member| member.spearman.value());
            let lowest = found.min_by(|a, b| a.value.total_cmp(&b.value)).cloned();
            let reason = "no member's scores can be compared with people's";
            (lowest.map_or_else(|| none(reason), Measured::Value), panel.members.len())
        }
    };
    let bounds = estimate.value().and_then(Estimate::bounds);
    let state = match (estimate.value(), bounds) {
        (None, _) => State::NotMeasured,
        (_, Some(bounds)) if bounds.low > 0.0 => State::Good,
        (_, Some(bounds)) if bounds.high <= 0.0 => State::Poor,
        _ => State::Watch,
    };
    let sentence = match state {
        State::Good => format!("Each of the {members} members goes along with people."),
        State::Poor => format!("Of {members} members, at least one does not go along with people."),
        _ => format!("Of {members} members, at least one may not go along with people."),
    };
    finding(Section::Panel, state, measure, (&estimate, Written::Number), sentence)
}
