//! Failures, times, waits and spending: numbers computed by hand.

use fullbench_store::{AlertFilter, Month, OrganizationChange, ScopedStore};
use fullbench_types::{ErrorCode, RunState};

use crate::backend::{Place, on_every_backend};
use crate::fixture::{At, Fixture, MODELS, answer, cached, failure};

on_every_backend!(
    failed_units_are_a_share_of_those_that_ended_in_the_window,
    a_filter_takes_the_units_of_a_model_or_a_provider_alone,
    the_95th_percentile_is_a_time_that_was_measured,
    a_provider_is_blamed_for_what_failed_on_its_side,
    the_longest_wait_is_that_of_who_waits_or_waited,
    spending_is_a_share_of_the_budget,
);

async fn error_rate(
    fixture: &Fixture,
    filter: &AlertFilter,
    minimum: u32,
) -> Option<(f64, u64, bool)> {
    let scope = fixture.scope(filter);
    let measured = fixture.own.measured_error_rate(&scope, minimum).await.unwrap()?;
    Some((measured.value, measured.count, measured.is_over(0.1)))
}

async fn failed_units_are_a_share_of_those_that_ended_in_the_window(place: Place) {
    let fixture = Fixture::new(place).await;
    let (own, all) = (&fixture.own, AlertFilter::default());
    assert_eq!(error_rate(&fixture, &all, 1).await, None, "of nothing there is no share");
    let run = fixture.run(own).await;
    let failed = failure(ErrorCode::InvalidInput);
    fixture.many(own, run, 8, &answer(1), At::Inside).await;
    fixture.many(own, run, 1, &answer(1), At::End).await;
    assert_eq!(error_rate(&fixture, &all, 1).await, Some((0.0, 9, false)));
    fixture.many(own, run, 1, &failed, At::End).await;
    fixture.many(own, run, 5, &failed, At::Start).await;
    fixture.many(own, run, 5, &failed, At::Before).await;
    let other = fixture.other().await;
    let foreign = fixture.run(&other).await;
    fixture.many(&other, foreign, 5, &failed, At::Inside).await;
    assert_eq!(error_rate(&fixture, &all, 10).await, Some((0.1, 10, false)), "at the threshold");
    assert_eq!(error_rate(&fixture, &all, 11).await, None, "too few");
    fixture.many(own, run, 1, &failed, At::Inside).await;
    assert_eq!(error_rate(&fixture, &all, 11).await, Some((2.0 / 11.0, 11, true)));
}

async fn a_filter_takes_the_units_of_a_model_or_a_provider_alone(place: Place) {
    let fixture = Fixture::new(place).await;
    let own = &fixture.own;
    let failed = || failure(ErrorCode::Unavailable);
    let first = fixture.run(own).await;
    let second = fixture.run(own).await;
    for run in [first, second] {
        for (model, failures, answers) in [(0, 1, 1), (1, 1, 3), (2, 0, 1)] {
            for _ in 0..failures {
                fixture.record(own, run, model, failed(), &[], At::Inside).await;
            }
            for _ in 0..answers {
                fixture.record(own, run, model, answer(1), &[], At::Inside).await;
            }
        }
    }
    let named = |provider: Option<&str>, model: Option<&str>| AlertFilter {
        provider: provider.map(str::to_owned),
        model: model.map(str::to_owned),
        scorer: None,
    };
    for (filter, expected) in [
        (named(None, Some(MODELS[0])), Some((0.5, 4, true))),
        (named(None, Some(MODELS[1])), Some((0.25, 8, true))),
        (named(None, Some(MODELS[2])), Some((0.0, 2, false))),
        (named(Some("anthropic"), None), Some((0.25, 8, true))),
        (named(Some("anthropic"), Some(MODELS[1])), Some((0.25, 8, true))),
        (named(Some("anthropic"), Some(MODELS[0])), None),
        (named(None, Some("' OR 1 = 1 --")), None),
    ] {
        assert_eq!(error_rate(&fixture, &filter, 1).await, expected, "{filter:?}");
    }
}

async fn latency(fixture: &Fixture, minimum: u32) -> Option<(f64, u64)> {
    let filter = AlertFilter::default();
    let scope = fixture.scope(&filter);
    let measured = fixture.own.measured_latency(&scope, minimum).await.unwrap()?;
    Some((measured.value, measured.count))
}

async fn the_95th_percentile_is_a_time_that_was_measured(place: Place) {
    let fixture = Fixture::new(place).await;
    let own = &fixture.own;
    let run = fixture.run(own).await;
    assert_eq!(latency(&fixture, 1).await, None);
    fixture.many(own, run, 1, &answer(20), At::Inside).await;
    assert_eq!(latency(&fixture, 1).await, Some((20.0, 1)), "one of one");
    for milliseconds in (1..20).rev() {
        fixture.many(own, run, 1, &answer(milliseconds), At::Inside).await;
    }
    // ⌈0.95 · 20⌉ = 19
    assert_eq!(latency(&fixture, 20).await, Some((19.0, 20)));
    assert_eq!(latency(&fixture, 21).await, None, "too few");
    fixture.many(own, run, 1, &answer(1000), At::End).await;
    // ⌈0.95 · 21⌉ = 20
    assert_eq!(latency(&fixture, 1).await, Some((20.0, 21)));
    for at in [At::Start, At::Before] {
        fixture.many(own, run, 3, &answer(9000), at).await;
    }
    fixture.many(own, run, 3, &cached(9000), At::Inside).await;
    fixture.many(own, run, 3, &failure(ErrorCode::Timeout), At::Inside).await;
    let other = fixture.other().await;
    let foreign = fixture.run(&other).await;
    fixture.many(&other, foreign, 9, &answer(9000), At::Inside).await;
    assert_eq!(latency(&fixture, 1).await, Some((20.0, 21)), "nothing else counts");
}

async fn a_provider_is_blamed_for_what_failed_on_its_side(place: Place) {
    let fixture = Fixture::new(place).await;
    let own = &fixture.own;
    let run = fixture.run(own).await;
    let add = async |model, results: Vec<_>| {
        for result in results {
            fixture.record(own, run, model, result, &[], At::Inside).await;
        }
    };
    let measured = async |provider: Option<&str>, minimum| {
        let filter =
            AlertFilter { provider: provider.map(str::to_owned), ..AlertFilter::default() };
        let scope = fixture.scope(&filter);
        let measured = own.measured_provider_errors(&scope, minimum).await.unwrap()?;
        Some((measured.subject.unwrap(), measured.value, measured.count))
    };
    assert_eq!(measured(None, 1).await, None);
    // Its side: 2 of 8. Ours: a key, a prompt that is too long, a limit; and the cache calls nobody.
    add(0, vec![failure(ErrorCode::Unavailable), failure(ErrorCode::Timeout)]).await;
    add(0, vec![failure(ErrorCode::Unauthorized), failure(ErrorCode::InvalidInput)]).await;
    add(0, vec![failure(ErrorCode::RateLimited), answer(1), answer(1), answer(1)]).await;
    add(0, vec![cached(1), cached(1)]).await;
    assert_eq!(measured(None, 8).await, Some(("openai".to_owned(), 0.25, 8)));
    assert_eq!(measured(None, 9).await, None, "too few");
    add(1, vec![failure(ErrorCode::Unavailable), answer(1)]).await;
    assert_eq!(measured(None, 2).await, Some(("anthropic".to_owned(), 0.5, 2)), "the worst");
    assert_eq!(measured(None, 8).await, Some(("openai".to_owned(), 0.25, 8)), "with enough calls");
    assert_eq!(measured(Some("openai"), 1).await, Some(("openai".to_owned(), 0.25, 8)));
    assert_eq!(measured(Some("gemini"), 1).await, None);
    add(2, vec![failure(ErrorCode::Unavailable); 9]).await;
    assert_eq!(measured(None, 1).await, Some(("anthropic".to_owned(), 0.5, 2)), "no provider");
    let other = fixture.other().await;
    let foreign = fixture.run(&other).await;
    fixture.many(&other, foreign, 9, &failure(ErrorCode::Unavailable), At::Inside).await;
    assert_eq!(measured(None, 8).await, Some(("openai".to_owned(), 0.25, 8)));
}

async fn queue_time(fixture: &Fixture, store: &ScopedStore) -> (f64, u64) {
    let filter = AlertFilter::default();
    let measured = store.measured_queue_time(&fixture.scope(&filter)).await.unwrap();
    (measured.value, measured.count)
}

async fn the_longest_wait_is_that_of_who_waits_or_waited(place: Place) {
    let fixture = Fixture::new(place).await;
    let own = &fixture.own;
    assert_eq!(queue_time(&fixture, own).await, (0.0, 0), "nobody waits");
    let now = fixture.now.as_millisecond();
    let at = async |name: &str, created: i64, started: Option<i64>| {
        let run = fixture.run(own).await;
        if started.is_some() {
            own.set_run_state(run, RunState::Running, &[]).await.unwrap();
        }
        let started = started.map_or("NULL".to_owned(), |started| (now - started).to_string());
        let sql = format!(
            "UPDATE runs SET name = '{name}', created_at = {}, started_at = {started} WHERE name = 'test'",
            now - created
        );
        fixture.place.execute(&sql).await.unwrap();
    };
    at("waits", 40_500, None).await;
    assert_eq!(queue_time(&fixture, own).await, (40.5, 1));
    at("waited", 1_000_000, Some(900_000)).await;
    at("at once", 5, Some(5)).await;
    assert_eq!(queue_time(&fixture, own).await, (100.0, 2));
    at("waited before the window", 9_000_000, Some(3_600_000)).await;
    assert_eq!(queue_time(&fixture, own).await, (100.0, 2), "the start of the window is not in it");
    fixture.place.execute("UPDATE runs SET origin = 'command_line'").await.unwrap();
    assert_eq!(queue_time(&fixture, own).await, (0.0, 0), "the command line waits for nobody");
    let other = fixture.other().await;
    fixture.run(&other).await;
    assert_eq!(queue_time(&fixture, own).await, (0.0, 0));
    assert_eq!(queue_time(&fixture, &other).await.1, 1);
}

async fn spending_is_a_share_of_the_budget(place: Place) {
    let fixture = Fixture::new(place).await;
    let own = &fixture.own;
    let budget = async |dollars: Option<f64>| {
        let change =
            OrganizationChange { cost_budget_monthly_usd: Some(dollars), ..Default::default() };
        own.change_organization(change).await.unwrap();
        own.measured_spend().await.unwrap().map(|measured| measured.value)
    };
    let sql = format!(
        "INSERT INTO spending (organization_id, month, spent_nanodollars) \
         SELECT id, '{}', 8000000000 FROM organizations",
        Month::now()
    );
    fixture.place.execute(&sql).await.unwrap();
    assert_eq!(budget(None).await, None);
    assert_eq!(budget(Some(0.0)).await, None, "a share of nothing");
    assert_eq!(budget(Some(10.0)).await, Some(0.8));
    assert_eq!(budget(Some(4.0)).await, Some(2.0), "it may be over");
}
