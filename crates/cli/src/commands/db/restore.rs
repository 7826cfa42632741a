//! `fullbench db restore`.

use fullbench_store::Store;

use super::{described, until_stopped};
use crate::arguments::db::RestoreArguments;
use crate::commands::audit::ACTOR;
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
    let restore = Store::restore_at(home.folder(), home.location(), file);
    let Some(contents) = until_stopped(restore).await? else {
        write_line("stopped; the database is as it was");
        return Ok(Exit::Incomplete);
    };
    let database = home.location().database_name(home.folder());
    write_line(&format!("{database} has it all again: {}", described(&contents)));
    write_line(
        "note: secrets in the backup are sealed; bring the master key along that they were sealed under: `secret.key` of the \
         home folder, or FULLBENCH_SECRET_KEY",
    );
    // Other servers may have seen what came after the backup.
    if let Err(error) = note(home).await {
        error.print();
        write_line(
            "note: all is restored, but the audit log does not tell so\n\
             hint: remove the folder `audit-witness` in the home folder of every other server before it is started again",
        );
    }
    Ok(Exit::Fine)
}

async fn note(home: &Home) -> Result<(), CliError> {
    Ok(home.open_whole_existing().await?.note_restore(ACTOR).await?)
}
