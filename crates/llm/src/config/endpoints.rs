//! Several deployments of one model: where each is served, with which key, at what price, and how calls are shared out.

use std::collections::HashSet;

use reqwest::Url;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ConfigError, Limits, LimitsOverride, ModelConfig, Provider};
use crate::price::Price;

/// Endpoints of one model, at most.
const MAX_ENDPOINTS: usize = 64;

/// One of several equivalent deployments of a model: the same model at another address or with another key.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EndpointConfig {
    /// What the endpoint is called in results; its host, and its port where that is not the usual one, unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where it is served; the model's address unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Name of the environment variable that holds its key. The model's own goes only to the model's address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Its price in dollars per million tokens, where it differs from the model's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Its limits where they differ from the model's; `deadline_seconds` and `attempts` are the model's alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<LimitsOverride>,
}

/// Which of the endpoints with a free place gets a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RoutePolicy {
    /// The cheapest.
    Cost,
    /// The one that answers soonest, as measured; a few calls go to the others, to see whether they are faster by now.
    #[default]
    Latency,
    /// The first in the list.
    Priority,
}

impl RoutePolicy {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl EndpointConfig {
    /// The address and the path calls go to, as they are compared.
    fn address<'config>(&'config self, model: &'config ModelConfig) -> &'config str {
        let own = self.base_url.as_deref().map(|url| url.trim_end_matches('/'));
        own.unwrap_or_else(|| model.effective_base_url())
    }

    /// The variable its key is read from: the one named, or the model's where the address is the model's, or the
    /// provider's where the address is the provider's.
    fn key_variable<'config>(&'config self, model: &'config ModelConfig) -> Option<&'config str> {
        if let Some(variable) = &self.api_key_env {
            return Some(variable);
        }
        let address = self.address(model);
        if address == model.effective_base_url() {
            return model.key_variable();
        }
        let is_providers = model.provider.default_base_url() == Some(address);
        model.provider.default_key_variable().filter(|_| is_providers)
    }

    /// The same model at this endpoint alone.
    fn model(&self, model: &ModelConfig) -> ModelConfig {
        let base = model.limits.clone();
        let limits = match &self.limits {
            Some(own) => Some(own.over(&base.unwrap_or_default())),
            None => base,
        };
        ModelConfig {
            base_url: self.base_url.clone().or_else(|| model.base_url.clone()),
            api_key_env: self.key_variable(model).map(str::to_owned),
            price: self.price.or(model.price),
            limits,
            endpoints: Vec::new(),
            route: RoutePolicy::default(),
            ..model.clone()
        }
    }

    /// Host and port of its address.
    fn host(&self, model: &ModelConfig) -> String {
        let address = self.address(model);
        let Ok(url) = Url::parse(address) else { return address.to_owned() };
        let host = url.host_str().unwrap_or_default();
        url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }
}

impl ModelConfig {
    /// The model at each of its endpoints, with the endpoint's name; empty for a model that lists none.
    #[must_use]
    pub fn deployments(&self) -> Vec<(String, Self)> {
        let hosts: Vec<String> =
            self.endpoints.iter().map(|endpoint| endpoint.host(self)).collect();
        let named = self.endpoints.iter().zip(&hosts).map(|(endpoint, host)| {
            let is_repeated = hosts.iter().filter(|other| *other == host).count() > 1;
            let name = match (&endpoint.name, endpoint.key_variable(self)) {
                (Some(name), _) => name.clone(),
                (None, Some(variable)) if is_repeated => format!("{host} ({variable})"),
                (None, _) => host.clone(),
            };
            (name, endpoint.model(self))
        });
        named.collect()
    }

    /// Whether the model lists endpoints of its own.
    #[must_use]
    pub fn has_endpoints(&self) -> bool {
        !self.endpoints.is_empty()
    }

    /// The limits of all endpoints together: places and pace add up, where each of them has one.
    pub(super) fn limits_of_all_endpoints(&self, run: &Limits, own: Limits) -> Limits {
        let each: Vec<Limits> =
            self.deployments().iter().map(|(_, model)| model.effective_limits(run)).collect();
        let total = |count: fn(&Limits) -> Option<u32>| {
            each.iter().try_fold(0_u32, |sum, limits| Some(sum.saturating_add(count(limits)?)))
        };
        Limits {
            concurrency: total(|limits| Some(limits.concurrency)).unwrap_or(own.concurrency),
            requests_per_minute: total(|limits| limits.requests_per_minute),
            tokens_per_minute: total(|limits| limits.tokens_per_minute),
            ..own
        }
    }

    /// Refuses endpoints that cannot be called, or cannot be told apart.
    pub(super) fn validate_endpoints(&self) -> Result<(), ConfigError> {
        if self.endpoints.is_empty() {
            if self.route.is_default() {
                return Ok(());
            }
            return Err(ConfigError::new("route", "`route` means nothing without `endpoints`")
                .hint("list the model's `endpoints`, or remove `route`"));
        }
        if self.provider == Provider::Local {
            let message = "a local model has no `endpoints`: it runs in this process";
            return Err(ConfigError::new("endpoints", message).hint("remove `endpoints`"));
        }
        if self.endpoints.len() > MAX_ENDPOINTS {
            let message = format!("`endpoints` has more than {MAX_ENDPOINTS} entries");
            return Err(ConfigError::new("endpoints", message));
        }
        let (mut names, mut places) = (HashSet::new(), HashSet::new());
        for (index, (endpoint, (name, model))) in
            self.endpoints.iter().zip(self.deployments()).enumerate()
        {
            let inside = |field: &str| format!("endpoints[{index}].{field}");
            let place = |error: ConfigError| ConfigError { field: inside(&error.field), ..error };
            endpoint.validate().map_err(place)?;
            model.validate_address().map_err(place)?;
            model.validate_for_provider()?;
            let address = (endpoint.address(self), model.api_key_env);
            if !places.insert(address) {
                let message = format!("`{name}` has the address and the key of an endpoint before");
                return Err(ConfigError::new(&inside("base_url"), message)
                    .hint("give it another `base_url` or `api_key_env`, or remove it"));
            }
            if !names.insert(name.clone()) {
                let message = format!("two endpoints are called `{name}`");
                return Err(ConfigError::new(&inside("name"), message)
                    .hint("give each a `name` of its own"));
            }
        }
        Ok(())
    }
}

impl EndpointConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        if self.name.as_deref().is_some_and(|name| name.trim().is_empty()) {
            return Err(ConfigError::new("name", "`name` is blank"));
        }
        if let Some(price) = &self.price {
            price.validate()?;
        }
        let Some(limits) = &self.limits else { return Ok(()) };
        let of_the_model = [
            ("attempts", limits.attempts.is_some()),
            ("deadline_seconds", limits.deadline_seconds.is_some()),
        ];
        if let Some((field, _)) = of_the_model.iter().find(|(_, set)| *set) {
            let message = format!("`{field}` holds for an answer, whichever endpoint gives it");
            return Err(ConfigError::new(&format!("limits.{field}"), message)
                .hint(format!("set `{field}` in the model's own `limits`")));
        }
        limits
            .validate()
            .map_err(|error| ConfigError { field: format!("limits.{}", error.field), ..error })
    }
}
