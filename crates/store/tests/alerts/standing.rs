//! How rules stand: they fire, repeat and resolve, once for all servers, and what is noted is neither lost nor doubled.

use fullbench_llm::Secret;
use fullbench_store::{
    AlertChange, AlertRecord, DueAlert, Measurement, NotificationRecord, Page, ScopedStore, Store,
    StoreError,
};
use fullbench_types::{AlertChannel, AlertNews, AlertState, EventKind, NotificationStatus};
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use crate::backend::{Place, on_every_backend};
use crate::fixture::{Fixture, rule};

on_every_backend!(
    a_rule_fires_repeats_and_resolves,
    too_little_data_neither_fires_nor_resolves,
    one_server_looks_at_a_rule_at_a_time,
    what_is_noted_of_a_changed_rule_is_nothing,
    a_firing_rule_that_is_disabled_or_removed_ends,
    a_message_is_sent_by_one_and_tried_again,
    what_is_over_is_not_told_after_its_end,
    rules_have_names_of_their_own_and_a_number,
    the_address_of_slack_is_sealed,
);

const LEASE: SignedDuration = SignedDuration::from_secs(60);
const ALL: Page = Page { offset: 0, limit: 100 };

fn measured(value: f64) -> Measurement {
    Measurement { value, count: 7, subject: None, is_certain: true }
}

/// Looks at the one rule there is at a time, and lets it be due again.
async fn look(fixture: &Fixture, value: Option<f64>, at: Timestamp) -> Option<AlertNews> {
    let due = fixture.store.take_alert(LEASE).await.unwrap().expect("it is due");
    let measured = value.map(measured);
    fixture.own.note_evaluation(&due, measured.as_ref(), at, Timestamp::UNIX_EPOCH).await.unwrap()
}

async fn told(store: &ScopedStore, alert: Uuid) -> Vec<NotificationRecord> {
    store.alert_notifications(alert, ALL).await.unwrap().0
}

async fn events(store: &ScopedStore) -> Vec<(EventKind, serde_json::Value)> {
    let events = store.events_after(0, None, 100).await.unwrap();
    events.into_iter().map(|event| (event.kind, event.data)).collect()
}

async fn a_rule_fires_repeats_and_resolves(place: Place) {
    let fixture = Fixture::new(place).await;
    let (own, now) = (&fixture.own, fixture.now);
    let alert = own.create_alert(rule("errors")).await.unwrap();
    assert_eq!((alert.state, alert.last_value), (AlertState::NoData, None));
    let later = |seconds| now.checked_add(SignedDuration::from_secs(seconds)).unwrap();
    assert_eq!(look(&fixture, Some(0.5), now).await, None, "at the threshold");
    assert_eq!(own.alert(alert.id).await.unwrap().state, AlertState::Ok);
    assert_eq!(look(&fixture, Some(0.75), later(1)).await, Some(AlertNews::Firing));
    let firing = own.alert(alert.id).await.unwrap();
    assert_eq!(
        (firing.state, firing.since, firing.last_value),
        (AlertState::Firing, later(1), Some(0.75))
    );
    assert_eq!(look(&fixture, Some(0.8), later(300)).await, None, "it was told 299 seconds ago");
    assert_eq!(look(&fixture, Some(0.9), later(301)).await, Some(AlertNews::Repeated));
    assert_eq!(look(&fixture, Some(0.9), later(302)).await, None);
    assert_eq!(look(&fixture, Some(0.5), later(303)).await, Some(AlertNews::Resolved));
    assert_eq!(look(&fixture, Some(0.1), later(304)).await, None);
    let resolved = own.alert(alert.id).await.unwrap();
    assert_eq!((resolved.state, resolved.since), (AlertState::Ok, later(303)));
    assert_eq!(resolved.revision, 1, "looking changes no rule");

    let told = told(own, alert.id).await;
    assert_eq!(told.len(), 9, "three times by webhooks and to two addresses");
    let by_mail: Vec<_> = told.iter().filter(|one| one.channel == AlertChannel::Email).collect();
    assert_eq!(by_mail.len(), 6);
    let pending = by_mail.iter().filter(|one| one.status == NotificationStatus::Pending);
    assert!(pending.clone().all(|one| one.news == AlertNews::Resolved), "the rest is over");
    assert_eq!(pending.count(), 2);
    let events = events(own).await;
    let kinds: Vec<EventKind> = events.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [EventKind::AlertFiring, EventKind::AlertFiring, EventKind::AlertResolved]);
    assert_eq!(events[1].1["news"], "repeated");
    assert_eq!(events[2].1["value"], 0.5);
    assert_eq!(events[2].1["since"], later(1).to_string(), "since when it fired");
}

async fn too_little_data_neither_fires_nor_resolves(place: Place) {
    let fixture = Fixture::new(place).await;
    let (own, now) = (&fixture.own, fixture.now);
    let alert = own.create_alert(rule("errors")).await.unwrap();
    let state = async || own.alert(alert.id).await.unwrap().state;
    let later = |seconds| now.checked_add(SignedDuration::from_secs(seconds)).unwrap();
    assert_eq!(look(&fixture, Some(0.1), now).await, None);
    assert_eq!(look(&fixture, None, now).await, None);
    assert_eq!(state().await, AlertState::NoData);
    assert_eq!(look(&fixture, Some(0.9), now).await, Some(AlertNews::Firing));
    assert_eq!(look(&fixture, None, later(1000)).await, None, "nor does it repeat");
    assert_eq!(state().await, AlertState::Firing);
    assert_eq!(own.alert(alert.id).await.unwrap().last_value, None);
    assert_eq!(look(&fixture, Some(0.9), later(1001)).await, Some(AlertNews::Repeated));
    assert_eq!(look(&fixture, Some(0.1), later(1002)).await, Some(AlertNews::Resolved));
    assert_eq!(look(&fixture, None, later(1003)).await, None);
    assert_eq!(state().await, AlertState::NoData);
}

async fn take(store: &Store) -> Option<DueAlert> {
    store.take_alert(LEASE).await.unwrap()
}

async fn one_server_looks_at_a_rule_at_a_time(place: Place) {
    let fixture = Fixture::new(place).await;
    let own = &fixture.own;
    let alert = own.create_alert(rule("errors")).await.unwrap();
    let other = fixture.place.open().await;
    let (first, second) = tokio::join!(take(&fixture.store), take(&other));
    assert!(first.is_some() != second.is_some(), "one has it");
    let due = first.or(second).unwrap();
    assert!(take(&other).await.is_none(), "until its lease ends");

    // Whoever had it was killed, or is late: somebody else takes it, and only what they find is kept.
    fixture.place.execute("UPDATE alert_rules SET due_at = 0").await.unwrap();
    let again = take(&other).await.unwrap();
    let (now, bad) = (fixture.now, measured(0.9));
    let late = own.note_evaluation(&due, Some(&bad), now, now).await.unwrap();
    assert_eq!(late, None, "it is not theirs any more");
    let noted = own.note_evaluation(&again, Some(&bad), now, now).await.unwrap();
    assert_eq!(noted, Some(AlertNews::Firing));
    let twice = own.note_evaluation(&again, Some(&bad), now, now).await.unwrap();
    assert_eq!(twice, None);
    assert_eq!((told(own, alert.id).await.len(), events(own).await.len()), (3, 1));

    // Who could not look puts it back, if it is still theirs.
    let held = take(&fixture.store).await.unwrap();
    own.put_back_alert(&again, now).await.unwrap();
    assert!(take(&other).await.is_none());
    own.put_back_alert(&held, now).await.unwrap();
    assert!(take(&other).await.is_some());
}

async fn what_is_noted_of_a_changed_rule_is_nothing(place: Place) {
    let fixture = Fixture::new(place).await;
    let (own, now) = (&fixture.own, fixture.now);
    let alert = own.create_alert(rule("errors")).await.unwrap();
    let due = take(&fixture.store).await.unwrap();
    let change = AlertChange { threshold: Some(0.95), ..AlertChange::default() };
    let changed = own.change_alert(alert.id, Some(1), change).await.unwrap();
    assert_eq!((changed.threshold, changed.revision), (0.95, 2));
    let noted = own.note_evaluation(&due, Some(&measured(0.9)), now, now).await.unwrap();
    assert_eq!(noted, None, "0.9 was over the threshold of before");
    assert!(take(&fixture.store).await.is_some(), "it is looked at anew at once");
    let stale = own.change_alert(alert.id, Some(1), AlertChange::default()).await;
    assert!(matches!(stale, Err(StoreError::ChangedMeanwhile { .. })), "{stale:?}");
    let stale = own.remove_alert(alert.id, Some(1)).await;
    assert!(matches!(stale, Err(StoreError::ChangedMeanwhile { .. })), "{stale:?}");
    assert_eq!(own.alert(alert.id).await.unwrap(), changed);
}

async fn a_firing_rule_that_is_disabled_or_removed_ends(place: Place) {
    let fixture = Fixture::new(place).await;
    let (own, now) = (&fixture.own, fixture.now);
    let alert = own.create_alert(rule("errors")).await.unwrap();
    look(&fixture, Some(0.9), now).await;
    let change = |enabled| AlertChange { enabled: Some(enabled), ..AlertChange::default() };
    let disabled = own.change_alert(alert.id, None, change(false)).await.unwrap();
    assert_eq!(disabled.state, AlertState::NoData);
    assert!(take(&fixture.store).await.is_none(), "nobody looks at it");
    let newest = events(own).await.pop().unwrap();
    assert_eq!((newest.0, &newest.1["because"]), (EventKind::AlertResolved, &"disabled".into()));
    assert_eq!(told(own, alert.id).await.len(), 6, "everybody who was told is told");
    own.change_alert(alert.id, None, change(false)).await.unwrap();
    own.change_alert(alert.id, None, change(true)).await.unwrap();
    assert_eq!(events(own).await.len(), 2, "it had ended");

    look(&fixture, Some(0.9), now).await;
    let foreign = fixture.other().await;
    assert!(matches!(
        foreign.remove_alert(alert.id, None).await,
        Err(StoreError::NameNotFound { .. })
    ));
    own.remove_alert(alert.id, None).await.unwrap();
    let newest = events(own).await.pop().unwrap();
    assert_eq!((newest.0, &newest.1["because"]), (EventKind::AlertResolved, &"deleted".into()));
    let gone = own.alert_notifications(alert.id, ALL).await;
    assert!(matches!(gone, Err(StoreError::NameNotFound { .. })), "{gone:?}");
    assert!(fixture.store.take_notifications(9, LEASE).await.unwrap().is_empty());
}

async fn a_message_is_sent_by_one_and_tried_again(place: Place) {
    use fullbench_store::AfterAttempt;
    let fixture = Fixture::new(place).await;
    let own = &fixture.own;
    let alert = own.create_alert(rule("errors")).await.unwrap();
    assert_eq!(own.last_alert_test(alert.id).await.unwrap(), None);
    assert_eq!(own.test_alert(alert.id).await.unwrap(), 3);
    assert!(own.last_alert_test(alert.id).await.unwrap().is_some());
    assert_eq!(own.alert(alert.id).await.unwrap().state, AlertState::NoData, "a test is no state");
    let mut taken = fixture.store.take_notifications(9, LEASE).await.unwrap();
    assert_eq!(taken.len(), 2, "webhooks have an outbox of their own");
    let again = fixture.place.open().await.take_notifications(9, LEASE).await.unwrap();
    assert!(again.is_empty(), "they are leased");
    let (first, second) = (taken.remove(0).notification, taken.remove(0).notification);
    own.note_notification(&first, None, AfterAttempt::Delivered).await.unwrap();
    let soon = Timestamp::now();
    let problem = Some("no answer".to_owned());
    own.note_notification(&second, problem, AfterAttempt::RetryAt(soon)).await.unwrap();
    assert!(fixture.store.next_notification_at().await.unwrap().is_some());
    let tried = fixture.store.take_notifications(9, LEASE).await.unwrap().remove(0).notification;
    assert_eq!(
        (tried.id, tried.attempts, tried.problem.as_deref()),
        (second.id, 1, Some("no answer"))
    );
    own.note_notification(&tried, Some("gone".to_owned()), AfterAttempt::GivenUp).await.unwrap();
    let statuses: Vec<(NotificationStatus, u32)> =
        told(own, alert.id).await.iter().map(|one| (one.status, one.attempts)).collect();
    for expected in [
        (NotificationStatus::HandedOver, 0),
        (NotificationStatus::Delivered, 1),
        (NotificationStatus::Failed, 2),
    ] {
        assert!(statuses.contains(&expected), "{statuses:?}");
    }
    assert_eq!(fixture.store.next_notification_at().await.unwrap(), None);
}

async fn what_is_over_is_not_told_after_its_end(place: Place) {
    use fullbench_store::AfterAttempt;
    let fixture = Fixture::new(place).await;
    let (own, now) = (&fixture.own, fixture.now);
    let alert = own.create_alert(rule("errors")).await.unwrap();
    assert_eq!(look(&fixture, Some(0.9), now).await, Some(AlertNews::Firing));
    let mut firing = fixture.store.take_notifications(9, LEASE).await.unwrap();
    assert_eq!(firing.len(), 2);
    // One was tried before the end, the other is being tried while it comes.
    let again = AfterAttempt::RetryAt(now);
    let problem = || Some("no answer".to_owned());
    let (tried, being_tried) = (firing.remove(0).notification, firing.remove(0).notification);
    own.note_notification(&tried, problem(), again).await.unwrap();
    assert_eq!(look(&fixture, Some(0.1), now).await, Some(AlertNews::Resolved));
    own.note_notification(&being_tried, problem(), again).await.unwrap();
    let due = fixture.store.take_notifications(9, LEASE).await.unwrap();
    let news: Vec<AlertNews> = due.iter().map(|one| one.notification.news).collect();
    assert_eq!(news, [AlertNews::Resolved; 2], "nobody hears of it twice, nor last");
    let given_up = told(own, alert.id).await;
    let given_up = given_up.iter().filter(|one| one.status == NotificationStatus::Failed);
    assert!(
        given_up.clone().all(|one| one.problem.as_ref().unwrap().contains("not true any more"))
    );
    assert_eq!(given_up.count(), 2);
}

async fn rules_have_names_of_their_own_and_a_number(place: Place) {
    let fixture = Fixture::new(place).await;
    let own = &fixture.own;
    let first = own.create_alert(rule("a")).await.unwrap();
    let taken = own.create_alert(rule("a")).await;
    assert!(matches!(taken, Err(StoreError::NameTaken { .. })), "{taken:?}");
    fixture.other().await.create_alert(rule("a")).await.unwrap();
    let same = fullbench_store::NewAlert { id: first.id, ..rule("b") };
    assert_eq!(own.create_alert(same).await.unwrap(), first, "the same id is the same rule");
    for number in 1..200 {
        own.create_alert(rule(&format!("r{number}"))).await.unwrap();
    }
    let many = own.create_alert(rule("one more")).await;
    assert!(matches!(many, Err(StoreError::TooMany { limit: 200, .. })), "{many:?}");
    let (page, total) = own.alerts(Page { offset: 0, limit: 10 }).await.unwrap();
    assert_eq!((page.len(), total), (10, 200));
    let renamed = AlertChange { name: Some("a".to_owned()), ..AlertChange::default() };
    let taken = own.change_alert(page[0].id, None, renamed).await;
    assert!(matches!(taken, Err(StoreError::NameTaken { .. })), "{taken:?}");
}

async fn the_address_of_slack_is_sealed(place: Place) {
    let fixture = Fixture::new(place).await;
    let own = &fixture.own;
    let url = "https://hooks.slack.com/services/T000/B000/zanzibarzanzibar";
    let new = fullbench_store::NewAlert { slack_url: Some(Secret::new(url)), ..rule("errors") };
    let alert: AlertRecord = own.create_alert(new).await.unwrap();
    let shown = alert.slack.clone().unwrap();
    assert_eq!(
        (shown.host.as_str(), shown.last_four.as_deref()),
        ("hooks.slack.com", Some("ibar"))
    );
    assert!(!format!("{alert:?}").contains("zanzibar"));
    let opened = async || own.alert_slack_url(alert.id).await.unwrap();
    assert_eq!(opened().await.as_ref().map(Secret::reveal), Some(url));
    own.change_alert(alert.id, None, AlertChange::default()).await.unwrap();
    assert_eq!(opened().await.as_ref().map(Secret::reveal), Some(url), "it stays");
    // Moved to another rule, it does not open.
    let other = own.create_alert(rule("other")).await.unwrap();
    let moved = "UPDATE alert_rules SET slack_sealed = (SELECT slack_sealed FROM alert_rules \
         WHERE name = 'errors') WHERE name = 'other'";
    fixture.place.execute(moved).await.unwrap();
    assert!(own.alert_slack_url(other.id).await.is_err());
    let removed = AlertChange { slack_url: Some(None), ..AlertChange::default() };
    let changed = own.change_alert(alert.id, None, removed).await.unwrap();
    assert!(changed.slack.is_none() && opened().await.is_none());
    assert!(own.alert_slack_url(Uuid::now_v7()).await.unwrap().is_none());
}
