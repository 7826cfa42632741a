//! Alerts: rules that watch what an organization does, how each stands, and who is told.
//!
//! A rule is looked at by whoever leases it. What follows (another state, an event for webhooks, messages by mail and to Slack)
//! is kept in one transaction that holds only for who still has the lease, so that several servers tell it once and a kill
//! forgets nothing.

mod change;
mod evaluation;
mod measure;
mod message;
mod notifications;
mod outbox;
mod rules;
mod slack;

pub use evaluation::DueAlert;
pub use measure::{AlertScope, Measurement};
pub use message::AlertMessage;
pub use notifications::NotificationRecord;
pub use outbox::DueNotification;
pub use slack::SlackAddress;

use fullbench_llm::Secret;
use fullbench_types::{AlertKind, AlertState};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What of the results a rule looks at; everything where nothing is said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AlertFilter {
    /// Those of this provider.
    pub provider: Option<String>,
    /// Those of the model of this name.
    pub model: Option<String>,
    /// Those of the scorer of this name.
    pub scorer: Option<String>,
}

/// A rule to be made.
#[derive(Debug, Clone)]
pub struct NewAlert {
    /// The id it gets.
    pub id: Uuid,
    /// A name that no other rule of the organization has.
    pub name: String,
    /// What it watches.
    pub kind: AlertKind,
    /// It fires when the value is over this.
    pub threshold: f64,
    /// How far back it looks.
    pub window_seconds: u32,
    /// Observations without which there is nothing to say.
    pub minimum_count: u32,
    /// What it looks at.
    pub filter: AlertFilter,
    /// After how long it is told again that it fires; never without it.
    pub repeat_seconds: Option<u32>,
    /// Webhooks are told.
    pub to_webhooks: bool,
    /// Who is told by mail.
    pub emails: Vec<String>,
    /// The channel of Slack that is told.
    pub slack_url: Option<Secret>,
    /// Whether it is looked at.
    pub enabled: bool,
    /// Who made it.
    pub created_by: Option<String>,
}

/// What is to be changed; what is not said stays.
#[derive(Debug, Clone, Default)]
pub struct AlertChange {
    /// Another name.
    pub name: Option<String>,
    /// Another threshold.
    pub threshold: Option<f64>,
    /// How far back it looks.
    pub window_seconds: Option<u32>,
    /// Observations without which there is nothing to say.
    pub minimum_count: Option<u32>,
    /// What it looks at.
    pub filter: Option<AlertFilter>,
    /// After how long it is told again that it fires.
    pub repeat_seconds: Option<Option<u32>>,
    /// Whether webhooks are told.
    pub to_webhooks: Option<bool>,
    /// Who is told by mail.
    pub emails: Option<Vec<String>>,
    /// The channel of Slack that is told; none for no longer.
    pub slack_url: Option<Option<Secret>>,
    /// Whether it is looked at.
    pub enabled: Option<bool>,
}

/// A rule and how it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct AlertRecord {
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// What it watches.
    pub kind: AlertKind,
    /// It fires when the value is over this.
    pub threshold: f64,
    /// How far back it looks.
    pub window_seconds: u32,
    /// Observations without which there is nothing to say.
    pub minimum_count: u32,
    /// What it looks at.
    pub filter: AlertFilter,
    /// After how long it is told again that it fires; never without it.
    pub repeat_seconds: Option<u32>,
    /// Webhooks are told.
    pub to_webhooks: bool,
    /// Who is told by mail.
    pub emails: Vec<String>,
    /// What is shown of the channel of Slack that is told.
    pub slack: Option<SlackAddress>,
    /// Whether it is looked at.
    pub enabled: bool,
    /// How it stands.
    pub state: AlertState,
    /// Since when.
    pub since: Timestamp,
    /// The value when it was last looked at; none without enough data.
    pub last_value: Option<f64>,
    /// The observations it is made of.
    pub last_count: Option<u64>,
    /// What it is the value of, where the rule does not say it.
    pub last_subject: Option<String>,
    /// When it was last looked at.
    pub evaluated_at: Option<Timestamp>,
    /// When it was last told that it fires.
    pub notified_at: Option<Timestamp>,
    /// Counts changes.
    pub revision: u32,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Who made it.
    pub created_by: Option<String>,
}
