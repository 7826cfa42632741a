//! In which order the deployments that would take a call are tried.

use std::cmp::Ordering;

use fullbench_types::NanoDollars;

use crate::config::RoutePolicy;

/// Latencies up to this many times the lowest count as equal, so that load decides among them.
const ALIKE: f64 = 1.25;

/// No deployment is taken for less reliable than this.
const LEAST_RELIABILITY: f64 = 0.01;

/// One choice of so many goes to the deployment that was not chosen for the longest time.
pub(super) const EXPLORE_EVERY: u64 = 32;

/// What is compared of a deployment that would take a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standing {
    /// Its place in the list.
    pub(super) position: usize,
    /// How often this very answer was asked for there, and failed.
    pub(super) failures_here: u32,
    /// Whether its breaker wants to know if it is back.
    pub(super) is_due_for_a_probe: bool,
    /// The share of its places that are free.
    pub(super) headroom: f64,
    /// What the call would cost; none where the price is unknown.
    pub(super) cost: Option<NanoDollars>,
    /// Seconds an answer takes; none before the first.
    pub(super) seconds: Option<f64>,
    /// The share of calls that met no outage.
    pub(super) reliability: f64,
    /// The number of the last choice that fell on it.
    pub(super) last_chosen: u64,
}

/// Sorts the best to the front: not where this answer failed before, then one that is due for a probe, then by policy,
/// then the one with the largest share of free places. `choice` is the number of this choice.
pub(super) fn sort_by_preference(standings: &mut [Standing], policy: RoutePolicy, choice: u64) {
    let lowest = standings.iter().filter_map(|standing| standing.seconds).min_by(f64::total_cmp);
    let unknown = lowest.unwrap_or(1.0);
    let soonest = standings.iter().map(|standing| standing.expected_seconds(unknown));
    let soonest = soonest.min_by(f64::total_cmp).unwrap_or(unknown);
    let is_exploring = choice % EXPLORE_EVERY == EXPLORE_EVERY - 1;
    let by_policy = |left: &Standing, right: &Standing| match policy {
        RoutePolicy::Priority => left.position.cmp(&right.position),
        RoutePolicy::Cost => {
            left.cost.is_none().cmp(&right.cost.is_none()).then(left.cost.cmp(&right.cost))
        }
        RoutePolicy::Latency if is_exploring => left.last_chosen.cmp(&right.last_chosen),
        RoutePolicy::Latency => {
            let rank = |standing: &Standing| {
                let expected = standing.expected_seconds(unknown);
                if expected <= soonest * ALIKE { 0.0 } else { expected }
            };
            rank(left).total_cmp(&rank(right))
        }
    };
    standings.sort_by(|left, right| {
        left.failures_here
            .cmp(&right.failures_here)
            .then(right.is_due_for_a_probe.cmp(&left.is_due_for_a_probe))
            .then_with(|| by_policy(left, right))
            .then_with(|| by_headroom(left, right))
            .then(left.position.cmp(&right.position))
    });
}

fn by_headroom(left: &Standing, right: &Standing) -> Ordering {
    right.headroom.total_cmp(&left.headroom)
}

impl Standing {
    /// Seconds until there is an answer: failed calls are made again. A deployment that was never measured is taken
    /// for as fast as the fastest.
    fn expected_seconds(&self, unknown: f64) -> f64 {
        self.seconds.unwrap_or(unknown) / self.reliability.max(LEAST_RELIABILITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(position: usize) -> Standing {
        Standing {
            position,
            failures_here: 0,
            is_due_for_a_probe: false,
            headroom: 0.5,
            cost: None,
            seconds: Some(1.0),
            reliability: 1.0,
            last_chosen: 0,
        }
    }

    fn order(standings: &[Standing], policy: RoutePolicy, choice: u64) -> Vec<usize> {
        let mut standings = standings.to_vec();
        sort_by_preference(&mut standings, policy, choice);
        standings.iter().map(|standing| standing.position).collect()
    }

    #[test]
    fn the_policy_decides_and_load_among_equals() {
        let standings = [
            Standing { cost: None, seconds: Some(1.1), headroom: 0.2, ..standing(0) },
            Standing { cost: Some(NanoDollars(5)), seconds: Some(10.0), ..standing(1) },
            Standing {
                cost: Some(NanoDollars(3)),
                seconds: Some(1.0),
                headroom: 0.1,
                ..standing(2)
            },
        ];
        assert_eq!(order(&standings, RoutePolicy::Priority, 0), [0, 1, 2]);
        assert_eq!(order(&standings, RoutePolicy::Cost, 0), [2, 1, 0], "unknown prices come last");
        assert_eq!(order(&standings, RoutePolicy::Latency, 0), [0, 2, 1]);
    }

    #[test]
    fn one_that_was_never_measured_or_not_for_long_gets_its_chance() {
        let standings = [
            Standing { last_chosen: 9, ..standing(0) },
            Standing { seconds: None, headroom: 1.0, last_chosen: 8, ..standing(1) },
            Standing { seconds: Some(30.0), last_chosen: 2, ..standing(2) },
        ];
        assert_eq!(order(&standings, RoutePolicy::Latency, 0), [1, 0, 2]);
        assert_eq!(order(&standings, RoutePolicy::Latency, EXPLORE_EVERY - 1), [2, 1, 0]);
        assert_eq!(order(&standings, RoutePolicy::Cost, EXPLORE_EVERY - 1), [1, 0, 2]);
    }

    #[test]
    fn where_the_answer_failed_before_comes_last_and_a_probe_first() {
        let standings = [
            Standing { failures_here: 1, is_due_for_a_probe: true, ..standing(0) },
            Standing { seconds: Some(10.0), ..standing(1) },
            Standing { seconds: Some(20.0), is_due_for_a_probe: true, ..standing(2) },
        ];
        for policy in [RoutePolicy::Latency, RoutePolicy::Priority, RoutePolicy::Cost] {
            assert_eq!(order(&standings, policy, 0), [2, 1, 0]);
        }
    }

    #[test]
    fn failing_fast_is_not_being_fast() {
        let standings = [
            Standing { seconds: Some(0.5), reliability: 0.1, ..standing(0) },
            Standing { seconds: Some(1.0), ..standing(1) },
        ];
        assert_eq!(order(&standings, RoutePolicy::Latency, 0), [1, 0]);
    }
}
