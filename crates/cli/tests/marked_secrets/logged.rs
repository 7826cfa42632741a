//! A server whose log is kept, and what it answers.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use reqwest::RequestBuilder;
use reqwest::header::HeaderMap;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::support::Folder;

/// A server whose log is kept, and what it answered.
pub(crate) struct Logged {
    child: Child,
    pub(crate) url: String,
    pub(crate) key: String,
    before: String,
    log: Option<JoinHandle<String>>,
    http: reqwest::Client,
    pub(crate) runtime: Arc<Runtime>,
    /// Heads and bodies of answers, but for those that are there to give a secret.
    pub(crate) answers: String,
}

/// What a request is answered.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    /// Null where there is no JSON.
    pub(crate) body: Value,
    text: String,
}

pub(crate) fn runtime() -> Arc<Runtime> {
    Arc::new(tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap())
}

impl Logged {
    pub(crate) fn start(folder: &Folder, mut command: Command, runtime: Arc<Runtime>) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (mut key, mut url, mut before) = (String::new(), None, String::new());
        while url.is_none() {
            let Some(line) = lines.next() else { panic!("the server ended: {before}") };
            let line = line.unwrap();
            if let Some(found) = line.trim().strip_prefix("export FULLBENCH_API_KEY=") {
                found.clone_into(&mut key);
            }
            if let Some((_, rest)) = line.split_once("serving http") {
                url = rest.split(' ').next().map(|rest| format!("http{rest}"));
            }
            before.push_str(&line);
            before.push('\n');
        }
        let file = folder.path().join(".fullbench/first.key");
        if let Ok(text) = std::fs::read_to_string(&file) {
            text.trim().clone_into(&mut key);
            std::fs::remove_file(&file).unwrap();
        }
        let log = std::thread::spawn(move || {
            let mut log = String::new();
            for line in lines.map_while(Result::ok) {
                log.push_str(&line);
                log.push('\n');
            }
            log
        });
        let _ = rustls::crypto::ring::default_provider().install_default();
        let redirect = reqwest::redirect::Policy::none();
        let http = reqwest::Client::builder().no_proxy().redirect(redirect).build().unwrap();
        let (url, answers) = (url.unwrap(), String::new());
        Self { child, url, key, before, log: Some(log), http, runtime, answers }
    }

    /// A request of nobody.
    pub(crate) fn request(&self, method: &str, path: &str, body: Option<Value>) -> RequestBuilder {
        let request = self.http.request(method.parse().unwrap(), format!("{}{path}", self.url));
        match body {
            Some(body) => request.header("content-type", "application/json").body(body.to_string()),
            None => request,
        }
    }

    /// An answer that holds a secret, for who asked for it.
    pub(crate) fn given(&self, request: RequestBuilder) -> Answer {
        self.runtime.block_on(async {
            let response = request.send().await.unwrap();
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            let text = response.text().await.unwrap();
            let body = serde_json::from_str(&text).unwrap_or(Value::Null);
            Answer { status, headers, body, text }
        })
    }

    /// An answer that is looked through.
    pub(crate) fn answer(&mut self, request: RequestBuilder) -> Answer {
        let answer = self.given(request);
        self.answers.push_str(&format!("{:?}\n{}\n", answer.headers, answer.text));
        answer
    }

    /// The same for what is asked with a key.
    pub(crate) fn call(
        &mut self,
        method: &str,
        path: &str,
        key: &str,
        body: Option<Value>,
    ) -> (u16, Value) {
        let request = self.request(method, path, body).bearer_auth(key);
        let answer = self.answer(request);
        (answer.status, answer.body)
    }

    /// The same for what is asked with the first key.
    pub(crate) fn own(&mut self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        let key = self.key.clone();
        self.call(method, path, &key, body)
    }

    /// Asks again until the answer is as it should be.
    pub(crate) fn wait(&mut self, path: &str, is_right: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..600 {
            let (status, body) = self.own("GET", path, None);
            assert_eq!(status, 200, "{path}: {body}");
            if is_right(&body) {
                return body;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{path} never came to what it should be");
    }

    /// Ends it as a signal does, and gives its log.
    pub(crate) fn stop(&mut self) -> String {
        let process = Pid::from_raw(self.child.id().try_into().unwrap()).unwrap();
        kill_process(process, Signal::TERM).unwrap();
        self.child.wait().unwrap();
        self.before.clone() + &self.log.take().unwrap().join().unwrap()
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
