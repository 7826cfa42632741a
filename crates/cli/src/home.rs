//! Where the state lives: a folder, and the servers that stand in for parts of it.

use std::fmt;
use std::path::{Path, PathBuf};

use fullbench_engine::Definitions;
use fullbench_store::{
    DatabaseLocation, MasterKey, MasterKeySource, MasterKeys, ObjectsLocation, ScopedStore, Store,
    StoreLocation,
};
use fullbench_types::DEFAULT_ORGANIZATION;

use crate::arguments::PlaceArguments;
use crate::failure::CliError;

/// The name of the folder.
const FOLDER: &str = ".fullbench";

/// What the master key, and those before it, are called where they are given.
const SECRET_KEY: &str = "FULLBENCH_SECRET_KEY, or `secrets.key` of the configuration file,";
const OLD_SECRET_KEYS: &str =
    "FULLBENCH_SECRET_KEY_OLD, or `secrets.old_keys` of the configuration file,";

/// The folder of the state, and where its database and its objects are.
pub(crate) struct Home {
    folder: PathBuf,
    location: StoreLocation,
}

impl Home {
    /// What the user names; else `.fullbench` here or in the nearest folder above that has one.
    pub(crate) fn new(place: &PlaceArguments) -> Result<Self, CliError> {
        let location = StoreLocation {
            // Read here and not with the arguments, whose messages would repeat the password.
            database: match &place.database {
                Some(url) => url.parse()?,
                None => DatabaseLocation::Folder,
            },
            master_keys: master_keys(place)?,
            objects: place.objects.clone().map(ObjectsLocation::Url).unwrap_or_default(),
        };
        let folder = place.home.clone().unwrap_or_else(nearest_folder);
        Ok(Self { folder, location })
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the database and the objects are.
    pub(crate) fn location(&self) -> &StoreLocation {
        &self.location
    }

    /// Opens the store, as all organizations see it.
    pub(crate) async fn open_whole(&self) -> Result<Store, CliError> {
        Ok(Store::open_at(&self.folder, &self.location).await?)
    }

    /// Opens the store, as all organizations see it, only if there is one already.
    pub(crate) async fn open_whole_existing(&self) -> Result<Store, CliError> {
        let store = self.open_whole_if_there().await?;
        let hint = "say where with --home or --database";
        store.ok_or_else(|| {
            CliError::input(format!("there is nothing in {self} yet"), Some(hint.to_owned()))
        })
    }

    /// Opens the store, as all organizations see it, where there is one.
    pub(crate) async fn open_whole_if_there(&self) -> Result<Option<Store>, CliError> {
        Ok(Store::open_existing_at(&self.folder, &self.location).await?)
    }

    /// Opens the store of the command line.
    pub(crate) async fn open(&self) -> Result<ScopedStore, CliError> {
        Ok(self.open_whole().await?.scoped(DEFAULT_ORGANIZATION))
    }

    /// Opens the store, where there is one already.
    pub(crate) async fn open_if_there(&self) -> Result<Option<ScopedStore>, CliError> {
        let store = self.open_whole_if_there().await?;
        Ok(store.map(|store| store.scoped(DEFAULT_ORGANIZATION)))
    }

    /// Opens the store only if there is one already: reading commands make nothing.
    pub(crate) async fn open_existing(&self) -> Result<ScopedStore, CliError> {
        let hint = match self.location.database {
            DatabaseLocation::Folder => "start one with `fullbench run`, or say where with --home",
            DatabaseLocation::Postgres { .. } => {
                "start one with `fullbench run`, or say where with --database"
            }
        };
        let missing =
            || CliError::input(format!("there are no runs in {self}"), Some(hint.to_owned()));
        self.open_if_there().await?.ok_or_else(missing)
    }

    /// What an evaluation file may name of the store; nothing where there is no store yet.
    pub(crate) async fn definitions(&self) -> Result<Definitions, CliError> {
        match self.open_if_there().await? {
            Some(store) => Ok(Definitions::read(&store).await?),
            None => Ok(Definitions::default()),
        }
    }
}

impl fmt::Display for Home {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.location.database {
            DatabaseLocation::Folder => write!(formatter, "{}", self.folder.display()),
            DatabaseLocation::Postgres { url, .. } => write!(formatter, "{url}"),
        }
    }
}

/// `.fullbench` here or in the nearest folder above that has one.
pub(crate) fn nearest_folder() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let existing =
        here.ancestors().map(|folder| folder.join(FOLDER)).find(|folder| folder.is_dir());
    existing.unwrap_or_else(|| PathBuf::from(FOLDER))
}

/// The master keys that are given, by the environment or a file: on a command line others would see them.
pub(crate) fn master_keys(place: &PlaceArguments) -> Result<MasterKeySource, CliError> {
    let key = |named: &str, text: &str| {
        let problem = match MasterKey::new(text) {
            Some(_) if text.contains(',') => "holds a key with a comma, which separates keys",
            Some(key) => return Ok(key),
            None => "holds a key that is too short",
        };
        let hint = "use 32 letters or more, for example from `openssl rand -base64 32`";
        Err(CliError::input(format!("{named} {problem}"), Some(hint.to_owned())))
    };
    let old = place.secret_key_old.as_deref().unwrap_or_default();
    let old = old.split(',').map(str::trim).filter(|text| !text.is_empty());
    let old = old.map(|text| key(OLD_SECRET_KEYS, text)).collect::<Result<Vec<_>, _>>()?;
    match &place.secret_key {
        Some(text) => Ok(MasterKeySource::Given(MasterKeys::new(key(SECRET_KEY, text)?, old))),
        None if old.is_empty() => Ok(MasterKeySource::Folder),
        None => Err(CliError::input(
            format!("{OLD_SECRET_KEYS} is set and the current key is not"),
            Some("set FULLBENCH_SECRET_KEY, or `secrets.key`".to_owned()),
        )),
    }
}
