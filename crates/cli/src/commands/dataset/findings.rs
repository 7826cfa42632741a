//! What `fullbench dataset dedupe` found, for people and programs.

use std::path::PathBuf;

use fullbench_engine::{CaseText, Duplicate, DuplicateGroup, Leak, LeakSource};
use serde::Serialize;

use crate::arguments::dataset::DedupeFormat;
use crate::failure::CliError;
use crate::output;

/// Letters of a text in a table.
const SHOWN: usize = 80;

/// The findings with how they were made.
#[derive(Debug, Serialize)]
pub(super) struct Findings {
    pub(super) file: PathBuf,
    pub(super) cases: usize,
    pub(super) threshold: f64,
    pub(super) signature: String,
    /// Texts that are longer than the model reads.
    pub(super) truncated: usize,
    #[serde(flatten)]
    pub(super) kind: Kind,
}

/// Inside one data set, or between two.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Kind {
    Groups { groups: Vec<DuplicateGroup> },
    Leaks { against: PathBuf, against_cases: usize, leaks: Vec<Leak> },
}

impl Findings {
    /// Groups or leaked cases.
    pub(super) fn count(&self) -> usize {
        match &self.kind {
            Kind::Groups { groups } => groups.len(),
            Kind::Leaks { leaks, .. } => leaks.len(),
        }
    }

    pub(super) fn print(&self, format: DedupeFormat) -> Result<(), CliError> {
        match format {
            DedupeFormat::Json => output::print_json(self),
            DedupeFormat::Csv => output::print_text(&self.csv()?),
            DedupeFormat::Table => output::print_text(&self.table()),
        }
    }

    fn table(&self) -> String {
        let summary = self.summary();
        if self.count() == 0 {
            return format!("{summary}\n");
        }
        let text = |text: &str| output::shortened(text, SHOWN);
        let table = match &self.kind {
            Kind::Groups { groups } => {
                let mut table =
                    output::table(&["group", "case", "line", "cosine", "could go", "text"]);
                for (number, duplicate) in numbered(groups) {
                    table.add_row(vec![
                        number.to_string(),
                        text(&duplicate.case.id),
                        place(&duplicate.case),
                        nearness(duplicate.cosine, duplicate.exact, duplicate.truncated),
                        if duplicate.redundant { "yes" } else { "" }.to_owned(),
                        text(&duplicate.case.text),
                    ]);
                }
                table
            }
            Kind::Leaks { leaks, .. } => {
                let mut table =
                    output::table(&["case", "line", "cosine", "text", "other case", "its text"]);
                for leak in leaks {
                    for source in &leak.sources {
                        table.add_row(vec![
                            text(&leak.case.id),
                            place(&leak.case),
                            nearness(source.cosine, source.exact, source.truncated),
                            output::shortened(&leak.case.text, SHOWN / 2),
                            text(&source.case.id),
                            output::shortened(&source.case.text, SHOWN / 2),
                        ]);
                    }
                }
                table
            }
        };
        format!("{table}\n{summary}\nsignature: {}\n", self.signature)
    }

    fn summary(&self) -> String {
        let Self { cases, threshold, .. } = self;
        let file = self.file.display();
        match &self.kind {
            Kind::Groups { groups } => {
                let cases_of_groups = groups.iter().flat_map(|group| &group.cases);
                let spare = cases_of_groups.filter(|duplicate| duplicate.redundant).count();
                let groups = counted(groups.len(), "group");
                format!(
                    "{file}: {}, {groups} of nearly the same (cosine {threshold} or more); {} could go",
                    counted(*cases, "case"),
                    counted(spare, "case")
                )
            }
            Kind::Leaks { against, against_cases, leaks } => {
                let exact = |leak: &&Leak| leak.sources.iter().any(|source| source.exact);
                format!(
                    "{file}: {} of {} nearly in {} ({}; cosine {threshold} or more), {} of them word for word",
                    leaks.len(),
                    counted(*cases, "case"),
                    against.display(),
                    counted(*against_cases, "case"),
                    leaks.iter().filter(exact).count()
                )
            }
        }
    }

    fn csv(&self) -> Result<String, CliError> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let failed = |error: csv::Error| CliError::internal(error.to_string());
        match &self.kind {
            Kind::Groups { groups } => {
                let header =
                    ["group", "id", "line", "cosine", "exact", "redundant", "truncated", "text"];
                writer.write_record(header).map_err(failed)?;
                for (number, duplicate) in numbered(groups) {
                    let Duplicate { case, cosine, exact, redundant, truncated } = duplicate;
                    let row = [
                        &number.to_string(),
                        &case.id,
                        &place(case),
                        &cosine.to_string(),
                        &exact.to_string(),
                        &redundant.to_string(),
                        &truncated.to_string(),
                        &case.text,
                    ];
                    writer.write_record(row).map_err(failed)?;
                }
            }
            Kind::Leaks { leaks, .. } => {
                let header = [
                    "id",
                    "line",
                    "cosine",
                    "exact",
                    "truncated",
                    "other_id",
                    "other_line",
                    "text",
                    "other_text",
                ];
                writer.write_record(header).map_err(failed)?;
                for leak in leaks {
                    for source in &leak.sources {
                        let LeakSource { case: other, cosine, exact, truncated } = source;
                        let row = [
                            &leak.case.id,
                            &place(&leak.case),
                            &cosine.to_string(),
                            &exact.to_string(),
                            &truncated.to_string(),
                            &other.id,
                            &place(other),
                            &leak.case.text,
                            &other.text,
                        ];
                        writer.write_record(row).map_err(failed)?;
                    }
                }
            }
        }
        let bytes = writer.into_inner().map_err(|error| CliError::internal(error.to_string()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// The cases of groups with the number of their group, from 1.
fn numbered(groups: &[DuplicateGroup]) -> impl Iterator<Item = (usize, &Duplicate)> {
    groups
        .iter()
        .enumerate()
        .flat_map(|(index, group)| group.cases.iter().map(move |duplicate| (index + 1, duplicate)))
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn nearness(cosine: f64, exact: bool, truncated: bool) -> String {
    match (exact, truncated) {
        (true, _) => "same text".to_owned(),
        (false, true) => format!("{cosine:.4} (beginnings)"),
        (false, false) => format!("{cosine:.4}"),
    }
}

/// The line of a case for a column.
fn place(case: &CaseText) -> String {
    case.line.map_or_else(String::new, |line| line.to_string())
}
