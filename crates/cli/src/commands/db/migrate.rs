//! `fullbench db migrate`.

use fullbench_store::Store;

use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::progress::write_line;

/// Applies pending migrations and says which.
pub(super) async fn run(home: &Home) -> Result<Exit, CliError> {
    let applied = Store::migrate_at(home.folder(), home.location()).await?;
    let database = home.location().database_name(home.folder());
    for migration in &applied {
        write_line(&format!("applied {migration}"));
    }
    match applied.len() {
        0 => write_line(&format!("{database} is up to date")),
        1 => write_line(&format!("{database} is up to date now: 1 migration was applied")),
        many => {
            write_line(&format!("{database} is up to date now: {many} migrations were applied"))
        }
    }
    Ok(Exit::Fine)
}
