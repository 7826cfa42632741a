//! What is to be different about the organization.

use fullbench_store::OrganizationChange;
use fullbench_types::{ScrubKind, email_address};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::extract::given;
use crate::problem::Problem;

/// What is to be different; what is left out stays, and null takes away.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "OrganizationChange")]
pub(super) struct Change {
    #[serde(default)]
    #[schemars(length(min = 1, max = 255))]
    name: Option<String>,
    /// Who gets the bill.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>", length(max = 254))]
    billing_email: Option<Option<String>>,
    #[serde(default)]
    settings: SettingsChange,
}

/// What is to be decided otherwise; what is left out stays, and null takes away.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "OrganizationSettingsChange")]
struct SettingsChange {
    /// Metrics of an evaluation that names none.
    #[schemars(length(max = 100))]
    default_evaluators: Option<Vec<String>>,
    /// What may be spent in a month.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<f64>", range(min = 0))]
    cost_budget_monthly_usd: Option<Option<f64>>,
    /// For how long results are kept.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<u32>", range(min = 1))]
    data_retention_days: Option<Option<u32>>,
    /// Requests that all keys and members together may make in a minute, where that is less than the server allows.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<u32>", range(min = 1))]
    requests_per_minute: Option<Option<u32>>,
    /// What is taken out of texts before they are kept.
    scrub: Option<Vec<ScrubKind>>,
    /// Texts are sealed with the organization's own key before they are kept.
    encrypt_texts: Option<bool>,
}

impl Change {
    /// The change, if all of it is right.
    pub(super) fn checked(self) -> Result<OrganizationChange, Problem> {
        let name = self.name.map(|name| name.trim().to_owned());
        let is_name = |name: &String| {
            (1..=255).contains(&name.chars().count()) && !name.contains(char::is_control)
        };
        if name.as_ref().is_some_and(|name| !is_name(name)) {
            return Err(Problem::field("name", "a name has 1 to 255 letters in one line"));
        }
        let address = |text: String| {
            let wrong = || Problem::field("billing_email", "this is no mail address");
            email_address(&text).ok_or_else(wrong)
        };
        let settings = self.settings;
        let is_amount = |amount: f64| amount.is_finite() && amount >= 0.0;
        if settings.cost_budget_monthly_usd.flatten().is_some_and(|amount| !is_amount(amount)) {
            return Err(in_settings("cost_budget_monthly_usd", "use 0 or more dollars"));
        }
        for (field, number) in [
            ("data_retention_days", settings.data_retention_days),
            ("requests_per_minute", settings.requests_per_minute),
        ] {
            if number.flatten() == Some(0) {
                return Err(in_settings(field, "use 1 or more, or null for none"));
            }
        }
        let evaluators = settings.default_evaluators.as_deref().unwrap_or_default();
        if evaluators.len() > 100 || evaluators.iter().any(|name| name.trim().is_empty()) {
            return Err(in_settings("default_evaluators", "use up to 100 names of metrics"));
        }
        Ok(OrganizationChange {
            name,
            // Who runs the server decides on it.
            plan: None,
            billing_email: self
                .billing_email
                .map(|text| text.map(address).transpose())
                .transpose()?,
            default_evaluators: settings.default_evaluators,
            cost_budget_monthly_usd: settings.cost_budget_monthly_usd,
            data_retention_days: settings.data_retention_days,
            requests_per_minute: settings.requests_per_minute,
            scrub: settings.scrub,
            encrypt_texts: settings.encrypt_texts,
        })
    }
}

fn in_settings(field: &str, message: &str) -> Problem {
    Problem::field(field, message).inside("settings")
}
