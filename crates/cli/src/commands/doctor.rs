//! `fullbench doctor`.

use std::path::Path;
use std::time::Duration;

use fullbench_engine::{HAS_LOCAL_MODELS, load_evaluation};
use fullbench_llm::{ModelConfig, Provider, ProviderKeys};
use serde::Serialize;

use crate::arguments::{DoctorArguments, PlainFormat};
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::output;

/// Less free space than this is worth a word.
const LITTLE_SPACE: u64 = 1 << 30;
/// How long a provider may take to accept a connection.
const CONNECT_TIME: Duration = Duration::from_secs(5);

/// One thing that was looked at.
#[derive(Serialize)]
struct Finding {
    what: String,
    state: &'static str,
    detail: String,
}

impl Finding {
    fn new(what: impl Into<String>, state: &'static str, detail: impl Into<String>) -> Self {
        Self { what: what.into(), state, detail: detail.into() }
    }
}

/// Checks keys, providers, disk and versions.
pub(crate) async fn run(arguments: &DoctorArguments, home: &Home) -> Result<Exit, CliError> {
    let models = match &arguments.file {
        Some(file) => {
            let spec = load_evaluation(file, &home.definitions().await?)?.spec;
            let scorers =
                spec.scorers.iter().filter_map(|entry| fullbench_score::build(entry).ok());
            let judging = scorers.flat_map(|scorer| scorer.scorer.models());
            spec.models.into_iter().chain(judging).collect()
        }
        None => default_models(),
    };
    let mut findings = vec![Finding::new("fullbench", "ok", env!("CARGO_PKG_VERSION"))];
    findings.push(store_finding(home).await);
    findings.push(disk_finding(home.folder()));
    let prices = fullbench_llm::price_table();
    findings.push(Finding::new(
        "prices",
        "ok",
        format!(
            "of about {}, partly from secondary listings: `price:` overrides them",
            prices.as_of
        ),
    ));
    let local = if HAS_LOCAL_MODELS { "run in this process" } else { "not in this build" };
    findings.push(Finding::new("local models", "ok", local));
    let mut seen = Vec::new();
    let is_served =
        |model: &&ModelConfig| !matches!(model.provider, Provider::Local | Provider::Recorded);
    for model in models.iter().filter(is_served).flat_map(places) {
        let model = &model;
        let key = model.key_variable().map(str::to_owned);
        let place = (model.provider, model.effective_base_url().to_owned(), key);
        if seen.contains(&place) {
            continue;
        }
        findings.push(key_finding(model));
        if !arguments.offline {
            findings.push(reach_finding(model).await);
        }
        seen.push(place);
    }
    match arguments.output {
        PlainFormat::Json => output::print_json(&findings)?,
        PlainFormat::Table => {
            let mut table = output::table(&["", "what", "finding"]);
            for finding in &findings {
                table.add_row(vec![finding.state, &finding.what, &finding.detail]);
            }
            output::print_text(&format!("{table}\n"))?;
        }
    }
    let broken = findings.iter().any(|finding| finding.state == "broken");
    Ok(if broken { Exit::WrongInput } else { Exit::Fine })
}

/// The model at each of its endpoints, or by itself where it has none.
fn places(model: &ModelConfig) -> Vec<ModelConfig> {
    let deployments = model.deployments();
    if deployments.is_empty() {
        return vec![model.clone()];
    }
    deployments.into_iter().map(|(_, model)| model).collect()
}

fn default_models() -> Vec<ModelConfig> {
    let names = [
        "openai:gpt-4o-mini",
        "anthropic:claude-haiku-4-5",
        "gemini:gemini-2.5-flash",
        "xai:grok-3-mini",
    ];
    names.iter().filter_map(|name| ModelConfig::parse(name).ok()).collect()
}

async fn store_finding(home: &Home) -> Finding {
    let runs = match home.open_if_there().await {
        Ok(Some(store)) => store.runs(None).await,
        Ok(None) => return Finding::new("state", "ok", format!("nothing in {home} yet")),
        Err(_) => return Finding::new("state", "broken", format!("{home} cannot be opened")),
    };
    match runs {
        Ok(runs) => Finding::new("state", "ok", format!("runs in {home}: {}", runs.len())),
        Err(error) => Finding::new("state", "broken", error.to_string()),
    }
}

fn disk_finding(home: &Path) -> Finding {
    let existing = home.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("."));
    let existing = if existing.as_os_str().is_empty() { Path::new(".") } else { existing };
    match rustix::fs::statvfs(existing) {
        Ok(space) => {
            let free = space.f_bavail.saturating_mul(space.f_frsize);
            let state = if free < LITTLE_SPACE { "careful" } else { "ok" };
            Finding::new("disk", state, format!("{:.1} GB free", free as f64 / 1e9))
        }
        Err(error) => Finding::new("disk", "careful", error.to_string()),
    }
}

fn key_finding(model: &ModelConfig) -> Finding {
    let what = format!("key of {}", model.provider.as_str());
    match ProviderKeys::default().missing_variable(model) {
        Some(variable) => Finding::new(what, "careful", format!("{variable} is not set")),
        None => Finding::new(what, "ok", "set, or not needed"),
    }
}

/// Opens a connection; nothing is sent, so no key leaves the machine.
async fn reach_finding(model: &ModelConfig) -> Finding {
    let url = model.effective_base_url().to_owned();
    let what = format!("reach {url}");
    let Some(address) = host_and_port(&url) else {
        return Finding::new(what, "broken", "this is no address");
    };
    match tokio::time::timeout(CONNECT_TIME, tokio::net::TcpStream::connect(&address)).await {
        Ok(Ok(_)) => Finding::new(what, "ok", "accepts connections"),
        Ok(Err(error)) => Finding::new(what, "careful", format!("cannot be reached: {error}")),
        Err(_) => Finding::new(what, "careful", "no answer within 5 seconds"),
    }
}

fn host_and_port(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next().filter(|host| !host.is_empty())?;
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let port = if scheme == "https" { 443 } else { 80 };
    Some(if has_port { host.to_owned() } else { format!("{host}:{port}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_come_from_urls() {
        assert_eq!(
            host_and_port("https://api.openai.com/v1").as_deref(),
            Some("api.openai.com:443")
        );
        assert_eq!(host_and_port("http://127.0.0.1:8080/v1").as_deref(), Some("127.0.0.1:8080"));
        assert_eq!(host_and_port("nonsense"), None);
    }
}
