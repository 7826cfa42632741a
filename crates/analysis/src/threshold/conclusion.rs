//! The report in sentences.

use fullbench_stats::validity::{Goal, SuggestedThreshold};
use fullbench_stats::{Interval, Undefined};

use super::{PresentMark, ThresholdReport};
use crate::{Conclusion, level, number, p_value, share};

/// With fewer items than this the interval of a mark is rough, by simulation.
const FEW_ITEMS: usize = 200;
/// With fewer items of the rarer label than this, too.
const FEW_OF_A_KIND: u64 = 40;
/// Below this p-value two marks differ in how often they are right.
const LEVEL: f64 = 0.05;

pub(super) fn of(report: &ThresholdReport) -> Conclusion {
    let found = &report.suggestion;
    let percent = level(report.resampling.confidence);
    let mut conclusion = Conclusion::default();
    about_mark(found, &mut conclusion);
    about_values(found, &percent, &mut conclusion);
    about_certainty(found, &percent, &mut conclusion);
    if let Some(present) = &report.present {
        about_present(found, present, &mut conclusion);
    }
    about_labels(found, &mut conclusion);
    conclusion
}

/// The goal, as it stands in a sentence.
fn name(goal: Goal) -> String {
    match goal {
        Goal::Youden => "Youden's J".to_owned(),
        Goal::Accuracy => "accuracy".to_owned(),
        Goal::F1 => "F1".to_owned(),
        Goal::Cost { ratio } => {
            format!("accuracy with items that people failed counted {ratio} times")
        }
    }
}

fn between(interval: Interval) -> String {
    format!("{} to {}", number(interval.low), number(interval.high))
}

fn items(count: u64) -> String {
    if count == 1 { "1 item".to_owned() } else { format!("{count} items") }
}

fn about_mark(found: &SuggestedThreshold, conclusion: &mut Conclusion) {
    let (goal, counts) = (name(found.goal), &found.counts);
    let right = counts.true_passes + counts.true_failures;
    let passed = counts.true_passes + counts.false_passes;
    if passed == 0 || passed as usize == found.pairs {
        let decides = if passed == 0 { "fail everything" } else { "pass everything" };
        conclusion.meaning.push(format!(
            "No mark beats one that would {decides}, by {goal}: the values do not help to decide as people do."
        ));
    } else {
        conclusion.meaning.push(format!(
            "A pass mark of {} fits the labels of people best, by {goal}: it decides {right} of {} items as they do ({}).",
            number(found.mark),
            found.pairs,
            share(found.accuracy)
        ));
    }
    conclusion.meaning.push(format!(
        "It passes {} that people failed, and fails {} that they passed (specificity {}, sensitivity {}).",
        items(counts.false_passes),
        items(counts.false_failures),
        share(found.specificity),
        share(found.sensitivity)
    ));
    match &found.corrected {
        Ok(corrected) => conclusion.meaning.push(format!(
            "The mark was chosen on the items it is measured on. On others expect {} for {goal}, not {}.",
            number(*corrected),
            number(found.apparent)
        )),
        Err(reason) => conclusion
            .meaning
            .push(format!("What to expect on other items cannot be said: {reason}.")),
    }
}

fn about_values(found: &SuggestedThreshold, percent: &str, conclusion: &mut Conclusion) {
    let area = &found.area;
    let ordered = format!(
        "of an item that people passed and one that they failed, the first has the higher value in {} of pairs",
        share(area.area)
    );
    conclusion.meaning.push(match &area.interval {
        Ok(interval) => {
            let range = format!("({percent} interval {} to {})", share(interval.low), share(interval.high));
            if interval.low > 0.5 {
                format!("The values tell the two kinds apart: {ordered} {range}.")
            } else if interval.high < 0.5 {
                format!("The values point the wrong way: {ordered} {range}. Check that higher is better.")
            } else {
                format!("There is no evidence that the values tell the two kinds apart: {ordered} {range}.")
            }
        }
        Err(reason) => format!("Whatever the mark, {ordered}; it has no interval ({reason})."),
    });
}

fn about_certainty(found: &SuggestedThreshold, percent: &str, conclusion: &mut Conclusion) {
    let alike = format!(
        "any mark above {} up to {}",
        number(found.best_marks.low),
        number(found.best_marks.high)
    );
    conclusion.meaning.push(match (&found.interval, &found.same_choice) {
        (Ok(interval), _) => format!(
            "The {percent} interval of the best mark is {}; {alike} fits these items as well.",
            between(*interval)
        ),
        (Err(Undefined::NoVariation { .. }), Ok(same)) => format!(
            "Nearly all samples of these items, drawn anew, led to the same mark; {} led to one that decides as this one does, which is {alike}.",
            share(*same)
        ),
        (Err(reason), _) => format!("How sure the mark is cannot be said: {reason}."),
    });
}

fn about_present(found: &SuggestedThreshold, present: &PresentMark, conclusion: &mut Conclusion) {
    let now = number(present.counts.mark);
    let (better, worse) = (present.only_suggested_right, present.only_present_right);
    let Ok(p) = &present.p_value else {
        conclusion.meaning.push(format!(
            "The present mark of {now} decides each item rightly or wrongly as the suggested one does: there is no reason to change it."
        ));
        return;
    };
    let verdict = if *p >= LEVEL {
        "that is no evidence that one is right more often"
    } else if better > worse {
        "the suggested one is right more often"
    } else {
        "the present one is right more often, which by this goal does not decide"
    };
    conclusion.meaning.push(format!(
        "Where the two differ, the suggested mark is right on {} and the present mark of {now} on {}: {verdict} (McNemar, p = {}).",
        items(better),
        items(worse),
        p_value(*p)
    ));
    if let Ok(gain) = &present.gain {
        let goal = name(found.goal);
        conclusion.meaning.push(if *gain > 0.0 {
            format!("On other items the change can be expected to add {} to {goal}.", number(*gain))
        } else {
            format!(
                "On other items the change cannot be expected to improve {goal} ({}).",
                number(*gain)
            )
        });
    }
    conclusion.firmer.push(
        "McNemar's test favours the suggested mark, which was chosen on these items: to be sure of a change, compare both marks on \
         labels that were not used here."
            .to_owned(),
    );
}

fn about_labels(found: &SuggestedThreshold, conclusion: &mut Conclusion) {
    let rarer = found.passing.min(found.failing);
    if found.pairs < FEW_ITEMS || rarer < FEW_OF_A_KIND {
        conclusion.firmer.push(format!(
            "{} labels with {rarer} of the rarer kind are few for a mark: below {FEW_ITEMS} labels, or {FEW_OF_A_KIND} of each kind, its \
             interval tends to be too narrow, and what to expect on other items is still somewhat too good.",
            found.pairs
        ));
    }
    if found.tied > 1 {
        conclusion.firmer.push(format!(
            "{} marks fit equally well; this one is in the middle of the widest interval of them. Labels of items with values near it \
             would decide.",
            found.tied
        ));
    }
    conclusion.firmer.push(
        "All this assumes items chosen without regard to their values: labels of borderline items alone give a wrong picture of the rest."
            .to_owned(),
    );
}
