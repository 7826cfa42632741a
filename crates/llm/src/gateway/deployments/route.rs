//! Finding a way among several deployments: a free one at once, or whichever is free first.

use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::preference::{Standing, sort_by_preference};
use super::{Deployment, Entry};
use crate::gateway::ModelHandle;
use crate::gateway::turn::{NoTurn, Wanted};
use crate::limits::{BreakerState, held_too_long};
use crate::model::CallError;
use crate::price::cost;
use crate::retry::pause_after;

/// How often a call that waits looks whether what it waits for can still come.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Where the attempts for one answer have failed so far.
#[derive(Debug, Default)]
pub(in crate::gateway) struct Past {
    failures: Vec<Failed>,
}

#[derive(Debug)]
struct Failed {
    position: usize,
    times: u32,
    not_before: Instant,
}

impl Past {
    /// Notes a failure: the same deployment is asked again only after a pause, another one at once.
    pub(in crate::gateway) fn failed_at(&mut self, deployment: &Deployment, error: &CallError) {
        let position = deployment.position;
        let times = self.times(position) + 1;
        let pause = pause_after(times, error.retry_after);
        let now = Instant::now();
        let not_before = now.checked_add(pause).unwrap_or(now);
        self.failures.retain(|failed| failed.position != position);
        self.failures.push(Failed { position, times, not_before });
    }

    fn of(&self, position: usize) -> Option<&Failed> {
        self.failures.iter().find(|failed| failed.position == position)
    }

    fn times(&self, position: usize) -> u32 {
        self.of(position).map_or(0, |failed| failed.times)
    }

    fn not_before(&self, position: usize) -> Option<Instant> {
        self.of(position).map(|failed| failed.not_before).filter(|until| *until > Instant::now())
    }
}

impl ModelHandle {
    /// A place at the best of several deployments, or at the first that has one. Time spent waiting for one's own
    /// limits moves the deadline.
    pub(in crate::gateway) async fn enter_one_of_several(
        &self,
        wanted: &Wanted,
        past: &Past,
        deadline: &mut Instant,
    ) -> Result<(&Deployment, Entry), NoTurn> {
        let choice = self.choices.fetch_add(1, Ordering::Relaxed);
        if let Some((deployment, entry)) = self.free_now(wanted, past, choice) {
            deployment.health.chosen(choice);
            return Ok((deployment, entry));
        }
        let tokens = wanted.tokens;
        let mut waiting: FuturesUnordered<_> = self
            .deployments
            .iter()
            .map(|deployment| async move {
                if let Some(until) = past.not_before(deployment.position) {
                    sleep_until(until).await;
                }
                (deployment, deployment.enter(tokens).await)
            })
            .collect();
        loop {
            if self.deployments.iter().all(Deployment::is_set_aside) {
                return Err(NoTurn::Refused);
            }
            let asked = Instant::now();
            let is_own = self.deployments.iter().any(|deployment| {
                deployment.is_open() && past.not_before(deployment.position).is_none()
            });
            if !is_own && self.earliest(past).is_none_or(|moment| moment >= *deadline) {
                return Err(NoTurn::Late(self.what_is_in_the_way()));
            }
            let until =
                if is_own { asked + LOOK_AGAIN } else { (asked + LOOK_AGAIN).min(*deadline) };
            let entered = self.unless_stopped(timeout_at(until, waiting.next())).await?;
            if is_own {
                *deadline += asked.elapsed();
            }
            if let Ok(Some((deployment, entry))) = entered {
                deployment.health.chosen(choice);
                return Ok((deployment, entry));
            }
        }
    }

    /// The best deployment that takes the call at once.
    fn free_now(&self, wanted: &Wanted, past: &Past, choice: u64) -> Option<(&Deployment, Entry)> {
        let is_free = |deployment: &&Deployment| {
            deployment.is_open() && past.not_before(deployment.position).is_none()
        };
        let open = self.deployments.iter().filter(is_free);
        let mut standings: Vec<Standing> =
            open.map(|deployment| standing(deployment, wanted, past)).collect();
        sort_by_preference(&mut standings, self.config().route, choice);
        standings.iter().find_map(|standing| {
            let deployment = self.deployments.get(standing.position)?;
            Some((deployment, deployment.try_enter(wanted.tokens)?))
        })
    }

    /// The first moment at which a deployment may take the call; a breaker may close at any time.
    fn earliest(&self, past: &Past) -> Option<Instant> {
        let usable = self.deployments.iter().filter(|deployment| !deployment.is_set_aside());
        let moments = usable.map(|deployment| {
            let held = deployment.held_until().max(past.not_before(deployment.position));
            held.unwrap_or_else(Instant::now)
        });
        moments.min()
    }

    /// What a call that cannot wait any longer is told.
    fn what_is_in_the_way(&self) -> CallError {
        let usable = || self.deployments.iter().filter(|deployment| !deployment.is_set_aside());
        let is_down = |deployment: &&Deployment| deployment.breaker.state() != BreakerState::Closed;
        if let Some(deployment) = usable().find(is_down) {
            return deployment.breaker.outage();
        }
        let held = usable().filter_map(Deployment::held_until).min();
        held_too_long(held.unwrap_or_else(Instant::now))
    }
}

fn standing(deployment: &Deployment, wanted: &Wanted, past: &Past) -> Standing {
    let health = deployment.health.state();
    Standing {
        position: deployment.position,
        failures_here: past.times(deployment.position),
        is_due_for_a_probe: deployment.breaker.is_due_for_a_probe(),
        headroom: deployment.lane.concurrency.headroom(),
        cost: deployment.price.map(|price| cost(&price, &wanted.usage)),
        seconds: health.seconds,
        reliability: health.reliability,
        last_chosen: health.last_chosen,
    }
}
