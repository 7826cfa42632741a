//! Room for results and documents. How many there are is counted now and then, since single evaluations come by the thousand in a
//! second; what comes through this server meanwhile is added to it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fullbench_store::ScopedStore;
use fullbench_types::OrganizationId;
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

use super::Quotas;
use crate::problem::{Problem, QUOTA};

/// For how long a count is believed at least.
const BELIEVED: Duration = Duration::from_secs(5);
/// The same for one that takes its time, in times of it.
const BELIEVED_TIMES: u32 = 20;

/// What to do where there is no room.
pub(crate) const HINT: &str = "keep results for fewer days (`data_retention_days`), or remove data sets that are not needed any more";

/// How many results and documents organizations have.
#[derive(Debug, Default)]
pub(crate) struct RecordCounts(Mutex<HashMap<OrganizationId, Arc<Records>>>);

/// The results and documents of an organization.
#[derive(Debug, Default)]
struct Records {
    count: Mutex<Count>,
    /// Of who counts.
    counting: Turn<()>,
    /// Of who makes a run: how many results it has is known only then.
    making: Arc<Turn<()>>,
}

#[derive(Debug, Default)]
struct Count {
    believed_until: Option<Instant>,
    kept: u64,
    /// Kept since it was begun to count: some may be counted twice, none is forgotten.
    kept_meanwhile: u64,
    /// Asked for, and not kept yet.
    asked_for: u64,
}

/// Room for one result or document, given back unless it is kept.
#[derive(Debug)]
pub(crate) struct Place(Option<Arc<Records>>);

/// Room for a run.
#[derive(Debug, Default)]
pub(crate) struct RoomForRun {
    left: Option<u64>,
    turn: Option<(Arc<Records>, OwnedMutexGuard<()>)>,
}

impl RecordCounts {
    /// How many there are, as it was some seconds ago.
    pub(crate) async fn used(&self, store: &ScopedStore) -> Result<u64, Problem> {
        Ok(self.counted(store).await?.count().used())
    }

    /// Room for one more.
    pub(crate) async fn place(
        &self,
        quotas: Quotas,
        store: &ScopedStore,
    ) -> Result<Place, Problem> {
        let Some(quota) = quotas.records else { return Ok(Place(None)) };
        let records = self.counted(store).await?;
        let mut count = records.count();
        if count.used() >= quota {
            return Err(full(quota));
        }
        count.asked_for += 1;
        drop(count);
        Ok(Place(Some(records)))
    }

    /// Room for a run that is about to be made: one is made after the other.
    pub(super) async fn room_for_run(
        &self,
        quotas: Quotas,
        store: &ScopedStore,
    ) -> Result<RoomForRun, Problem> {
        let Some(quota) = quotas.records else { return Ok(RoomForRun::default()) };
        let turn = Arc::clone(&self.of(store.organization()).making).lock_owned().await;
        let records = self.counted(store).await?;
        let left = quota.saturating_sub(records.count().used());
        if left == 0 {
            return Err(full(quota));
        }
        Ok(RoomForRun { left: Some(left), turn: Some((records, turn)) })
    }

    fn of(&self, organization: OrganizationId) -> Arc<Records> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(organization).or_default())
    }

    /// The count of an organization, made anew where it is old: by one, and whoever comes meanwhile believes the old one.
    async fn counted(&self, store: &ScopedStore) -> Result<Arc<Records>, Problem> {
        let records = self.of(store.organization());
        if records.count().is_believed() {
            return Ok(records);
        }
        let was_counted = records.count().believed_until.is_some();
        let counting = Arc::clone(&records);
        let turn = match counting.counting.try_lock() {
            Ok(turn) => turn,
            Err(_) if was_counted => return Ok(records),
            Err(_) => counting.counting.lock().await,
        };
        if !records.count().is_believed() {
            records.count().kept_meanwhile = 0;
            let began = Instant::now();
            let kept = store.records().await?;
            let mut count = records.count();
            count.kept = kept + count.kept_meanwhile;
            count.believed_until =
                Some(Instant::now() + BELIEVED.max(began.elapsed() * BELIEVED_TIMES));
        }
        drop(turn);
        Ok(records)
    }
}

impl Records {
    fn count(&self) -> MutexGuard<'_, Count> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Count {
    fn used(&self) -> u64 {
        self.kept + self.asked_for
    }

    fn is_believed(&self) -> bool {
        self.believed_until.is_some_and(|until| Instant::now() < until)
    }

    fn keep(&mut self, records: u64) {
        self.kept += records;
        self.kept_meanwhile += records;
    }
}

impl Place {
    /// It is taken from now on.
    pub(crate) fn keep(self) {
        if let Some(records) = &self.0 {
            records.count().keep(1);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(records) = &self.0 {
            records.count().asked_for -= 1;
        }
    }
}

impl RoomForRun {
    /// How many results the run may have; nothing for as many as it likes.
    pub(crate) fn left(&self) -> Option<u64> {
        self.left
    }

    /// It is taken from now on by a run with so many results.
    pub(crate) fn keep(self, results: u64) {
        if let Some((records, _turn)) = &self.turn {
            records.count().keep(results);
        }
    }
}

fn full(quota: u64) -> Problem {
    let detail = format!("{quota} results and documents may be kept, and there are as many");
    Problem::new(QUOTA, detail).hint(HINT)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use fullbench_store::{NewDocument, Store};
    use fullbench_types::DEFAULT_ORGANIZATION;
    use futures::future::join_all;
    use serde_json::Map;
    use uuid::Uuid;

    use super::*;

    const QUOTAS: fn(u64) -> Quotas =
        |records| Quotas { records: Some(records), ..Quotas::default() };

    async fn add_document(store: &ScopedStore) {
        let new = NewDocument {
            id: Uuid::now_v7(),
            input: None,
            actual_output: "a".to_owned(),
            expected_output: None,
            metadata: Map::new(),
            created_by: None,
        };
        store.create_document(new).await.unwrap();
    }

    #[tokio::test]
    async fn many_who_come_at_once_share_what_is_left() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path()).await.unwrap().scoped(DEFAULT_ORGANIZATION);
        add_document(&store).await;
        let counts = RecordCounts::default();
        let asked = join_all((0..20).map(|_| counts.place(QUOTAS(4), &store))).await;
        let places: Vec<Place> = asked.into_iter().filter_map(Result::ok).collect();
        assert_eq!(places.len(), 3, "one of four is taken");
        assert!(counts.room_for_run(QUOTAS(4), &store).await.is_err());
        drop(places);
        counts.place(QUOTAS(4), &store).await.unwrap().keep();
        assert_eq!(counts.used(&store).await.unwrap(), 2, "the others were given back");
        let room = counts.room_for_run(QUOTAS(4), &store).await.unwrap();
        assert_eq!(room.left(), Some(2));
        let next =
            tokio::time::timeout(Duration::from_millis(50), counts.room_for_run(QUOTAS(9), &store));
        assert!(next.await.is_err(), "one run after the other");
        room.keep(2);
        assert!(counts.place(QUOTAS(4), &store).await.is_err());
        let room = counts.room_for_run(QUOTAS(9), &store).await.unwrap();
        assert_eq!(room.left(), Some(5));
    }

    #[tokio::test]
    async fn what_is_asked_for_is_not_forgotten_when_it_is_counted_again() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path()).await.unwrap().scoped(DEFAULT_ORGANIZATION);
        let counts = RecordCounts::default();
        let waiting = counts.place(QUOTAS(2), &store).await.unwrap();
        add_document(&store).await;
        counts.of(DEFAULT_ORGANIZATION).count().believed_until = Some(Instant::now());
        assert!(counts.place(QUOTAS(2), &store).await.is_err());
        drop(waiting);
        assert!(counts.place(QUOTAS(2), &store).await.is_ok());
    }
}
