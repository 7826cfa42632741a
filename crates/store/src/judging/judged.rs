//! Judged outputs that may stand for others which say the same.

use fullbench_types::{ContentHash, NanoDollars, Score};
use sea_orm::sea_query::OnConflict;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder};

use crate::entity::judged_output::{ActiveModel, Column, Entity};
use crate::runs::now_milliseconds;
use crate::{ScopedStore, StoreError};

/// A judged output as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedRecord {
    /// The case it answers.
    pub case_key: String,
    /// What was asked.
    pub input: String,
    /// The output.
    pub output: String,
    /// Its embedding.
    pub vector: Vec<f32>,
    /// The score.
    pub score: Score,
    /// What it cost.
    pub full_cost: Option<NanoDollars>,
}

impl ScopedStore {
    /// The judged outputs of a space, the oldest first.
    pub async fn judged_outputs(
        &self,
        space: &ContentHash,
    ) -> Result<Vec<JudgedRecord>, StoreError> {
        let rows = Entity::find()
            .filter(Column::OrganizationId.eq(self.organization.0))
            .filter(Column::Space.eq(space.to_string()))
            .order_by_asc(Column::CreatedAt)
            .order_by_asc(Column::Key)
            .all(&self.database)
            .await?;
        let damaged =
            |error: serde_json::Error| StoreError::Damaged(format!("a judged output: {error}"));
        let record = |row: crate::entity::judged_output::Model| {
            Ok(JudgedRecord {
                case_key: row.case_key,
                input: row.input,
                output: row.output,
                vector: numbers(&row.vector),
                score: serde_json::from_str(&row.score).map_err(damaged)?,
                full_cost: row.full_cost_nanodollars.map(NanoDollars),
            })
        };
        rows.into_iter().map(record).collect()
    }

    /// Keeps a judged output; the same input and output in the same space are kept once. An organization that wants no copies of
    /// texts has none of these.
    pub async fn keep_judged_output(
        &self,
        space: &ContentHash,
        judged: &JudgedRecord,
    ) -> Result<(), StoreError> {
        if self.keeps_no_copies().await? {
            return Ok(());
        }
        let key = ContentHash::of_parts(&[judged.input.as_bytes(), judged.output.as_bytes()]);
        let score = serde_json::to_string(&judged.score)
            .map_err(|error| StoreError::Damaged(format!("a score that is no JSON: {error}")))?;
        let row = ActiveModel {
            organization_id: Set(self.organization.0),
            space: Set(space.to_string()),
            key: Set(key.to_string()),
            case_key: Set(judged.case_key.clone()),
            input: Set(judged.input.clone()),
            output: Set(judged.output.clone()),
            vector: Set(judged.vector.iter().flat_map(|number| number.to_le_bytes()).collect()),
            score: Set(score),
            full_cost_nanodollars: Set(judged.full_cost.map(|cost| cost.0)),
            created_at: Set(now_milliseconds()),
        };
        let columns = [Column::OrganizationId, Column::Space, Column::Key];
        Entity::insert(row)
            .on_conflict(OnConflict::columns(columns).do_nothing().to_owned())
            .exec_without_returning(&self.database)
            .await?;
        Ok(())
    }
}

fn numbers(bytes: &[u8]) -> Vec<f32> {
    let numbers = bytes.chunks_exact(4).filter_map(|bytes| bytes.try_into().ok());
    numbers.map(f32::from_le_bytes).collect()
}
