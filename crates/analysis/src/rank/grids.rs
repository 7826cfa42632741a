//! A ranking as grids.

use fullbench_stats::Interval;
use fullbench_stats::ranking::Scale;

use super::{PairDifference, RankReport, RankedModel};
use crate::{Grid, number, p_value, share};

pub(super) fn of(report: &RankReport) -> Vec<Grid> {
    let mut grids = vec![ranking(report)];
    if report.ranking.len() > 1 {
        grids.push(neighbours(report));
    }
    if !report.effects.is_empty() {
        grids.push(effects(report));
    }
    grids
}

/// A rating or a difference, with as many decimals as its unit deserves.
pub(super) fn points(scale: Scale, value: f64) -> String {
    match scale {
        Scale::Natural => number(value),
        Scale::Elo { .. } => {
            let text = format!("{value:.1}");
            if text == "-0.0" { "0.0".to_owned() } else { text }
        }
    }
}

fn ranking(report: &RankReport) -> Grid {
    let scale = report.method.scale;
    let row = |model: &RankedModel| {
        let rate = model.win_rate.as_ref();
        vec![
            model.rank.to_string(),
            range(model.best_rank, model.worst_rank),
            model.model.clone(),
            points(scale, model.rating),
            between(model.interval, |value| points(scale, value)),
            rate.map_or_else(String::new, |rate| rate.battles.to_string()),
            rate.map_or_else(String::new, |rate| share(rate.rate)),
        ]
    };
    Grid {
        title: Some("Ranking".to_owned()),
        header: vec!["rank", "range", "model", "rating", "interval", "battles", "win rate"],
        rows: report.ranking.iter().map(row).collect(),
    }
}

fn neighbours(report: &RankReport) -> Grid {
    let scale = report.method.scale;
    let row = |pair: &PairDifference| {
        vec![
            pair.stronger.clone(),
            pair.weaker.clone(),
            points(scale, pair.difference),
            between(pair.interval, |value| points(scale, value)),
            pair.p_value.map_or_else(String::new, p_value),
            pair.win_probability.map_or_else(String::new, share),
            if pair.told_apart { "yes" } else { "no" }.to_owned(),
        ]
    };
    Grid {
        title: Some("Neighbours".to_owned()),
        header: vec!["better", "worse", "difference", "interval", "p", "wins", "told apart"],
        rows: report.neighbours().map(row).collect(),
    }
}

fn effects(report: &RankReport) -> Grid {
    let row = |effect: &super::NamedEffect| {
        vec![
            effect.name.clone(),
            number(effect.log_odds),
            between(effect.interval, number),
            effect.p_value.map_or_else(String::new, p_value),
        ]
    };
    Grid {
        title: Some("Effects on the log-odds of a".to_owned()),
        header: vec!["effect", "log-odds", "interval", "p"],
        rows: report.effects.iter().map(row).collect(),
    }
}

impl RankReport {
    /// The pairs that stand next to each other in the ranking.
    pub(super) fn neighbours(&self) -> impl Iterator<Item = &PairDifference> {
        // The pairs of the first model come first, then those of the second, and so on.
        let models = self.ranking.len();
        let starts = (1..models).scan(0, move |start, position| {
            let this = *start;
            *start += models - position;
            Some(this)
        });
        starts.filter_map(|start| self.differences.get(start))
    }
}

fn range(best: usize, worst: usize) -> String {
    if best == worst { best.to_string() } else { format!("{best}–{worst}") }
}

fn between(interval: Option<Interval>, shown: impl Fn(f64) -> String) -> String {
    match interval {
        Some(interval) => format!("{} – {}", shown(interval.low), shown(interval.high)),
        None => "undefined".to_owned(),
    }
}
