//! `fullbench organization`: made, listed, taken along with everything it owns, erased; `fullbench retention`.

mod erase;
mod export;
mod made;
pub(crate) mod retention;

use fullbench_store::Store;
use fullbench_types::OrganizationId;

use crate::arguments::organization::{OrganizationArguments, OrganizationCommand};
use crate::failure::{CliError, Exit};
use crate::home::Home;

/// Makes, changes, lists, exports or erases organizations.
pub(crate) async fn run(arguments: &OrganizationArguments, home: &Home) -> Result<Exit, CliError> {
    match &arguments.command {
        OrganizationCommand::Add(add) => made::add(add, home).await,
        OrganizationCommand::SetPlan(set) => made::set_plan(set, home).await,
        OrganizationCommand::List(list) => made::list(list, home).await,
        OrganizationCommand::Export(export) => export::run(export, home).await,
        OrganizationCommand::Erase(erase) => erase::run(erase, home).await,
    }
}

/// The organization of a slug.
async fn named(store: &Store, slug: &str) -> Result<OrganizationId, CliError> {
    let organizations = store.organizations().await?;
    match organizations.iter().find(|one| one.slug == slug) {
        Some(found) => Ok(found.id),
        None => {
            let slugs: Vec<&str> = organizations.iter().map(|one| one.slug.as_str()).collect();
            let hint = format!("there are: {}", slugs.join(", "));
            Err(CliError::input(format!("there is no organization `{slug}`"), Some(hint)))
        }
    }
}
