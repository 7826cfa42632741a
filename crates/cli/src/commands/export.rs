//! `fullbench export`.

use std::sync::Arc;

use fullbench_store::ResultDetail;

use crate::arguments::ExportArguments;
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::output::results::{ResultWriter, RunContext};

/// Writes every result of a run to stdout, page by page.
pub(crate) async fn run(arguments: &ExportArguments, home: &Home) -> Result<Exit, CliError> {
    let store = home.open_existing().await?;
    let run = store.find_run(&arguments.run).await?;
    let dataset = Arc::new(store.dataset(&run.dataset).await?);
    let mut context = RunContext::new(&store, &run, dataset).await?;
    let detail = if arguments.raw { ResultDetail::Full } else { ResultDetail::Texts };
    let mut writer = ResultWriter::new(arguments.output, context.scorer_names());
    let mut after = None;
    loop {
        let page = store.results_after(run.id, after, 1000, detail).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.key);
        for unit in &page {
            writer.write(&context.result(unit)?)?;
        }
    }
    writer.finish()?;
    Ok(Exit::Fine)
}
