//! `fullbench reference`: writes the pages under `docs/reference` and the schema file, or checks them.

use crate::arguments::ReferenceArguments;
use crate::failure::{CliError, Exit};
use crate::progress::write_line;
use crate::reference;

/// Writes or checks the generated files.
pub(crate) fn run(arguments: &ReferenceArguments) -> Result<Exit, CliError> {
    let mut stale = Vec::new();
    for (name, content) in reference::pages()? {
        let path = arguments.root.join(name);
        let current = std::fs::read_to_string(&path).unwrap_or_default();
        if current == content {
            continue;
        }
        if arguments.check {
            stale.push(name);
            continue;
        }
        let written = path
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::write(&path, content));
        written.map_err(|error| CliError::internal(format!("{}: {error}", path.display())))?;
        write_line(&format!("wrote {name}"));
    }
    if stale.is_empty() {
        return Ok(Exit::Fine);
    }
    let hint = "run `make reference` and commit the result".to_owned();
    Err(CliError::input(format!("not up to date: {}", stale.join(", ")), Some(hint)))
}
