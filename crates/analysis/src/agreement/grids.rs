//! Agreement as grids.

use fullbench_stats::Interval;
use fullbench_stats::agreement::ChanceCorrected;

use super::AgreementReport;
use crate::measured::Measured;
use crate::{Grid, number, share};

/// Annotators shown; all are in the JSON document.
const ANNOTATORS: usize = 20;
/// Values of an item shown.
const VALUES: usize = 12;

pub(super) fn of(report: &AgreementReport) -> Vec<Grid> {
    let mut grids = vec![coefficients(report)];
    if let Some(pairs) = report.pairs.value().filter(|pairs| !pairs.is_empty()) {
        let rows = pairs.iter().map(|pair| {
            let kappa = pair.kappa.value();
            vec![
                format!("{} – {}", pair.first, pair.second),
                pair.items.to_string(),
                kappa.map_or_else(String::new, |kappa| share(kappa.observed)),
                shown(&pair.kappa, |kappa| number(kappa.coefficient)),
                kappa.map_or_else(String::new, |kappa| interval(kappa.interval)),
            ]
        });
        grids.push(Grid {
            title: Some(format!("Cohen's kappa, {} weights", report.kappa_weights)),
            header: vec!["annotators", "items", "agreement", "kappa", "interval"],
            rows: rows.collect(),
        });
    }
    grids.push(annotators(report));
    if !report.disputed.is_empty() {
        let rows = report.disputed.iter().map(|item| {
            let mut values = item.values.iter().take(VALUES).cloned().collect::<Vec<_>>().join(" ");
            if item.values.len() > VALUES {
                values.push_str(" …");
            }
            vec![item.item.clone(), values, format!("{:.2}", item.relative_disagreement)]
        });
        grids.push(Grid {
            title: Some("Most disputed items".to_owned()),
            header: vec!["item", "values", "disagreement / chance"],
            rows: rows.collect(),
        });
    }
    grids
}

fn coefficients(report: &AgreementReport) -> Grid {
    let plain =
        |name: &str, value: String, interval: String| vec![name.to_owned(), value, interval];
    let corrected = |name: &str, measured: &Measured<ChanceCorrected>| {
        let ends = measured.value().map_or_else(String::new, |value| interval(value.interval));
        plain(name, shown(measured, |value| number(value.coefficient)), ends)
    };
    let weights = match report.weights {
        "identity" => String::new(),
        weights => format!(", {weights} weights"),
    };
    let gwet = if weights.is_empty() { "Gwet's AC1" } else { "Gwet's AC2" };
    let rows = vec![
        plain(
            "Krippendorff's alpha",
            shown(&report.alpha, |alpha| number(alpha.estimate.alpha)),
            interval(report.alpha_interval()),
        ),
        plain(
            "agreement of pairs",
            shown(&report.percent_agreement, |percent| share(percent.agreement)),
            String::new(),
        ),
        corrected(&format!("Fleiss' kappa{weights}"), &report.fleiss_kappa),
        corrected(&format!("{gwet}{weights}"), &report.gwet_ac),
        corrected(&format!("Brennan–Prediger{weights}"), &report.brennan_prediger),
    ];
    let header = vec!["coefficient", "value", "interval"];
    let title = format!("Agreement, {} level", report.level.name());
    Grid { title: Some(title), header, rows }
}

/// Annotators, those who differ most first.
fn annotators(report: &AgreementReport) -> Grid {
    let mut all: Vec<_> = report.by_annotator.iter().collect();
    let distance = |relative: Option<f64>| relative.unwrap_or(-1.0);
    all.sort_by(|a, b| {
        distance(b.relative_disagreement).total_cmp(&distance(a.relative_disagreement))
    });
    let title = match all.len() {
        ..=ANNOTATORS => "Annotators against the others".to_owned(),
        count => format!("The {ANNOTATORS} of {count} annotators who differ most from the others"),
    };
    let rows = all.iter().take(ANNOTATORS).map(|annotator| {
        vec![
            annotator.annotator.clone(),
            annotator.ratings.to_string(),
            annotator.compared.to_string(),
            annotator.agreement.map_or_else(String::new, share),
            annotator.relative_disagreement.map_or_else(String::new, |value| format!("{value:.2}")),
        ]
    });
    let header = vec!["annotator", "ratings", "compared", "agreement", "disagreement / chance"];
    Grid { title: Some(title), header, rows: rows.collect() }
}

fn shown<T>(measured: &Measured<T>, show: impl Fn(&T) -> String) -> String {
    match measured {
        Measured::Value(value) => show(value),
        Measured::Undefined { undefined } => format!("undefined: {undefined}"),
    }
}

fn interval(interval: Option<Interval>) -> String {
    interval
        .map_or_else(String::new, |ends| format!("{} – {}", number(ends.low), number(ends.high)))
}
