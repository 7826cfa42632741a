//! What is said of a rule when it is made or changed.

use fullbench_llm::{Provider, Secret};
use fullbench_store::{AlertChange, AlertFilter, NewAlert};
use fullbench_types::AlertKind;
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use super::check;
use crate::app::App;
use crate::extract::given;
use crate::problem::Problem;

/// What is to be watched, and who is to be told.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewAlert")]
pub(super) struct Wanted {
    /// A name that no other rule of the organization has.
    #[schemars(length(min = 1, max = 255), regex(pattern = r"\S"))]
    name: String,
    /// What it watches.
    kind: AlertKind,
    /// It fires when the value is over this: a share from 0 to 1 (`error_rate`, `provider_errors`), a share of the budget (`spend`),
    /// milliseconds (`latency`), seconds (`queue_time`), a difference of means from 0 to 1 (`score_drop`).
    #[schemars(range(min = 0, max = 86_400_000))]
    threshold: f64,
    /// How far back it looks; `spend` looks at the month.
    #[serde(default = "usual_window")]
    #[schemars(range(min = 60, max = 604_800))]
    window_seconds: u32,
    /// Results without which there is nothing to say; in each window, where two are compared. `queue_time` and `spend` need none.
    #[serde(default = "usual_count")]
    #[schemars(range(min = 1, max = 1_000_000))]
    minimum_count: u32,
    /// What it looks at; everything where nothing is said.
    #[serde(default)]
    filter: Filter,
    /// After how long it is told again that it fires; null for never.
    #[serde(default)]
    #[schemars(range(min = 300, max = 2_592_000))]
    repeat_seconds: Option<u32>,
    /// Who is told.
    #[serde(default)]
    channels: Channels,
    /// Whether it is looked at.
    #[serde(default = "yes")]
    enabled: bool,
}

/// What is to be changed; what is not said stays.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AlertChange")]
pub(super) struct Change {
    /// Another name.
    #[serde(default)]
    #[schemars(length(min = 1, max = 255), regex(pattern = r"\S"))]
    name: Option<String>,
    /// Another threshold.
    #[serde(default)]
    #[schemars(range(min = 0, max = 86_400_000))]
    threshold: Option<f64>,
    /// How far back it looks.
    #[serde(default)]
    #[schemars(range(min = 60, max = 604_800))]
    window_seconds: Option<u32>,
    /// Results without which there is nothing to say.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1_000_000))]
    minimum_count: Option<u32>,
    /// What it looks at, in place of all that was said before.
    #[serde(default)]
    filter: Option<Filter>,
    /// After how long it is told again that it fires; null for never.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<u32>", range(min = 300, max = 2_592_000))]
    repeat_seconds: Option<Option<u32>>,
    /// Who is told; a channel that is not named stays as it is.
    #[serde(default)]
    channels: Channels,
    /// Whether it is looked at.
    #[serde(default)]
    enabled: Option<bool>,
}

/// What of the results a rule looks at.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "AlertFilterInput")]
pub(super) struct Filter {
    /// Those of this provider.
    pub(super) provider: Option<Provider>,
    /// Those of the model of this name, as results have it.
    #[schemars(length(min = 1, max = 255))]
    pub(super) model: Option<String>,
    /// The scorer whose values are compared, by the name its scores have; for `score_drop` alone, which needs it.
    #[schemars(length(min = 1, max = 255))]
    pub(super) scorer: Option<String>,
}

/// Who is told.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "AlertChannelsInput")]
pub(super) struct Channels {
    /// The webhooks of the organization that take `alert.firing` and `alert.resolved`.
    pub(super) webhooks: Option<bool>,
    /// Addresses of mail.
    #[schemars(length(max = 20), inner(length(min = 3, max = 254)))]
    pub(super) emails: Option<Vec<String>>,
    /// The address of an incoming webhook of Slack, or of a server that takes the same messages. It is kept sealed and never shown
    /// again; null for none.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<String>", length(min = 1, max = 2048), url)]
    pub(super) slack_url: Option<Option<String>>,
}

impl Wanted {
    /// The rule, if everything about it is right.
    pub(super) fn checked(
        self,
        app: &App,
        id: Uuid,
        created_by: String,
    ) -> Result<NewAlert, Problem> {
        let (kind, filter) = (self.kind, &self.filter);
        check::name(&self.name)?;
        check::threshold(kind, self.threshold)?;
        check::window(self.window_seconds)?;
        check::minimum_count(self.minimum_count)?;
        check::filter(kind, filter)?;
        check::repeat(self.repeat_seconds)?;
        let channels = self.channels.checked(app)?;
        Ok(NewAlert {
            id,
            name: self.name,
            kind,
            threshold: self.threshold,
            window_seconds: self.window_seconds,
            minimum_count: self.minimum_count,
            filter: self.filter.into(),
            repeat_seconds: self.repeat_seconds,
            to_webhooks: channels.webhooks.unwrap_or(false),
            emails: channels.emails.unwrap_or_default(),
            slack_url: channels.slack_url.flatten().map(Secret::new),
            enabled: self.enabled,
            created_by: Some(created_by),
        })
    }
}

impl Change {
    /// The change, if everything about it is right for a rule of this kind.
    pub(super) fn checked(self, app: &App, kind: AlertKind) -> Result<AlertChange, Problem> {
        self.name.as_deref().map(check::name).transpose()?;
        self.threshold.map(|threshold| check::threshold(kind, threshold)).transpose()?;
        self.window_seconds.map(check::window).transpose()?;
        self.minimum_count.map(check::minimum_count).transpose()?;
        self.filter.as_ref().map(|filter| check::filter(kind, filter)).transpose()?;
        self.repeat_seconds.map(check::repeat).transpose()?;
        let channels = self.channels.checked(app)?;
        Ok(AlertChange {
            name: self.name,
            threshold: self.threshold,
            window_seconds: self.window_seconds,
            minimum_count: self.minimum_count,
            filter: self.filter.map(AlertFilter::from),
            repeat_seconds: self.repeat_seconds,
            to_webhooks: channels.webhooks,
            emails: channels.emails,
            slack_url: channels.slack_url.map(|url| url.map(Secret::new)),
            enabled: self.enabled,
        })
    }
}

impl Channels {
    /// The same with addresses as they are kept, if they can be used.
    fn checked(self, app: &App) -> Result<Self, Problem> {
        let emails = self.emails.map(|emails| check::emails(app, &emails)).transpose()?;
        if let Some(Some(url)) = &self.slack_url {
            check::slack_url(app, url)?;
        }
        Ok(Self { emails, ..self })
    }
}

impl From<Filter> for AlertFilter {
    fn from(filter: Filter) -> Self {
        let provider = filter.provider.map(|provider| provider.as_str().to_owned());
        Self { provider, model: filter.model, scorer: filter.scorer }
    }
}

fn usual_window() -> u32 {
    3600
}

fn usual_count() -> u32 {
    20
}

fn yes() -> bool {
    true
}
