//! What happens to every table: how long its rows stay, and what of them an organization takes along.

use std::time::Duration;

use crate::schema::{Schema, Table};
use crate::{StoreError, migration};

/// For how long rows stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stays {
    /// Until somebody removes them, or the organization goes.
    Always,
    /// As long as the run they are about.
    WithRun,
    /// As long as the organization keeps its data, counted from this time of theirs.
    Since(&'static str),
    /// The same, but never longer than this, whatever the organization has said.
    SinceAtMost(&'static str, Duration),
    /// As long as a run or a version needs them.
    WhileUsed,
    /// As long as what they point to, with which the database removes them.
    WithParent,
}

/// What of the rows is taken along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// Everything.
    Whole,
    /// All but these columns, which are secrets or say nothing elsewhere.
    Without(&'static [&'static str]),
    /// Nothing, for this reason.
    Not(&'static str),
}

/// A table, for how long its rows stay, and what of them is taken along.
type Entry = (&'static str, Stays, Taken);

/// For how long rows stay that only tell what happened, or can be made again.
const HAPPENED: Duration = Duration::from_secs(90 * 86_400);
/// For how long the answer of a request with a key is kept.
const REQUEST_KEYS: Duration = Duration::from_secs(86_400);

const SECRET: &str = "it opens something here, and nothing elsewhere";

/// All tables.
const TABLES: &[Entry] = &[
    ("organizations", Stays::Always, Taken::Whole),
    (
        "users",
        Stays::Always,
        Taken::Without(&["password_hash", "password_set_at", "totp_secret", "totp_last_step"]),
    ),
    ("api_keys", Stays::Always, Taken::Without(&["hash", "last_used_at"])),
    ("sessions", Stays::Since("last_seen_at"), Taken::Not(SECRET)),
    ("invitations", Stays::SinceAtMost("created_at", HAPPENED), Taken::Without(&["token_hash"])),
    ("password_resets", Stays::SinceAtMost("created_at", HAPPENED), Taken::Not(SECRET)),
    ("recovery_codes", Stays::Always, Taken::Not(SECRET)),
    ("sign_in_failures", Stays::Always, Taken::Not("it belongs to no organization")),
    ("audit_entries", Stays::Always, Taken::Not("it has an export of its own")),
    ("audit_heads", Stays::Always, Taken::Not("it has an export of its own")),
    ("organization_keys", Stays::Always, Taken::Not(SECRET)),
    ("provider_keys", Stays::Always, Taken::Without(&["sealed", "last_used_at"])),
    ("spending", Stays::Always, Taken::Whole),
    (
        "idempotency_keys",
        Stays::SinceAtMost("created_at", REQUEST_KEYS),
        Taken::Not("it is about requests, not data"),
    ),
    ("events", Stays::SinceAtMost("created_at", HAPPENED), Taken::Whole),
    ("webhooks", Stays::Always, Taken::Whole),
    ("webhook_deliveries", Stays::SinceAtMost("created_at", HAPPENED), Taken::Whole),
    ("webhook_attempts", Stays::WithParent, Taken::Whole),
    ("alert_rules", Stays::Always, Taken::Without(&["slack_sealed"])),
    ("alert_notifications", Stays::SinceAtMost("created_at", HAPPENED), Taken::Whole),
    ("datasets", Stays::Always, Taken::Whole),
    ("dataset_versions", Stays::Always, Taken::Whole),
    ("dataset_contents", Stays::WhileUsed, Taken::Whole),
    ("test_cases", Stays::Always, Taken::Whole),
    ("ground_truths", Stays::Always, Taken::Whole),
    ("criteria", Stays::Always, Taken::Whole),
    ("thresholds", Stays::Always, Taken::Whole),
    ("methods", Stays::Always, Taken::Whole),
    ("models", Stays::Always, Taken::Whole),
    ("judges", Stays::Always, Taken::Whole),
    ("prompts", Stays::Always, Taken::Whole),
    ("prompt_versions", Stays::Always, Taken::Whole),
    // Without them the same judge would judge differently from then on.
    ("evaluation_steps", Stays::Always, Taken::Whole),
    ("documents", Stays::Since("created_at"), Taken::Whole),
    ("judged_outputs", Stays::SinceAtMost("created_at", HAPPENED), Taken::Whole),
    ("runs", Stays::Since("updated_at"), Taken::Whole),
    ("baselines", Stays::WithRun, Taken::Whole),
    ("run_progress", Stays::WithRun, Taken::Whole),
    ("run_scorers", Stays::WithRun, Taken::Whole),
    ("provider_batches", Stays::WithRun, Taken::Whole),
    ("generations", Stays::WithRun, Taken::Whole),
    ("scores", Stays::WithRun, Taken::Whole),
];

/// A table of the database with what happens to it.
pub(crate) struct Owned {
    pub(crate) table: Table,
    pub(crate) stays: Stays,
    pub(crate) taken: Taken,
}

impl Owned {
    /// The column that says whose a row is.
    pub(crate) fn owner(&self) -> Option<&'static str> {
        match self.table.name.as_str() {
            "organizations" => Some("id"),
            _ => self.table.place("organization_id").map(|_| "organization_id"),
        }
    }
}

/// All tables, those that others point to first.
pub(crate) async fn tables() -> Result<Vec<Owned>, StoreError> {
    let schema = Schema::after(migration::known().len()).await?;
    schema.tables.into_iter().map(owned).collect()
}

fn owned(table: Table) -> Result<Owned, StoreError> {
    let found = TABLES.iter().find(|(name, ..)| *name == table.name);
    let unknown = || StoreError::Damaged(format!("nobody says what becomes of {}", table.name));
    let (_, stays, taken) = *found.ok_or_else(unknown)?;
    Ok(Owned { table, stays, taken })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[tokio::test]
    async fn every_table_says_what_becomes_of_it() {
        let tables = tables().await.unwrap();
        assert_eq!(tables.len(), TABLES.len(), "a table of the list is not there any more");
        for owned in &tables {
            let Owned { table, stays, taken } = owned;
            let name = &table.name;
            let has = |column: &str| table.place(column).is_some();
            match stays {
                Stays::Since(column) | Stays::SinceAtMost(column, _) => {
                    assert!(has(column), "{name} has no {column}");
                }
                Stays::WithRun => assert!(has("run_id"), "{name} has no run_id"),
                Stays::Always | Stays::WhileUsed | Stays::WithParent => {}
            }
            if let Taken::Without(columns) = taken {
                assert!(columns.iter().all(|column| has(column)), "{name}");
            }
            // Secrets have telling names.
            for column in table.columns.iter().map(|column| column.name.as_str()) {
                let is_secret = ["password", "secret", "token", "sealed"].iter().any(|word| {
                    column.contains(word)
                        && !column.contains("token_us")
                        && !column.contains("_tokens")
                });
                let is_left_out = match taken {
                    Taken::Whole => ["secret_number", "secret_changed_at"].contains(&column),
                    Taken::Without(columns) => {
                        columns.contains(&column) || column == "totp_confirmed_at"
                    }
                    Taken::Not(_) => true,
                };
                assert!(!is_secret || is_left_out, "{name}.{column} would be taken along");
            }
            assert!(owned.owner().is_some() || name == "sign_in_failures", "whose is {name}?");
        }
    }
}
