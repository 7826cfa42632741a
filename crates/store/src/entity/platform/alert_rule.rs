//! What is watched, who is told, and how it stands.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "alert_rules")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    pub name: String,
    pub kind: String,
    pub threshold: f64,
    pub window_seconds: i64,
    /// Observations without which there is nothing to say.
    pub minimum_count: i64,
    /// What is looked at, as JSON.
    #[sea_orm(column_type = "Text")]
    pub filter: String,
    /// After how long it is told again; never without it.
    pub repeat_seconds: Option<i64>,
    pub to_webhooks: bool,
    /// Addresses of mail, as a JSON list.
    #[sea_orm(column_type = "Text")]
    pub emails: String,
    /// The address of a channel of Slack, sealed: who has it can write there.
    #[sea_orm(nullable)]
    pub slack_sealed: Option<Vec<u8>>,
    pub slack_host: Option<String>,
    /// The last letters of the address, to tell it apart.
    pub slack_last_four: Option<String>,
    pub enabled: bool,
    pub state: String,
    /// When it came to this state.
    pub since: i64,
    pub last_value: Option<f64>,
    pub last_count: Option<i64>,
    /// What the value is of, where the rule does not say it: a provider, a scorer.
    pub last_subject: Option<String>,
    pub evaluated_at: Option<i64>,
    /// When it was last told that it fires.
    pub notified_at: Option<i64>,
    /// When it is looked at next, or when whoever looks at it now counts as gone.
    pub due_at: i64,
    /// Counts changes, so that two at once are noticed.
    pub revision: i32,
    pub created_at: i64,
    pub updated_at: i64,
    pub created_by: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
