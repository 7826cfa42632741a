//! `fullbench audit`: the audit log, verified and taken along.

mod export;
mod noted;
mod verify;

use fullbench_store::{ScopedStore, Store};
use fullbench_types::SYSTEM_ORGANIZATION;

use crate::arguments::audit::{AuditArguments, AuditCommand};
use crate::failure::{CliError, Exit};
use crate::home::Home;

pub(crate) use noted::{ACTOR, Noted};

/// What the log of the installation itself is called.
pub(crate) const SYSTEM: &str = "system";

/// Verifies or exports the audit log.
pub(crate) async fn run(arguments: &AuditArguments, home: &Home) -> Result<Exit, CliError> {
    match &arguments.command {
        AuditCommand::Verify(verify) => verify::run(verify, home).await,
        AuditCommand::Export(export) => export::run(export, home).await,
    }
}

/// The logs there are, with their names: of one organization, or of all and of the installation.
async fn logs(store: &Store, slug: Option<&str>) -> Result<Vec<(String, ScopedStore)>, CliError> {
    let organizations = store.organizations().await?;
    let named = organizations.into_iter().map(|one| (one.slug, store.scoped(one.id)));
    let nameless = store.logs_without_organization().await?;
    let nameless = nameless.into_iter().map(|id| (id.0.to_string(), store.scoped(id)));
    let system = (SYSTEM.to_owned(), store.scoped(SYSTEM_ORGANIZATION));
    let is_meant = |(name, _): &(String, ScopedStore)| slug.is_none_or(|slug| slug == name);
    let logs: Vec<_> = named.chain(nameless).chain([system]).filter(is_meant).collect();
    match slug {
        Some(slug) if logs.is_empty() => {
            let message = format!("there is no organization `{slug}`");
            Err(CliError::input(message, Some("name it by its slug".to_owned())))
        }
        _ => Ok(logs),
    }
}
