//! Where the weights of a model are.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use fullbench_weights::{Kind, WeightsFolder, find};

use crate::error::LocalError;

/// The file of a model: a path, which has a `/` or ends in `.gguf`, or the name of installed weights.
///
/// # Errors
/// When there are no weights of this name.
pub fn resolve_weights(name: &str) -> Result<PathBuf, LocalError> {
    if is_path(name) {
        return Ok(PathBuf::from(name));
    }
    let installed = find(name).filter(|model| model.kind == Kind::Language).and_then(|model| {
        let folder = WeightsFolder::of_user().ok()?;
        folder.path(model)
    });
    installed.ok_or_else(|| LocalError::UnknownName(name.to_owned()))
}

/// Whether a model is named by its file rather than by the name of installed weights.
#[must_use]
pub fn is_path(name: &str) -> bool {
    name.contains('/') || name.contains(std::path::MAIN_SEPARATOR) || name.ends_with(".gguf")
}

/// Refuses what is not a readable GGUF file, without reading more than its beginning.
///
/// # Errors
/// When the file is missing, unreadable, or something else.
pub fn check_weights(path: &Path) -> Result<(), LocalError> {
    let unreadable = |error: std::io::Error| {
        let message = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
            _ => format!("the file cannot be read: {error}"),
        };
        LocalError::Unreadable { path: path.to_owned(), message }
    };
    let mut file = File::open(path).map_err(unreadable)?;
    if file.metadata().map_err(unreadable)?.is_dir() {
        let message = "this is a folder, not a file".to_owned();
        return Err(LocalError::Unreadable { path: path.to_owned(), message });
    }
    let mut magic = [0; 4];
    match file.read_exact(&mut magic) {
        Ok(()) if &magic == b"GGUF" => Ok(()),
        Ok(()) => Err(LocalError::NotGguf(path.to_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            Err(LocalError::NotGguf(path.to_owned()))
        }
        Err(error) => Err(unreadable(error)),
    }
}

/// Tells files apart that were at one path at different times.
pub(crate) fn revision_of(path: &Path) -> Result<String, LocalError> {
    let unreadable = |error: std::io::Error| LocalError::Unreadable {
        path: path.to_owned(),
        message: error.to_string(),
    };
    let metadata = path.metadata().map_err(unreadable)?;
    let modified = metadata.modified().map_err(unreadable)?;
    let since = modified.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Ok(format!("{} bytes of {}.{:09}", metadata.len(), since.as_secs(), since.subsec_nanos()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn paths_are_taken_and_unknown_names_are_answered_with_a_way_out() {
        assert_eq!(resolve_weights("models/a.gguf").unwrap(), Path::new("models/a.gguf"));
        assert_eq!(resolve_weights("a.gguf").unwrap(), Path::new("a.gguf"));
        let error = resolve_weights("another-model").unwrap_err();
        assert!(error.hint().unwrap().contains("fullbench weights pull"));
    }

    #[test]
    fn files_that_are_no_weights_are_refused_by_what_they_are() {
        assert!(
            check_weights(Path::new("no-such-file.gguf"))
                .unwrap_err()
                .to_string()
                .contains("no such file")
        );
        assert!(check_weights(Path::new("src")).unwrap_err().to_string().contains("folder"));
        assert!(matches!(check_weights(Path::new("Cargo.toml")), Err(LocalError::NotGguf(_))));
    }
}
