//! Evaluations of single answers: whole runs of one unit, many of them in one transaction.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};

use fullbench_types::{EventKind, Generation, NanoDollars, RunId, RunState, UnitKey};
use sea_orm::{TransactionTrait, Value};
use serde_json::json;

use super::{AddedEvents, NewEvent, refuse_erased, to_json, wait_briefly};
use crate::connection::ScopedTransaction;
use crate::insert::InsertMany;
use crate::patience::Patience;
use crate::runs::now_milliseconds;
use crate::sealed_text::TextKeeper;
use crate::sealed_text::catalogue::{CONTENT_MANIFEST, RUN_SPEC};
use crate::{
    CommitMark, DatasetVersion, GenerationRecord, LaneProgress, NewRun, ScopedStore, ScoreRecord,
    StoreError,
};

/// The only unit of such a run.
const UNIT: UnitKey = UnitKey { case_index: 0, model_index: 0, repetition: 0 };

const CONTENT_COLUMNS: &str =
    "organization_id, content_hash, source_hash, manifest, cases, created_at";
/// The same content again is kept once; what was sealed may be unreadable since. When it was last kept counts, so that it stays
/// until it is named.
const KEEP_CONTENT: &str = "ON CONFLICT (organization_id, content_hash) DO UPDATE \
    SET created_at = excluded.created_at, manifest = CASE \
    WHEN dataset_contents.manifest LIKE '%\"sealed:1:%' OR excluded.manifest LIKE '%\"sealed:1:%' \
    THEN excluded.manifest ELSE dataset_contents.manifest END";
const RUN_COLUMNS: &str = "id, organization_id, name, kind, state, spec, spec_hash, dataset_hash, \
    notes, planned_units, version, created_at, updated_at, finished_at, origin, priority, labels, \
    webhook_url, started_at, created_by, judge_id, document_id";

/// What one cost that is there already is more than what was paid here.
const ADD_SPENDING: &str = "ON CONFLICT (run_id, model_index) DO UPDATE \
    SET spent_nanodollars = run_progress.spent_nanodollars + excluded.spent_nanodollars";

/// A run of one unit whose answer is there, with the scores it has so far.
#[derive(Debug, Clone)]
pub struct SingleRun {
    /// The run.
    pub run: NewRun,
    /// Its case.
    pub content: DatasetVersion,
    /// Where it stands.
    pub state: RunState,
    /// The answer.
    pub generation: Generation,
    /// The scores.
    pub scores: Vec<ScoreRecord>,
    /// What was paid for scores that are still open.
    pub spent_on_open: NanoDollars,
}

impl SingleRun {
    /// What its scores cost, and those that it has not.
    #[must_use]
    pub fn spent(&self) -> NanoDollars {
        let scores = self.scores.iter().filter_map(|record| record.score.cost);
        scores.chain([self.spent_on_open]).sum()
    }

    fn case_key(&self) -> &str {
        self.content.inline.first().map_or("", |case| &case.key)
    }
}

/// The same ones in rounds, in none of which a run is twice, as it is where a request was sent again: PostgreSQL refuses a statement
/// that would touch a row for the second time.
fn rounds<'single>(singles: &[&'single SingleRun]) -> Vec<Vec<&'single SingleRun>> {
    let mut rounds = Vec::new();
    let mut rest = singles.to_vec();
    while !rest.is_empty() {
        let mut runs = HashSet::new();
        let (round, again) = rest.into_iter().partition(|single| runs.insert(single.run.id));
        rounds.push(round);
        rest = again;
    }
    rounds
}

impl ScopedStore {
    /// Keeps one that could not be kept a moment before, as soon as the store can be used, so that nothing is lost that was paid
    /// for; until it is told to give up. The mark says of which commit no word came.
    pub async fn record_single_insisting(
        &self,
        single: &SingleRun,
        mut mark: Option<CommitMark>,
        give_up: impl Future<Output = ()>,
    ) -> Result<(), StoreError> {
        let mut patience = Patience::new(single.run.id, give_up);
        loop {
            match self.record_single_again(single, &mut mark).await {
                Err(error) => patience.wait(error).await?,
                Ok(()) => return Ok(()),
            }
        }
    }

    /// Keeps one, unless the last try was committed and only the word of it got lost: nothing is paid twice.
    pub(crate) async fn record_single_again(
        &self,
        single: &SingleRun,
        mark: &mut Option<CommitMark>,
    ) -> Result<(), StoreError> {
        if self.was_committed(mark).await? {
            self.spending_was_kept_unheard(single.spent()).await;
            return Ok(());
        }
        self.record_singles(&[single], mark).await
    }

    /// Keeps such runs, each whole or not at all, and tells of those that are finished. Of one that is there already, made by
    /// another server for the same request sent again, only what it cost here is added. The mark is to be asked later whether they
    /// were kept, where no word of it came.
    pub async fn record_singles(
        &self,
        singles: &[&SingleRun],
        mark: &mut Option<CommitMark>,
    ) -> Result<(), StoreError> {
        let keeper = self.text_keeper().await?;
        let contents = self.contents(singles, &keeper)?;
        let transaction = self.database.begin().await?;
        wait_briefly(&transaction).await?;
        let insert = InsertMany {
            table: "dataset_contents",
            columns: CONTENT_COLUMNS,
            conflict: KEEP_CONTENT,
        };
        let values = |content: &Vec<Value>, values: &mut Vec<Value>| {
            values.extend_from_slice(content);
            Ok(())
        };
        insert.run(&transaction, &contents, values).await?;
        let rounds = rounds(singles);
        for round in &rounds {
            self.insert_singles(&transaction, &keeper, round).await?;
        }
        let spent: NanoDollars = singles.iter().map(|single| single.spent()).sum();
        let booked = self.add_spending_in(&transaction, spent).await?;
        refuse_erased(&transaction, self.organization).await?;
        let finished: Vec<RunId> = rounds
            .first()
            .into_iter()
            .flatten()
            .filter(|single| single.state == RunState::Completed)
            .map(|single| single.run.id)
            .collect();
        let mut told = AddedEvents::default();
        if !finished.is_empty() {
            let data = json!({ "evaluation_ids": finished });
            let event = NewEvent { run: None, kind: EventKind::EvaluationsCompleted, data };
            told = self.add_events_in(&transaction, &[event]).await?;
        }
        *mark = transaction.mark().await?;
        transaction.commit().await?;
        self.events.tell(told);
        self.spending_was_kept(booked).await;
        Ok(())
    }

    /// The rows of their contents, each once, since many answers are given to one question, and in an order that is the same
    /// for all who keep some.
    fn contents(
        &self,
        singles: &[&SingleRun],
        keeper: &TextKeeper,
    ) -> Result<Vec<Vec<Value>>, StoreError> {
        let now = now_milliseconds();
        let mut contents = BTreeMap::new();
        for single in singles {
            let Entry::Vacant(place) = contents.entry(single.content.hash.to_string()) else {
                continue;
            };
            let manifest = to_json(&*keeper.scrubber.content(&single.content))?;
            let manifest = keeper.kept(&CONTENT_MANIFEST, &[&single.content.hash], manifest)?;
            let hash = place.key().clone();
            let cases = single.content.cases as i64;
            place.insert(vec![
                self.organization.0.into(),
                hash.clone().into(),
                hash.into(),
                manifest.into(),
                cases.into(),
                now.into(),
            ]);
        }
        Ok(contents.into_values().collect())
    }

    /// Inserts the runs, answers, scores and lanes of some that are all different.
    async fn insert_singles(
        &self,
        transaction: &ScopedTransaction,
        keeper: &TextKeeper,
        singles: &[&SingleRun],
    ) -> Result<(), StoreError> {
        let now = now_milliseconds();
        let runs = InsertMany {
            table: "runs",
            columns: RUN_COLUMNS,
            conflict: "ON CONFLICT (id) DO NOTHING",
        };
        let values = |single: &&SingleRun, values: &mut Vec<Value>| {
            self.run_values(single, keeper, now, values)
        };
        runs.run(transaction, singles, values).await?;
        self.insert_generations(transaction, keeper, singles, |single| {
            let record = GenerationRecord {
                key: UNIT,
                case_key: single.case_key(),
                result: Ok(&single.generation),
            };
            (single.run.id, record)
        })
        .await?;
        let scores: Vec<(RunId, &ScoreRecord)> = singles
            .iter()
            .flat_map(|single| single.scores.iter().map(|score| (single.run.id, score)))
            .collect();
        self.insert_scores(transaction, keeper, &scores, |(run, score)| (*run, *score)).await?;
        let lane_of = |single: &&SingleRun| {
            let lane = LaneProgress {
                model_index: 0,
                watermark: u64::from(single.state == RunState::Completed),
                answered: 1,
                failed: 0,
                spent: single.spent(),
            };
            (single.run.id, lane)
        };
        self.insert_lanes(transaction, singles, ADD_SPENDING, lane_of).await
    }

    fn run_values(
        &self,
        single: &SingleRun,
        keeper: &TextKeeper,
        now: i64,
        values: &mut Vec<Value>,
    ) -> Result<(), StoreError> {
        let NewRun { id, name, kind, spec, dataset, planned_units, version, order } = &single.run;
        let finished = single.state == RunState::Completed;
        let started = single.state != RunState::Pending;
        values.extend([
            id.0.into(),
            self.organization.0.into(),
            name.clone().into(),
            kind.as_str().into(),
            single.state.as_str().into(),
            keeper.kept(&RUN_SPEC, &[&id.0], spec.clone())?.into(),
            fullbench_types::ContentHash::of(spec.as_bytes()).to_string().into(),
            dataset.to_string().into(),
            "[]".into(),
            (*planned_units as i64).into(),
            version.clone().into(),
            now.into(),
            now.into(),
            finished.then_some(now).into(),
            order.origin.as_str().into(),
            order.priority.as_str().into(),
            serde_json::Value::Object(order.labels.clone()).to_string().into(),
            order.webhook_url.clone().into(),
            started.then_some(now).into(),
            order.created_by.clone().into(),
            order.judge.map(|judge| judge.0).into(),
            order.document.into(),
        ]);
        Ok(())
    }
}
