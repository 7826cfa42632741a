//! From a fit to a report.

use std::collections::HashSet;

use fullbench_stats::ranking::{BradleyTerry, Ties, WinRate};
use fullbench_stats::{Interval, Undefined};

use super::data::Duels;
use super::{
    CovarianceMethod, Method, NamedEffect, PairDifference, RankOptions, RankReport, RankedModel,
};
use crate::Conclusion;

/// The report, still without notes and conclusion.
pub(super) fn of(
    duels: &Duels,
    options: &RankOptions,
    ties: Ties,
    covariance: CovarianceMethod,
    fit: &BradleyTerry,
    rates: &[Option<WinRate>],
) -> Result<RankReport, Undefined> {
    let resamples = fit.resamples.as_ref();
    Ok(RankReport {
        battles: duels.outcomes.len(),
        ties: duels.ties,
        weighted: duels.weights.is_some(),
        groups: duels.group_count,
        confidence: options.confidence,
        method: Method {
            model: "bradley_terry",
            ties,
            tie_parameter: fit.tie_parameter,
            ridge: fit.ridge,
            covariance,
            rounds: resamples.map(|resamples| resamples.rounds),
            seed: resamples.map(|_| options.seed),
            regularized_rounds: resamples.map(|resamples| resamples.regularized),
            degrees_of_freedom: fit.degrees_of_freedom,
            rank_adjustment: options.rank_adjustment,
            scale: options.scale,
            log_likelihood: fit.log_likelihood,
        },
        ranking: ranking(duels, options, fit, rates)?,
        effects: effects(options, fit),
        differences: differences(duels, options, fit)?,
        notes: Vec::new(),
        conclusion: Conclusion::default(),
    })
}

/// The players, strongest first; equals in the order of the file.
fn by_strength(fit: &BradleyTerry) -> Vec<usize> {
    let mut order: Vec<usize> = (0..fit.players()).collect();
    order.sort_by(|a, b| fit.strengths[*b].total_cmp(&fit.strengths[*a]));
    order
}

fn ranking(
    duels: &Duels,
    options: &RankOptions,
    fit: &BradleyTerry,
    rates: &[Option<WinRate>],
) -> Result<Vec<RankedModel>, Undefined> {
    let ranges = fit.ranks(options.confidence, options.rank_adjustment)?;
    let resampled = fit.resampled_ranks(options.confidence)?;
    let scale = options.scale;
    let model = |player: usize| {
        let estimate = fit.rating(player, options.confidence);
        let interval = |interval: Interval| Interval {
            low: scale.rating(interval.low),
            high: scale.rating(interval.high),
        };
        RankedModel {
            model: duels.models[player].clone(),
            rank: ranges[player].rank,
            best_rank: ranges[player].best,
            worst_rank: ranges[player].worst,
            resampled_ranks: resampled
                .as_ref()
                .map(|ranges| [ranges[player].best, ranges[player].worst]),
            rating: scale.rating(fit.strengths[player]),
            standard_error: estimate.as_ref().ok().map(|e| scale.difference(e.standard_error)),
            interval: estimate.as_ref().ok().map(|estimate| interval(estimate.interval)),
            undefined: estimate.err(),
            log_strength: fit.strengths[player],
            win_rate: rates[player],
        }
    };
    Ok(by_strength(fit).into_iter().map(model).collect())
}

fn effects(options: &RankOptions, fit: &BradleyTerry) -> Vec<NamedEffect> {
    let order = options.order_effect.then(|| "order".to_owned());
    let names = order.into_iter().chain(options.covariates.iter().cloned());
    let effect = |(index, name): (usize, String)| {
        let effect = fit.effect(index, options.confidence);
        NamedEffect {
            name,
            log_odds: fit.effects.get(index).copied().unwrap_or_default(),
            standard_error: effect.as_ref().ok().map(|effect| effect.effect.standard_error),
            interval: effect.as_ref().ok().map(|effect| effect.effect.interval),
            p_value: effect.as_ref().ok().map(|effect| effect.p_value),
            undefined: effect.err(),
        }
    };
    names.enumerate().map(effect).collect()
}

fn differences(
    duels: &Duels,
    options: &RankOptions,
    fit: &BradleyTerry,
) -> Result<Vec<PairDifference>, Undefined> {
    let apart = fit.told_apart(options.confidence, options.rank_adjustment)?;
    let apart: HashSet<(usize, usize)> = apart.into_iter().collect();
    let met = duels.met();
    let scale = options.scale;
    let order = by_strength(fit);
    let mut pairs = Vec::with_capacity(order.len() * (order.len() - 1) / 2);
    for (position, &stronger) in order.iter().enumerate() {
        for &weaker in &order[position + 1..] {
            let found = fit.difference(stronger, weaker, options.confidence);
            let known = found.as_ref().ok();
            let key = (stronger.min(weaker) as u32, stronger.max(weaker) as u32);
            pairs.push(PairDifference {
                stronger: duels.models[stronger].clone(),
                weaker: duels.models[weaker].clone(),
                battles: met.get(&key).copied().unwrap_or(0),
                difference: scale.difference(fit.strengths[stronger] - fit.strengths[weaker]),
                standard_error: known.map(|d| scale.difference(d.difference.standard_error)),
                interval: known.map(|d| Interval {
                    low: scale.difference(d.difference.interval.low),
                    high: scale.difference(d.difference.interval.high),
                }),
                p_value: known.map(|d| d.p_value),
                told_apart: apart.contains(&(stronger, weaker)),
                win_probability: known.map(|d| d.win_probability),
                win_interval: known.map(|d| d.win_interval),
                undefined: found.err(),
            });
        }
    }
    Ok(pairs)
}
