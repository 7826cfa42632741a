//! A comparison in sentences, for readers who are no statisticians.

use super::diff::DiffCounts;
use super::evidence::Verdict;

/// Comparisons told one by one at most; the table has them all.
const TOLD: usize = 5;

/// What a comparison comes to.
pub(super) fn conclusion(rows: &[DiffCounts], margin: Option<f64>) -> Vec<String> {
    let of = |verdict: Verdict| -> Vec<&DiffCounts> {
        rows.iter().filter(|row| row.evidence.verdict == verdict).collect()
    };
    let tests = rows.iter().filter(|row| row.evidence.p_value.is_some()).count();
    let mut sentences = Vec::new();
    for verdict in [Verdict::Worse, Verdict::Better] {
        let shown = of(verdict);
        sentences.extend(shown.iter().take(TOLD).map(|row| changed(row, verdict, tests)));
        if shown.len() > TOLD {
            sentences.push(format!("{} more are {}.", shown.len() - TOLD, verdict.words()));
        }
    }
    let equivalent = of(Verdict::Equivalent);
    if let Some(margin) = margin.filter(|_| !equivalent.is_empty()) {
        sentences.push(format!(
            "Equivalent within ±{margin}: {}. What difference there is, is smaller than that.",
            names(&equivalent)
        ));
    }
    let open = of(Verdict::NoEvidence);
    if let [row] = open.as_slice() {
        sentences.push(format!(
            "No evidence of a difference: {}. The difference is {}, and the pairs fit anything {}; that is not to say that nothing changed.",
            name(row),
            signed(row.evidence.difference),
            interval(row)
        ));
    } else if !open.is_empty() {
        sentences.push(format!(
            "No evidence of a difference: {}. That is not to say that nothing changed: each interval shows what the pairs fit.",
            names(&open)
        ));
    }
    let identical = of(Verdict::Identical);
    if !identical.is_empty() {
        sentences.push(format!("Identical in every pair: {}.", names(&identical)));
    }
    for row in of(Verdict::Undefined) {
        let reason = row.evidence.undefined.as_deref().unwrap_or("there is no test");
        let difference = match row.evidence.difference {
            Some(_) => format!(" The difference is {}.", signed(row.evidence.difference)),
            None => String::new(),
        };
        sentences.push(format!("Not tested: {}: {reason}.{difference}", name(row)));
    }
    if rows.is_empty() {
        sentences.push("The runs have no unit and scorer in common.".to_owned());
    }
    sentences
}

fn changed(row: &DiffCounts, verdict: Verdict, tests: usize) -> String {
    let evidence = &row.evidence;
    let corrected =
        if tests > 1 { format!(" after correction for {tests} tests") } else { String::new() };
    let number =
        |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.4}"));
    format!(
        "{} is {}: {} before, {} after, a difference of {} (95% interval {}; p {}{corrected}).",
        name(row),
        verdict.words(),
        number(row.before_mean),
        number(row.after_mean),
        signed(evidence.difference),
        interval(row),
        p_value(evidence.adjusted_p_value),
    )
}

/// What would make a comparison firmer; none where there is nothing to compare.
pub(super) fn firmer(rows: &[DiffCounts], margin: Option<f64>) -> Option<String> {
    let open: Vec<&DiffCounts> =
        rows.iter().filter(|row| row.evidence.verdict == Verdict::NoEvidence).collect();
    let widest = open
        .iter()
        .filter_map(|row| Some((row, row.evidence.minimum_detectable_effect?)))
        .max_by(|left, right| left.1.total_cmp(&right.1));
    let Some((row, detectable)) = widest else {
        let shown = rows.iter().any(|row| row.evidence.p_value.is_some());
        return shown.then(|| {
            "The intervals are about cases like these; other cases would show whether it holds beyond them.".to_owned()
        });
    };
    let observed = match row.evidence.observation {
        "group" => "groups",
        _ => "cases",
    };
    let count = row.evidence.observations;
    let mut text = format!(
        "To be firmer: {count} {observed} show a true difference of {detectable:.3} in {} in 80 of 100 such comparisons, and smaller ones less often; four times as many {observed} show half of it.",
        name(row)
    );
    match margin {
        Some(margin) if margin > 0.0 => {
            let needed = (count as f64 * (detectable / margin).powi(2)).ceil();
            text.push_str(&format!(" For a margin of {margin}, that is about {needed:.0}."));
        }
        _ => text
            .push_str(" With `--margin`, a difference too small to matter can be shown to be one."),
    }
    Some(text)
}

fn name(row: &DiffCounts) -> String {
    format!("`{}` of {}", row.scorer, row.model)
}

fn names(rows: &[&DiffCounts]) -> String {
    let mut names: Vec<String> = rows.iter().take(TOLD).map(|row| name(row)).collect();
    if rows.len() > TOLD {
        names.push(format!("{} more", rows.len() - TOLD));
    }
    names.join(", ")
}

fn interval(row: &DiffCounts) -> String {
    row.evidence.interval.map_or_else(
        || "no interval".to_owned(),
        |interval| format!("from {:+.4} to {:+.4}", interval.low, interval.high),
    )
}

fn signed(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:+.4}"))
}

fn p_value(p: Option<f64>) -> String {
    match p {
        None => "–".to_owned(),
        Some(p) if p < 0.0001 => "< 0.0001".to_owned(),
        Some(p) => format!("= {p:.4}"),
    }
}
