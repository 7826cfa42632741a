//! The report card of a judge as a page.

use std::path::Path;

use fullbench_analysis::Report;
use fullbench_check::Card;
use fullbench_store::RunRecord;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{STYLE, assembled, write};
use crate::failure::CliError;

const PAGE: &str = include_str!("../../report/card.html");
const CARD_STYLE: &str = include_str!("../../report/card.css");
const SCRIPTS: [&str; 2] =
    [include_str!("../../report/base.js"), include_str!("../../report/card.js")];

/// Writes the card: what it means, its findings, plots, and the same tables as the terminal shows.
pub(crate) fn write_card(path: &Path, card: &Card, run: &RunRecord) -> Result<(), CliError> {
    let grids: Vec<Value> = card
        .grids()
        .iter()
        .map(|grid| json!({ "title": grid.title, "header": grid.header, "rows": grid.rows }))
        .collect();
    let data = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "generated_at": Timestamp::now().to_string(),
        "run": run.id.to_string(),
        "card": card,
        "findings": card.findings.iter().map(|finding| json!({
            "state": finding.state, "name": finding.section.name(),
            "number": finding.shown, "sentence": finding.sentence,
        })).collect::<Vec<Value>>(),
        "conclusion": card.conclusion(),
        "grids": grids,
    });
    let style = format!("{STYLE}{CARD_STYLE}");
    let title = format!("Judge {}", card.options.judge);
    let page = assembled(PAGE, &title, &style, &SCRIPTS.join("\n"), &data)?;
    write(path, &page)
}
