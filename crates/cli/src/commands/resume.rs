//! `fullbench resume`.

use fullbench_engine::prepare_resume;

use super::run::{carry_out, check_budget, check_html};
use crate::arguments::ResumeArguments;
use crate::failure::{CliError, Exit};
use crate::home::Home;

/// Goes on with a run.
pub(crate) async fn run(arguments: &ResumeArguments, home: &Home) -> Result<Exit, CliError> {
    check_html(&arguments.report)?;
    let store = home.open_existing().await?;
    let record = store.find_run(&arguments.run).await?;
    let prepared = prepare_resume(record, &store, !arguments.control.cache_only).await?;
    check_budget(&arguments.control, &prepared.spec)?;
    carry_out(prepared, &arguments.control, &arguments.report).await
}
