//! The model under test, and how it is asked.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use fullbench_llm::{CallError, GenerationRequest, LanguageModel, Parameters, Provider, Reply};
use fullbench_local::{LocalModel, LocalOptions};
use fullbench_types::{DEFAULT_ORGANIZATION, Generation, Message, Role};

pub(crate) const QUESTION: &str = "Tell me a long story about a cat and a dog.";

/// The file under test; none where there is none.
pub(crate) fn path() -> Option<PathBuf> {
    let path = std::env::var_os("FULLBENCH_GGUF").map(PathBuf::from);
    let path = path.filter(|path| path.exists());
    if path.is_none() {
        eprintln!("SKIPPED: FULLBENCH_GGUF names no file; scripts/test-llama fetches one");
    }
    path
}

/// The model under test, loaded once for all tests.
pub(crate) fn model() -> Option<LocalModel> {
    static MODEL: OnceLock<Option<LocalModel>> = OnceLock::new();
    let load = |path: PathBuf| LocalModel::load(&path, LocalOptions::default());
    MODEL.get_or_init(|| path().map(|path| load(path).expect("the model loads"))).clone()
}

pub(crate) fn request(messages: Vec<Message>, parameters: Parameters) -> GenerationRequest {
    GenerationRequest {
        organization: DEFAULT_ORGANIZATION,
        provider: Provider::Local,
        base_url: String::new(),
        model: "model.gguf".to_owned(),
        revision: None,
        messages,
        parameters: Arc::new(parameters),
        repetition: 0,
        sample: 0,
    }
}

pub(crate) fn user(text: &str) -> Vec<Message> {
    vec![Message::new(Role::User, text)]
}

/// Greedy, and short enough for a test.
pub(crate) fn short() -> Parameters {
    Parameters { temperature: Some(0.0), max_tokens: Some(24), ..Parameters::default() }
}

pub(crate) async fn ask(
    model: &LocalModel,
    question: &str,
    parameters: Parameters,
) -> Result<Generation, CallError> {
    let reply = model.generate(&request(user(question), parameters)).await;
    reply.map(|Reply { generation, .. }| generation)
}

pub(crate) async fn answer(
    model: &LocalModel,
    question: &str,
    parameters: Parameters,
) -> Generation {
    ask(model, question, parameters).await.expect("the model answers")
}
