//! Runs on a server: listed, found, shown and exported.

use std::io::Write;

use fullbench_engine::RunReport;
use serde::Deserialize;
use serde_json::Value;

use super::client::{Client, RemoteError};
use crate::arguments::{
    ExportArguments, ExportFormat, ListArguments, ReportArguments, ShowArguments,
};
use crate::commands::list::{ListedRun, print_list};
use crate::failure::{CliError, Exit};
use crate::output;

/// The most that a page has.
const PAGE: u64 = 100;
/// Runs that are looked through for a name.
const LOOKED_THROUGH: u64 = 10_000;

#[derive(Deserialize)]
struct Page {
    runs: Vec<Run>,
    has_more: bool,
}

#[derive(Deserialize)]
struct Run {
    run_id: String,
    name: String,
    status: String,
    completed_items: u64,
    total_items: u64,
    total_cost_usd: f64,
    created_at: String,
}

impl From<Run> for ListedRun {
    fn from(run: Run) -> Self {
        Self {
            id: run.run_id,
            name: run.name,
            state: run.status,
            done: run.completed_items,
            planned: run.total_items,
            cost_usd: run.total_cost_usd,
            created_at: run.created_at,
        }
    }
}

pub(super) async fn list(client: &Client, arguments: &ListArguments) -> Result<Exit, CliError> {
    let mut listed: Vec<ListedRun> = Vec::new();
    loop {
        let wanted = (arguments.limit - listed.len() as u64).min(PAGE);
        if wanted == 0 {
            break;
        }
        let page = page(client, listed.len() as u64, wanted).await?;
        listed.extend(page.runs.into_iter().map(ListedRun::from));
        if !page.has_more {
            break;
        }
    }
    print_list(&listed, arguments.output)?;
    Ok(Exit::Fine)
}

pub(super) async fn show(client: &Client, arguments: &ShowArguments) -> Result<Exit, CliError> {
    let refused = |flag: &str| {
        let hint = "`fullbench export` has every result".to_owned();
        Err(CliError::input(format!("{flag} does not work with --server"), Some(hint)))
    };
    if arguments.case.is_some() {
        return refused("--case");
    }
    if arguments.report.html.is_some() {
        return refused("--html");
    }
    let run = find(client, &arguments.run).await?;
    print_report(client, &run, &arguments.report).await?;
    Ok(Exit::Fine)
}

pub(super) async fn export(client: &Client, arguments: &ExportArguments) -> Result<Exit, CliError> {
    let format = match (arguments.output, arguments.raw) {
        (ExportFormat::Jsonl, false) => "jsonl",
        (ExportFormat::Csv, false) => "csv",
        (ExportFormat::Json, _) | (_, true) => {
            let message = "a server exports as jsonl or csv, without raw replies";
            return Err(CliError::input(message, None));
        }
    };
    let run = find(client, &arguments.run).await?;
    let path = ["v1", "evaluations", "batch", &run, "export"];
    let mut response = client.stream(&path, &[("format", format)]).await?;
    let mut stdout = std::io::stdout().lock();
    let cut = |error: reqwest::Error| {
        CliError::internal(format!("the export was cut off: {}", error.without_url()))
    };
    while let Some(chunk) = response.chunk().await.map_err(cut)? {
        stdout.write_all(&chunk)?;
    }
    stdout.flush()?;
    Ok(Exit::Fine)
}

/// Prints a run's numbers.
pub(super) async fn print_report(
    client: &Client,
    run: &str,
    reporting: &ReportArguments,
) -> Result<RunReport, CliError> {
    let by: Vec<(&str, &str)> = reporting.by.iter().map(|by| ("by", by.as_str())).collect();
    let report: RunReport = client.get(&["v1", "runs", run, "report"], &by).await?;
    output::print_numbers(&report, reporting.output)?;
    Ok(report)
}

/// The id of a run: that of a baseline of this name, the one whose id begins or ends with these letters, the newest of this name,
/// or the newest of all for `latest`.
pub(super) async fn find(client: &Client, wanted: &str) -> Result<String, CliError> {
    match client.get::<Value>(&["v1", "baselines", wanted], &[]).await {
        Ok(baseline) => {
            if let Some(run) = baseline["run_id"].as_str() {
                return Ok(run.to_owned());
            }
        }
        Err(RemoteError::Refused(refusal)) if refusal.status == 404 => {}
        Err(other) => return Err(other.into()),
    }
    let letters = wanted.to_ascii_lowercase();
    let mut named = None;
    let mut matching: Vec<String> = Vec::new();
    let mut offset = 0;
    loop {
        let page = page(client, offset, PAGE).await?;
        for run in page.runs {
            if wanted == "latest" {
                return Ok(run.run_id);
            }
            let is_part = run.run_id.starts_with(&letters) || run.run_id.ends_with(&letters);
            if letters.len() >= 4 && is_part {
                matching.push(run.run_id);
            } else if run.name == wanted && named.is_none() {
                named = Some(run.run_id);
            }
        }
        offset += PAGE;
        if !page.has_more || offset >= LOOKED_THROUGH {
            break;
        }
    }
    match (matching.len(), matching.pop().or(named)) {
        (0 | 1, Some(run)) => Ok(run),
        (0, None) => Err(CliError::input(
            format!("there is no run `{wanted}` on {}", client.url()),
            Some("`fullbench list` shows all runs".to_owned()),
        )),
        (several, _) => Err(CliError::input(
            format!("`{wanted}` stands for {several} runs"),
            Some("give more letters of the id".to_owned()),
        )),
    }
}

async fn page(client: &Client, offset: u64, limit: u64) -> Result<Page, RemoteError> {
    let (offset, limit) = (offset.to_string(), limit.to_string());
    client.get(&["v1", "evaluations"], &[("offset", &offset), ("limit", &limit)]).await
}
