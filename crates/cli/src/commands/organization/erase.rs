//! `fullbench organization erase`.

use super::named;
use crate::arguments::organization::EraseArguments;
use crate::commands::audit::ACTOR;
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::output;
use crate::progress::write_line;

/// Erases an organization, and prints the receipt.
pub(super) async fn run(arguments: &EraseArguments, home: &Home) -> Result<Exit, CliError> {
    let EraseArguments { slug, yes } = arguments;
    let store = home.open_whole_existing().await?;
    let organization = named(&store, slug).await?;
    if !yes {
        let message = format!("`{slug}` would be erased with everything it owns, for good");
        let hint = "`fullbench organization export` takes it along; --yes erases it".to_owned();
        return Err(CliError::input(message, Some(hint)));
    }
    let key = store.audit_key().await?;
    let receipt = store.erase_organization(organization, &key, ACTOR).await?;
    output::print_json(&receipt)?;
    if let Some(reason) = &receipt.still_to_do {
        write_line(&format!("note: the files of the database are still to be rewritten: {reason}"));
        write_line("hint: a server does it within the hour, or `fullbench retention run` now");
    }
    Ok(Exit::Fine)
}
