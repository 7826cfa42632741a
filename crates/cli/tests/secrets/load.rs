//! Callers who ask for what needs secrets all the time, of whichever server is up, and are never refused.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use fullbench_simllm::{Simulator, SimulatorConfig};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::{RwLock, RwLockReadGuard};
use tokio::task::JoinHandle;

use crate::support::serving::Serving;
use crate::support::simulator;

/// What the models want to be shown: the organization's own key, which is sealed.
pub(crate) const KEY: &str = "sk-of-the-organization-0123456789";
const CALLERS: usize = 3;

/// Models that answer to whoever has the key.
pub(crate) fn models() -> Simulator {
    simulator(SimulatorConfig { require_key: Some(KEY.to_owned()), ..SimulatorConfig::default() })
}

/// Has the organization keep its key of these models.
pub(crate) fn keep_own_key(server: &Serving, models: &Simulator) {
    let own = json!({"key": KEY, "base_url": format!("{}/v1", models.url())});
    let (status, kept) = server.client().put("/v1/provider-keys/openai", &own);
    assert_eq!(status, 200, "{kept}");
}

/// The addresses of servers, as a balancer has them: one that is held to be changed has answered all that it was asked.
type Servers = Arc<Vec<RwLock<String>>>;

/// All callers.
pub(crate) struct Load {
    runtime: Runtime,
    servers: Servers,
    key: Arc<Mutex<String>>,
    is_over: Arc<AtomicBool>,
    callers: Vec<JoinHandle<Result<usize, String>>>,
}

impl Load {
    /// Begins to call servers that share a database.
    pub(crate) fn start(servers: &[&Serving], models: &Simulator) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let key = Arc::new(Mutex::new(servers[0].key()));
        let is_over = Arc::new(AtomicBool::new(false));
        let addresses = servers.iter().map(|server| RwLock::new(server.url().to_owned()));
        let addresses: Servers = Arc::new(addresses.collect());
        let start = |number| {
            let servers = addresses.clone();
            let caller = Caller { http: http.clone(), servers, key: key.clone(), number };
            let (models, is_over) = (models.url(), is_over.clone());
            runtime.spawn(async move { caller.load(&models, &is_over).await })
        };
        let callers = (0..CALLERS).map(start).collect();
        Self { runtime, servers: addresses, key, is_over, callers }
    }

    /// The key of all callers, which may be changed.
    pub(crate) fn key(&self) -> &Mutex<String> {
        &self.key
    }

    /// Stops a server, once it has answered what it was asked, and starts another one in its place.
    pub(crate) fn replace(&self, server: &mut Serving, start: impl FnOnce() -> Serving) {
        let place = self.servers.iter().find(|place| *place.blocking_read() == server.url());
        let mut address = place.unwrap().blocking_write();
        server.stop();
        *server = start();
        server.url().clone_into(&mut address);
    }

    /// Ends the calls, none of which may have failed.
    pub(crate) fn end(self) {
        self.is_over.store(true, Ordering::Relaxed);
        for caller in self.callers {
            let answers = self.runtime.block_on(caller).unwrap().unwrap();
            assert!(answers > 3, "only {answers} answers");
        }
    }
}

/// Somebody who calls, with connections that live as long as the servers.
struct Caller {
    http: reqwest::Client,
    servers: Servers,
    key: Arc<Mutex<String>>,
    number: usize,
}

impl Caller {
    /// A server that is up, for as long as this is held: not the same each time.
    async fn server(&self, turn: usize) -> RwLockReadGuard<'_, String> {
        loop {
            for place in 0..self.servers.len() {
                let server = &self.servers[(turn + place) % self.servers.len()];
                if let Ok(address) = server.try_read() {
                    return address;
                }
            }
            tokio::task::yield_now().await;
        }
    }

    /// The answer to a request; an error where there is none, or where it is not the one that is expected.
    async fn answer(
        &self,
        request: reqwest::RequestBuilder,
        expected: u16,
    ) -> Result<Value, String> {
        let key = self.key.lock().unwrap().clone();
        let response =
            request.bearer_auth(key).send().await.map_err(|error| format!("{error:?}"))?;
        let status = response.status().as_u16();
        let text = response.text().await.map_err(|error| format!("{error:?}"))?;
        match status == expected {
            true => serde_json::from_str(&text).map_err(|error| error.to_string()),
            false => Err(format!("{status}: {text}")),
        }
    }

    /// Asks for what needs secrets until it is over, and says how often that was answered.
    async fn load(&self, models: &str, is_over: &AtomicBool) -> Result<usize, String> {
        let model =
            json!({"provider": "openai", "model": "sim-80", "base_url": format!("{models}/v1")});
        let mut answers = 0;
        while !is_over.load(Ordering::Relaxed) {
            let server = self.server(self.number + answers).await;
            let secret = self.http.get(format!("{}/v1/organization/webhook-secret", *server));
            self.answer(secret, 200).await?;
            let body = json!({"input": format!("{}: {answers}?", self.number), "output": "4",
                "metrics": ["coherence"], "config": {"evaluator_model": model}});
            let request = self.http.post(format!("{}/v1/evaluations", *server));
            let request = request.header("content-type", "application/json").body(body.to_string());
            let judged = self.answer(request, 201).await?;
            if judged["status"] != "completed" {
                return Err(judged.to_string());
            }
            answers += 1;
        }
        Ok(answers)
    }
}
