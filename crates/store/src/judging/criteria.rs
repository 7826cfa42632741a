//! Criteria: each revision is a row of its own, and judges keep the one they were made for.

use std::collections::HashSet;

use fullbench_types::{Criterion, Scale};
use jiff::Timestamp;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, Select,
};
use uuid::Uuid;

use super::{check_name, time};
use crate::entity::criterion;
use crate::limits::check_length;
use crate::runs::now_milliseconds;
use crate::{EntityKind, ScopedStore, StoreError};

/// Where a criterion comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CriterionSource {
    /// It comes with the program, and only a newer version of it makes a new revision.
    BuiltIn,
    /// A user added it.
    User,
}

impl CriterionSource {
    /// The stored word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built_in",
            Self::User => "user",
        }
    }
}

/// One revision of a criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CriterionRecord {
    /// The revision's id.
    pub id: Uuid,
    /// What it says.
    pub criterion: Criterion,
    /// 1 for the first; the highest revision of a name counts.
    pub revision: u32,
    /// Where it comes from.
    pub source: CriterionSource,
    /// When the first revision was made.
    pub created_at: Timestamp,
    /// When this revision was made.
    pub updated_at: Timestamp,
}

impl ScopedStore {
    /// Adds a criterion under a name that is free.
    pub async fn add_criterion(&self, new: &Criterion) -> Result<CriterionRecord, StoreError> {
        self.create_criterion(Uuid::now_v7(), new).await
    }

    /// As [`Self::add_criterion`] with an id for its first revision; the same id again gives what was added.
    pub async fn create_criterion(
        &self,
        id: Uuid,
        new: &Criterion,
    ) -> Result<CriterionRecord, StoreError> {
        let made = self.criterion_rows().filter(criterion::Column::Id.eq(id));
        if let Some(made) = made.one(&self.database).await? {
            return record(made);
        }
        let taken =
            || StoreError::NameTaken { kind: EntityKind::Criterion, name: new.name.clone() };
        match self.find_criterion(&new.name).await? {
            Some(_) => Err(taken()),
            None => self.insert_criterion(id, new, CriterionSource::User, None, taken).await,
        }
    }

    /// Makes a new revision of a user's criterion; the newest one as it is when nothing differs.
    pub async fn revise_criterion(&self, new: &Criterion) -> Result<CriterionRecord, StoreError> {
        self.revise_seen_criterion(new, None).await
    }

    /// As [`Self::revise_criterion`], if the newest revision is still the one that was seen.
    pub async fn revise_seen_criterion(
        &self,
        new: &Criterion,
        seen: Option<u32>,
    ) -> Result<CriterionRecord, StoreError> {
        let newest = self.criterion(&new.name).await?;
        if newest.source == CriterionSource::BuiltIn {
            return Err(StoreError::Immutable {
                kind: EntityKind::Criterion,
                name: new.name.clone(),
                reason: "it is built in",
            });
        }
        if seen.is_some_and(|seen| seen != newest.revision) {
            return Err(changed_meanwhile(&new.name));
        }
        self.succeed_criterion(new, newest).await
    }

    /// Takes over a criterion that comes with the program: adds it, or makes a new revision when a new version of the program
    /// says something else. A user's criterion of the same name stays as it is.
    pub async fn keep_built_in_criterion(
        &self,
        built_in: &Criterion,
    ) -> Result<CriterionRecord, StoreError> {
        let meanwhile = || changed_meanwhile(&built_in.name);
        match self.find_criterion(&built_in.name).await? {
            None => {
                let id = Uuid::now_v7();
                self.insert_criterion(id, built_in, CriterionSource::BuiltIn, None, meanwhile).await
            }
            Some(newest) if newest.source == CriterionSource::User => Ok(newest),
            Some(newest) => self.succeed_criterion(built_in, newest).await,
        }
    }

    /// The newest revision of a criterion.
    pub async fn criterion(&self, name: &str) -> Result<CriterionRecord, StoreError> {
        let missing =
            || StoreError::NameNotFound { kind: EntityKind::Criterion, name: name.to_owned() };
        self.find_criterion(name).await?.ok_or_else(missing)
    }

    /// The revision of a criterion that a judge was made for.
    pub async fn criterion_revision(
        &self,
        name: &str,
        revision: u32,
    ) -> Result<CriterionRecord, StoreError> {
        let row = self
            .criterion_rows()
            .filter(criterion::Column::Name.eq(name))
            .filter(criterion::Column::Revision.eq(revision as i32))
            .one(&self.database)
            .await?;
        record(row.ok_or_else(|| StoreError::NameNotFound {
            kind: EntityKind::Criterion,
            name: format!("{name}@{revision}"),
        })?)
    }

    /// All criteria by name, each in its newest revision.
    pub async fn criteria(&self) -> Result<Vec<CriterionRecord>, StoreError> {
        let mut rows = self.criterion_rows().all(&self.database).await?;
        rows.dedup_by(|later, before| later.name == before.name);
        rows.into_iter().map(record).collect()
    }

    /// All revisions of a criterion, the newest first.
    pub async fn criterion_history(&self, name: &str) -> Result<Vec<CriterionRecord>, StoreError> {
        self.criterion(name).await?;
        let rows = self.criterion_rows().filter(criterion::Column::Name.eq(name));
        rows.all(&self.database).await?.into_iter().map(record).collect()
    }

    async fn find_criterion(&self, name: &str) -> Result<Option<CriterionRecord>, StoreError> {
        let rows = self.criterion_rows().filter(criterion::Column::Name.eq(name));
        rows.one(&self.database).await?.map(record).transpose()
    }

    /// Rows by name, the newest revision of each first.
    fn criterion_rows(&self) -> Select<criterion::Entity> {
        criterion::Entity::find()
            .filter(criterion::Column::OrganizationId.eq(self.organization.0))
            .order_by_asc(criterion::Column::Name)
            .order_by_desc(criterion::Column::Revision)
    }

    async fn succeed_criterion(
        &self,
        new: &Criterion,
        newest: CriterionRecord,
    ) -> Result<CriterionRecord, StoreError> {
        if newest.criterion == *new {
            return Ok(newest);
        }
        let meanwhile = || changed_meanwhile(&new.name);
        let id = Uuid::now_v7();
        self.insert_criterion(id, new, newest.source, Some(&newest), meanwhile).await
    }

    async fn insert_criterion(
        &self,
        id: Uuid,
        new: &Criterion,
        source: CriterionSource,
        before: Option<&CriterionRecord>,
        taken: impl FnOnce() -> StoreError,
    ) -> Result<CriterionRecord, StoreError> {
        check(new)?;
        let now = now_milliseconds();
        let levels = serde_json::to_string(&new.levels)
            .map_err(|error| invalid(&new.name, error.to_string()))?;
        let row = criterion::ActiveModel {
            id: Set(id),
            organization_id: Set(self.organization.0),
            name: Set(new.name.clone()),
            revision: Set(before.map_or(1, |before| before.revision as i32 + 1)),
            task_introduction: Set(new.task_introduction.clone()),
            evaluation_criteria: Set(new.evaluation_criteria.clone()),
            min_score: Set(new.scale.min),
            max_score: Set(new.scale.max),
            levels: Set(levels.clone()),
            needs_reference: Set(new.needs_reference),
            needs_context: Set(new.needs_context),
            source: Set(source.as_str().to_owned()),
            created_at: Set(before.map_or(now, |before| before.created_at.as_millisecond())),
            updated_at: Set(now),
        };
        let said = [&new.task_introduction, &new.evaluation_criteria, &levels];
        check_length(EntityKind::Criterion, &said.map(|text| text.as_str()))?;
        let transaction = self.begin_adding().await?;
        let row = row.insert(&transaction).await.map_err(StoreError::when_taken(taken))?;
        self.check_count(EntityKind::Criterion, "criteria", &transaction).await?;
        transaction.commit().await?;
        record(row)
    }
}

fn changed_meanwhile(name: &str) -> StoreError {
    StoreError::ChangedMeanwhile { kind: EntityKind::Criterion, name: name.to_owned() }
}

fn invalid(name: &str, problem: impl Into<String>) -> StoreError {
    StoreError::CriterionInvalid { name: name.to_owned(), problem: problem.into() }
}

/// Refuses what no judge could apply.
fn check(criterion: &Criterion) -> Result<(), StoreError> {
    let Criterion { name, task_introduction, evaluation_criteria, scale, levels, .. } = criterion;
    check_name(EntityKind::Criterion, name)?;
    if task_introduction.trim().is_empty() {
        return Err(invalid(name, "`task_introduction` is empty"));
    }
    if evaluation_criteria.trim().is_empty() {
        return Err(invalid(name, "`evaluation_criteria` is empty"));
    }
    if scale.min >= scale.max {
        let problem = format!("its scale goes from {} to {}", scale.min, scale.max);
        return Err(invalid(name, problem));
    }
    let mut seen = HashSet::new();
    for level in levels {
        if !scale.contains(f64::from(level.score)) {
            return Err(invalid(name, format!("the level {} is not on its scale", level.score)));
        }
        if !seen.insert(level.score) {
            return Err(invalid(name, format!("the level {} is there twice", level.score)));
        }
    }
    Ok(())
}

fn record(row: criterion::Model) -> Result<CriterionRecord, StoreError> {
    let damaged = |what: &str| StoreError::Damaged(format!("criterion `{}`: {what}", row.name));
    let source = match row.source.as_str() {
        "built_in" => CriterionSource::BuiltIn,
        "user" => CriterionSource::User,
        _ => return Err(damaged("an unknown source")),
    };
    let levels = serde_json::from_str(&row.levels).map_err(|error| damaged(&error.to_string()))?;
    Ok(CriterionRecord {
        id: row.id,
        revision: row.revision as u32,
        source,
        created_at: time(row.created_at, &row.name)?,
        updated_at: time(row.updated_at, &row.name)?,
        criterion: Criterion {
            name: row.name,
            task_introduction: row.task_introduction,
            evaluation_criteria: row.evaluation_criteria,
            scale: Scale { min: row.min_score, max: row.max_score },
            levels,
            needs_reference: row.needs_reference,
            needs_context: row.needs_context,
        },
    })
}
