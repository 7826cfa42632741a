//! Judges: made once, never changed. A change makes a successor, and the name then means that one.

use fullbench_types::{JudgeId, JudgeReference};
use jiff::Timestamp;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, Select,
};
use serde_json::Value;
use uuid::Uuid;

use super::{check_name, time};
use crate::entity::judge;
use crate::limits::check_length;
use crate::runs::now_milliseconds;
use crate::{EntityKind, ScopedStore, StoreError};

/// What a judge is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewJudge {
    /// Its name: lower-case letters, digits, `_`, `-` and `.`.
    pub name: String,
    /// The criterion it judges by, in its newest revision.
    pub criterion: String,
    /// How it judges: `g_eval`, `rubric`, …
    pub method: String,
    /// Who serves its model.
    pub provider: String,
    /// The provider's name of its model.
    pub model: String,
    /// How the model is reached; the same for all judges that ask it.
    pub model_config: Value,
    /// Temperature, samples and whatever else is the judge's own.
    pub parameters: Value,
    /// What it is for.
    pub description: Option<String>,
}

/// A stored judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeRecord {
    /// Its id.
    pub id: JudgeId,
    /// Its name, which its predecessors and successors have as well.
    pub name: String,
    /// 1 for the first of its name; the highest counts.
    pub revision: u32,
    /// The criterion it judges by.
    pub criterion: String,
    /// The revision of the criterion.
    pub criterion_revision: u32,
    /// How it judges.
    pub method: String,
    /// Who serves its model.
    pub provider: String,
    /// The provider's name of its model.
    pub model: String,
    /// Temperature, samples and whatever else is the judge's own.
    pub parameters: Value,
    /// What it is for.
    pub description: Option<String>,
    /// The judge it took the place of.
    pub predecessor: Option<JudgeId>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl JudgeRecord {
    /// The judge as its judgements name it.
    #[must_use]
    pub fn reference(&self) -> JudgeReference {
        JudgeReference { id: self.id, name: self.name.clone() }
    }
}

impl ScopedStore {
    /// Makes a judge under a name that is free.
    pub async fn add_judge(&self, new: &NewJudge) -> Result<JudgeRecord, StoreError> {
        self.create_judge(JudgeId(Uuid::now_v7()), new).await
    }

    /// As [`Self::add_judge`] with an id; the same id again gives what was made.
    pub async fn create_judge(
        &self,
        id: JudgeId,
        new: &NewJudge,
    ) -> Result<JudgeRecord, StoreError> {
        if let Some(made) = self.find_judge_of_id(id).await? {
            return Ok(made);
        }
        let taken = || StoreError::NameTaken { kind: EntityKind::Judge, name: new.name.clone() };
        match self.find_judge(&new.name).await? {
            Some(_) => Err(taken()),
            None => self.insert_judge(id, new, None, taken).await,
        }
    }

    /// Makes a successor of the judge of this name; the judge as it is when nothing differs, a newer revision of its criterion
    /// included.
    pub async fn succeed_judge(&self, new: &NewJudge) -> Result<JudgeRecord, StoreError> {
        let before = self.judge(&new.name).await?;
        self.create_successor(JudgeId(Uuid::now_v7()), new, before.id).await
    }

    /// As [`Self::succeed_judge`] with an id, of the judge that was seen as the newest; the same id again gives what was made.
    pub async fn create_successor(
        &self,
        id: JudgeId,
        new: &NewJudge,
        seen: JudgeId,
    ) -> Result<JudgeRecord, StoreError> {
        if let Some(made) = self.find_judge_of_id(id).await? {
            return Ok(made);
        }
        let before = self.judge(&new.name).await?;
        let meanwhile =
            || StoreError::ChangedMeanwhile { kind: EntityKind::Judge, name: new.name.clone() };
        if before.id != seen {
            return Err(meanwhile());
        }
        self.insert_judge(id, new, Some(before), meanwhile).await
    }

    /// The newest judge of this name.
    pub async fn judge(&self, name: &str) -> Result<JudgeRecord, StoreError> {
        let missing =
            || StoreError::NameNotFound { kind: EntityKind::Judge, name: name.to_owned() };
        self.find_judge(name).await?.ok_or_else(missing)
    }

    /// The judge of this id, whether or not it has a successor.
    pub async fn judge_of_id(&self, id: JudgeId) -> Result<JudgeRecord, StoreError> {
        let missing = || StoreError::NameNotFound { kind: EntityKind::Judge, name: id.to_string() };
        self.find_judge_of_id(id).await?.ok_or_else(missing)
    }

    /// All judges by name, the newest of each.
    pub async fn judges(&self) -> Result<Vec<JudgeRecord>, StoreError> {
        let mut rows = self.judge_rows().all(&self.database).await?;
        rows.dedup_by(|later, before| later.name == before.name);
        rows.into_iter().map(record).collect()
    }

    /// The judge of this name and all its predecessors, the newest first.
    pub async fn judge_history(&self, name: &str) -> Result<Vec<JudgeRecord>, StoreError> {
        let mut history = vec![self.judge(name).await?];
        while let Some(before) = history.last().and_then(|judge| judge.predecessor) {
            history.push(self.judge_of_id(before).await?);
        }
        Ok(history)
    }

    async fn find_judge_of_id(&self, id: JudgeId) -> Result<Option<JudgeRecord>, StoreError> {
        let rows = self.judge_rows().filter(judge::Column::Id.eq(id.0));
        rows.one(&self.database).await?.map(record).transpose()
    }

    async fn find_judge(&self, name: &str) -> Result<Option<JudgeRecord>, StoreError> {
        let rows = self.judge_rows().filter(judge::Column::Name.eq(name));
        rows.one(&self.database).await?.map(record).transpose()
    }

    /// Rows by name, the newest of each first.
    fn judge_rows(&self) -> Select<judge::Entity> {
        judge::Entity::find()
            .filter(judge::Column::OrganizationId.eq(self.organization.0))
            .order_by_asc(judge::Column::Name)
            .order_by_desc(judge::Column::Revision)
    }

    async fn insert_judge(
        &self,
        id: JudgeId,
        new: &NewJudge,
        before: Option<JudgeRecord>,
        taken: impl FnOnce() -> StoreError,
    ) -> Result<JudgeRecord, StoreError> {
        check_name(EntityKind::Judge, &new.name)?;
        check_name(EntityKind::Method, &new.method)?;
        let criterion = self.criterion(&new.criterion).await?;
        let row = judge::ActiveModel {
            id: Set(id.0),
            organization_id: Set(self.organization.0),
            name: Set(new.name.clone()),
            revision: Set(before.as_ref().map_or(1, |before| before.revision as i32 + 1)),
            criterion: Set(new.criterion.clone()),
            criterion_revision: Set(criterion.revision as i32),
            method: Set(new.method.clone()),
            provider: Set(new.provider.clone()),
            model: Set(new.model.clone()),
            parameters: Set(new.parameters.to_string()),
            description: Set(new.description.clone()),
            predecessor_id: Set(before.as_ref().map(|before| before.id.0)),
            created_at: Set(now_milliseconds()),
        };
        let transaction = self.begin_adding().await?;
        self.keep_parts(new, &transaction).await?;
        if let Some(before) = before.filter(|before| same(before, new, criterion.revision)) {
            return Ok(before);
        }
        let row = row.insert(&transaction).await.map_err(StoreError::when_taken(taken))?;
        let said = [row.parameters.as_str(), row.description.as_deref().unwrap_or_default()];
        check_length(EntityKind::Judge, &said)?;
        self.check_count(EntityKind::Judge, "judges", &transaction).await?;
        transaction.commit().await?;
        record(row)
    }
}

/// A judge made of this would be no other.
fn same(judge: &JudgeRecord, new: &NewJudge, criterion_revision: u32) -> bool {
    judge.criterion == new.criterion
        && judge.criterion_revision == criterion_revision
        && judge.method == new.method
        && judge.provider == new.provider
        && judge.model == new.model
        && judge.parameters == new.parameters
        && judge.description == new.description
}

fn record(row: judge::Model) -> Result<JudgeRecord, StoreError> {
    let parameters = serde_json::from_str(&row.parameters)
        .map_err(|error| StoreError::Damaged(format!("judge `{}`: {error}", row.name)))?;
    Ok(JudgeRecord {
        id: JudgeId(row.id),
        revision: row.revision as u32,
        criterion: row.criterion,
        criterion_revision: row.criterion_revision as u32,
        method: row.method,
        provider: row.provider,
        model: row.model,
        parameters,
        description: row.description,
        predecessor: row.predecessor_id.map(JudgeId),
        created_at: time(row.created_at, &row.name)?,
        name: row.name,
    })
}
