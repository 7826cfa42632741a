//! Secrets that are marked, put wherever there is one, and then looked for in everything that is written: the log at its most
//! talkative, answers and refusals, the database, the objects, reports, exports and backups. And no request writes a line of its
//! own into the log.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use fullbench_simllm::SimulatorConfig;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::{Folder, simulator};

/// What every secret has in it.
const MARK: &str = "Mk7QzSecret";

/// A server whose log is kept, and what it answered.
struct Logged {
    child: Child,
    url: String,
    key: String,
    log: Arc<Mutex<String>>,
    http: reqwest::Client,
    runtime: tokio::runtime::Runtime,
    answers: String,
}

impl Logged {
    fn start(folder: &Folder, mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (mut key, mut url, mut before) = (String::new(), None, String::new());
        while url.is_none() {
            let line = lines.next().expect("the server ended").unwrap();
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
        let log = Arc::new(Mutex::new(before));
        let kept = log.clone();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let mut log = kept.lock().unwrap();
                log.push_str(&line);
                log.push('\n');
            }
        });
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let url = url.unwrap();
        Self { child, url, key, log, http, runtime, answers: String::new() }
    }

    /// Sends a request with a key, and keeps its answer.
    fn call(&mut self, method: &str, path: &str, key: &str, body: Option<Value>) -> (u16, Value) {
        let mut request = self
            .http
            .request(method.parse().unwrap(), format!("{}{path}", self.url))
            .bearer_auth(key);
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        let (status, text) = self.runtime.block_on(async {
            let response = request.send().await.unwrap();
            (response.status().as_u16(), response.text().await.unwrap())
        });
        self.answers.push_str(&text);
        self.answers.push('\n');
        (status, serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    fn own(&mut self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        let key = self.key.clone();
        self.call(method, path, &key, body)
    }

    /// Ends it as a signal does, and gives its log.
    fn stop(&mut self) -> String {
        let process = Pid::from_raw(self.child.id().try_into().unwrap()).unwrap();
        kill_process(process, Signal::TERM).unwrap();
        self.child.wait().unwrap();
        std::thread::sleep(Duration::from_millis(200));
        self.log.lock().unwrap().clone()
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A secret, and the ways in which it could be written.
fn spellings(secret: &str) -> Vec<Vec<u8>> {
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let base64 = base64::engine::general_purpose::STANDARD_NO_PAD;
    vec![
        secret.into(),
        secret.chars().rev().collect::<String>().into(),
        base64.encode(secret).into(),
        hex.to_uppercase().into(),
        hex.into(),
    ]
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all.extend(files(&path)),
            false => all.push(path),
        }
    }
    all
}

/// Where one of the secrets is found; compressed files are looked into.
fn found(secrets: &[(&str, String)], name: &str, bytes: &[u8]) -> Vec<String> {
    let unfolded = zstd::decode_all(bytes).unwrap_or_default();
    let is_in = |spelling: &Vec<u8>| {
        [bytes, &unfolded[..]]
            .iter()
            .any(|all| all.windows(spelling.len()).any(|window| window == spelling.as_slice()))
    };
    let found = secrets.iter().filter(|(_, secret)| spellings(secret).iter().any(is_in));
    found.map(|(what, _)| format!("{what} in {name}")).collect()
}

#[test]
fn marked_secrets_are_found_nowhere() {
    let provider_key = format!("sk-{MARK}-provider-0123456789");
    let own_key = format!("sk-{MARK}-own-0123456789");
    // The provider repeats what it was sent in each refusal.
    let simulator = simulator(SimulatorConfig {
        require_key: Some(provider_key.clone()),
        ..SimulatorConfig::default()
    });
    let base_url = format!("{}/v1", simulator.url());
    let folder = Folder::new();
    let master = base64::engine::general_purpose::STANDARD.encode(format!("{MARK}{:021}", 7));
    let (metrics, mail) = (format!("{MARK}-metrics-token"), format!("{MARK}mailpassword"));
    let allowed = format!("{base_url}=MODELS_KEY");
    let mut command = folder.command(&[
        "-vv",
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--log-format",
        "json",
        "--allow-model-url",
        &allowed,
    ]);
    command
        .env("FULLBENCH_LOG", "debug")
        .env("FULLBENCH_SECRET_KEY", &master)
        .env("FULLBENCH_METRICS_TOKEN", &metrics)
        .env("FULLBENCH_SMTP_URL", format!("smtp://user:{mail}@127.0.0.1:9"))
        .env("FULLBENCH_MAIL_FROM", "bench@example.com")
        .env("FULLBENCH_PUBLIC_URL", "https://bench.example.com/")
        .env("MODELS_KEY", &provider_key);
    let mut server = Logged::start(&folder, command);
    let first_key = server.key.clone();
    let answers_of_secrets = answers_with_secrets(&mut server);
    let (password, webhook_token) = (format!("{MARK} password"), format!("{MARK}webhooktoken"));

    // What works, from the command line to the provider.
    folder.file("cases.jsonl", support::arithmetic(5));
    folder.file("eval.yaml", support::evaluation(&simulator.url(), 2, ""));
    let remote = |server: &Logged| {
        let mut command = folder.command(&["-vv", "run", "eval.yaml", "--server", &server.url]);
        command.env("FULLBENCH_API_KEY", &server.key).env("FULLBENCH_LOG", "debug");
        support::said(command.output().unwrap())
    };
    let fine = remote(&server);
    assert_eq!(fine.code, Some(0), "{}", fine.stderr);
    // What is refused: a wrong key of the organization's own, a sign-in, keys that are none, fields that are too much.
    let kept = json!({"key": own_key, "base_url": base_url});
    assert_eq!(server.own("PUT", "/v1/provider-keys/openai", Some(kept)).0, 200);
    let evaluation = support::evaluation(&simulator.url(), 2, "").replace("Solve", "Answer");
    folder.file("eval.yaml", evaluation);
    let refused = remote(&server);
    assert_ne!(refused.code, Some(0), "the provider knows another key: {}", refused.stderr);
    let sign_in = json!({"email": "nobody@example.com", "password": password});
    assert_eq!(server.call("POST", "/v1/session", "", Some(sign_in)).0, 401);
    assert_eq!(server.call("GET", "/v1/datasets", &format!("fb_{MARK}"), None).0, 401);
    assert_eq!(server.call("GET", "/metrics", &format!("{MARK}guess"), None).0, 401);
    assert_eq!(server.call("GET", "/metrics", &metrics, None).0, 200);
    let hook = json!({"url": format!("https://user:{webhook_token}@hooks.example.com/"), "events": ["run.completed"]});
    server.own("POST", "/v1/webhooks", Some(hook));
    let bad = json!({"key": own_key, "base_url": 7, "nonsense": own_key});
    server.own("PUT", "/v1/provider-keys/openai", Some(bad));
    let invitation = json!({"email": "new@example.com", "role": "viewer"});
    server.own("POST", "/v1/invitations", Some(invitation));
    let forgotten = json!({"email": "new@example.com"});
    server.call("POST", "/v1/password-resets", "", Some(forgotten));
    std::thread::sleep(Duration::from_secs(1));
    let log = server.stop();
    assert!(log.contains("answered") && log.contains("DEBUG"), "the log is talkative: {log}");

    let with_environment = |arguments: &[&str]| {
        let mut command = folder.command(arguments);
        command.env("FULLBENCH_SECRET_KEY", &master).env("MODELS_KEY", &provider_key);
        command.env("FULLBENCH_LOG", "debug");
        support::said(command.output().unwrap())
    };
    let mut printed = [fine.stdout, fine.stderr, refused.stdout, refused.stderr].concat();
    for arguments in [
        &["show", "latest"][..],
        &["export", "latest", "--raw"],
        &["show", "latest", "--html", "report.html"],
        &["organization", "export", "default", "organization.tar.zst"],
        &["db", "backup", "backup.tar.zst"],
        &["audit", "export"],
        &["config", "show"],
        &["secrets", "status"],
    ] {
        let said = with_environment(arguments);
        assert_eq!(said.code, Some(0), "{arguments:?}: {}", said.stderr);
        printed.push_str(&said.stdout);
        printed.push_str(&said.stderr);
    }

    let mut secrets = vec![
        ("the key of the provider", provider_key),
        ("the organization's own key", own_key),
        ("the master key", master.clone()),
        ("the bytes of the master key", format!("{MARK}{:021}", 7)),
        ("the token of the operator", metrics),
        ("the password of mail", mail),
        ("a password that was tried", password),
        ("the password of a webhook", webhook_token),
        ("a key that was tried", format!("fb_{MARK}")),
    ];
    let mut places = found(&secrets, "the log", log.as_bytes());
    places.extend(found(&secrets, "what was printed", printed.as_bytes()));
    places.extend(found(&secrets, "the answers", server.answers.as_bytes()));
    secrets.push(("the first key of the API", first_key));
    secrets.extend(answers_of_secrets);
    places.extend(found(&secrets, "the log", log.as_bytes()));
    let mut looked_at = 0;
    for path in files(folder.path()) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        places.extend(found(&secrets, &name, &std::fs::read(&path).unwrap()));
        looked_at += 1;
    }
    assert!(looked_at > 6, "{looked_at}");
    assert_eq!(places, Vec::<String>::new());
    let is_there = |name: &str| folder.path().join(name).exists();
    let names = ["organization.tar.zst", "backup.tar.zst", "report.html"];
    assert!(names.into_iter().all(is_there));
    assert!(printed.contains("numeric_match"), "reports are printed");
}

/// Secrets that are shown once, in the answer to whoever makes them: they are nowhere else.
fn answers_with_secrets(server: &mut Logged) -> Vec<(&'static str, String)> {
    let (_, key) = server.own("POST", "/v1/api-keys", Some(json!({"name": "second"})));
    let (_, secret) = server.own("GET", "/v1/organization/webhook-secret", None);
    // The answers themselves are not looked through for these.
    server.answers.clear();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    vec![
        ("a key of the API", text(&key["key"])),
        ("the secret of webhooks", text(&secret["secret"])),
    ]
}

#[test]
fn no_request_writes_a_line_of_its_own() {
    for format in ["text", "json"] {
        let folder = Folder::new();
        let mut command =
            folder.command(&["-vv", "serve", "--listen", "127.0.0.1:0", "--log-format", format]);
        command.env("FULLBENCH_LOG", "debug");
        let mut server = Logged::start(&folder, command);
        let address = server.url.strip_prefix("http://").unwrap().to_owned();
        let forged = "2026-01-01T00:00:00Z  INFO forged";
        for head in [
            format!("GET /v1/%0a{}%0d%0a HTTP/1.1\r\nhost: a\r\n", forged.replace(' ', "%20")),
            format!("GET /v1/x HTTP/1.1\r\nhost: a\r\nx-request-id: a\n{forged}\r\n"),
            format!("GET /v1/x HTTP/1.1\r\nhost: a\r\nx-request-id: \u{1b}[31m{forged}\r\n"),
            format!("GET /v1/x HTTP/1.1\r\nhost: a\r\nx-request-id: a b {forged}\r\n"),
            format!("GET /v1/x HTTP/1.1\r\nhost: a\r\nuser-agent: \u{1b}[2J{forged}\r\n"),
            format!("{forged}\r\n{forged}\r\n"),
        ] {
            let mut stream = TcpStream::connect(&address).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
            stream.write_all(format!("{head}connection: close\r\n\r\n").as_bytes()).unwrap();
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            let answer = String::from_utf8_lossy(&answer);
            assert!(!answer.contains(forged), "the name of a request is taken as it is: {answer}");
        }
        let name = format!("a\n{forged}\n\u{1b}[31m");
        server.own("POST", "/v1/datasets", Some(json!({"name": name, "type": "EVALUATION"})));
        server.own("POST", "/v1/api-keys", Some(json!({"name": name})));
        let log = server.stop();
        let lines: Vec<&str> = log.lines().filter(|line| line.contains("answered")).collect();
        assert!(lines.len() >= 4, "{log}");
        for line in log.lines() {
            assert!(!line.trim_start().starts_with(forged), "a line of its own: {line}");
            assert!(!line.contains('\u{1b}'), "an escape sequence: {line:?}");
            if format == "json" {
                assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
            }
        }
    }
}
