//! Criteria as they are sent and shown.

use fullbench_judge::check;
use fullbench_store::{CriterionSource, ScopedStore};
use fullbench_types::{Criterion, RubricLevel, Scale};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::known::KnownCriterion;
use crate::problem::Problem;

/// Letters of a text of a criterion, at most: all of it goes into every prompt of its judges.
const MAX_TEXT: usize = 20_000;
/// Levels of a scale that are described, at most.
const MAX_LEVELS: usize = 101;

/// Where a criterion comes from.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "CriterionSource")]
pub(super) enum Source {
    /// It comes with the program, and is not changed by anybody.
    BuiltIn,
    /// Somebody of the organization added it.
    User,
}

impl From<CriterionSource> for Source {
    fn from(source: CriterionSource) -> Self {
        match source {
            CriterionSource::BuiltIn => Self::BuiltIn,
            CriterionSource::User => Self::User,
        }
    }
}

/// A criterion to be added, or what a revision is to say.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewCriterion {
    /// Lower-case letters, digits and `_`, a letter first.
    #[schemars(length(min = 1, max = 64), regex(pattern = "^[a-z][a-z0-9_]*$"))]
    name: String,
    /// What the judged texts are and what they were written for.
    #[schemars(length(min = 1, max = 20_000), regex(pattern = r"\S"))]
    task_introduction: String,
    /// What makes an answer good in this respect.
    #[schemars(length(min = 1, max = 20_000), regex(pattern = r"\S"))]
    evaluation_criteria: String,
    /// The numbers a judge may give.
    #[serde(default)]
    scale: Scale,
    /// What numbers of the scale mean, from the worst to the best.
    #[serde(default)]
    #[schemars(length(max = 101))]
    levels: Vec<RubricLevel>,
    /// An answer cannot be judged without a reference.
    #[serde(default)]
    needs_reference: bool,
    /// An answer cannot be judged without the context it was to rest on.
    #[serde(default)]
    needs_context: bool,
}

impl NewCriterion {
    /// The criterion, if a judge can work by it.
    pub(super) fn checked(self) -> Result<Criterion, Problem> {
        let criterion = Criterion {
            name: self.name,
            task_introduction: self.task_introduction,
            evaluation_criteria: self.evaluation_criteria,
            scale: self.scale,
            levels: self.levels,
            needs_reference: self.needs_reference,
            needs_context: self.needs_context,
        };
        check(&criterion)
            .map_err(|error| Problem::field(error.field, error.message).hint(error.hint))?;
        if criterion.levels.len() > MAX_LEVELS {
            return Err(Problem::field("levels", format!("describe at most {MAX_LEVELS} numbers")));
        }
        let texts = [
            ("task_introduction", &criterion.task_introduction),
            ("evaluation_criteria", &criterion.evaluation_criteria),
        ];
        let levels = criterion.levels.iter().map(|level| ("levels", &level.description));
        for (field, text) in texts.into_iter().chain(levels) {
            if text.chars().count() > MAX_TEXT {
                return Err(Problem::field(field, format!("use at most {MAX_TEXT} letters")));
            }
        }
        Ok(criterion)
    }
}

/// A criterion in one revision.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CriterionRevision")]
pub(super) struct CriterionView {
    /// The id of the revision; null for a built-in criterion that nobody has used yet.
    criterion_id: Option<Uuid>,
    name: String,
    revision: u32,
    source: Source,
    /// What the judged texts are and what they were written for.
    task_introduction: String,
    /// What makes an answer good in this respect.
    evaluation_criteria: String,
    /// The numbers a judge may give.
    scale: Scale,
    /// What numbers of the scale mean, from the worst to the best.
    levels: Vec<RubricLevel>,
    /// An answer cannot be judged without a reference.
    needs_reference: bool,
    /// An answer cannot be judged without the context it was to rest on.
    needs_context: bool,
    /// The pass mark that holds now, from 0 to 1.
    threshold: Option<f64>,
    /// When the first revision was made.
    created_at: Option<Timestamp>,
    /// When this revision was made.
    updated_at: Option<Timestamp>,
}

impl CriterionView {
    /// The criterion with the pass mark of the day.
    pub(super) async fn read(store: &ScopedStore, known: KnownCriterion) -> Result<Self, Problem> {
        let threshold = store.threshold(&known.criterion.name).await?;
        let Criterion {
            name,
            task_introduction,
            evaluation_criteria,
            scale,
            levels,
            needs_reference,
            needs_context,
        } = known.criterion;
        Ok(Self {
            criterion_id: known.id,
            name,
            revision: known.revision,
            source: known.source.into(),
            task_introduction,
            evaluation_criteria,
            scale,
            levels,
            needs_reference,
            needs_context,
            threshold: threshold.map(|threshold| threshold.score),
            created_at: known.created_at,
            updated_at: known.updated_at,
        })
    }
}

/// A page of criteria.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Criteria")]
pub(super) struct CriteriaPage {
    /// By name, each in its newest revision.
    pub(super) criteria: Vec<CriterionView>,
    /// How many match in all.
    pub(super) total: u64,
    /// There are more after these.
    pub(super) has_more: bool,
}

/// A page of revisions.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CriterionRevisions")]
pub(super) struct Revisions {
    /// The newest first.
    pub(super) revisions: Vec<CriterionView>,
    /// How many there are in all.
    pub(super) total: u64,
    /// There are more after these.
    pub(super) has_more: bool,
}
