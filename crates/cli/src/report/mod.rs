//! The HTML report: one self-contained file; model output is data in it, never markup.

mod card;
mod data;

use std::path::Path;

use fullbench_engine::RunReport;
use fullbench_store::{RunRecord, ScopedStore};
use serde::Serialize;

use crate::failure::CliError;

pub(crate) use card::write_card;

const PAGE: &str = include_str!("../../report/report.html");
const STYLE: &str = include_str!("../../report/report.css");
const SCRIPTS: [&str; 7] = [
    include_str!("../../report/base.js"),
    include_str!("../../report/charts.js"),
    include_str!("../../report/table.js"),
    include_str!("../../report/rows.js"),
    include_str!("../../report/facts.js"),
    include_str!("../../report/explorer.js"),
    include_str!("../../report/report.js"),
];

/// Writes the report of a run with at most so many results.
pub(crate) async fn write_html(
    path: &Path,
    report: &RunReport,
    store: &ScopedStore,
    run: &RunRecord,
    limit: u64,
) -> Result<(), CliError> {
    let data = data::collect(report, store, run, limit).await?;
    let page = assembled(PAGE, &report.name, STYLE, &SCRIPTS.join("\n"), &data)?;
    write(path, &page)
}

/// Writes a page to its file.
fn write(path: &Path, page: &str) -> Result<(), CliError> {
    std::fs::write(path, page)
        .map_err(|error| CliError::internal(format!("{}: {error}", path.display())))
}

/// A page with its title, style, scripts and data in their places.
fn assembled(
    template: &str,
    title: &str,
    style: &str,
    scripts: &str,
    data: &impl Serialize,
) -> Result<String, CliError> {
    let json = script_safe(&serde_json::to_string(data)?);
    let mut page = String::with_capacity(template.len() + style.len() + json.len() + 65_536);
    let mut rest = template;
    while let Some(start) = rest.find("{{") {
        let Some(end) = rest[start..].find("}}").map(|end| start + end) else { break };
        page.push_str(rest[..start].trim_end_matches("/*"));
        match &rest[start + 2..end] {
            "title" => page.push_str(&html_escaped(title)),
            "css" => page.push_str(style),
            "js" => page.push_str(scripts),
            "data" => page.push_str(&json),
            other => return Err(CliError::internal(format!("the report has no part `{other}`"))),
        }
        rest = rest[end + 2..].trim_start_matches("*/");
    }
    page.push_str(rest);
    Ok(page)
}

/// JSON that cannot end the script element it stands in. Mostly Latin text becomes pure ASCII: a browser then holds
/// the whole page at one byte a character.
fn script_safe(json: &str) -> String {
    let foreign = json.bytes().filter(|byte| !byte.is_ascii()).count();
    let ascii_only = foreign < json.len() / 8;
    let mut safe = String::with_capacity(json.len() + json.len() / 16);
    for letter in json.chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => push_escaped(&mut safe, letter),
            letter if ascii_only && !letter.is_ascii() => push_escaped(&mut safe, letter),
            letter => safe.push(letter),
        }
    }
    safe
}

fn push_escaped(text: &mut String, letter: char) {
    for unit in letter.encode_utf16(&mut [0; 2]) {
        text.push_str(&format!("\\u{unit:04x}"));
    }
}

fn html_escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_leave_its_script_element() {
        let text = "</script><img src=x> & \u{2028} größe 🙂, and enough plain letters around it to be mostly Latin";
        let safe = script_safe(&serde_json::json!({ "a": text }).to_string());
        assert!(!safe.contains('<') && !safe.contains('>') && safe.is_ascii());
        let back: serde_json::Value = serde_json::from_str(&safe).unwrap_or_default();
        assert_eq!(back["a"], text);
    }
}
