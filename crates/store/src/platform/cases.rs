//! Cases of a version as rows, for looking at them; runs read the frozen blocks.

use std::collections::HashMap;

use jiff::Timestamp;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder,
    QuerySelect, Select,
};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{from_json, time, to_json};
use crate::entity::platform::test_case;
use crate::runs::now_milliseconds;
use crate::sealed_text::catalogue::{CASE_EXPECTED, CASE_INPUT, CASE_METADATA};
use crate::sealed_text::{Opened, RowKey, TextOpener};
use crate::{EntityKind, ScopedStore, StoreError};

/// A row that is a case.
#[derive(Debug, Clone)]
pub struct NewCase {
    /// Its position in the file, counted from 0.
    pub row: u64,
    /// Its identity across versions.
    pub key: String,
    /// The input.
    pub input: Value,
    /// The expected output.
    pub expected_output: Option<String>,
    /// Everything else.
    pub metadata: Map<String, Value>,
}

/// A case of a version.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseRecord {
    /// Its id.
    pub id: Uuid,
    /// The version.
    pub version: Uuid,
    /// Its position in the file, counted from 0.
    pub row: u64,
    /// Its identity across versions.
    pub key: String,
    /// The input.
    pub input: Value,
    /// The expected output.
    pub expected_output: Option<String>,
    /// Everything else.
    pub metadata: Map<String, Value>,
    /// When it was stored.
    pub created_at: Timestamp,
}

impl ScopedStore {
    /// Adds cases to a version that is being looked through.
    pub async fn add_cases(&self, version: Uuid, cases: &[NewCase]) -> Result<(), StoreError> {
        let now = now_milliseconds();
        let keeper = self.text_keeper().await?;
        let mut rows = Vec::with_capacity(cases.len());
        for case in cases {
            let id = Uuid::now_v7();
            let key: RowKey<'_> = &[&id];
            let expected_output = case.expected_output.clone();
            rows.push(test_case::ActiveModel {
                id: Set(id),
                organization_id: Set(self.organization.0),
                version_id: Set(version),
                row_index: Set(case.row as i64),
                case_key: Set(case.key.clone()),
                input: Set(keeper.kept(&CASE_INPUT, key, case.input.to_string())?),
                expected_output: Set(keeper.kept_some(&CASE_EXPECTED, key, expected_output)?),
                metadata: Set(keeper.kept(&CASE_METADATA, key, to_json(&case.metadata)?)?),
                created_at: Set(now),
            });
        }
        if !rows.is_empty() {
            test_case::Entity::insert_many(rows).exec_without_returning(&self.database).await?;
        }
        Ok(())
    }

    /// Forgets the cases of a version, so that it can be looked through again.
    pub async fn clear_cases(&self, version: Uuid) -> Result<(), StoreError> {
        test_case::Entity::delete_many()
            .filter(test_case::Column::OrganizationId.eq(self.organization.0))
            .filter(test_case::Column::VersionId.eq(version))
            .exec(&self.database)
            .await?;
        Ok(())
    }

    /// How many cases a version has.
    pub async fn case_count(&self, version: Uuid) -> Result<u64, StoreError> {
        Ok(self.case_rows(version).count(&self.database).await?)
    }

    /// Cases from a row on, in order.
    pub async fn cases_from(
        &self,
        version: Uuid,
        row: u64,
        limit: u64,
    ) -> Result<Vec<CaseRecord>, StoreError> {
        let rows = self
            .case_rows(version)
            .filter(test_case::Column::RowIndex.gte(i64::try_from(row).unwrap_or(i64::MAX)))
            .order_by_asc(test_case::Column::RowIndex)
            .limit(limit)
            .all(&self.database)
            .await?;
        self.case_records(rows).await
    }

    /// The metadata of cases from a row on, in order: what a filter looks at.
    pub async fn case_metadata_from(
        &self,
        version: Uuid,
        row: u64,
        limit: u64,
    ) -> Result<Vec<(u64, Map<String, Value>)>, StoreError> {
        let rows: Vec<(Uuid, i64, String)> = self
            .case_rows(version)
            .filter(test_case::Column::RowIndex.gte(i64::try_from(row).unwrap_or(i64::MAX)))
            .order_by_asc(test_case::Column::RowIndex)
            .limit(limit)
            .select_only()
            .column(test_case::Column::Id)
            .column(test_case::Column::RowIndex)
            .column(test_case::Column::Metadata)
            .into_tuple()
            .all(&self.database)
            .await?;
        let opener = self.opener(rows.iter().map(|(_, _, json)| json.as_str())).await?;
        let metadata = rows.into_iter().map(|(id, row, json)| {
            let json = opener.open(&CASE_METADATA, &[&id], json)?.whole()?;
            Ok((row as u64, from_json(&json)?))
        });
        metadata.collect()
    }

    /// The cases at these rows, in order of their rows.
    pub async fn cases_at(
        &self,
        version: Uuid,
        rows: &[u64],
    ) -> Result<Vec<CaseRecord>, StoreError> {
        let mut cases = Vec::with_capacity(rows.len());
        // A statement has room for so many values only.
        for some in rows.chunks(500) {
            let found = self
                .case_rows(version)
                .filter(test_case::Column::RowIndex.is_in(some.iter().map(|row| *row as i64)))
                .order_by_asc(test_case::Column::RowIndex)
                .all(&self.database)
                .await?;
            cases.extend(self.case_records(found).await?);
        }
        Ok(cases)
    }

    /// The case of this id.
    pub async fn case_record(&self, version: Uuid, id: Uuid) -> Result<CaseRecord, StoreError> {
        let row = self
            .case_rows(version)
            .filter(test_case::Column::Id.eq(id))
            .one(&self.database)
            .await?;
        let kind = EntityKind::TestCase;
        let row = row.ok_or_else(|| StoreError::NameNotFound { kind, name: id.to_string() })?;
        let opener = self.opener(texts(&row)).await?;
        record(row, &opener)
    }

    /// Where cases stand, by their ids.
    pub async fn case_positions(
        &self,
        version: Uuid,
        ids: &[Uuid],
    ) -> Result<HashMap<Uuid, u64>, StoreError> {
        let mut positions = HashMap::with_capacity(ids.len());
        for some in ids.chunks(500) {
            let found: Vec<(Uuid, i64)> = self
                .case_rows(version)
                .filter(test_case::Column::Id.is_in(some.iter().copied()))
                .select_only()
                .column(test_case::Column::Id)
                .column(test_case::Column::RowIndex)
                .into_tuple()
                .all(&self.database)
                .await?;
            positions.extend(found.into_iter().map(|(id, row)| (id, row as u64)));
        }
        Ok(positions)
    }

    async fn case_records(
        &self,
        rows: Vec<test_case::Model>,
    ) -> Result<Vec<CaseRecord>, StoreError> {
        let opener = self.opener(rows.iter().flat_map(texts)).await?;
        rows.into_iter().map(|row| record(row, &opener)).collect()
    }

    fn case_rows(&self, version: Uuid) -> Select<test_case::Entity> {
        test_case::Entity::find()
            .filter(test_case::Column::OrganizationId.eq(self.organization.0))
            .filter(test_case::Column::VersionId.eq(version))
    }
}

fn texts(row: &test_case::Model) -> impl Iterator<Item = &str> {
    [&row.input, &row.metadata].into_iter().chain(&row.expected_output).map(String::as_str)
}

fn record(row: test_case::Model, opener: &TextOpener) -> Result<CaseRecord, StoreError> {
    let key: RowKey<'_> = &[&row.id];
    let expected_output = opener.open_some(&CASE_EXPECTED, key, row.expected_output)?;
    Ok(CaseRecord {
        id: row.id,
        version: row.version_id,
        row: row.row_index as u64,
        input: from_json(&opener.open(&CASE_INPUT, key, row.input)?.whole()?)?,
        metadata: from_json(&opener.open(&CASE_METADATA, key, row.metadata)?.whole()?)?,
        created_at: time(row.created_at)?,
        key: row.case_key,
        expected_output: expected_output.map(Opened::whole).transpose()?,
    })
}
