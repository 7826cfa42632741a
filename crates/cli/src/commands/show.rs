//! `fullbench show`.

use std::sync::Arc;

use fullbench_engine::summarize;
use fullbench_store::{ResultDetail, RunRecord, ScopedStore};

use super::run::check_html;
use crate::arguments::{Format, ShowArguments};
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::output::results::{ResultWriter, RunContext};
use crate::progress::write_line;
use crate::{output, report};

/// Shows a run's numbers, or one of its cases.
pub(crate) async fn run(arguments: &ShowArguments, home: &Home) -> Result<Exit, CliError> {
    check_html(&arguments.report)?;
    let store = home.open_existing().await?;
    let run = store.find_run(&arguments.run).await?;
    if let Some(case) = &arguments.case {
        return show_case(&store, &run, case, arguments.report.output).await;
    }
    let report = summarize(&store, &run, arguments.report.by.as_deref()).await?;
    output::print(&report, arguments.report.output, &store, &run).await?;
    if let Some(path) = &arguments.report.html {
        report::write_html(path, &report, &store, &run, arguments.report.html_cases).await?;
        write_line(&format!("report: {}", path.display()));
    }
    Ok(Exit::Fine)
}

async fn show_case(
    store: &ScopedStore,
    run: &RunRecord,
    case: &str,
    format: Format,
) -> Result<Exit, CliError> {
    let dataset = Arc::new(store.dataset(&run.dataset).await?);
    let mut context = RunContext::new(store, run, dataset).await?;
    let mut shown = 0;
    let mut after = None;
    loop {
        let page = store.results_after(run.id, after, 1000, ResultDetail::Texts).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.key);
        for unit in page.iter().filter(|unit| unit.case_key == case) {
            shown += 1;
            let result = context.result(unit)?;
            if format == Format::Table {
                output::print_text(&output::visible(&output::results::as_text(&result)))?;
            } else {
                ResultWriter::write_json_line(&result)?;
            }
        }
    }
    if shown == 0 {
        let hint = "`fullbench export` lists the keys of all cases".to_owned();
        return Err(CliError::input(
            format!("the run has no result for a case `{case}`"),
            Some(hint),
        ));
    }
    Ok(Exit::Fine)
}
