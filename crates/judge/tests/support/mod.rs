//! Judges with made-up replies, and a gateway in front of a simulated provider.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, unreachable_pub)]

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use fullbench_judge::{Ask, AskError, Connected, Judge, JudgeConfig, Method, Question, Subject};
use fullbench_llm::{
    Budget, CacheMode, Gateway, GatewayOptions, Limits, ModelConfig, Provider, ProviderKeys,
    ResponseCache,
};
use fullbench_simllm::Simulator;
use fullbench_types::{
    DEFAULT_ORGANIZATION, Generation, Message, NanoDollars, TokenLogprob, TopLogprob, Usage,
};
use tokio_util::sync::CancellationToken;

/// The three wire formats.
pub const PROVIDERS: [Provider; 3] = [Provider::Openai, Provider::Anthropic, Provider::Gemini];

pub const SUBJECT: Subject<'static> = Subject {
    key: "case-1",
    input: "When was the tower finished?",
    output: "It was finished in 1889. It is made of wood.",
    references: &["1889"],
    context: &["The tower was finished in 1889. It is made of iron."],
    repetition: 0,
};

/// A question as it was asked.
#[derive(Debug, Clone)]
pub struct Asked {
    pub request: usize,
    pub name: String,
    pub messages: Vec<Message>,
    pub repetition: u32,
    pub sample: u32,
}

type Answer = dyn Fn(&Asked) -> Result<Generation, AskError> + Send + Sync;

/// Answers by a function, and keeps what was asked.
pub struct Stub {
    answer: Box<Answer>,
    asked: Mutex<Vec<Asked>>,
}

impl Stub {
    pub fn new(
        answer: impl Fn(&Asked) -> Result<Generation, AskError> + Send + Sync + 'static,
    ) -> Self {
        Self { answer: Box::new(answer), asked: Mutex::default() }
    }

    /// Answers with a text.
    pub fn text(answer: impl Fn(&Asked) -> String + Send + Sync + 'static) -> Self {
        Self::new(move |asked| Ok(reply(&answer(asked))))
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Ask for Stub {
    async fn ask(&self, question: Question<'_>) -> Result<Generation, AskError> {
        let asked = Asked {
            request: question.request,
            name: question.name.to_owned(),
            messages: question.messages,
            repetition: question.repetition,
            sample: question.sample,
        };
        self.asked.lock().unwrap().push(asked.clone());
        (self.answer)(&asked)
    }
}

/// A reply as a provider would give it.
pub fn reply(text: &str) -> Generation {
    Generation {
        usage: Some(Usage { input_tokens: 100, output_tokens: 20, ..Usage::default() }),
        latency_us: 1_000,
        cost: Some(NanoDollars(500)),
        finish_reason: fullbench_types::FinishReason::Stop,
        ..Generation::recorded(text.to_owned())
    }
}

pub fn rated(score: &str) -> String {
    format!("{{\"reasoning\": \"because\", \"score\": {score}}}")
}

/// A reply whose score has these probabilities; the first is the one that is given.
pub fn weighed(shares: &[(&str, f64)]) -> Generation {
    let before = "{\"reasoning\": \"because 1\", \"score\": ";
    let plain =
        |text: &str| TokenLogprob { token: text.to_owned(), logprob: -0.1, top: Vec::new() };
    let top: Vec<TopLogprob> = shares
        .iter()
        .map(|(token, share)| TopLogprob { token: (*token).to_owned(), logprob: share.ln() })
        .collect();
    let score = TokenLogprob { token: shares[0].0.to_owned(), logprob: top[0].logprob, top };
    Generation {
        logprobs: Some(vec![plain(before), score, plain("}")]),
        ..reply(&format!("{before}{}}}", shares[0].0))
    }
}

/// A judge of a method with an OpenAI model; steps are given.
pub fn config(method: Method, criterion: &str) -> JudgeConfig {
    let mut config =
        JudgeConfig::new(method, criterion, ModelConfig::parse("openai:gpt-4o-mini").unwrap());
    if method == Method::GEval {
        config.steps = vec!["Read.".to_owned(), "Decide.".to_owned()];
    }
    config
}

pub fn judge(method: Method, criterion: &str) -> Judge {
    Judge::new(config(method, criterion)).unwrap()
}

pub fn options() -> GatewayOptions {
    GatewayOptions {
        keys: ProviderKeys::default(),
        organization: DEFAULT_ORGANIZATION,
        cache: None,
        cache_mode: CacheMode::Off,
        budget: Arc::new(Budget::new(None, NanoDollars::ZERO)),
        stop: CancellationToken::new(),
        batch: None,
    }
}

/// Answers kept in memory.
#[derive(Default)]
pub struct MemoryCache {
    pub kept: Mutex<std::collections::HashMap<fullbench_types::ContentHash, Generation>>,
}

#[async_trait]
impl ResponseCache for MemoryCache {
    async fn get(&self, key: &fullbench_types::ContentHash) -> Option<Generation> {
        self.kept.lock().unwrap().get(key).cloned()
    }

    async fn put(&self, key: &fullbench_types::ContentHash, generation: &Generation) {
        self.kept.lock().unwrap().insert(*key, generation.clone());
    }
}

pub fn served(simulator: &Simulator, provider: Provider, model: &str) -> ModelConfig {
    let path = if provider == Provider::Gemini { "v1beta" } else { "v1" };
    let mut config = ModelConfig::new(provider, Some(model.to_owned()));
    config.base_url = Some(format!("{}/{path}", simulator.url()));
    config
}

/// Models connected as the engine does it.
pub fn connected(models: &[ModelConfig], options: GatewayOptions) -> Connected {
    let gateway = Gateway::new(options);
    let limits = Limits { attempts: 1, timeout_seconds: 20.0, ..Limits::default() };
    Connected(models.iter().map(|model| gateway.model(model, &limits).unwrap()).collect())
}
