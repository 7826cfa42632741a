//! Thresholds: the pass mark of a criterion and all it ever was.

use jiff::Timestamp;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, Select,
};
use uuid::Uuid;

use super::time;
use crate::entity::threshold;
use crate::runs::now_milliseconds;
use crate::{EntityKind, ScopedStore, StoreError};

/// A pass mark of a criterion.
#[derive(Debug, Clone, PartialEq)]
pub struct ThresholdRecord {
    /// Its id.
    pub id: Uuid,
    /// The criterion's name.
    pub criterion: String,
    /// The revision that counted when it was set; it holds for later ones as well.
    pub criterion_revision: u32,
    /// The mark, from 0 to 1.
    pub score: f64,
    /// Why it was set.
    pub note: Option<String>,
    /// From when on it held.
    pub set_at: Timestamp,
}

impl ScopedStore {
    /// Sets the pass mark of a criterion from now on.
    pub async fn set_threshold(
        &self,
        criterion: &str,
        score: f64,
        note: Option<&str>,
    ) -> Result<ThresholdRecord, StoreError> {
        self.create_threshold(Uuid::now_v7(), criterion, score, note).await
    }

    /// As [`Self::set_threshold`] with an id; the same id again gives what was set.
    pub async fn create_threshold(
        &self,
        id: Uuid,
        criterion: &str,
        score: f64,
        note: Option<&str>,
    ) -> Result<ThresholdRecord, StoreError> {
        let set = self.threshold_rows(criterion).filter(threshold::Column::Id.eq(id));
        if let Some(set) = set.one(&self.database).await? {
            return record(set);
        }
        if !(0.0..=1.0).contains(&score) {
            return Err(StoreError::ThresholdInvalid(score));
        }
        let criterion = self.criterion(criterion).await?;
        let row = threshold::ActiveModel {
            id: Set(id),
            organization_id: Set(self.organization.0),
            criterion: Set(criterion.criterion.name),
            criterion_revision: Set(criterion.revision as i32),
            score: Set(score),
            note: Set(note.map(str::to_owned)),
            created_at: Set(now_milliseconds()),
        };
        let transaction = self.begin_adding().await?;
        let row = row.insert(&transaction).await?;
        self.check_count(EntityKind::Threshold, "thresholds", &transaction).await?;
        transaction.commit().await?;
        record(row)
    }

    /// The pass mark that holds now; none where none was ever set.
    pub async fn threshold(&self, criterion: &str) -> Result<Option<ThresholdRecord>, StoreError> {
        let newest = self.threshold_rows(criterion).one(&self.database).await?;
        newest.map(record).transpose()
    }

    /// The pass mark that held at a time; none before the first was set.
    pub async fn threshold_at(
        &self,
        criterion: &str,
        at: Timestamp,
    ) -> Result<Option<ThresholdRecord>, StoreError> {
        let then = self
            .threshold_rows(criterion)
            .filter(threshold::Column::CreatedAt.lte(at.as_millisecond()));
        then.one(&self.database).await?.map(record).transpose()
    }

    /// Every pass mark a criterion had, the newest first.
    pub async fn threshold_history(
        &self,
        criterion: &str,
    ) -> Result<Vec<ThresholdRecord>, StoreError> {
        self.criterion(criterion).await?;
        let rows = self.threshold_rows(criterion).all(&self.database).await?;
        rows.into_iter().map(record).collect()
    }

    fn threshold_rows(&self, criterion: &str) -> Select<threshold::Entity> {
        threshold::Entity::find()
            .filter(threshold::Column::OrganizationId.eq(self.organization.0))
            .filter(threshold::Column::Criterion.eq(criterion))
            .order_by_desc(threshold::Column::CreatedAt)
            .order_by_desc(threshold::Column::Id)
    }
}

fn record(row: threshold::Model) -> Result<ThresholdRecord, StoreError> {
    Ok(ThresholdRecord {
        id: row.id,
        set_at: time(row.created_at, "a threshold")?,
        criterion: row.criterion,
        criterion_revision: row.criterion_revision as u32,
        score: row.score,
        note: row.note,
    })
}
