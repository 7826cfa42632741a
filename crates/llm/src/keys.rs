//! Keys of the organization that are used in place of those of the environment.

use std::sync::Arc;

use crate::config::{ModelConfig, Provider};
use crate::error::LlmError;
use crate::secret::Secret;

/// What is said of where a key of the organization comes from.
const KEPT: &str = "the organization's provider keys";

/// A key of the organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderKey {
    /// Whose models it is for.
    pub provider: Provider,
    /// The one address that it is sent to; the provider's own unless given.
    pub base_url: Option<String>,
    /// The key itself.
    pub key: Secret,
}

/// The keys of the organization.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderKeys(Arc<Vec<ProviderKey>>);

impl ProviderKeys {
    /// These keys, one at most for each address of a provider.
    #[must_use]
    pub fn new(keys: Vec<ProviderKey>) -> Self {
        Self(Arc::new(keys))
    }

    /// The keys that calls of a model are made with, at each of its endpoints where it lists them.
    #[must_use]
    pub fn used_by(&self, model: &ModelConfig) -> Vec<&ProviderKey> {
        if !model.has_endpoints() {
            return self.own(model).into_iter().collect();
        }
        model.deployments().iter().filter_map(|(_, deployed)| self.own(deployed)).collect()
    }

    /// The key of a model at one address. At the provider's own address a variable that the model names wins; a key that is
    /// kept for another address is meant for that address, whatever variable there is.
    fn own(&self, model: &ModelConfig) -> Option<&ProviderKey> {
        let address = model.effective_base_url();
        let names_a_variable = model
            .api_key_env
            .as_deref()
            .is_some_and(|variable| Some(variable) != model.provider.default_key_variable());
        let is_meant = |key: &&ProviderKey| match &key.base_url {
            Some(base_url) => base_url.trim_end_matches('/') == address,
            None => model.uses_default_base_url() && !names_a_variable,
        };
        self.0.iter().filter(|key| key.provider == model.provider).find(is_meant)
    }

    /// The key of a model at one address: the organization's, or else that of the environment; none where none is sent.
    pub(crate) fn key_of(&self, model: &ModelConfig) -> Result<Option<Secret>, LlmError> {
        if let Some(own) = self.own(model) {
            return Ok(Some(own.key.clone()));
        }
        let Some(variable) = model.key_variable() else { return Ok(None) };
        match Secret::from_environment(variable) {
            Some(key) => Ok(Some(key)),
            None => Err(LlmError::MissingKey {
                model: model.display_name(),
                variable: variable.to_owned(),
            }),
        }
    }

    /// Where the key of a model at one address comes from: whose account it is.
    pub(crate) fn account(&self, model: &ModelConfig) -> Option<String> {
        match self.own(model) {
            Some(_) => Some(KEPT.to_owned()),
            None => model.key_variable().map(str::to_owned),
        }
    }

    /// The environment variable that must be set and is not; every endpoint needs its key.
    #[must_use]
    pub fn missing_variable(&self, model: &ModelConfig) -> Option<String> {
        let missing = |model: &ModelConfig| {
            let is_unset = |variable: &&str| Secret::from_environment(variable).is_none();
            let variable = model.key_variable().filter(is_unset)?;
            self.own(model).is_none().then(|| variable.to_owned())
        };
        if !model.has_endpoints() {
            return missing(model);
        }
        model.deployments().iter().find_map(|(_, deployed)| missing(deployed))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn keys(base_url: Option<&str>) -> ProviderKeys {
        ProviderKeys::new(vec![ProviderKey {
            provider: Provider::Openai,
            base_url: base_url.map(str::to_owned),
            key: Secret::new("sk-own"),
        }])
    }

    fn is_own(keys: &ProviderKeys, model: &ModelConfig) -> bool {
        keys.key_of(model).ok().flatten() == Some(Secret::new("sk-own"))
    }

    #[test]
    fn a_key_goes_to_its_address_and_to_no_other() {
        let usual = ModelConfig::parse("openai:m").unwrap();
        let at = |url: &str| ModelConfig { base_url: Some(url.to_owned()), ..usual.clone() };
        let own = keys(None);
        assert!(is_own(&own, &usual));
        assert!(is_own(&own, &at("https://api.openai.com/v1/")));
        assert!(!is_own(&own, &at("https://elsewhere.example/v1")));
        assert!(!is_own(&own, &ModelConfig::parse("xai:m").unwrap()));
        let elsewhere = keys(Some("https://elsewhere.example/v1/"));
        assert!(is_own(&elsewhere, &at("https://elsewhere.example/v1")));
        assert!(!is_own(&elsewhere, &at("https://elsewhere.example/v1/more")));
        assert!(!is_own(&elsewhere, &usual));
    }

    #[test]
    fn a_named_variable_wins_at_the_address_of_the_provider() {
        let mut model = ModelConfig::parse("openai:m").unwrap();
        model.api_key_env = Some("FULLBENCH_TEST_KEY_THAT_IS_NOT_SET".to_owned());
        assert!(!is_own(&keys(None), &model));
        assert!(keys(None).missing_variable(&model).is_some());
        model.base_url = Some("https://elsewhere.example/v1".to_owned());
        let elsewhere = keys(Some("https://elsewhere.example/v1"));
        assert!(is_own(&elsewhere, &model));
        assert_eq!(elsewhere.missing_variable(&model), None);
        assert!(!format!("{elsewhere:?}").contains("sk-own"));
    }
}
