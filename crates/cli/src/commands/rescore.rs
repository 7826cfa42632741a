//! `fullbench rescore`.

use std::path::Path;

use fullbench_engine::{Definitions, load_scorers, prepare_rescore};
use fullbench_score::ScorerConfig;
use fullbench_types::NanoDollars;

use super::run::{carry_out, check_html};
use crate::arguments::rescore::RescoreArguments;
use crate::failure::{CliError, Exit};
use crate::home::Home;

/// Scores the answers of a run by further scorers.
pub(crate) async fn run(arguments: &RescoreArguments, home: &Home) -> Result<Exit, CliError> {
    check_html(&arguments.report)?;
    let store = home.open_existing().await?;
    let scorers = scorers(&arguments.scorers, &Definitions::read(&store).await?)?;
    let record = store.find_run(&arguments.run).await?;
    let needs_keys = !arguments.control.cache_only;
    let budget = arguments.control.budget.map(NanoDollars::from_dollars);
    let prepared = prepare_rescore(record, &store, &scorers, budget, needs_keys).await?;
    carry_out(prepared, &arguments.control, &arguments.report).await
}

/// The scorers of a file, or those that are named.
fn scorers(said: &str, definitions: &Definitions) -> Result<Vec<ScorerConfig>, CliError> {
    let path = Path::new(said);
    let is_path = path.exists() || said.contains('/') || path.extension().is_some();
    if is_path {
        return Ok(load_scorers(path, definitions)?);
    }
    let mut scorers = Vec::new();
    for name in said.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let config = ScorerConfig::new(name);
        fullbench_score::build(&config)
            .map_err(|error| CliError::input(format!("--scorers: {error}"), error.hint.clone()))?;
        scorers.push(config);
    }
    if scorers.is_empty() {
        let hint = "give a YAML file with `scorers:`, or names such as `exact_match,token_f1`";
        return Err(CliError::input("--scorers names none".to_owned(), Some(hint.to_owned())));
    }
    Ok(scorers)
}
