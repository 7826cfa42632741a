//! `fullbench db restore`.

use fullbench_store::Store;

use super::described;
use crate::arguments::db::RestoreArguments;
use crate::commands::audit::ACTOR;
use crate::commands::run::next_signal;
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::progress::write_line;

/// Restores a backup, or only looks at it.
pub(super) async fn run(arguments: &RestoreArguments, home: &Home) -> Result<Exit, CliError> {
    let RestoreArguments { file, check } = arguments;
    if *check {
        let contents = Store::check_backup(file).await?;
        write_line(&format!("{} is whole: {}", file.display(), described(&contents)));
        return Ok(Exit::Fine);
    }
    let restore = Store::restore_at(home.folder(), home.location(), file, next_signal()).await?;
    let Some(contents) = restore else {
        write_line("stopped; the database is as it was");
        return Ok(Exit::Incomplete);
    };
    write_line(&format!("{} has it all again: {}", name(home), described(&contents)));
    write_line(
        "note: secrets in the backup are sealed; bring the master key along that they were sealed under: `secret.key` of the \
         home folder, or FULLBENCH_SECRET_KEY",
    );
    explain(home).await;
    Ok(Exit::Fine)
}

fn name(home: &Home) -> String {
    home.location().database_name(home.folder())
}

/// Notes the restore for other servers, which may have seen what came after the backup; says what to do where that is not possible.
async fn explain(home: &Home) {
    let is_noted = note(home).await.unwrap_or_else(|error| {
        error.print();
        false
    });
    if !is_noted && home.location().is_shared() {
        write_line(
            "note: no audit log tells of the restore\n\
             hint: remove the folder `audit-witness` in the home folder of every other server before it is started again",
        );
    }
}

async fn note(home: &Home) -> Result<bool, CliError> {
    Ok(home.open_whole_existing().await?.note_restore(ACTOR).await?)
}
