//! Removes runs with everything that is about them.

use std::collections::BTreeSet;

use sea_orm::{ConnectionTrait, DbBackend, Statement, TransactionTrait, Value};
use uuid::Uuid;

use super::Removed;
use super::catalogue::Owned;
use crate::connection::ScopedTransaction;
use crate::platform::lock_organization;
use crate::{ScopedStore, StoreError};

/// States of runs that are, or are about to be, worked on.
pub(crate) const OPEN: &str = "('pending', 'running')";

/// What removed rows pointed to, and what may be of no use any more.
#[derive(Debug, Default)]
pub(super) struct Leftover {
    /// Frozen data sets.
    pub(super) contents: BTreeSet<String>,
}

/// Values and their numbered places in a statement, after others.
pub(super) fn places(first: usize, count: usize) -> String {
    let places: Vec<String> = (first..first + count).map(|place| format!("${place}")).collect();
    places.join(", ")
}

impl ScopedStore {
    /// A transaction that looks for rows and then removes them.
    pub(super) async fn begin_removing(&self) -> Result<ScopedTransaction, StoreError> {
        let transaction = self.database.begin().await?;
        // One that reads first cannot write any more once a server has written.
        if transaction.get_database_backend() == DbBackend::Sqlite {
            lock_organization(&transaction, self.organization).await?;
        }
        Ok(transaction)
    }

    /// Removes these runs with all that is about them. What they were on is added to what may be left over.
    pub(super) async fn remove_runs_in(
        &self,
        transaction: &ScopedTransaction,
        tables: &[Owned],
        runs: &[Uuid],
        (removed, leftover): (&mut Removed, &mut Leftover),
    ) -> Result<(), StoreError> {
        if runs.is_empty() {
            return Ok(());
        }
        let mut values: Vec<Value> = vec![self.organization.0.into()];
        values.extend(runs.iter().map(|run| Value::from(*run)));
        let these = places(2, runs.len());
        let contents = format!(
            "SELECT DISTINCT dataset_hash FROM runs WHERE organization_id = $1 AND id IN ({these})"
        );
        let rows = transaction.query_all_raw(self.statement(contents, values.clone())).await?;
        for row in rows {
            leftover.contents.insert(row.try_get_by_index(0)?);
        }
        // What was judged alike is known by the cases of the answers.
        let judged = format!(
            "DELETE FROM judged_outputs WHERE organization_id = $1 AND case_key IN \
             (SELECT case_key FROM generations WHERE organization_id = $1 AND run_id IN ({these}))"
        );
        removed.add("judged_outputs", self.deleted(transaction, judged, values.clone()).await?);
        let is_about_runs =
            |owned: &&Owned| owned.table.name != "runs" && owned.table.place("run_id").is_some();
        for owned in tables.iter().rev().filter(is_about_runs) {
            let name = &owned.table.name;
            let sql = format!(
                "DELETE FROM \"{name}\" WHERE organization_id = $1 AND run_id IN ({these})"
            );
            removed.add(name, self.deleted(transaction, sql, values.clone()).await?);
        }
        let sql = format!("DELETE FROM runs WHERE organization_id = $1 AND id IN ({these})");
        removed.add("runs", self.deleted(transaction, sql, values).await?);
        Ok(())
    }

    /// Removes frozen data sets that no run and no version of the organization needs any more; gives their manifests.
    pub(super) async fn remove_contents_in(
        &self,
        transaction: &ScopedTransaction,
        leftover: &Leftover,
        removed: &mut Removed,
    ) -> Result<Vec<String>, StoreError> {
        let mut manifests = Vec::new();
        for content in &leftover.contents {
            let sql = "DELETE FROM dataset_contents WHERE organization_id = $1 AND content_hash = $2 \
                 AND NOT EXISTS (SELECT 1 FROM runs WHERE organization_id = $1 AND dataset_hash = $2) \
                 AND NOT EXISTS (SELECT 1 FROM dataset_versions \
                 WHERE organization_id = $1 AND content_hash = $2) RETURNING manifest";
            let values = vec![self.organization.0.into(), content.clone().into()];
            let rows = transaction.query_all_raw(self.statement(sql, values)).await?;
            removed.add("dataset_contents", rows.len() as u64);
            for row in rows {
                manifests.push(row.try_get_by_index(0)?);
            }
        }
        Ok(manifests)
    }

    /// Removes frozen data sets that no run and no version names, and that were last kept before a time; gives their manifests.
    pub(super) async fn remove_unnamed_contents(
        &self,
        before: i64,
        removed: &mut Removed,
    ) -> Result<Vec<String>, StoreError> {
        let unnamed = "SELECT content_hash FROM dataset_contents \
             WHERE organization_id = $1 AND created_at < $2 \
             EXCEPT SELECT dataset_hash FROM runs WHERE organization_id = $1 \
             EXCEPT SELECT content_hash FROM dataset_versions \
             WHERE organization_id = $1 AND content_hash IS NOT NULL";
        let values: Vec<Value> = vec![self.organization.0.into(), before.into()];
        // Nobody is kept from writing while it is looked for.
        let found = self.statement(format!("{unnamed} LIMIT 1"), values.clone());
        if self.database.query_one_raw(found).await?.is_none() {
            return Ok(Vec::new());
        }
        // The time is looked at again where somebody keeps one meanwhile.
        let sql = format!(
            "DELETE FROM dataset_contents WHERE organization_id = $1 AND created_at < $2 \
             AND content_hash IN ({unnamed}) RETURNING manifest"
        );
        let transaction = self.begin_removing().await?;
        let rows = transaction.query_all_raw(self.statement(sql, values)).await?;
        let manifests: Vec<String> =
            rows.iter().map(|row| row.try_get_by_index(0)).collect::<Result<_, _>>()?;
        transaction.commit().await?;
        removed.add("dataset_contents", manifests.len() as u64);
        Ok(manifests)
    }

    /// Executes a statement that removes rows, and says how many.
    pub(super) async fn deleted(
        &self,
        transaction: &impl ConnectionTrait,
        sql: impl Into<String>,
        values: Vec<Value>,
    ) -> Result<u64, StoreError> {
        let statement: Statement = self.statement(sql, values);
        Ok(transaction.execute_raw(statement).await?.rows_affected())
    }
}
