//! `fullbench db backup`.

use fullbench_store::Store;

use super::{described, until_stopped};
use crate::arguments::db::BackupArguments;
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::progress::write_line;

/// Objects that are gone, told one by one at most.
const SHOWN: usize = 10;

/// Writes a backup.
pub(super) async fn run(arguments: &BackupArguments, home: &Home) -> Result<Exit, CliError> {
    let BackupArguments { file, force } = arguments;
    let backup = Store::back_up_at(home.folder(), home.location(), file, *force);
    let Some(contents) = until_stopped(backup).await? else {
        write_line("stopped; no backup was written");
        return Ok(Exit::Incomplete);
    };
    write_line(&format!("{}: {}", file.display(), described(&contents)));
    let missing = &contents.missing;
    if missing.is_empty() {
        return Ok(Exit::Fine);
    }
    write_line(&format!(
        "warning: {} of the objects that the database names were gone, and are not in the backup:",
        missing.len()
    ));
    for name in missing.iter().take(SHOWN) {
        write_line(&format!("  {name}"));
    }
    if missing.len() > SHOWN {
        write_line("  …; `manifest.json` in the backup names them all");
    }
    Ok(Exit::Incomplete)
}
