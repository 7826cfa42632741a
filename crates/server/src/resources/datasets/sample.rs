//! Samples of a version: the same seed gives the same cases.

use axum::response::Json;
use fullbench_engine::{EngineError, SampleConfig, SampleStrategy, Stratum, sample_cases};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::cases::Case;
use super::{MAX_EXACT, TAG, check_text, reader, valid_version};
use fullbench_types::Action;

use crate::access::Caller;
use crate::api::Endpoint;
use crate::extract::{Body, PathParts};
use crate::problem::{INTERNAL, Problem};
use crate::work::in_background;

const MAX_SIZE: u64 = 10_000;
const MAX_FIELD: usize = 512;

/// A sample to be drawn.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SampleRequest")]
struct Wanted {
    /// How many cases.
    #[schemars(range(min = 1, max = 10_000))]
    size: u64,
    #[serde(default)]
    strategy: Strategy,
    /// The field whose values are the strata: a column, or an entry of the metadata.
    #[serde(default)]
    #[schemars(length(min = 1, max = 512), regex(pattern = r"\S"))]
    stratify_by: Option<String>,
    /// The same seed gives the same sample. Default: one that is drawn.
    #[serde(default)]
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    seed: Option<u64>,
}

/// How a sample is drawn.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "CaseSampleStrategy")]
enum Strategy {
    /// Any cases, each as likely as the other.
    #[default]
    Random,
    /// Of every value of the field `stratify_by`, in proportion.
    Stratified,
}

/// A sample.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CaseSample")]
struct Sample {
    /// In the order of the file.
    cases: Vec<Case>,
    /// How many there are: fewer than were asked for where the version has no more.
    sample_size: u64,
    /// Gives the same sample again.
    seed: u64,
    /// What each value of the field has in it, of a stratified sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    strata: Option<Vec<Stratum>>,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::post(
            "/v1/datasets/{dataset_id}/versions/{version_number}/sample",
            "sample_test_cases",
            Action::ReadDatasets,
            sample,
        )
        .about(TAG, "Draw a sample of a version", "Nothing is kept: the seed gives it again.")
        .takes::<Wanted>()
        .gives::<Sample>(200, "The sample")
        .unaudited("it only reads"),
    ]
}

async fn sample(
    caller: Caller,
    PathParts((dataset, number)): PathParts<(Uuid, u32)>,
    Body(wanted): Body<Wanted>,
) -> Result<Json<Sample>, Problem> {
    let Wanted { size, strategy, stratify_by, seed } = wanted;
    if !(1..=MAX_SIZE).contains(&size) {
        return Err(Problem::field("size", format!("use 1 to {MAX_SIZE}")));
    }
    if seed.is_some_and(|seed| seed > MAX_EXACT) {
        return Err(Problem::field("seed", format!("use 0 to {MAX_EXACT}")));
    }
    if let Some(field) = &stratify_by {
        check_text("stratify_by", field, 1, MAX_FIELD)?;
    }
    let strategy = match strategy {
        Strategy::Random if stratify_by.is_some() => {
            let problem = Problem::field("stratify_by", "a random sample has no strata");
            return Err(problem.hint("use `\"strategy\": \"stratified\"`"));
        }
        Strategy::Random => SampleStrategy::Random,
        Strategy::Stratified => SampleStrategy::Stratified,
    };
    let seed = match seed {
        Some(seed) => seed,
        None => drawn_seed()?,
    };
    let version = valid_version(&caller.store, dataset, number).await?;
    let mut cases = reader(&caller.store, &version).await?;
    let config = SampleConfig { size, strategy, by: stratify_by, seed };
    let drawn = in_background(move || sample_cases(&config, &mut cases)).await?;
    let drawn = drawn.map_err(as_sent)?;
    let records = caller.store.cases_at(version.id, &drawn.indexes).await?;
    Ok(Json(Sample {
        sample_size: records.len() as u64,
        cases: records.into_iter().map(Case::from).collect(),
        seed,
        strata: drawn.strata,
    }))
}

fn drawn_seed() -> Result<u64, Problem> {
    let seed = getrandom::u64().map_err(|error| {
        Problem::new(INTERNAL, format!("no random numbers can be had: {error}"))
    })?;
    Ok(seed & MAX_EXACT)
}

/// Problems with the field under its name in the request.
fn as_sent(error: EngineError) -> Problem {
    match error {
        EngineError::Input(mut problems) => {
            for problem in &mut problems {
                if problem.field.as_deref() == Some("by") {
                    problem.field = Some("stratify_by".to_owned());
                }
            }
            problems.into()
        }
        other => other.into(),
    }
}
