//! Runs: create, find, list, change of state.

use fullbench_types::{
    ContentHash, JudgeId, OrganizationId, Priority, RunId, RunKind, RunOrigin, RunState,
};
use jiff::Timestamp;
use sea_orm::{
    ActiveModelTrait, ActiveValue, ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect, Select,
};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::entity::run;
use crate::sealed_text::catalogue::{RUN_NOTES, RUN_SPEC, RUN_SUMMARY};
use crate::sealed_text::{TextKeeper, TextOpener};
use crate::{Page, ScopedStore, Store, StoreError};

/// How a run was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOrder {
    /// What asked for it.
    pub origin: RunOrigin,
    /// How soon it should be done.
    pub priority: Priority,
    /// The version of a data set that it evaluates.
    pub dataset_version: Option<Uuid>,
    /// The run it is compared with.
    pub baseline: Option<RunId>,
    /// The experiment it is part of.
    pub experiment: Option<Uuid>,
    /// The variant of the experiment.
    pub variant: Option<Uuid>,
    /// What its maker wrote beside it.
    pub labels: Map<String, Value>,
    /// Who is told when it ends.
    pub webhook_url: Option<String>,
    /// Who asked for it.
    pub created_by: Option<String>,
    /// The judge of a run of one judgement.
    pub judge: Option<JudgeId>,
    /// The document that it judges.
    pub document: Option<Uuid>,
}

impl Default for RunOrder {
    fn default() -> Self {
        Self {
            origin: RunOrigin::CommandLine,
            priority: Priority::Normal,
            dataset_version: None,
            baseline: None,
            experiment: None,
            variant: None,
            labels: Map::new(),
            webhook_url: None,
            created_by: None,
            judge: None,
            document: None,
        }
    }
}

/// Which runs to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// In this state.
    pub state: Option<RunState>,
    /// For this purpose.
    pub kind: Option<RunKind>,
    /// Asked for by this.
    pub origin: Option<RunOrigin>,
    /// Of this version of a data set.
    pub dataset_version: Option<Uuid>,
    /// Part of this experiment.
    pub experiment: Option<Uuid>,
    /// Created after this time.
    pub created_after: Option<Timestamp>,
    /// Created before this time.
    pub created_before: Option<Timestamp>,
    /// Runs of one judgement only.
    pub is_judgement: bool,
    /// Judgements by one of these judges.
    pub judges: Option<Vec<JudgeId>>,
    /// Judgements of this document.
    pub document: Option<Uuid>,
}

/// What is known of a run when it is created.
#[derive(Debug, Clone)]
pub struct NewRun {
    /// The id it gets; the same id again gives what was created.
    pub id: RunId,
    /// The name in the evaluation file.
    pub name: String,
    /// What the run is for.
    pub kind: RunKind,
    /// The whole validated spec, as JSON.
    pub spec: String,
    /// Hash of the dataset version.
    pub dataset: ContentHash,
    /// Units of the plan.
    pub planned_units: u64,
    /// The version of fullbench that made it.
    pub version: String,
    /// How it was asked for.
    pub order: RunOrder,
}

/// A stored run.
#[derive(Debug, Clone)]
pub struct RunRecord {
    /// Its id.
    pub id: RunId,
    /// The name in the evaluation file.
    pub name: String,
    /// What it is for.
    pub kind: RunKind,
    /// Where it stands.
    pub state: RunState,
    /// The frozen spec, as JSON.
    pub spec: String,
    /// Hash of the frozen spec.
    pub spec_hash: ContentHash,
    /// Hash of the dataset version.
    pub dataset: ContentHash,
    /// What happened that the user should know: stopped at the budget, a bad key.
    pub notes: Vec<String>,
    /// Units of the plan.
    pub planned_units: u64,
    /// The version of fullbench that made it.
    pub version: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When its state last changed.
    pub updated_at: Timestamp,
    /// When it was first worked on.
    pub started_at: Option<Timestamp>,
    /// When the last unit ended, once it is not running.
    pub finished_at: Option<Timestamp>,
    /// How it was asked for.
    pub order: RunOrder,
    /// The numbers of each score, once it is not being worked on.
    pub summary: Option<Value>,
    /// Somebody asked for its end.
    pub is_cancel_asked: bool,
    /// Its prompts are gone with the key that they were sealed with: it has numbers, but it cannot go on.
    pub spec_deleted: bool,
    /// Its prompts or its notes are.
    pub texts_deleted: bool,
}

impl Store {
    /// Runs that a server has to work on, of all organizations, the oldest first.
    pub async fn runs_to_do(&self) -> Result<Vec<(OrganizationId, RunId, Priority)>, StoreError> {
        let open = [RunState::Pending, RunState::Running].map(RunState::as_str);
        let rows: Vec<(Uuid, Uuid, String)> = run::Entity::find()
            .filter(run::Column::State.is_in(open))
            .filter(run::Column::Origin.ne(RunOrigin::CommandLine.as_str()))
            .order_by_asc(run::Column::Id)
            .select_only()
            .columns([run::Column::OrganizationId, run::Column::Id, run::Column::Priority])
            .into_tuple()
            .all(self.system())
            .await?;
        let run = |(organization, id, priority): (Uuid, Uuid, String)| {
            let priority = Priority::from_word(&priority).unwrap_or(Priority::Normal);
            (OrganizationId(organization), RunId(id), priority)
        };
        Ok(rows.into_iter().map(run).collect())
    }
}

impl ScopedStore {
    /// Creates a run, pending.
    pub async fn create_run(&self, new: NewRun) -> Result<RunRecord, StoreError> {
        let made = self.run_rows().filter(run::Column::Id.eq(new.id.0)).one(&self.database).await?;
        if let Some(made) = made {
            return self.run_record(made).await;
        }
        let now = now_milliseconds();
        let spec_hash = ContentHash::of(new.spec.as_bytes());
        let keeper = self.text_keeper().await?;
        let row = run::ActiveModel {
            id: Set(new.id.0),
            organization_id: Set(self.organization.0),
            name: Set(new.name),
            kind: Set(new.kind.as_str().to_owned()),
            state: Set(RunState::Pending.as_str().to_owned()),
            spec: Set(keeper.kept(&RUN_SPEC, &[&new.id.0], new.spec)?),
            spec_hash: Set(spec_hash.to_string()),
            dataset_hash: Set(new.dataset.to_string()),
            notes: Set("[]".to_owned()),
            planned_units: Set(new.planned_units as i64),
            version: Set(new.version),
            created_at: Set(now),
            updated_at: Set(now),
            finished_at: Set(None),
            origin: Set(new.order.origin.as_str().to_owned()),
            priority: Set(new.order.priority.as_str().to_owned()),
            dataset_version_id: Set(new.order.dataset_version),
            baseline_run_id: Set(new.order.baseline.map(|run| run.0)),
            experiment_id: Set(new.order.experiment),
            variant_id: Set(new.order.variant),
            labels: Set(Value::Object(new.order.labels).to_string()),
            summary: Set(None),
            webhook_url: Set(new.order.webhook_url),
            started_at: Set(None),
            created_by: Set(new.order.created_by),
            judge_id: Set(new.order.judge.map(|judge| judge.0)),
            document_id: Set(new.order.document),
            cancel_asked_at: Set(None),
        };
        self.run_record(row.insert(&self.database).await?).await
    }

    /// The run of this id.
    pub async fn run(&self, id: RunId) -> Result<RunRecord, StoreError> {
        let found = self.run_rows().filter(run::Column::Id.eq(id.0)).one(&self.database).await?;
        self.run_record(found.ok_or_else(|| StoreError::RunNotFound(id.to_string()))?).await
    }

    /// The run a baseline of this name stands for; else the run whose id begins or ends with these letters, the newest of this
    /// name, or the newest of all for `latest`.
    pub async fn find_run(&self, wanted: &str) -> Result<RunRecord, StoreError> {
        match self.baseline(wanted).await {
            Ok(baseline) => self.run(baseline.run).await,
            Err(StoreError::BaselineNotFound(_)) => self.find_run_itself(wanted).await,
            Err(other) => Err(other),
        }
    }

    /// As [`Self::find_run`], but for baselines.
    pub(crate) async fn find_run_itself(&self, wanted: &str) -> Result<RunRecord, StoreError> {
        let runs = self.runs(None).await?;
        if wanted == "latest" {
            return runs
                .into_iter()
                .next()
                .ok_or_else(|| StoreError::RunNotFound(wanted.to_owned()));
        }
        let letters = wanted.to_ascii_lowercase();
        let matches: Vec<&RunRecord> = runs
            .iter()
            .filter(|run| {
                let id = run.id.to_string();
                letters.len() >= 4 && (id.starts_with(&letters) || id.ends_with(&letters))
            })
            .collect();
        match matches.as_slice() {
            [one] => Ok((*one).clone()),
            [] => runs
                .into_iter()
                .find(|run| run.name == wanted)
                .ok_or_else(|| StoreError::RunNotFound(wanted.to_owned())),
            several => {
                Err(StoreError::RunAmbiguous { prefix: wanted.to_owned(), count: several.len() })
            }
        }
    }

    /// Runs, newest first.
    pub async fn runs(&self, limit: Option<u64>) -> Result<Vec<RunRecord>, StoreError> {
        let rows =
            self.run_rows().order_by_desc(run::Column::Id).limit(limit).all(&self.database).await?;
        self.run_records(rows).await
    }

    /// Sets the state of a run; a state in which nobody works on it also sets when it finished.
    pub async fn set_run_state(
        &self,
        id: RunId,
        state: RunState,
        notes: &[String],
    ) -> Result<RunRecord, StoreError> {
        let before = self.run(id).await?;
        let now = now_milliseconds();
        let working = matches!(state, RunState::Pending | RunState::Running);
        let row = run::ActiveModel {
            id: Set(before.id.0),
            state: Set(state.as_str().to_owned()),
            notes: Set(kept_notes(&self.text_keeper().await?, id, notes)?),
            updated_at: Set(now),
            started_at: match before.started_at {
                None if state == RunState::Running => Set(Some(now)),
                _ => ActiveValue::NotSet,
            },
            finished_at: Set((!working).then_some(now)),
            // Those of before may be wrong now; who needs numbers reads them anew.
            summary: Set(None),
            ..Default::default()
        };
        self.run_record(row.update(&self.database).await?).await
    }

    /// Runs that match, the newest first, and how many there are.
    pub async fn find_runs(
        &self,
        filter: &RunFilter,
        page: Page,
    ) -> Result<(Vec<RunRecord>, u64), StoreError> {
        let mut rows = self.run_rows();
        if let Some(state) = filter.state {
            rows = rows.filter(run::Column::State.eq(state.as_str()));
        }
        if let Some(kind) = filter.kind {
            rows = rows.filter(run::Column::Kind.eq(kind.as_str()));
        }
        if let Some(origin) = filter.origin {
            rows = rows.filter(run::Column::Origin.eq(origin.as_str()));
        }
        if let Some(version) = filter.dataset_version {
            rows = rows.filter(run::Column::DatasetVersionId.eq(version));
        }
        if let Some(experiment) = filter.experiment {
            rows = rows.filter(run::Column::ExperimentId.eq(experiment));
        }
        if let Some(after) = filter.created_after {
            rows = rows.filter(run::Column::CreatedAt.gt(after.as_millisecond()));
        }
        if let Some(before) = filter.created_before {
            rows = rows.filter(run::Column::CreatedAt.lt(before.as_millisecond()));
        }
        if filter.is_judgement {
            rows = rows.filter(run::Column::JudgeId.is_not_null());
        }
        if let Some(judges) = &filter.judges {
            rows = rows.filter(run::Column::JudgeId.is_in(judges.iter().map(|judge| judge.0)));
        }
        if let Some(document) = filter.document {
            rows = rows.filter(run::Column::DocumentId.eq(document));
        }
        let total = rows.clone().count(&self.database).await?;
        let rows = rows
            .order_by_desc(run::Column::CreatedAt)
            .order_by_desc(run::Column::Id)
            .offset(page.offset)
            .limit(page.limit)
            .all(&self.database)
            .await?;
        Ok((self.run_records(rows).await?, total))
    }

    async fn run_record(&self, row: run::Model) -> Result<RunRecord, StoreError> {
        let opener = self.opener(texts(&row)).await?;
        record(row, &opener)
    }

    async fn run_records(&self, rows: Vec<run::Model>) -> Result<Vec<RunRecord>, StoreError> {
        let opener = self.opener(rows.iter().flat_map(texts)).await?;
        rows.into_iter().map(|row| record(row, &opener)).collect()
    }

    fn run_rows(&self) -> Select<run::Entity> {
        run::Entity::find().filter(run::Column::OrganizationId.eq(self.organization.0))
    }
}

/// What is to be known of a run, as it is kept.
pub(crate) fn kept_notes(
    keeper: &TextKeeper,
    id: RunId,
    notes: &[String],
) -> Result<String, StoreError> {
    let mut notes = serde_json::to_string(notes).unwrap_or_else(|_| "[]".to_owned());
    // They may repeat what a provider said.
    keeper.scrubber.change_json(&mut notes);
    keeper.kept(&RUN_NOTES, &[&id.0], notes)
}

fn texts(row: &run::Model) -> impl Iterator<Item = &str> {
    [&row.spec, &row.notes].into_iter().chain(&row.summary).map(String::as_str)
}

fn record(row: run::Model, opener: &TextOpener) -> Result<RunRecord, StoreError> {
    let spec = opener.open(&RUN_SPEC, &[&row.id], row.spec)?;
    let notes = opener.open(&RUN_NOTES, &[&row.id], row.notes)?;
    let summary = opener.open_some(&RUN_SUMMARY, &[&row.id], row.summary)?;
    let damaged = |what: &str| StoreError::Damaged(format!("run {}: {what}", row.id));
    let time = |milliseconds| {
        Timestamp::from_millisecond(milliseconds).map_err(|_| damaged("a time out of range"))
    };
    let json = |text: &str| {
        serde_json::from_str::<Value>(text).map_err(|error| damaged(&error.to_string()))
    };
    Ok(RunRecord {
        id: RunId(row.id),
        state: RunState::from_word(&row.state).ok_or_else(|| damaged("an unknown state"))?,
        spec_hash: row.spec_hash.parse().map_err(|error: String| damaged(&error))?,
        dataset: row.dataset_hash.parse().map_err(|error: String| damaged(&error))?,
        notes: serde_json::from_str(&notes.text).map_err(|error| damaged(&error.to_string()))?,
        planned_units: row.planned_units as u64,
        created_at: time(row.created_at)?,
        updated_at: time(row.updated_at)?,
        started_at: row.started_at.map(time).transpose()?,
        finished_at: row.finished_at.map(time).transpose()?,
        kind: RunKind::from_word(&row.kind).ok_or_else(|| damaged("an unknown kind"))?,
        summary: summary.map(|summary| json(&summary.text)).transpose()?,
        order: RunOrder {
            origin: RunOrigin::from_word(&row.origin)
                .ok_or_else(|| damaged("an unknown origin"))?,
            priority: Priority::from_word(&row.priority)
                .ok_or_else(|| damaged("an unknown priority"))?,
            dataset_version: row.dataset_version_id,
            baseline: row.baseline_run_id.map(RunId),
            experiment: row.experiment_id,
            variant: row.variant_id,
            labels: json(&row.labels)?.as_object().cloned().unwrap_or_default(),
            webhook_url: row.webhook_url,
            created_by: row.created_by,
            judge: row.judge_id.map(JudgeId),
            document: row.document_id,
        },
        is_cancel_asked: row.cancel_asked_at.is_some(),
        name: row.name,
        spec: spec.text,
        spec_deleted: spec.is_deleted,
        texts_deleted: spec.is_deleted || notes.is_deleted,
        version: row.version,
    })
}

/// Milliseconds since 1970, UTC.
pub(crate) fn now_milliseconds() -> i64 {
    Timestamp::now().as_millisecond()
}
