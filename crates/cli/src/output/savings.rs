//! What was saved by judging less, and what that costs in certainty: for terminals, Markdown and the HTML report alike.

use fullbench_engine::{
    CascadeSummary, Estimated, RouteSummary, RunReport, ScorerSummary, SimilarSummary, TierSummary,
};
use fullbench_types::NanoDollars;
use serde::Serialize;

/// Fewer outputs than this that both judges saw say nothing.
const FEW_AUDITED: u64 = 10;

/// One scorer on one model, in sentences and a table.
#[derive(Debug, Serialize)]
pub(crate) struct Saving {
    pub(crate) title: String,
    pub(crate) sentences: Vec<String>,
    pub(crate) header: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// Every scorer that judges less than everything, in the order of models and scorers.
pub(crate) fn of(report: &RunReport) -> Vec<Saving> {
    let scores = report
        .models
        .iter()
        .flat_map(|model| model.scores.iter().map(move |scores| (&model.model, scores)));
    scores.filter_map(|(model, scores)| saving(model, scores)).collect()
}

fn saving(model: &str, scores: &ScorerSummary) -> Option<Saving> {
    let title = format!("{} · {model}", scores.scorer);
    let mut saving = Saving { title, sentences: Vec::new(), header: Vec::new(), rows: Vec::new() };
    if let Some(cascade) = &scores.cascade {
        saving.of_cascade(cascade);
    }
    if let Some(routes) = &scores.routes {
        saving.of_routes(routes);
    }
    if let Some(similar) = &scores.similar {
        saving.sentences.push(taken(similar));
    }
    (!saving.sentences.is_empty()).then_some(saving)
}

impl Saving {
    fn of_cascade(&mut self, cascade: &CascadeSummary) {
        let last = cascade.tiers.last().map_or("the last tier", |tier| tier.tier.as_str());
        let CascadeSummary { outputs, judged, .. } = cascade;
        self.sentences.push(match cascade.mean_of_all {
            Some(mean) => format!(
                "{last} judged {judged} of {outputs} outputs, drawn with known chances; judging all of them by it would give {}",
                shown(mean)
            ),
            None => format!("{last} judged {judged} of {outputs} outputs: too few to say what it would give on all"),
        });
        if let Some(passing) = cascade.passing {
            self.sentences.push(format!("by its threshold {} of all pass", percent(passing)));
        }
        let all = cascade.cost_of_all_usd.filter(|all| all.estimate > 0.0);
        if let (Some(cost), Some(all)) = (cascade.cost_usd, all) {
            let share = cost / all.estimate * 100.0;
            let certainty = cascade.half_width.map(|(now, of_all)| match of_all {
                Some(of_all) => {
                    format!("; the interval of the mean is ±{now:.4} instead of about ±{of_all:.4}")
                }
                None => format!("; the interval of the mean is ±{now:.4}"),
            });
            self.sentences.push(format!(
                "without the cache all tiers cost {}, {share:.1}% of the {} that {last} would cost on everything{}",
                money(cost),
                dollars(all),
                certainty.unwrap_or_default()
            ));
        }
        let (hard_fails, audited) = cascade.hard_fails;
        if hard_fails > 0 {
            let mean = cascade
                .mean_of_hard_fails
                .map(|mean| format!(", which gives them {}", shown(mean)));
            self.sentences.push(format!(
                "{hard_fails} hard fails, {audited} of them shown to {last} all the same{}",
                mean.unwrap_or_default()
            ));
        }
        if cascade.undecided > 0 {
            self.sentences.push(format!(
                "a condition could not be decided for {} outputs, which counted as doubts: it needs a number or a field that they do not have",
                cascade.undecided
            ));
        }
        let (confident, audited) = cascade.confident;
        if confident > 0 {
            self.sentences.push(format!(
                "{confident} ended with a confident tier, {audited} of them shown to {last} all the same"
            ));
        }
        let taking = cascade.tiers.iter().filter_map(|tier| Some((tier, tier.similar.as_ref()?)));
        self.sentences
            .extend(taking.map(|(tier, similar)| format!("in {}: {}", tier.tier, taken(similar))));
        self.header = vec![
            "tier",
            "scored",
            "escalated",
            "audited",
            "passed",
            "failed",
            "unscored",
            "cost",
            "same verdict as the last",
            "last where it passes",
            "last where it fails",
        ];
        self.rows = cascade.tiers.iter().map(tier_row).collect();
    }

    fn of_routes(&mut self, routes: &RouteSummary) {
        let counts: Vec<String> = routes
            .routes
            .iter()
            .map(|route| format!("{} by the {} judge", route.outputs, route.route))
            .collect();
        let counts = counts.join(", ");
        self.sentences.push(match routes.routes.iter().all(|route| route.outputs > 0) {
            true => format!("the mean above mixes two judges: {counts}; each by itself is below"),
            false => format!("all outputs went one way: {counts}"),
        });
        match (&routes.difference, routes.strong_on_all) {
            (Some(difference), Some(all)) if routes.audited >= FEW_AUDITED => self.sentences.push(format!(
                "on {} outputs that both judged the strong one differs by {}{}; on everything it would give {}",
                routes.audited,
                signed(*difference),
                verdicts(routes.same_verdict),
                shown(all)
            )),
            _ if routes.routes.iter().any(|route| route.route == "cheap" && route.outputs == 0) => {}
            _ => self.sentences.push(format!(
                "both judged {} outputs: too few to say how they differ; raise `audit`",
                routes.audited
            )),
        }
        let all = routes.strong_cost_of_all_usd.filter(|all| all.estimate > 0.0);
        if let (Some(cost), Some(all)) = (routes.cost_usd, all) {
            self.sentences.push(format!(
                "without the cache both cost {}, {:.1}% of the {} of the strong one on everything",
                money(cost),
                cost / all.estimate * 100.0,
                dollars(all)
            ));
        }
        self.header = vec!["judge", "outputs", "mean", "95% interval"];
        self.rows = routes
            .routes
            .iter()
            .map(|route| {
                let mean = route.mean;
                let number = |value: Option<f64>| {
                    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.4}"))
                };
                let interval = mean.and_then(|mean| mean.low.zip(mean.high));
                vec![
                    route.route.to_string(),
                    route.outputs.to_string(),
                    number(mean.map(|mean| mean.estimate)),
                    interval.map_or_else(
                        || "–".to_owned(),
                        |(low, high)| format!("{low:.4} – {high:.4}"),
                    ),
                ]
            })
            .collect();
    }
}

fn tier_row(tier: &TierSummary) -> Vec<String> {
    let mut row = vec![
        tier.tier.clone(),
        tier.scored.to_string(),
        tier.escalated.to_string(),
        tier.audited.to_string(),
        tier.passed.to_string(),
        tier.failed.to_string(),
        tier.unscored.to_string(),
        tier.cost_usd.map_or_else(|| "–".to_owned(), money),
    ];
    let agreement = tier.agreement.as_ref();
    row.push(
        match agreement.and_then(|agreement| Some((agreement.same_verdict, agreement.share?))) {
            Some(((same, of), share)) => format!("{}, {same} of {of} seen", percent(share)),
            None => "–".to_owned(),
        },
    );
    for mean in [
        agreement.and_then(|agreement| agreement.mean_where_passed),
        agreement.and_then(|agreement| agreement.mean_where_failed),
    ] {
        row.push(mean.map_or_else(|| "–".to_owned(), |mean| format!("{:.4}", mean.estimate)));
    }
    row
}

/// What was taken from similar outputs.
fn taken(similar: &SimilarSummary) -> String {
    let SimilarSummary { hits, audited, disagreements, .. } = similar;
    let saved = similar.saved_usd.map(|usd| format!(" and saved {}", money(usd)));
    let checked = match (audited, similar.difference) {
        (0, _) => "none of them was judged again: raise `audit` to see what that costs".to_owned(),
        (_, Some(difference)) => format!(
            "{audited} of them were judged again, {disagreements} otherwise (mean difference {})",
            signed(difference)
        ),
        (_, None) => format!("{audited} of them were judged again, {disagreements} otherwise"),
    };
    let taken = hits - audited;
    format!(
        "{hits} outputs say the same as one judged before: {taken} took its score{}; {checked}",
        saved.unwrap_or_default()
    )
}

fn verdicts((same, of): (u64, u64)) -> String {
    if of == 0 { String::new() } else { format!(" and gives the same verdict on {same} of {of}") }
}

fn shown(mean: Estimated) -> String {
    within(mean, |value| format!("{value:.4}"))
}

fn signed(mean: Estimated) -> String {
    within(mean, |value| format!("{value:+.4}"))
}

fn percent(share: Estimated) -> String {
    within(share, |value| format!("{:.1}%", value * 100.0))
}

fn dollars(cost: Estimated) -> String {
    within(cost, money)
}

fn within(estimated: Estimated, number: impl Fn(f64) -> String) -> String {
    let estimate = number(estimated.estimate);
    match estimated.low.zip(estimated.high) {
        Some((low, high)) => format!("{estimate} ({} to {})", number(low), number(high)),
        None => estimate,
    }
}

fn money(usd: f64) -> String {
    NanoDollars::from_dollars(usd).to_string()
}
