//! `fullbench secrets`: the master key that everything secret is kept under.

use fullbench_store::{MasterKeyStatus, SealedTexts, Store, StoreError};
use fullbench_types::{OrganizationId, SYSTEM_ORGANIZATION};
use serde_json::json;

use crate::arguments::PlainFormat;
use crate::arguments::secrets::{
    DeleteKeysArguments, EncryptTextsArguments, SecretsArguments, SecretsCommand,
};
use crate::commands::audit::{Noted, SYSTEM};
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::output;
use crate::progress::write_line;

/// Shows, changes or forgets keys.
pub(crate) async fn run(arguments: &SecretsArguments, home: &Home) -> Result<Exit, CliError> {
    let store = home.open_whole_existing().await?;
    match &arguments.command {
        SecretsCommand::Status(arguments) => status(&store, arguments.output).await,
        SecretsCommand::Rotate => rotate(&store).await,
        SecretsCommand::ForgetOld => forget_old(&store).await,
        SecretsCommand::DeleteKeys(arguments) => delete_keys(&store, arguments).await,
        SecretsCommand::EncryptTexts(arguments) => encrypt_texts(&store, arguments).await,
    }
}

async fn status(store: &Store, format: PlainFormat) -> Result<Exit, CliError> {
    let keys = store.master_key_status().await?;
    match format {
        PlainFormat::Json => {
            let shown = |key: &MasterKeyStatus| {
                json!({"id": key.id.to_string(), "current": key.is_current, "here": key.is_here,
                    "data_keys": key.data_keys})
            };
            output::print_json(&keys.iter().map(shown).collect::<Vec<_>>())?;
        }
        PlainFormat::Table => {
            let mut table = output::table(&["master key", "state", "data keys"]);
            for key in &keys {
                let state = match (key.is_current, key.is_here) {
                    (true, _) => "current",
                    (false, true) => "older",
                    (false, false) => "missing",
                };
                table.add_row(vec![key.id.to_string(), state.into(), key.data_keys.to_string()]);
            }
            output::print_text(&format!("{table}\n"))?;
        }
    }
    if keys.iter().any(|key| !key.is_here) {
        write_line(
            "error: a master key is missing\n  hint: bring back `secret.key` of the home folder, or set \
             FULLBENCH_SECRET_KEY and FULLBENCH_SECRET_KEY_OLD",
        );
        return Ok(Exit::WrongInput);
    }
    match keys.iter().any(|key| !key.is_current && key.data_keys > 0) {
        true => Ok(Exit::GateFailed),
        false => Ok(Exit::Fine),
    }
}

async fn rotate(store: &Store) -> Result<Exit, CliError> {
    let noted = Noted::begin(store, SYSTEM_ORGANIZATION, "rotate_master_key", None).await?;
    let rotation = store.rotate_master_key().await?;
    let (id, count) = (&rotation.current, rotation.rewrapped);
    noted.end(&json!({"current": id.to_string(), "rewrapped": count})).await?;
    write_line(&format!("the current master key is {id}; keys wrapped with it just now: {count}"));
    write_line(match rotation.is_new {
        true => {
            "It is the first line of `secret.key`: keep a copy of the file. The key before is still in it, for servers on other \
             machines and for backups; `fullbench secrets forget-old` removes it."
        }
        false => {
            "It was given by FULLBENCH_SECRET_KEY, and nothing needs FULLBENCH_SECRET_KEY_OLD any more. To change the key: put a \
             new one into FULLBENCH_SECRET_KEY and the one before into FULLBENCH_SECRET_KEY_OLD, restart every server, then \
             rotate again. Several servers that are not to be down at the same time take the steps in the guide to secrets."
        }
    });
    Ok(Exit::Fine)
}

async fn forget_old(store: &Store) -> Result<Exit, CliError> {
    let noted = Noted::begin(store, SYSTEM_ORGANIZATION, "forget_old_master_keys", None).await?;
    let forgotten = store.forget_old_master_keys().await?;
    let unused: Vec<String> = forgotten.unused.iter().map(ToString::to_string).collect();
    noted.end(&json!({"forgotten": unused})).await?;
    if forgotten.rewrapped > 0 {
        write_line(&format!("keys wrapped with the current key first: {}", forgotten.rewrapped));
    }
    if forgotten.unused.is_empty() {
        write_line("there is no older master key that could be forgotten");
    }
    for id in &forgotten.unused {
        write_line(&match forgotten.are_removed {
            true => format!("removed the master key {id}; backups from before still need it"),
            false => format!(
                "nothing needs the master key {id} any more: take it out of FULLBENCH_SECRET_KEY_OLD"
            ),
        });
    }
    Ok(Exit::Fine)
}

/// The organizations by their names in addresses.
async fn organizations(store: &Store) -> Result<Vec<(String, OrganizationId)>, StoreError> {
    Ok(store.organizations().await?.into_iter().map(|one| (one.slug, one.id)).collect())
}

/// The one that is meant.
fn find(slug: &str, known: &[(String, OrganizationId)]) -> Result<OrganizationId, CliError> {
    let found = known.iter().find(|(name, _)| name == slug);
    found.map(|(_, organization)| *organization).ok_or_else(|| {
        let known: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
        let hint = format!("the organizations are {}", known.join(", "));
        CliError::input(format!("there is no organization `{slug}`"), Some(hint))
    })
}

async fn encrypt_texts(store: &Store, arguments: &EncryptTextsArguments) -> Result<Exit, CliError> {
    let slug = &arguments.organization;
    let organization = find(slug, &organizations(store).await?)?;
    if !store.scoped(organization).organization_record().await?.settings.encrypt_texts {
        let hint = "switch `encrypt_texts` on in its settings first (PATCH /v1/organization): else \
            what comes from now on would stay plain";
        let problem = format!("`{slug}` does not encrypt its texts");
        return Err(CliError::input(problem, Some(hint.to_owned())));
    }
    let tell = |table: &str, rows| write_line(&format!("{table}: {rows} rows sealed"));
    let noted = Noted::begin(store, organization, "encrypt_texts", None).await?;
    let sealed = store.seal_texts(organization, tell).await?;
    noted.end(&json!(sealed)).await?;
    let SealedTexts { rows, blobs, files, removed_copies } = sealed;
    write_line(&format!(
        "sealed {rows} rows, {blobs} blocks of data sets and {files} files of `{slug}`; copies of texts that were removed: \
         {removed_copies}"
    ));
    Ok(Exit::Fine)
}

async fn delete_keys(store: &Store, arguments: &DeleteKeysArguments) -> Result<Exit, CliError> {
    let DeleteKeysArguments { organization: slug, yes } = arguments;
    let mut known = organizations(store).await?;
    known.push((SYSTEM.to_owned(), SYSTEM_ORGANIZATION));
    let organization = find(slug, &known)?;
    if !yes {
        return Err(CliError::input(
            format!("deleting the keys of `{slug}` cannot be undone"),
            Some("say that it is meant with --yes".to_owned()),
        ));
    }
    let noted = match store.audit_key().await {
        // Keys are given up when nothing opens them any more, and then nothing seals the log either.
        Err(StoreError::MasterKeyUnknown(_)) => {
            write_line("warning: the audit log cannot tell of this: the master key is missing");
            None
        }
        _ => Some(Noted::begin(store, organization, "delete_keys", None).await?),
    };
    let deleted = store.scoped(organization).delete_keys().await?;
    if let Some(noted) = noted {
        noted.end(&json!({"deleted": deleted})).await?;
    }
    write_line(&format!(
        "keys of `{slug}` that were deleted: {deleted}; what they sealed cannot be read any more, by servers that run within ten seconds"
    ));
    Ok(Exit::Fine)
}
