//! The metrics of a request, or those of the organization where it names none.

use serde_json::Value;

use crate::access::Caller;
use crate::problem::Problem;

/// Metrics of one request, at most.
const MOST: usize = 64;

/// The metrics that a request names, else those that the organization has decided for all its members.
pub(crate) async fn wanted_metrics(
    caller: &Caller,
    named: Vec<Value>,
) -> Result<Vec<Value>, Problem> {
    if named.len() > MOST {
        return Err(Problem::field("metrics", format!("at most {MOST} metrics")));
    }
    if !named.is_empty() {
        return Ok(named);
    }
    let settings = caller.store.organization_record().await?.settings;
    if settings.default_evaluators.is_empty() {
        let detail = "there are no metrics, and the organization has none of its own";
        let hint = "name some, for example [\"exact_match\", \"coherence\"]";
        return Err(Problem::field("metrics", detail).hint(hint));
    }
    Ok(settings.default_evaluators.into_iter().map(Value::String).collect())
}
