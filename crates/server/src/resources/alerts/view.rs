//! Rules as they are shown, without the addresses that are secrets.

use fullbench_store::AlertRecord;
use fullbench_types::{AlertKind, AlertState};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

/// A rule, and how it stands.
#[derive(Serialize, JsonSchema)]
pub(super) struct Alert {
    alert_id: Uuid,
    name: String,
    /// What it watches.
    kind: AlertKind,
    /// It fires when the value is over this.
    threshold: f64,
    /// How far back it looks.
    window_seconds: u32,
    /// Results without which there is nothing to say.
    minimum_count: u32,
    filter: AlertFilter,
    /// After how long it is told again that it fires; null for never.
    repeat_seconds: Option<u32>,
    channels: AlertChannels,
    /// Whether it is looked at.
    enabled: bool,
    /// How it stands. One that fires stays so while there is not enough data.
    state: AlertState,
    /// When it came to this state.
    since: Timestamp,
    /// The value when it was last looked at; null without enough data.
    last_value: Option<f64>,
    /// The results it is made of.
    last_count: Option<u64>,
    /// What it is the value of, where the rule leaves it open: the provider with the largest share, the scorer and its hash.
    last_subject: Option<String>,
    last_evaluated_at: Option<Timestamp>,
    /// When it was last told that it fires.
    last_notified_at: Option<Timestamp>,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// Who made it.
    created_by: Option<String>,
}

/// What of the results a rule looks at; null where it does not matter.
#[derive(Serialize, JsonSchema)]
struct AlertFilter {
    provider: Option<String>,
    model: Option<String>,
    scorer: Option<String>,
}

/// Who is told.
#[derive(Serialize, JsonSchema)]
struct AlertChannels {
    /// The webhooks of the organization that take events of alerts.
    webhooks: bool,
    /// Addresses of mail.
    emails: Vec<String>,
    /// A channel of Slack.
    slack: Option<SlackChannel>,
}

/// What is shown of the address of a channel of Slack.
#[derive(Serialize, JsonSchema)]
struct SlackChannel {
    host: String,
    /// Its last letters; null for a short one.
    last_four: Option<String>,
}

/// A page of rules.
#[derive(Serialize, JsonSchema)]
pub(super) struct Alerts {
    /// The newest first.
    pub(super) alerts: Vec<Alert>,
    /// How many there are in all.
    pub(super) total: u64,
    /// There are more after these.
    pub(super) has_more: bool,
}

impl From<AlertRecord> for Alert {
    fn from(record: AlertRecord) -> Self {
        let filter = record.filter;
        let slack = record.slack;
        Self {
            alert_id: record.id,
            name: record.name,
            kind: record.kind,
            threshold: record.threshold,
            window_seconds: record.window_seconds,
            minimum_count: record.minimum_count,
            filter: AlertFilter {
                provider: filter.provider,
                model: filter.model,
                scorer: filter.scorer,
            },
            repeat_seconds: record.repeat_seconds,
            channels: AlertChannels {
                webhooks: record.to_webhooks,
                emails: record.emails,
                slack: slack
                    .map(|slack| SlackChannel { host: slack.host, last_four: slack.last_four }),
            },
            enabled: record.enabled,
            state: record.state,
            since: record.since,
            last_value: record.last_value,
            last_count: record.last_count,
            last_subject: record.last_subject,
            last_evaluated_at: record.evaluated_at,
            last_notified_at: record.notified_at,
            created_at: record.created_at,
            updated_at: record.updated_at,
            created_by: record.created_by,
        }
    }
}

/// What the audit log says of a rule: what was decided, not how it stands.
pub(super) fn audited(alert: &AlertRecord) -> Value {
    json!({
        "alert_id": alert.id,
        "name": alert.name,
        "kind": alert.kind,
        "threshold": alert.threshold,
        "window_seconds": alert.window_seconds,
        "minimum_count": alert.minimum_count,
        "filter": alert.filter,
        "repeat_seconds": alert.repeat_seconds,
        "webhooks": alert.to_webhooks,
        "emails": alert.emails,
        "slack": alert.slack.as_ref().map(|slack| &slack.host),
        "enabled": alert.enabled,
    })
}
