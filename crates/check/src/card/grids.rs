//! The card as grids.

use fullbench_analysis::{Grid, Measured, Report, number};
use fullbench_stats::Interval;
use fullbench_stats::validity::{Coefficient, LabelsNeeded};

use super::findings::Written;
use super::{
    Agreement, AttackLine, Card, Change, Confused, CorrectedMean, CorrelationLevel, PairAgreement,
    SingleAgreement, State,
};
use crate::Estimate;

pub(super) fn of(card: &Card) -> Vec<Grid> {
    let mut grids = vec![findings(card)];
    match &card.agreement {
        Agreement::Single(found) => grids.extend(single(found)),
        Agreement::Pairs(found) => grids.extend(pairs(found)),
    }
    grids.push(probed(card));
    grids.push(attacks(card));
    grids.push(replies(card));
    grids.extend(corrected(card));
    grids.extend(panel(card));
    let weights = card.panel.as_ref().and_then(|panel| panel.weights.value());
    grids.extend(weights.map(Report::grids).into_iter().flatten());
    grids
}

fn titled(title: &str, header: Vec<&'static str>, rows: Vec<Vec<String>>) -> Grid {
    Grid { title: Some(title.to_owned()), header, rows }
}

fn state(state: State) -> &'static str {
    match state {
        State::NotMeasured => "not measured",
        State::Good => "good",
        State::Watch => "watch",
        State::Poor => "poor",
    }
}

fn findings(card: &Card) -> Grid {
    let rows = card.findings.iter().map(|finding| {
        vec![
            finding.section.name().to_owned(),
            state(finding.state).to_owned(),
            finding.shown.clone(),
            match finding.estimate.reason() {
                Some(reason) => reason.to_owned(),
                None => finding.measure.to_owned(),
            },
        ]
    });
    let header = vec!["section", "state", "number", "of"];
    titled(&format!("judge {}", card.options.judge), header, rows.collect())
}

fn row(name: &str, estimate: &Measured<Estimate>, written: Written) -> Vec<String> {
    let n = estimate.value().map_or_else(String::new, |found| found.n.to_string());
    vec![name.to_owned(), n, written.estimate(estimate)]
}

fn range(interval: &Measured<Interval>) -> String {
    match interval {
        Measured::Value(interval) => {
            format!("{} to {}", number(interval.low), number(interval.high))
        }
        Measured::Undefined { undefined } => format!("not measured: {undefined}"),
    }
}

fn single(found: &SingleAgreement) -> Vec<Grid> {
    let mut rows = vec![
        row("alpha, judge and mean person", &found.alpha, Written::Number),
        row("alpha, judge among people", &found.alpha_among_people, Written::Number),
        row("alpha, people alone", &found.alpha_of_people, Written::Number),
        row("kappa on the scale's steps", &found.kappa, Written::Number),
        row("kappa of pass and fail", &found.verdict_kappa, Written::Number),
    ];
    for line in &found.correlations {
        let level = match line.level {
            CorrelationLevel::Item => "all answers",
            CorrelationLevel::Group => "inside groups",
            CorrelationLevel::System => "systems",
        };
        let name = match line.coefficient {
            Coefficient::Pearson => "Pearson",
            Coefficient::Spearman => "Spearman",
            Coefficient::Kendall => "Kendall tau-b",
        };
        rows.push(row(&format!("{name}, {level}"), &line.estimate, Written::Number));
    }
    match &found.bias {
        Measured::Value(bias) => {
            let n = bias.pairs.to_string();
            let interval: Measured<Interval> = bias.interval.clone().into();
            let shown = match interval.value() {
                Some(_) => format!("{} ({})", number(bias.mean_difference), range(&interval)),
                None => number(bias.mean_difference),
            };
            rows.push(vec!["judge − human".to_owned(), n.clone(), shown]);
            let limits = range(&bias.limits.clone().into());
            rows.push(vec!["limits of a single difference".to_owned(), n, limits]);
        }
        Measured::Undefined { undefined } => {
            let shown = format!("not measured: {undefined}");
            rows.push(vec!["judge − human".to_owned(), String::new(), shown]);
        }
    }
    let slope = match &found.bias_slope {
        Measured::Value(line) => {
            format!("{} ({})", number(line.slope), range(&Measured::Value(line.interval)))
        }
        Measured::Undefined { undefined } => format!("not measured: {undefined}"),
    };
    rows.push(vec!["its slope on the score".to_owned(), String::new(), slope]);
    let mut grids = vec![titled("agreement with people", vec!["", "n", "value"], rows)];
    grids.extend(found.verdicts.value().map(confused));
    grids
}

fn pairs(found: &PairAgreement) -> Vec<Grid> {
    let rows = vec![
        row("kappa of preferences", &found.kappa, Written::Number),
        row("same winner, without ties", &found.agreement_without_ties, Written::Share),
    ];
    let mut grids = vec![titled("agreement with people", vec!["", "n", "value"], rows)];
    grids.extend(found.preferences.value().map(confused));
    grids
}

fn confused(found: &Confused) -> Grid {
    let rows = found.labels.iter().zip(&found.confusion.table).map(|(label, counts)| {
        let said =
            found.labels.iter().zip(counts).map(|(label, count)| format!("{label}: {count}"));
        vec![(*label).to_owned(), said.collect::<Vec<_>>().join(", ")]
    });
    titled("verdicts", vec!["people said", "the judge said"], rows.collect())
}

fn probed(card: &Card) -> Grid {
    let retest = &card.retest;
    let mut rows = vec![
        row("same again: verdicts changed", &retest.changed_verdicts, Written::Share),
        row("same again: deviation within an answer", &retest.within_deviation, Written::Number),
        row("order: winners changed", &card.position.flipped, Written::Share),
        row("order: of those, to the first", &card.position.to_the_first, Written::Share),
        row("words double: judge − human", &card.verbosity.slope, Written::Number),
    ];
    let mut changed = |name: &str, change: &Change| {
        rows.push(row(&format!("{name}: mean change"), &change.mean, Written::Number));
        rows.push(row(&format!("{name}: mean size"), &change.mean_size, Written::Number));
        let verdicts = &change.changed_verdicts;
        rows.push(row(&format!("{name}: verdicts changed"), verdicts, Written::Share));
    };
    changed("padded", &card.verbosity.padded);
    for line in &card.formatting.changes {
        changed(&format!("form {}", line.change.name()), &line.effect);
    }
    let noise = match &card.formatting.size_by_noise {
        Measured::Value(size) => number(*size),
        Measured::Undefined { undefined } => format!("not measured: {undefined}"),
    };
    rows.push(vec!["mean size that noise alone gives".to_owned(), String::new(), noise]);
    let own = &card.self_preference;
    rows.push(row("own family: judge − human", &own.own, Written::Number));
    rows.push(row("others: judge − human", &own.others, Written::Number));
    rows.push(row("own family minus others", &own.difference, Written::Number));
    titled("what moves it", vec!["", "n", "value"], rows)
}

fn attacks(card: &Card) -> Grid {
    let found = &card.attacks;
    let lines =
        found.kinds.iter().chain([&found.attacks, &found.empty, &found.constant, &found.injected]);
    let row = |line: &AttackLine| {
        vec![
            line.name.to_owned(),
            line.scored.to_string(),
            line.unscored.to_string(),
            Written::Share.estimate(&line.succeeded),
        ]
    };
    let header = vec!["attack", "scored", "unscored", "passed"];
    titled("attacks", header, lines.map(row).collect())
}

fn replies(card: &Card) -> Grid {
    let found = &card.replies;
    let mut rows = vec![row("without a score", &found.unscored, Written::Share)];
    let mut add = |name: &str, shown: String| {
        rows.push(vec![name.to_owned(), String::new(), shown]);
    };
    for line in &found.unscored_by_reason {
        let reason = line.reason.map_or("no reason given", |reason| reason.as_str());
        add(&format!("without a score: {reason}"), line.count.to_string());
    }
    if found.not_run > 0 {
        add("planned and not run", found.not_run.to_string());
    }
    if found.unusable_values > 0 {
        add("scores outside of 0 to 1", found.unusable_values.to_string());
    }
    if card.unusable_ratings > 0 {
        add("ratings outside of 0 to 1", card.unusable_ratings.to_string());
    }
    add("replies asked for again", Written::Share.estimate(&found.unusable_replies));
    fn shown<T>(value: &Measured<T>, show: impl Fn(&T) -> String) -> String {
        match value {
            Measured::Value(value) => show(value),
            Measured::Undefined { undefined } => format!("not measured: {undefined}"),
        }
    }
    add("cost of a judgement", shown(&found.cost_of_each, ToString::to_string));
    add("cost of all", shown(&found.cost, ToString::to_string));
    let seconds = |value: &f64| format!("{value:.2}");
    add("seconds, median", shown(&found.seconds_median, seconds));
    add("seconds, 95th percentile", shown(&found.seconds_p95, seconds));
    add("tokens in and out", format!("{} and {}", found.input_tokens, found.output_tokens));
    titled("replies and price", vec!["", "n", "value"], rows)
}

fn corrected(card: &Card) -> Option<Grid> {
    let found = card.corrected.as_ref()?;
    let row = |mean: &CorrectedMean| {
        let corrected = match &mean.corrected {
            Measured::Value(powered) => {
                let interval = Measured::Value(powered.student_interval);
                format!("{} ({})", number(powered.estimate), range(&interval))
            }
            Measured::Undefined { undefined } => format!("not measured: {undefined}"),
        };
        let needed = match &mean.labels.with_judge {
            Measured::Value(LabelsNeeded::Reachable { more, .. }) => more.to_string(),
            Measured::Value(LabelsNeeded::OutOfReach { smallest }) => {
                format!("out of reach: ±{} with all labelled", number(*smallest))
            }
            Measured::Undefined { .. } => String::new(),
        };
        vec![
            mean.system.clone().unwrap_or_else(|| "all answers".to_owned()),
            format!("{} of {}", mean.labelled, mean.labelled + mean.unlabelled),
            Written::Number.estimate(&mean.human_only),
            Written::Number.estimate(&mean.judge_only),
            corrected,
            needed,
        ]
    };
    let header = vec!["mean of", "labelled", "people", "judge", "corrected (PPI++)", "more labels"];
    let rows = std::iter::once(&found.all).chain(&found.systems).map(row).collect();
    Some(titled(&format!("corrected mean, for ±{}", found.half_width), header, rows))
}

fn panel(card: &Card) -> Option<Grid> {
    let members = &card.panel.as_ref()?.members;
    let rows = members.iter().map(|member| {
        vec![
            member.name.clone(),
            member.scored.to_string(),
            Written::Number.estimate(&member.spearman),
            Written::Number.estimate(&member.bias),
        ]
    });
    let header = vec!["member", "scored", "Spearman with people", "member − human"];
    Some(titled("panel", header, rows.collect()))
}
