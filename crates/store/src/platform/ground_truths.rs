//! Agreed answers of cases: only ever added, numbered over their version, so that a run can say which it has seen.

use fullbench_types::GroundTruthSource;
use jiff::Timestamp;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder,
    TransactionTrait,
};
use serde_json::Value;
use uuid::Uuid;

use super::{from_json, time, word};
use crate::entity::platform::{dataset_version, ground_truth};
use crate::runs::now_milliseconds;
use crate::sealed_text::TextOpener;
use crate::sealed_text::catalogue::GROUND_TRUTH_VALUE;
use crate::{EntityKind, ScopedStore, StoreError};

/// An answer that is agreed on.
#[derive(Debug, Clone)]
pub struct NewGroundTruth {
    /// The id it gets.
    pub id: Uuid,
    /// The case.
    pub case: Uuid,
    /// An object with `answer`, `acceptable_answers` or `rubric`.
    pub value: Value,
    /// Who says so.
    pub source: GroundTruthSource,
    /// How sure they are, from 0 to 1.
    pub confidence: Option<f64>,
    /// Who stored it.
    pub created_by: Option<String>,
}

/// A stored agreed answer.
#[derive(Debug, Clone, PartialEq)]
pub struct GroundTruthRecord {
    /// Its id.
    pub id: Uuid,
    /// The case.
    pub case: Uuid,
    /// Its number in the version: the highest of a case counts.
    pub revision: u64,
    /// An object with `answer`, `acceptable_answers` or `rubric`.
    pub value: Value,
    /// Who says so.
    pub source: GroundTruthSource,
    /// How sure they are, from 0 to 1.
    pub confidence: Option<f64>,
    /// When it was stored.
    pub created_at: Timestamp,
    /// Who stored it.
    pub created_by: Option<String>,
}

impl ScopedStore {
    /// Adds an agreed answer to a case of a version. The same id again gives what was added.
    pub async fn add_ground_truth(
        &self,
        version: Uuid,
        new: NewGroundTruth,
    ) -> Result<GroundTruthRecord, StoreError> {
        self.case_record(version, new.case).await?;
        let made = ground_truth::Entity::find_by_id(new.id)
            .filter(ground_truth::Column::OrganizationId.eq(self.organization.0))
            .one(&self.database)
            .await?;
        if let Some(made) = made {
            return self.ground_truth_record(made).await;
        }
        let keeper = self.text_keeper().await?;
        let value = keeper.kept(&GROUND_TRUTH_VALUE, &[&new.id], new.value.to_string())?;
        let transaction = self.database.begin().await?;
        // Counting first also makes others wait their turn.
        let counted = dataset_version::Entity::update_many()
            .col_expr(
                dataset_version::Column::GroundTruthRevision,
                Expr::col(dataset_version::Column::GroundTruthRevision).add(1),
            )
            .filter(dataset_version::Column::Id.eq(version))
            .filter(dataset_version::Column::OrganizationId.eq(self.organization.0))
            .exec_with_returning(&transaction)
            .await?;
        let counted = counted.into_iter().next().ok_or_else(|| StoreError::NameNotFound {
            kind: EntityKind::DatasetVersion,
            name: version.to_string(),
        })?;
        let row = ground_truth::ActiveModel {
            id: Set(new.id),
            organization_id: Set(self.organization.0),
            version_id: Set(version),
            test_case_id: Set(new.case),
            revision: Set(counted.ground_truth_revision),
            value: Set(value),
            source: Set(new.source.as_str().to_owned()),
            confidence: Set(new.confidence),
            annotation_task_id: Set(None),
            created_at: Set(now_milliseconds()),
            created_by: Set(new.created_by),
        };
        let row = row.insert(&transaction).await?;
        let (kind, table) = (EntityKind::GroundTruth, "ground_truths");
        self.check_count_for(kind, table, new.case.into(), &transaction).await?;
        transaction.commit().await?;
        self.ground_truth_record(row).await
    }

    /// The agreed answers of a case, the one that counts first.
    pub async fn ground_truths(
        &self,
        version: Uuid,
        case: Uuid,
    ) -> Result<Vec<GroundTruthRecord>, StoreError> {
        self.case_record(version, case).await?;
        let rows = ground_truth::Entity::find()
            .filter(ground_truth::Column::OrganizationId.eq(self.organization.0))
            .filter(ground_truth::Column::TestCaseId.eq(case))
            .order_by_desc(ground_truth::Column::Revision)
            .all(&self.database)
            .await?;
        self.ground_truth_records(rows).await
    }

    /// All agreed answers of a version up to a revision, the oldest first.
    pub async fn ground_truths_until(
        &self,
        version: Uuid,
        revision: u64,
    ) -> Result<Vec<GroundTruthRecord>, StoreError> {
        let rows = ground_truth::Entity::find()
            .filter(ground_truth::Column::OrganizationId.eq(self.organization.0))
            .filter(ground_truth::Column::VersionId.eq(version))
            .filter(ground_truth::Column::Revision.lte(revision as i64))
            .order_by_asc(ground_truth::Column::Revision)
            .all(&self.database)
            .await?;
        self.ground_truth_records(rows).await
    }

    async fn ground_truth_record(
        &self,
        row: ground_truth::Model,
    ) -> Result<GroundTruthRecord, StoreError> {
        let opener = self.opener([row.value.as_str()]).await?;
        record(row, &opener)
    }

    async fn ground_truth_records(
        &self,
        rows: Vec<ground_truth::Model>,
    ) -> Result<Vec<GroundTruthRecord>, StoreError> {
        let opener = self.opener(rows.iter().map(|row| row.value.as_str())).await?;
        rows.into_iter().map(|row| record(row, &opener)).collect()
    }
}

fn record(row: ground_truth::Model, opener: &TextOpener) -> Result<GroundTruthRecord, StoreError> {
    let value = opener.open(&GROUND_TRUTH_VALUE, &[&row.id], row.value)?.whole()?;
    Ok(GroundTruthRecord {
        id: row.id,
        case: row.test_case_id,
        revision: row.revision as u64,
        value: from_json(&value)?,
        source: word(&row.source, GroundTruthSource::from_word)?,
        confidence: row.confidence,
        created_at: time(row.created_at)?,
        created_by: row.created_by,
    })
}
