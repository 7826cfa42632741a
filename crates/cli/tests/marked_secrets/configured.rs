//! What is around a server: a database, a bucket, a provider, a mail server and others, and the secrets that open them.

use std::process::{Command, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fullbench_simllm::{Simulator, SimulatorConfig};
use tokio::runtime::Runtime;

use crate::MARK;
use crate::backend::Place;
use crate::bucket::Bucket;
use crate::echo::Echo;
use crate::mail::MailServer;
use crate::search::{Secret, secret};
use crate::support::{Folder, Said, said, simulator};

/// What others are to get, and nobody else.
pub(crate) const COLLECTOR: &str = "what the collector knows us by";
pub(crate) const ISSUER: &str = "what the issuer knows us by";

/// What is around a server.
pub(crate) struct Surroundings {
    pub(crate) folder: Folder,
    pub(crate) place: Place,
    pub(crate) bucket: Option<Bucket>,
    pub(crate) mail: MailServer,
    pub(crate) echo: Echo,
    pub(crate) models: Simulator,
    pub(crate) metrics_token: String,
    /// The environment of whoever runs the server.
    environment: Vec<(&'static str, String)>,
    /// The secrets in it.
    pub(crate) secrets: Vec<Secret>,
}

impl Surroundings {
    pub(crate) fn start(runtime: &Runtime, place: Place) -> Self {
        let provider_key = format!("sk-{MARK}-provider-0123456789");
        // The provider repeats what it was sent in each refusal.
        let require_key = Some(provider_key.clone());
        let models = simulator(SimulatorConfig { require_key, ..SimulatorConfig::default() });
        let (mail, echo) = (runtime.block_on(MailServer::start()), Echo::start());
        let bucket = if place.is_postgres() { Bucket::open() } else { None };
        let mut around = Self {
            folder: Folder::new(),
            place,
            bucket,
            mail,
            echo,
            models,
            metrics_token: format!("{MARK}-metrics-token"),
            environment: Vec::new(),
            secrets: Vec::new(),
        };
        around.has("the key of the provider", "MODELS_KEY", &provider_key, "{}");
        let token = around.metrics_token.clone();
        around.has("the token of the operator", "FULLBENCH_METRICS_TOKEN", &token, "{}");
        around.keys();
        around.others();
        around.kept();
        around.sets("FULLBENCH_LOG", "trace");
        around
    }

    fn sets(&mut self, variable: &'static str, value: impl Into<String>) {
        self.environment.push((variable, value.into()));
    }

    /// Sets a variable to a text with a secret in it.
    fn has(&mut self, what: &'static str, variable: &'static str, value: &str, text: &str) {
        self.secrets.push(secret(what, value));
        self.sets(variable, text.replace("{}", value));
    }

    fn keys(&mut self) {
        for (what, variable, number) in [
            ("the master key", "FULLBENCH_SECRET_KEY", 7),
            ("an older master key", "FULLBENCH_SECRET_KEY_OLD", 8),
        ] {
            let bytes = format!("{MARK}{number:021}");
            self.has(what, variable, &STANDARD.encode(&bytes), "{}");
            self.secrets.push(secret(what, bytes));
        }
    }

    fn others(&mut self) {
        let address = self.mail.url.strip_prefix("smtp://").unwrap().to_owned();
        let smtp = format!("smtp://user:{{}}@{address}");
        let password = format!("{MARK}-mail-password");
        self.has("the password of mail", "FULLBENCH_SMTP_URL", &password, &smtp);
        self.sets("FULLBENCH_MAIL_FROM", "bench@example.com");
        self.sets("FULLBENCH_PUBLIC_URL", "https://bench.example.com/");
        let client = format!("{MARK}-client-secret");
        self.has(ISSUER, "FULLBENCH_OIDC_CLIENT_SECRET", &client, "{}");
        self.sets("FULLBENCH_OIDC_CLIENT_ID", "fullbench");
        self.sets("FULLBENCH_OIDC_ISSUER", self.echo.url.clone());
        let header = format!("{MARK}-collector-header");
        let headers = "x-team=a,authorization=Bearer%20{}";
        self.has(COLLECTOR, "OTEL_EXPORTER_OTLP_HEADERS", &header, headers);
        self.sets("OTEL_EXPORTER_OTLP_ENDPOINT", self.echo.url.clone());
    }

    /// Where rows and objects are kept that are not in the folder.
    fn kept(&mut self) {
        if self.place.is_postgres() {
            let url = self.place.url();
            let (_, rest) = url.split_once("://").unwrap();
            let (_, password) = rest.split_once('@').unwrap().0.split_once(':').unwrap();
            self.has("the password of the database", "FULLBENCH_DATABASE", password, &url);
        }
        let Some(bucket) = self.bucket.as_ref().map(|bucket| bucket.url.clone()) else { return };
        self.sets("FULLBENCH_OBJECTS", bucket);
        // The one of `scripts/object-store` takes every key.
        if std::env::var("FULLBENCH_S3_FOLDER").is_ok() {
            let key = format!("{MARK}-bucket-key");
            self.has("the key of the bucket", "AWS_SECRET_ACCESS_KEY", &key, "{}");
            let token = format!("{MARK}-bucket-token");
            self.has("the token of the bucket", "AWS_SESSION_TOKEN", &token, "{}");
        }
    }

    /// A command of whoever runs the server.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.folder.command(arguments);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// What such a command says.
    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        said(self.command(arguments).output().unwrap())
    }

    /// What it says to whom a line was given.
    pub(crate) fn run_with_line(&self, arguments: &[&str], line: &str) -> Said {
        let file = self.folder.path().join("line");
        std::fs::write(&file, format!("{line}\n")).unwrap();
        let line = std::fs::File::open(&file).unwrap();
        let mut command = self.command(arguments);
        let said = said(command.stdin(Stdio::from(line)).output().unwrap());
        std::fs::remove_file(&file).unwrap();
        said
    }
}
