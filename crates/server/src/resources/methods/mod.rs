//! Methods: how judges judge.

use axum::response::Json;
use fullbench_score::descriptions;
use fullbench_types::Action;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::Caller;
use crate::api::Endpoint;
use crate::extract::{PageQuery, Query, page, slice};
use crate::problem::Problem;

/// How a judge judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "JudgeMethod")]
pub(crate) enum Method {
    /// Steps first, then a number of the scale, weighted by how probable the model finds each.
    GEval,
    /// The level of the rubric that fits.
    Rubric,
    /// Yes or no.
    Binary,
    /// A comparison with the reference.
    Reference,
    /// The claims of the answer one by one, against the context.
    Claims,
}

impl Method {
    const ALL: [Self; 5] = [Self::Binary, Self::Claims, Self::GEval, Self::Reference, Self::Rubric];

    /// The word that stands for it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::GEval => "g_eval",
            Self::Rubric => "rubric",
            Self::Binary => "binary",
            Self::Reference => "reference",
            Self::Claims => "claims",
        }
    }
}

/// A way of judging.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MethodInfo")]
struct Shown {
    name: Method,
    /// What it does, in a line.
    description: String,
    /// The id it has since a judge uses it.
    method_id: Option<Uuid>,
    /// When a judge first used it.
    created_at: Option<Timestamp>,
}

/// All ways of judging.
#[derive(Serialize, JsonSchema)]
struct Methods {
    /// By name.
    methods: Vec<Shown>,
    /// How many there are in all.
    total: u64,
    /// There are more after these.
    has_more: bool,
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::get("/v1/methods", "list_methods", Action::ReadDefinitions, list)
            .about("judges", "All ways of judging", "")
            .query::<PageQuery>()
            .gives::<Methods>(200, "The methods"),
    ]
}

async fn list(caller: Caller, Query(query): Query<PageQuery>) -> Result<Json<Methods>, Problem> {
    let page = page(query.limit, query.offset)?;
    let used = caller.store.methods().await?;
    let descriptions = descriptions();
    let shown = |method: Method| {
        let used = used.iter().find(|one| one.name == method.as_str());
        let known = descriptions.iter().find(|one| one.kind == method.as_str());
        Shown {
            name: method,
            description: known.map(|known| known.summary.to_owned()).unwrap_or_default(),
            method_id: used.map(|used| used.id),
            created_at: used.map(|used| used.created_at),
        }
    };
    let (methods, total, has_more) = slice(Method::ALL.map(shown).into(), page);
    Ok(Json(Methods { methods, total, has_more }))
}
