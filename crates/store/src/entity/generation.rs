//! What a unit got from its model: an answer, or the failure of its last attempt.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "generations")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub run_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub case_index: i64,
    #[sea_orm(primary_key, auto_increment = false)]
    pub model_index: i32,
    #[sea_orm(primary_key, auto_increment = false)]
    pub repetition: i32,
    pub organization_id: Uuid,
    pub case_key: String,
    /// `answered`, or the reason of the failure.
    pub status: String,
    #[sea_orm(column_type = "Text", nullable)]
    pub text: Option<String>,
    pub finish_reason: Option<String>,
    pub input_tokens: Option<i64>,
    pub output_tokens: Option<i64>,
    pub cached_input_tokens: Option<i64>,
    pub cache_write_tokens: Option<i64>,
    pub reasoning_tokens: Option<i64>,
    pub latency_us: Option<i64>,
    pub time_to_first_token_us: Option<i64>,
    pub queue_us: Option<i64>,
    pub cost_nanodollars: Option<i64>,
    pub attempts: i32,
    pub cached: bool,
    pub reported_model: Option<String>,
    /// Further choices and log-probabilities, as JSON; rare, so together.
    #[sea_orm(column_type = "Text", nullable)]
    pub details: Option<String>,
    /// The provider's reply, or the message of the failure.
    #[sea_orm(column_type = "Text", nullable)]
    pub raw: Option<String>,
    pub recorded_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
