//! Provider batches of a run: whether there are any, and how much room a run needs that sends them.

use std::sync::Arc;

use fullbench_llm::{
    BatchOptions, Batcher, CacheMode, Limits, ModelConfig, ModelHandle, ProviderKeys,
};
use fullbench_store::RunBatches;

use super::execute::RunControl;
use super::progress::Progress;
use crate::EngineError;

/// Units between being asked for and being recorded with their scores, at most: bounds memory.
const MAX_OUTSTANDING: usize = 8_192;
/// Units scored at the same time where a scorer asks a model.
const MAX_JUDGED: usize = 512;
/// The same where requests wait for batches: two full ones.
const MAX_BATCHED: usize = 20_000;
/// So many times more failures in a row are borne where they come in batches: a batch tells of all of its failures at once.
const PATIENCE: u32 = 100;

/// Sends batches where that is wanted, and fetches those of an earlier session in any case.
pub(super) async fn batcher(
    control: &RunControl,
    batches: RunBatches,
    keys: &ProviderKeys,
) -> Result<Option<Arc<Batcher>>, EngineError> {
    if control.cache_mode == CacheMode::Only {
        return Ok(None);
    }
    let kept = batches.kept().await?;
    if kept.is_empty() && !control.provider_batch {
        return Ok(None);
    }
    let options = BatchOptions {
        keys: keys.clone(),
        submits: control.provider_batch,
        ..BatchOptions::default()
    };
    Ok(Some(Arc::new(Batcher::new(Arc::new(batches), kept, options))))
}

/// How many units may be on their way at the same time.
pub(super) struct Room {
    /// Between being asked for and being recorded.
    pub(super) outstanding: usize,
    /// Being scored by models.
    pub(super) judged: usize,
    /// Asked for, in one lane that sends batches; none where no batches are sent.
    batched: Option<usize>,
}

impl Room {
    /// The room of a run with so many lanes that ask a model.
    pub(super) fn of(control: &RunControl, lanes: usize) -> Self {
        match control.provider_batch {
            false => Self { outstanding: MAX_OUTSTANDING, judged: MAX_JUDGED, batched: None },
            true => Self {
                outstanding: MAX_BATCHED,
                judged: MAX_BATCHED,
                batched: Some(MAX_BATCHED.div_ceil(lanes.max(1))),
            },
        }
    }

    /// Units that a lane asks for at the same time.
    pub(super) fn window(&self, model: &ModelConfig, limits: &Limits) -> usize {
        let batched = self.batched.filter(|_| Batcher::serves(model));
        batched.unwrap_or(limits.concurrency as usize * 2 + 16)
    }

    /// How patient a lane is with failures in a row.
    pub(super) fn patience(&self, model: &ModelConfig) -> u32 {
        if self.batched.is_some() && Batcher::serves(model) { PATIENCE } else { 1 }
    }
}

/// Says which models are not asked in batches although that was wanted.
pub(super) fn note_unbatched(
    control: &RunControl,
    called: &[Arc<ModelHandle>],
    progress: &Progress,
) {
    if !control.provider_batch {
        return;
    }
    for model in called.iter().filter(|model| !Batcher::serves(model.config())) {
        let name = model.name();
        progress.note(match model.config().has_endpoints() {
            true => format!("{name} is called as usual: it lists endpoints"),
            false => format!(
                "{name} is called as usual: there are no batches for {}",
                model.config().provider.title()
            ),
        });
    }
}

/// Says that batches are left at a provider.
pub(super) fn note_open_batches(open: u64, progress: &Progress) {
    match open {
        0 => {}
        1 => progress.note(
            "a batch is at the provider, or on its way: `fullbench resume` fetches it".to_owned(),
        ),
        _ => progress.note(format!(
            "{open} batches are at the provider, or on their way: `fullbench resume` fetches them"
        )),
    }
}
