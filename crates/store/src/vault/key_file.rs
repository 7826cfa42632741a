//! The file with the master keys: one a line, the current one first, for its owner's eyes alone.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use uuid::Uuid;
use zeroize::Zeroizing;

use super::master::{MasterKey, MasterKeys, SHORTEST};
use crate::StoreError;

/// The name of the file, in the home folder.
const NAME: &str = "secret.key";

/// The file with the master keys of a home folder.
#[derive(Debug, Clone)]
pub(super) struct KeyFile(PathBuf);

impl KeyFile {
    pub(super) fn of(home: &Path) -> Self {
        Self(home.join(NAME))
    }

    /// The keys; none where there is no file.
    pub(super) fn read(&self) -> Result<Option<MasterKeys>, StoreError> {
        let text = match fs::read_to_string(&self.0) {
            Ok(text) => Zeroizing::new(text),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::file(&self.0)(error)),
        };
        let wrong = |problem| StoreError::KeyFile { path: self.0.clone(), problem };
        let mut keys = Vec::new();
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            let too_short = || wrong(format!("line {number} holds no key of {SHORTEST} letters"));
            keys.push(MasterKey::new(line).ok_or_else(too_short)?);
        }
        if keys.is_empty() {
            return Err(wrong(format!("it holds no key of {SHORTEST} letters")));
        }
        let current = keys.remove(0);
        Ok(Some(MasterKeys::new(current, keys)))
    }

    /// The keys, with a new one where there is no file yet.
    pub(super) fn read_or_make(&self) -> Result<MasterKeys, StoreError> {
        if let Some(keys) = self.read()? {
            return Ok(keys);
        }
        let unfinished = self.write_beside(&MasterKeys::new(MasterKey::generate()?, Vec::new()))?;
        // Whoever is first has made it; unlike a rename, a link replaces nothing.
        let linked = fs::hard_link(&unfinished, &self.0);
        let _ = fs::remove_file(&unfinished);
        match linked {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(StoreError::file(&self.0)(error));
            }
            _ => self.keep_name()?,
        }
        let gone = || StoreError::KeyFile {
            path: self.0.clone(),
            problem: "it was removed while it was made".to_owned(),
        };
        self.read()?.ok_or_else(gone)
    }

    /// Puts other keys in the place of those there are, at once.
    pub(super) fn replace(&self, keys: &MasterKeys) -> Result<(), StoreError> {
        let unfinished = self.write_beside(keys)?;
        fs::rename(&unfinished, &self.0).map_err(StoreError::file(&self.0))?;
        self.keep_name()
    }

    /// Writes keys under another name, so that a kill leaves no half a file.
    fn write_beside(&self, keys: &MasterKeys) -> Result<PathBuf, StoreError> {
        let path = self.0.with_extension(format!("{}.new", Uuid::now_v7()));
        let mut text = Zeroizing::new(String::new());
        for key in keys.all() {
            text.push_str(key.text());
            text.push('\n');
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let write = |mut file: File| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        };
        options.open(&path).and_then(write).map_err(StoreError::file(&path))?;
        Ok(path)
    }

    /// Makes sure that the name of the file is there after a power failure too.
    fn keep_name(&self) -> Result<(), StoreError> {
        #[cfg(unix)]
        if let Some(folder) = self.0.parent() {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            File::open(folder)
                .and_then(|folder| folder.sync_all())
                .map_err(StoreError::file(folder))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_folder_keeps_its_keys_for_their_owner_alone() {
        let home = tempfile::tempdir().unwrap();
        let file = KeyFile::of(home.path());
        assert!(file.read().unwrap().is_none());
        let first = file.read_or_make().unwrap();
        assert_eq!(file.read_or_make().unwrap().current().id(), first.current().id());
        let two = first.replaced_by(MasterKey::generate().unwrap());
        file.replace(&two).unwrap();
        let read = file.read().unwrap().unwrap();
        let ids = |keys: &MasterKeys| keys.all().map(|key| key.id().clone()).collect::<Vec<_>>();
        assert_eq!(ids(&read), ids(&two));
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "nothing is left beside it");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(home.path().join(NAME)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn a_wrong_file_is_named_with_its_line_and_not_repeated() {
        let home = tempfile::tempdir().unwrap();
        let file = KeyFile::of(home.path());
        for (text, said) in [
            ("", "it holds no key"),
            ("cut", "line 1 holds no key"),
            (&format!("{}\n\nsecret\n", "k".repeat(40)), "line 3 holds no key"),
        ] {
            fs::write(home.path().join(NAME), text).unwrap();
            let error = file.read_or_make().unwrap_err().to_string();
            assert!(error.contains("secret.key") && error.contains(said), "{error}");
            assert!(!error.contains("kkk"), "{error}");
        }
    }
}
