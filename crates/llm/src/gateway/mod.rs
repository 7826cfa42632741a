//! The way every call takes: cache, places, breaker, pace, budget, call, and again when it failed.

mod batched;
mod counters;
mod deployments;
mod failures;
mod handle;
mod turn;

#[cfg(test)]
mod deployment_tests;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use fullbench_types::{NanoDollars, OrganizationId, UnitFailure};
use tokio_util::sync::CancellationToken;

pub use deployments::EndpointSnapshot;
pub use handle::ModelHandle;

use deployments::Deployment;

use crate::batch::Batcher;
use crate::budget::{Budget, BudgetExhausted};
use crate::cache::{CacheMode, ResponseCache};
use crate::config::{Limits, ModelConfig, Provider};
use crate::error::LlmError;
use crate::http::Clients;
use crate::http_model::HttpModel;
use crate::keys::ProviderKeys;
use crate::limits::{Breaker, BreakerState, Lane};
use crate::model::{FailureClass, LanguageModel};

/// What a gateway needs to know.
pub struct GatewayOptions {
    /// Whose requests these are.
    pub organization: OrganizationId,
    /// Where answers are kept.
    pub cache: Option<Arc<dyn ResponseCache>>,
    /// What the cache may be used for.
    pub cache_mode: CacheMode,
    /// What may be spent.
    pub budget: Arc<Budget>,
    /// When cancelled, calls in flight finish and nothing new is called.
    pub stop: CancellationToken,
    /// Keys that are used in place of those of the environment.
    pub keys: ProviderKeys,
    /// Sends requests in batches, to providers that take them so.
    pub batch: Option<Arc<Batcher>>,
}

/// Makes models that share their provider's limits and circuit breaker.
pub struct Gateway {
    options: Arc<GatewayOptions>,
    clients: Clients,
    shared: Mutex<Shared>,
}

/// Addresses that are remembered while no model is called there: a server connects models of many evaluations.
const KEPT_UNUSED: usize = 1_024;

/// A provider at an address.
type Endpoint = (Provider, String);

#[derive(Default)]
struct Shared {
    breakers: HashMap<Endpoint, Arc<Breaker>>,
    /// Lanes by endpoint and by where the key comes from: limits belong to an account.
    lanes: HashMap<(Endpoint, Option<String>), Arc<Lane>>,
}

impl Gateway {
    /// A gateway without models yet.
    #[must_use]
    pub fn new(options: GatewayOptions) -> Self {
        Self { options: Arc::new(options), clients: Clients::default(), shared: Mutex::default() }
    }

    /// A model ready to be called, at each of its endpoints where it lists them. Models of one provider and address
    /// share places, pace and breaker; a model that overrides places or pace has its own, and shares the breaker alone.
    ///
    /// # Errors
    /// When its configuration is wrong, its key is missing, or it is not called over a network.
    pub fn model(
        &self,
        config: &ModelConfig,
        limits: &Limits,
    ) -> Result<Arc<ModelHandle>, LlmError> {
        config.validate()?;
        if config.provider == Provider::Recorded {
            return Err(LlmError::Recorded { model: config.display_name() });
        }
        if config.provider == Provider::Local {
            return Err(LlmError::Local { model: config.display_name() });
        }
        self.assemble(config, limits, |deployed| self.http_model(deployed))
    }

    /// The same for a model of another kind, called through the trait; every endpoint of it is the same model.
    ///
    /// # Errors
    /// When its configuration or the limits are wrong.
    pub fn custom_model(
        &self,
        config: &ModelConfig,
        limits: &Limits,
        model: Arc<dyn LanguageModel>,
    ) -> Result<Arc<ModelHandle>, LlmError> {
        self.assemble(config, limits, |_| Ok(Arc::clone(&model)))
    }

    fn http_model(&self, config: &ModelConfig) -> Result<Arc<dyn LanguageModel>, LlmError> {
        let key = match self.options.keys.key_of(config) {
            Err(LlmError::MissingKey { .. }) if self.options.cache_mode == CacheMode::Only => None,
            key => key?,
        };
        let client = self.clients.client(config.effective_base_url())?;
        Ok(Arc::new(HttpModel::new(config, key, client)?))
    }

    /// Connects every deployment of a model.
    fn assemble(
        &self,
        config: &ModelConfig,
        limits: &Limits,
        connect: impl Fn(&ModelConfig) -> Result<Arc<dyn LanguageModel>, LlmError>,
    ) -> Result<Arc<ModelHandle>, LlmError> {
        config.validate()?;
        let all_limits = config.effective_limits(limits);
        all_limits.validate()?;
        let mut deployments = Vec::new();
        if !config.has_endpoints() {
            deployments.push(self.deployment(None, config, limits, connect(config)?));
        }
        for (name, deployed) in config.deployments() {
            let model = connect(&deployed)?;
            deployments.push(self.deployment(Some(name), &deployed, limits, model));
        }
        let options = Arc::clone(&self.options);
        Ok(Arc::new(ModelHandle::new(config, all_limits, deployments, options)))
    }

    /// A model at one address, with the breaker of the address and the lane of the account.
    fn deployment(
        &self,
        name: Option<String>,
        config: &ModelConfig,
        limits: &Limits,
        model: Arc<dyn LanguageModel>,
    ) -> Deployment {
        let limits = config.effective_limits(limits);
        let account = self.options.keys.account(config);
        let endpoint: Endpoint = (config.provider, config.effective_base_url().to_owned());
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.breakers.len().max(shared.lanes.len()) >= KEPT_UNUSED {
            shared.breakers.retain(|_, breaker| Arc::strong_count(breaker) > 1);
            shared.lanes.retain(|_, lane| Arc::strong_count(lane) > 1);
        }
        let breaker = Arc::clone(
            shared.breakers.entry(endpoint.clone()).or_insert_with(|| Arc::new(Breaker::new())),
        );
        let has_own_lane = config.limits.as_ref().is_some_and(|own| own.changes_pace());
        let lane = if has_own_lane {
            Arc::new(Lane::new(&limits))
        } else {
            let account = (endpoint, account.clone());
            Arc::clone(shared.lanes.entry(account).or_insert_with(|| Arc::new(Lane::new(&limits))))
        };
        drop(shared);
        Deployment::new(name, config, account, limits, model, lane, breaker)
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GenerateError {
    /// The last attempt failed, or no further one was allowed.
    #[error("{}", failure.message)]
    Failed {
        /// What is recorded for the unit.
        failure: UnitFailure,
        /// What kind of failure the last one was.
        class: FailureClass,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The budget has no room for the call.
    #[error(transparent)]
    BudgetExhausted(#[from] BudgetExhausted),
    /// The run was stopped before the call.
    #[error("stopped before the call")]
    Stopped,
}

/// What is going on with one model, for a progress display.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelSnapshot {
    /// Calls of this model on their way.
    pub in_flight: u32,
    /// Calls its provider takes at once, at the moment.
    pub concurrency_limit: u32,
    /// Calls made, failed ones included.
    pub calls: u64,
    /// Calls that were answered.
    pub answers: u64,
    /// Answers served from the cache.
    pub cache_hits: u64,
    /// Calls made again, by the class of the failure before; classes without any are left out.
    pub retries_by_class: BTreeMap<FailureClass, u64>,
    /// Whether calls go through; of several endpoints, whether they do at one at least.
    pub breaker: BreakerState,
    /// How often the provider's breaker has opened, or those of its endpoints together.
    pub breaker_opened_times: u64,
    /// What this model's calls cost.
    pub spent: NanoDollars,
    /// The same of each endpoint, where the model lists them.
    pub endpoints: Vec<EndpointSnapshot>,
}
