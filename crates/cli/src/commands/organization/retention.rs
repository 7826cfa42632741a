//! `fullbench retention run`.

use fullbench_store::{CacheLimits, RetentionReport};
use jiff::Timestamp;

use crate::arguments::PlainFormat;
use crate::arguments::organization::{RetentionArguments, RetentionCommand};
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::output;
use crate::progress::write_line;

/// Removes what is too old, or says what that would be.
pub(crate) async fn run(arguments: &RetentionArguments, home: &Home) -> Result<Exit, CliError> {
    let RetentionCommand::Run(run) = &arguments.command;
    let store = home.open_whole_existing().await?;
    let now = Timestamp::now();
    let reports = if run.dry_run {
        store.old_data(now).await?
    } else {
        let key = store.audit_key().await?;
        let Some(_alone) = store.lock_retention().await? else {
            write_line("a server is doing it just now");
            return Ok(Exit::Incomplete);
        };
        store.remove_old_data(&key, now).await?
    };
    match run.output {
        PlainFormat::Json => output::print_json(&reports)?,
        PlainFormat::Table => output::print_text(&table(&reports))?,
    }
    if reports.iter().all(|report| report.older_than.is_none()) {
        write_line("no organization has said for how long its data is kept");
    }
    // After what was removed is told, whether the cache can be read or not.
    if !run.dry_run {
        let replies = store.tidy_cache(CacheLimits::default(), now).await?;
        if replies > 0 {
            write_line(&format!("{replies} replies were removed from the response cache"));
        }
    }
    Ok(Exit::Fine)
}

fn table(reports: &[RetentionReport]) -> String {
    let mut table = output::table(&["organization", "older than", "table", "rows"]);
    for report in reports {
        let older_than = report.older_than.map(|time| time.strftime("%F %T UTC").to_string());
        let older_than = older_than.unwrap_or_default();
        for rows in &report.rows {
            let (organization, rows_of) = (report.organization.clone(), rows.table.clone());
            table.add_row(vec![organization, older_than.clone(), rows_of, rows.rows.to_string()]);
        }
    }
    format!("{table}\n")
}
