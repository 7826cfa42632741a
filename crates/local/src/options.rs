//! How a local model is run.

use serde_json::{Map, Value};

/// Context of a model that is given none: enough for prompts of evaluations, at a bounded cost of memory.
const DEFAULT_CONTEXT_TOKENS: u32 = 4_096;

/// How a local model is run.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LocalOptions {
    /// Threads that compute; all processors unless given.
    pub threads: Option<u32>,
    /// Tokens that prompt and answer may have together; 4,096, or fewer where the model was trained on fewer, unless given.
    pub context_tokens: Option<u32>,
}

impl LocalOptions {
    /// The options under `extra` of a model ([`fullbench_llm::LOCAL_SETTINGS`]); what is no count is left to the default.
    #[must_use]
    pub fn from_extra(extra: &Map<String, Value>) -> Self {
        let count = |name| {
            let count = extra.get(name).and_then(Value::as_u64)?;
            u32::try_from(count).ok().filter(|count| *count > 0)
        };
        Self { threads: count("threads"), context_tokens: count("context_tokens") }
    }

    pub(crate) fn thread_count(&self) -> i32 {
        let all = || std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
        i32::try_from(self.threads.unwrap_or_else(all).max(1)).unwrap_or(i32::MAX)
    }

    pub(crate) fn context_tokens_for(&self, trained: u32) -> u32 {
        self.context_tokens.unwrap_or_else(|| trained.min(DEFAULT_CONTEXT_TOKENS)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn settings_are_read_by_their_names() {
        let extra = json!({"threads": 2, "context_tokens": "many"});
        let options = LocalOptions::from_extra(extra.as_object().unwrap_or(&Map::new()));
        assert_eq!(options, LocalOptions { threads: Some(2), context_tokens: None });
    }

    #[test]
    fn the_context_is_bounded_unless_it_is_given() {
        assert_eq!(LocalOptions::default().context_tokens_for(131_072), 4_096);
        assert_eq!(LocalOptions::default().context_tokens_for(2_048), 2_048);
        let given = LocalOptions { context_tokens: Some(8_192), ..LocalOptions::default() };
        assert_eq!(given.context_tokens_for(2_048), 8_192);
    }
}
