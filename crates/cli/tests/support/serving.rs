//! The built binary as a server, and somebody who calls it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::Folder;

/// A running server.
pub(crate) struct Serving {
    child: Child,
    client: Client,
}

/// A caller with a key.
#[derive(Clone)]
pub(crate) struct Client {
    url: String,
    key: String,
    http: reqwest::Client,
}

/// A request that is carried out once, however often it is sent.
pub(crate) struct Wish {
    path: String,
    content_type: String,
    body: String,
    key: String,
    header: Option<(String, String)>,
}

impl Serving {
    /// Starts a server on a folder that none has been started on before.
    pub(crate) fn start(folder: &Folder, models: &str) -> Self {
        Self::start_with(folder, models, None)
    }

    /// Starts a server again.
    pub(crate) fn start_again(folder: &Folder, models: &str, key: String) -> Self {
        Self::start_with(folder, models, Some(key))
    }

    fn start_with(folder: &Folder, models: &str, key: Option<String>) -> Self {
        Self::of(folder.command(&Self::arguments(models)), key)
    }

    /// What starts a server that may reach these models.
    pub(crate) fn arguments(models: &str) -> [&str; 5] {
        ["serve", "--listen", "127.0.0.1:0", "--allow-model-url", models]
    }

    /// Starts a server by a command; the first one of a database says its key itself.
    pub(crate) fn of(mut command: Command, key: Option<String>) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (mut key, mut url, mut said) = (key, None, String::new());
        while url.is_none() {
            let line = lines.next().unwrap_or_else(|| panic!("the server ended: {said}")).unwrap();
            said = format!("{said}\n{line}");
            if let Some(found) = line.trim().strip_prefix("export FULLBENCH_API_KEY=") {
                key = Some(found.to_owned());
            }
            if let Some(rest) = line.strip_prefix("serving ") {
                url = rest.split(' ').next().map(str::to_owned);
            }
        }
        // What else it says is read, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { child, client: Client { url: url.unwrap(), key: key.unwrap(), http } }
    }

    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    pub(crate) fn key(&self) -> String {
        self.client.key.clone()
    }

    pub(crate) fn url(&self) -> &str {
        &self.client.url
    }

    /// Kills the server as nothing can be done against.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks the server to stop, and waits until it has.
    pub(crate) fn stop(&mut self) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success());
    }

    /// A new data set.
    pub(crate) fn dataset(&self) -> String {
        let new = json!({"name": "sums", "type": "EVALUATION"});
        let (status, made) =
            self.client.send(&Wish::post("/v1/datasets", new, "dataset".to_owned())).unwrap();
        assert_eq!(status, 201, "{made}");
        made["dataset_id"].as_str().unwrap().to_owned()
    }

    /// The id of a new version that can be evaluated.
    pub(crate) fn published(&self, dataset: &str, rows: usize) -> String {
        let (status, made) =
            self.client.send(&Wish::upload(dataset, rows, "first".to_owned())).unwrap();
        assert_eq!(status, 202, "{made}");
        let path = format!("/v1/datasets/{dataset}/versions/1");
        for _ in 0..600 {
            if self.client.get(&path).1["validation_status"] == "VALID" {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let publish = Wish::post(&format!("{path}/publish"), json!({}), "publish".to_owned());
        let (status, published) = self.client.send(&publish).unwrap();
        assert_eq!(status, 200, "{published}");
        made["version_id"].as_str().unwrap().to_owned()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Client {
    /// The same caller with another key.
    pub(crate) fn with_key(self, key: String) -> Self {
        Self { key, ..self }
    }

    /// Status and body; none where the server was gone.
    pub(crate) fn send(&self, wish: &Wish) -> Option<(u16, Value)> {
        let mut request = self
            .http
            .post(format!("{}{}", self.url, wish.path))
            .header("content-type", &wish.content_type)
            .header("idempotency-key", &wish.key)
            .body(wish.body.clone());
        if let Some((name, value)) = &wish.header {
            request = request.header(name, value);
        }
        self.answer(request)
    }

    pub(crate) fn get(&self, path: &str) -> (u16, Value) {
        self.answer(self.http.get(format!("{}{path}", self.url))).expect("an answer")
    }

    pub(crate) fn put(&self, path: &str, body: &Value) -> (u16, Value) {
        let request = self.http.put(format!("{}{path}", self.url));
        let request = request.header("content-type", "application/json").body(body.to_string());
        self.answer(request).expect("an answer")
    }

    fn answer(&self, request: reqwest::RequestBuilder) -> Option<(u16, Value)> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let response = request.bearer_auth(&self.key).send().await.ok()?;
            let status = response.status().as_u16();
            let text = response.text().await.ok()?;
            Some((status, serde_json::from_str(&text).unwrap_or(Value::Null)))
        })
    }
}

impl Wish {
    pub(crate) fn post(path: &str, body: Value, key: String) -> Self {
        let content_type = "application/json".to_owned();
        Self { path: path.to_owned(), content_type, body: body.to_string(), key, header: None }
    }

    /// A file of so many sums as a new version of a data set.
    pub(crate) fn upload(dataset: &str, rows: usize, key: String) -> Self {
        let rows: String = (0..rows)
            .map(|row| format!("{{\"input\": \"{row}+1?\", \"reference\": \"{}\"}}\n", row + 1))
            .collect();
        let body = format!(
            "--BOUNDARY\r\nContent-Disposition: form-data; name=\"file\"; filename=\"sums.jsonl\"\r\n\r\n{rows}\r\n--BOUNDARY--\r\n"
        );
        let content_type = "multipart/form-data; boundary=BOUNDARY".to_owned();
        Self {
            path: format!("/v1/datasets/{dataset}/versions"),
            content_type,
            body,
            key,
            header: None,
        }
    }

    /// The same with another header.
    pub(crate) fn with(self, name: &str, value: &str) -> Self {
        Self { header: Some((name.to_owned(), value.to_owned())), ..self }
    }

    pub(crate) fn is_upload(&self) -> bool {
        self.content_type.starts_with("multipart/")
    }
}
