//! Models run in this process: their weights are found before a run starts, and loaded when it does.

use std::path::Path;
use std::sync::Arc;

use fullbench_llm::{LanguageModel, ModelConfig};
#[cfg(feature = "local")]
use fullbench_local::LocalError;

use crate::InputProblem;

/// Whether this build can run models in this process.
pub const HAS_LOCAL_MODELS: bool = cfg!(feature = "local");

/// Fills in which weights a model means, paths seen from `folder`, and refuses what is not there.
#[cfg(feature = "local")]
pub(crate) fn settle(model: &mut ModelConfig, folder: &Path) -> Result<(), InputProblem> {
    let name = model.model.as_deref().unwrap_or(fullbench_llm::DEFAULT_LOCAL_MODEL).to_owned();
    if !fullbench_local::is_path(&name) {
        let path = fullbench_local::resolve_weights(&name).map_err(|error| problem(&error))?;
        fullbench_local::check_weights(&path).map_err(|error| problem(&error))?;
        model.model = Some(name);
        return Ok(());
    }
    let path = folder.join(name);
    fullbench_local::check_weights(&path).map_err(|error| match error {
        LocalError::Unreadable { .. } => {
            problem(&error).hint("paths are seen from the folder of the evaluation file")
        }
        _ => problem(&error),
    })?;
    // The run may be resumed from another folder.
    let path = std::path::absolute(&path).unwrap_or(path);
    model.model = Some(path.to_string_lossy().into_owned());
    Ok(())
}

/// Loads the weights of a model, once for all models on the same file.
#[cfg(feature = "local")]
pub(crate) async fn load(model: &ModelConfig) -> Result<Arc<dyn LanguageModel>, InputProblem> {
    let name = model.model.as_deref().unwrap_or(fullbench_llm::DEFAULT_LOCAL_MODEL);
    let path = fullbench_local::resolve_weights(name).map_err(|error| problem(&error))?;
    let options = fullbench_local::LocalOptions::from_extra(&model.extra);
    let loading =
        tokio::task::spawn_blocking(move || fullbench_local::LocalModel::load(&path, options));
    match loading.await {
        Ok(Ok(loaded)) => Ok(Arc::new(loaded)),
        Ok(Err(error)) => Err(problem(&error)),
        Err(error) => Err(InputProblem::new(format!("the model could not be loaded: {error}"))),
    }
}

#[cfg(feature = "local")]
fn problem(error: &LocalError) -> InputProblem {
    InputProblem { hint: error.hint(), ..InputProblem::new(error.to_string()) }
}

/// Refuses every model: this build has no local ones.
#[cfg(not(feature = "local"))]
pub(crate) fn settle(_: &mut ModelConfig, _: &Path) -> Result<(), InputProblem> {
    Err(not_built())
}

/// Refuses every model: this build has no local ones.
#[cfg(not(feature = "local"))]
pub(crate) async fn load(_: &ModelConfig) -> Result<Arc<dyn LanguageModel>, InputProblem> {
    Err(not_built())
}

#[cfg(not(feature = "local"))]
fn not_built() -> InputProblem {
    InputProblem::new("this build has no local models").hint(
        "build Fullbench with the cargo feature `local`, which is on by default and needs cmake, a C++ compiler and libclang",
    )
}
