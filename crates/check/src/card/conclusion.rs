//! The card in sentences, for an engineer who is not a statistician.

use fullbench_analysis::{Conclusion, Measured, level, number, share};

use super::rules::{EFFECT, State};
use super::{Agreement, Card, CorrelationLevel, Finding, Section, SingleAgreement};
use crate::{Estimate, Judged};

/// With fewer labels than this a judge is hardly known.
const FEW_LABELS: usize = 50;
/// The half-width of an agreement coefficient that is worth asking more labels for.
const WANTED_HALF_WIDTH: f64 = 0.1;
/// An agreement coefficient whose interval is wider tells a good judge from a useless one no more.
const TELLS_LITTLE: f64 = 0.6;
/// Fewer labels of a verdict than this leave open how the judge treats it.
const FEW_OF_A_VERDICT: u64 = 10;

pub(super) fn of(card: &Card) -> Conclusion {
    let mut conclusion = Conclusion::default();
    conclusion.meaning.push(trust(card));
    if let Agreement::Single(found) = &card.agreement {
        conclusion.meaning.extend(single_score(found, card));
        conclusion.meaning.extend(systems(found));
    }
    for finding in &card.findings {
        if finding.state == State::Poor && finding.section != Section::Agreement {
            let (name, sentence) = (finding.section.name(), &finding.sentence);
            conclusion
                .meaning
                .push(format!("Poor, {name}: {sentence} {}", advice(finding.section)));
        }
    }
    let watched: Vec<&str> = with_state(card, State::Watch);
    if !watched.is_empty() {
        conclusion.meaning.push(format!(
            "To be watched: {}. There the effect is small, or there is too little evidence to tell.",
            watched.join(", ")
        ));
    }
    conclusion.meaning.extend(weights(card));
    next_steps(card, &mut conclusion.firmer);
    conclusion
}

/// What learned weights of a panel come to, and how to use them.
fn weights(card: &Card) -> Vec<String> {
    let weights = card.panel.as_ref().and_then(|panel| panel.weights.value());
    let Some(report) = weights else { return Vec::new() };
    let mut sentences = report.conclusion.meaning.clone();
    let learned: Vec<String> =
        report.members.iter().map(|member| format!("{:.3}", member.weight)).collect();
    sentences.push(format!(
        "To use the learned weights, write `combine: weighted` and `weights: [{}]` in the panel.",
        learned.join(", ")
    ));
    sentences
}

fn with_state(card: &Card, state: State) -> Vec<&'static str> {
    let found = card.findings.iter().filter(|finding| finding.state == state);
    found.map(|finding| finding.section.name()).collect()
}

/// Whether the judge can be trusted, and for what.
fn trust(card: &Card) -> String {
    let judge = match card.options.judge.as_str() {
        "" => "The judge".to_owned(),
        name => format!("The judge `{name}`"),
    };
    let on = match card.options.criterion.as_str() {
        "" => String::new(),
        criterion => format!(" on {criterion}"),
    };
    let agreement = card.finding(Section::Agreement);
    let number = agreement.map_or_else(String::new, |finding| with_interval(card, finding));
    let poor = with_state(card, State::Poor);
    match agreement.map_or(State::NotMeasured, |finding| finding.state) {
        State::NotMeasured => format!(
            "{judge}{on}: whether it can be trusted is not known. {}",
            agreement.map_or("", |finding| &finding.sentence)
        ),
        State::Good if poor.is_empty() => {
            format!("{judge} can stand in for people{on} on answers like these ({number}).")
        }
        State::Good => format!(
            "{judge} scores as people do{on} ({number}), but not where this comes in: {}.",
            poor.join(", ")
        ),
        State::Watch if tells_little(agreement) => format!(
            "{judge}{on}: whether it can be trusted is not known, since too few answers were rated and scored ({number})."
        ),
        State::Watch => format!(
            "{judge} can help to compare systems{on}, with human labels beside it; single scores should not decide ({number})."
        ),
        State::Poor => {
            format!("{judge} should not be used in place of people{on} ({number}).")
        }
    }
}

/// No interval, or one that holds nearly everything.
fn tells_little(agreement: Option<&Finding>) -> bool {
    let found = agreement.and_then(|finding| finding.estimate.value());
    let bounds = found.and_then(Estimate::bounds);
    bounds.is_none_or(|bounds| bounds.high - bounds.low > TELLS_LITTLE)
}

/// The number of a finding in a sentence.
fn with_interval(card: &Card, finding: &Finding) -> String {
    let Some(found) = finding.estimate.value() else { return String::new() };
    let interval = found.bounds().map_or_else(
        || ", without an interval".to_owned(),
        |bounds| {
            let percent = level(card.options.confidence);
            format!(", {percent} interval {} to {}", number(bounds.low), number(bounds.high))
        },
    );
    format!("{} {}{interval}", finding.measure, number(found.value))
}

/// How far a single score may be off.
fn single_score(found: &SingleAgreement, card: &Card) -> Option<String> {
    let bias = found.bias.value()?;
    let limits = bias.limits.as_ref().ok()?;
    let tends = match bias.interval.as_ref() {
        Ok(interval) if interval.low > 0.0 => {
            format!("It is too generous, by {} on average", number(bias.mean_difference))
        }
        Ok(interval) if interval.high < 0.0 => {
            format!("It is too strict, by {} on average", number(-bias.mean_difference))
        }
        _ => "It is neither too generous nor too strict as far as the labels tell".to_owned(),
    };
    Some(format!(
        "{tends}; a single score differs from people's by {} to {} in {} of cases, on a scale from 0 to 1.",
        number(limits.low),
        number(limits.high),
        level(card.options.confidence)
    ))
}

fn systems(found: &SingleAgreement) -> Option<String> {
    let mut lines = found.correlations.iter();
    let line = lines.rfind(|line| line.level == CorrelationLevel::System)?;
    let estimate = line.estimate.value()?;
    Some(format!(
        "It puts {} systems in people's order with Kendall's tau-b {} (1 is the same order).",
        estimate.n,
        number(estimate.value)
    ))
}

/// What to do about a section that is poor.
fn advice(section: Section) -> &'static str {
    match section {
        Section::Agreement => "Mend the rubric or take another model, and measure again.",
        Section::Retest => "Take the mean of several samples, or temperature 0.",
        Section::Position => "Keep asking in both orders, and count flips as ties.",
        Section::Verbosity => {
            "Say in the rubric that length earns nothing, or compare answers of like length."
        }
        Section::SelfPreference => "Take a judge of another family, or a panel of several.",
        Section::Formatting => {
            "Say in the rubric that form earns nothing, or bring all answers into one form first."
        }
        Section::Attacks => {
            "Do not let it gate answers that someone may write to be passed; check what passes by other means."
        }
        Section::Replies => "Use structured output, or a model that follows the reply format.",
        Section::Corrected | Section::Panel => "",
    }
}

fn next_steps(card: &Card, firmer: &mut Vec<String>) {
    let labelled = match &card.agreement {
        Agreement::Single(found) => found.labelled,
        Agreement::Pairs(found) => found.labelled,
    };
    if labelled < FEW_LABELS {
        firmer.push(format!(
            "Answers with both human labels and a score: {labelled}. Label {FEW_LABELS} or more, chosen at random, before relying on this card."
        ));
    } else if let Some(more) = labels_for_agreement(card) {
        firmer.push(format!(
            "About {more} more labels, of answers chosen at random, would bring the agreement to ±{WANTED_HALF_WIDTH}."
        ));
    }
    if let Agreement::Single(found) = &card.agreement {
        which_labels(card, found, firmer);
    }
    let missing = with_state(card, State::NotMeasured);
    let optional = [Section::Corrected, Section::Panel, Section::Position].map(Section::name);
    let missing: Vec<&str> = missing.into_iter().filter(|name| !optional.contains(name)).collect();
    if !missing.is_empty() {
        firmer.push(format!("Not measured: {}. The findings say why.", missing.join(", ")));
    }
    if card.judged == Judged::Single && !card.mark_is_given {
        firmer.push(format!(
            "The judge has no pass mark; verdicts are made at {}.",
            number(card.mark)
        ));
    }
    if card.attacks.attacks.scored + card.attacks.empty.scored + card.attacks.constant.scored > 0 {
        firmer.push(
            "Attacks count as passed at the mark. For criteria such as fluency or safety an empty or constant answer, and even the text of an \
             attack, may deserve a high score: look at those that passed."
                .to_owned(),
        );
    }
    if card.formatting.changes.iter().any(|line| line.effect.mean.value().is_some())
        || card.verbosity.padded.mean.value().is_some()
    {
        firmer.push(format!(
            "Changes of form and padding keep what an answer says. Where the criterion is about form or brevity itself, a change may be deserved. \
             Effects up to {} are taken as small.",
            number(EFFECT)
        ));
    }
    let left_out = card.replies.not_run;
    if left_out > 0 {
        firmer.push(format!("{left_out} of {} probes were not run.", card.replies.planned));
    }
    firmer.push(
        "People are taken as right, and the labelled answers as chosen at random. The card is about answers like these: another criterion, model or \
         kind of answer needs its own."
            .to_owned(),
    );
}

/// How many more labels would bring the agreement to the wanted half-width, by the square of the widths.
fn labels_for_agreement(card: &Card) -> Option<usize> {
    let estimate: &Measured<Estimate> = match &card.agreement {
        Agreement::Single(found) => &found.alpha,
        Agreement::Pairs(found) => &found.kappa,
    };
    let found = estimate.value()?;
    let bounds = found.bounds()?;
    let ratio = (bounds.high - bounds.low) / 2.0 / WANTED_HALF_WIDTH;
    let wanted = (found.n as f64 * ratio * ratio).ceil();
    let more = wanted - found.n as f64;
    (more >= 1.0).then_some(more as usize)
}

/// Which labels are missing most.
fn which_labels(card: &Card, found: &SingleAgreement, firmer: &mut Vec<String>) {
    if let Some(verdicts) = found.verdicts.value() {
        for (label, class) in verdicts.labels.iter().zip(&verdicts.confusion.classes) {
            if class.human < FEW_OF_A_VERDICT && verdicts.confusion.pairs >= 2 * FEW_OF_A_VERDICT {
                firmer.push(format!(
                    "People gave `{label}` to {} answers only: label more of systems that are likely to get it, not picked by the judge's score, \
                     to know how the judge treats them.",
                    class.human
                ));
            }
        }
    }
    let people = found.alpha_of_people.value();
    if people.is_none() && found.labelled > 0 {
        firmer.push(
            "No answer was rated by two people: have some rated twice, to know how far people agree at all.".to_owned(),
        );
    }
    let own = &card.self_preference;
    if let (Some(mine), Some(finding)) = (own.own.value(), card.finding(Section::SelfPreference))
        && finding.state == State::Watch
    {
        firmer.push(format!(
            "{} labelled answers are of the judge's own family, {} of the labelled: more would tell whether it favours them.",
            mine.n,
            share(mine.n as f64 / found.labelled.max(1) as f64)
        ));
    }
}
