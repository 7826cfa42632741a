//! The end of a run on a server: its state, its numbers and the event that tells of it belong together.

use fullbench_types::{EventKind, RunId, RunState};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, TransactionTrait};
use serde_json::Value;

use crate::entity::run;
use crate::runs::{kept_notes, now_milliseconds};
use crate::sealed_text::catalogue::RUN_SUMMARY;
use crate::{NewEvent, RunRecord, ScopedStore, StoreError};

/// How a run ended.
#[derive(Debug, Clone)]
pub struct EndOfRun<'run> {
    /// Where it stands now.
    pub state: RunState,
    /// What the user should know.
    pub notes: &'run [String],
    /// The numbers of each score, if it has any.
    pub summary: Option<&'run Value>,
    /// The kind of event that tells of it.
    pub kind: EventKind,
    /// What the event says.
    pub told: Value,
}

impl ScopedStore {
    /// Notes that a run is to end, so that whoever takes it up after a kill ends it.
    pub async fn ask_to_cancel(&self, id: RunId) -> Result<(), StoreError> {
        run::Entity::update_many()
            .col_expr(run::Column::CancelAskedAt, Expr::value(now_milliseconds()))
            .filter(run::Column::Id.eq(id.0))
            .filter(run::Column::OrganizationId.eq(self.organization.0))
            .exec(&self.database)
            .await?;
        Ok(())
    }

    /// Keeps how a run ended, its numbers and the event that tells of it, all or nothing.
    pub async fn end_run(&self, id: RunId, end: EndOfRun<'_>) -> Result<RunRecord, StoreError> {
        let keeper = self.text_keeper().await?;
        let notes = kept_notes(&keeper, id, end.notes)?;
        let summary = end.summary.map(ToString::to_string);
        let summary = keeper.kept_some(&RUN_SUMMARY, &[&id.0], summary)?;
        let transaction = self.database.begin().await?;
        let now = now_milliseconds();
        let mut change = run::Entity::update_many()
            .col_expr(run::Column::State, Expr::value(end.state.as_str()))
            .col_expr(run::Column::Notes, Expr::value(notes))
            .col_expr(run::Column::UpdatedAt, Expr::value(now))
            .col_expr(run::Column::FinishedAt, Expr::value(now))
            .filter(run::Column::Id.eq(id.0))
            .filter(run::Column::OrganizationId.eq(self.organization.0));
        if let Some(summary) = summary {
            change = change.col_expr(run::Column::Summary, Expr::value(summary));
        }
        change.exec(&transaction).await?;
        let event = NewEvent { run: Some(id), kind: end.kind, data: end.told };
        let told = self.add_events_in(&transaction, &[event]).await?;
        transaction.commit().await?;
        self.events.tell(told);
        self.run(id).await
    }
}
