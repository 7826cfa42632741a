//! Rules that are tried out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fullbench_store::AlertChange;

use crate::backend::{Place, on_every_backend};
use crate::fixture::{Fixture, rule};

on_every_backend!(a_rule_is_tried_out_while_others_write);

/// Another server on the same store writes all the time.
async fn a_rule_is_tried_out_while_others_write(place: Place) {
    let fixture = Fixture::new(place).await;
    let tried = fixture.own.create_alert(rule("tried")).await.unwrap();
    let busy = fixture.own.create_alert(rule("busy")).await.unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let writing = tokio::spawn({
        let other = fixture.place.open().await.scoped(fixture.own.organization());
        let stop = stop.clone();
        async move {
            for number in 0.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                let threshold = Some(f64::from(number % 2) / 2.0);
                let change = AlertChange { threshold, ..AlertChange::default() };
                other.change_alert(busy.id, None, change).await.unwrap();
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    });
    let mut refused = Vec::new();
    for _ in 0..50 {
        refused.extend(fixture.own.test_alert(tried.id).await.err());
    }
    stop.store(true, Ordering::Relaxed);
    writing.await.unwrap();
    assert!(refused.is_empty(), "{} of 50: {}", refused.len(), refused[0]);
}
