//! `fullbench organization export`.

use super::named;
use crate::arguments::organization::ExportArguments;
use crate::commands::audit::Noted;
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::progress::write_line;

/// Writes everything an organization owns, and says what it is.
pub(super) async fn run(arguments: &ExportArguments, home: &Home) -> Result<Exit, CliError> {
    let ExportArguments { slug, file, force } = arguments;
    let store = home.open_whole_existing().await?;
    let organization = named(&store, slug).await?;
    // Where it cannot be noted nothing is exported, since nobody would know of it.
    let noted = Noted::begin(&store, organization, "export_organization", None).await?;
    let contents = store.export_organization(organization, file, *force).await?;
    noted.end(&contents).await?;
    let rows: u64 = contents.tables.iter().map(|table| table.rows).sum();
    write_line(&format!(
        "{}: {rows} rows in {} tables, {} blobs, {} files\nsha256 {}",
        file.display(),
        contents.tables.len(),
        contents.blobs.count,
        contents.files.count,
        contents.sha256,
    ));
    if contents.missing.is_empty() {
        return Ok(Exit::Fine);
    }
    write_line(
        "warning: some of the objects that the database names were gone, and are not in it:",
    );
    for name in &contents.missing {
        write_line(&format!("  {name}"));
    }
    Ok(Exit::Incomplete)
}
