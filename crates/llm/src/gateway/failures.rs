//! What is told when there is no answer.

use fullbench_types::UnitFailure;

use super::deployments::Deployment;
use super::{GenerateError, ModelHandle};
use crate::model::{CallError, FailureClass};

impl ModelHandle {
    /// What is told of a call that failed for good, at a deployment or before any was asked.
    pub(super) fn failure(
        &self,
        error: &CallError,
        attempts: u32,
        deployment: Option<&Deployment>,
    ) -> GenerateError {
        let message = match deployment.and_then(|deployment| deployment.name.as_ref()) {
            Some(endpoint) => format!("{endpoint}: {}", error.message),
            None => error.message.clone(),
        };
        let variable = match deployment {
            Some(deployment) => deployment.account.as_deref(),
            None => self.config().key_variable(),
        };
        GenerateError::Failed {
            failure: unit_failure(error.class, message, attempts),
            class: error.class,
            hint: error.class.hint(variable),
        }
    }

    /// What is told when every endpoint has refused to be called at all.
    pub(super) fn no_endpoint_left(&self, attempts: u32) -> GenerateError {
        let refusals = || {
            let refusal = |deployment| Some((deployment, Deployment::refusal(deployment)?));
            self.deployments.iter().filter_map(refusal)
        };
        let Some((first, error)) = refusals().next() else {
            let error = CallError::new(FailureClass::NotFound, "the model has no endpoint");
            return self.failure(&error, attempts, None);
        };
        let each: Vec<String> = refusals()
            .map(|(deployment, error)| {
                let name = deployment.name.as_deref().unwrap_or_default();
                format!("{name}: {}", error.message)
            })
            .collect();
        let message = format!("no endpoint is left: {}", each.join("; "));
        GenerateError::Failed {
            failure: unit_failure(error.class, message, attempts),
            class: error.class,
            hint: error.class.hint(first.account.as_deref()),
        }
    }
}

/// What is recorded for the unit.
fn unit_failure(class: FailureClass, message: String, attempts: u32) -> UnitFailure {
    UnitFailure { reason: class.reason(), message, attempts, code: Some(class.code()) }
}
