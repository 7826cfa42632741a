//! A comparison in sentences, for readers who are no statisticians.

use super::diff::DiffCounts;
use super::evidence::Verdict;
use super::grouping::FEW_GROUPS;

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
            "Equivalent within ±{margin}: {}. A difference as large as that would rarely give such pairs (two one-sided tests at the 5% level).",
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
    let few = rows.iter().filter(|row| {
        row.evidence.observation == "group" && (2..FEW_GROUPS).contains(&row.evidence.observations)
    });
    if let Some(fewest) = few.map(|row| row.evidence.observations).min() {
        sentences.push(format!(
            "Pairs are clustered by group: {fewest} groups. With so few groups intervals and p-values are rough: some {FEW_GROUPS} are needed."
        ));
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
    // The comparison that can show least: first one that can show nothing, then the largest detectable difference.
    let widest = open.iter().max_by(|left, right| {
        let detectable =
            |row: &DiffCounts| row.evidence.minimum_detectable_effect.unwrap_or(f64::INFINITY);
        detectable(left).total_cmp(&detectable(right))
    });
    let Some(row) = widest else {
        let shown = rows.iter().any(|row| row.evidence.p_value.is_some());
        return shown.then(|| {
            "The intervals are about cases like these; other cases would show whether it holds beyond them.".to_owned()
        });
    };
    let observed = match row.evidence.observation.as_ref() {
        "group" => "groups",
        _ => "cases",
    };
    let count = row.evidence.observations;
    let name = name(row);
    let mut text = match row.evidence.minimum_detectable_effect {
        Some(detectable) => format!(
            "To be firmer: {count} {observed} show a true difference of {detectable:.3} in {name} in 80 of 100 such comparisons, and smaller ones less often; four times as many {observed} show about half of it."
        ),
        None => format!(
            "To be firmer: {count} {observed}, of which so few change, cannot show any difference in {name} this way in 80 of 100 such comparisons, not even if all changes go one way; more {observed} are needed."
        ),
    };
    match margin.and_then(|margin| Some((margin, row.evidence.needed_for_equivalence(margin)?))) {
        Some((margin, needed)) if needed > count as f64 => text.push_str(&format!(
            " If nothing really changed, about {needed:.0} {observed} would show it to be equivalent within ±{margin}."
        )),
        Some(_) => {}
        None => text
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
