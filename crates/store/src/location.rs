//! Where a store is: its database and its objects.

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use sea_orm::sqlx::postgres::PgConnectOptions;

use crate::{MasterKeySource, StoreError, sqlite};

/// Connections to PostgreSQL that are open at once, unless said otherwise.
const MAX_CONNECTIONS: u32 = 16;

/// Settings that may follow the `?` of a database's URL.
const SETTINGS: [&str; 17] = [
    "application_name",
    "dbname",
    "host",
    "hostaddr",
    "options",
    "password",
    "port",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "ssl-mode",
    "ssl-root-cert",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "user",
];

/// Where a store keeps what it is given. What is not said is kept in the folder of the store.
#[derive(Debug, Clone, Default)]
pub struct StoreLocation {
    /// Where rows are.
    pub database: DatabaseLocation,
    /// Where blobs and files are.
    pub objects: ObjectsLocation,
    /// Where the keys come from that secrets are kept under.
    pub master_keys: MasterKeySource,
}

/// Where the rows of a store are.
#[derive(Debug, Clone, Default)]
pub enum DatabaseLocation {
    /// SQLite, in the folder of the store.
    #[default]
    Folder,
    /// A PostgreSQL server.
    Postgres {
        /// The database.
        url: PostgresUrl,
        /// How many connections may be open at once.
        max_connections: u32,
    },
}

/// Where the blobs and files of a store are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ObjectsLocation {
    /// In the folder of the store.
    #[default]
    Folder,
    /// `s3://bucket/prefix`, with keys and endpoint from the usual `AWS_` variables, or `file:///folder`.
    Url(String),
}

impl DatabaseLocation {
    /// The same with another number of connections that may be open at once; SQLite has its own.
    #[must_use]
    pub fn with_max_connections(self, max_connections: u32) -> Self {
        match self {
            Self::Folder => Self::Folder,
            Self::Postgres { url, .. } => Self::Postgres { url, max_connections },
        }
    }
}

impl StoreLocation {
    /// The database for people: its file, or its URL without the password.
    #[must_use]
    pub fn database_name(&self, home: &Path) -> String {
        match &self.database {
            DatabaseLocation::Folder => sqlite::file(home).display().to_string(),
            DatabaseLocation::Postgres { url, .. } => url.to_string(),
        }
    }

    /// Whether processes with other home folders may use the database too.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        matches!(self.database, DatabaseLocation::Postgres { .. })
    }

    /// The place of blobs and files for people: a folder or a URL.
    #[must_use]
    pub fn objects_name(&self, home: &Path) -> String {
        match &self.objects {
            ObjectsLocation::Folder => home.display().to_string(),
            ObjectsLocation::Url(url) => url.clone(),
        }
    }
}

impl FromStr for DatabaseLocation {
    type Err = StoreError;

    fn from_str(url: &str) -> Result<Self, StoreError> {
        Ok(Self::Postgres { url: url.parse()?, max_connections: MAX_CONNECTIONS })
    }
}

/// The URL of a PostgreSQL database. Shown without its password, wherever it is shown.
#[derive(Clone)]
pub struct PostgresUrl {
    options: Arc<PgConnectOptions>,
}

impl PostgresUrl {
    pub(crate) fn options(&self) -> &PgConnectOptions {
        &self.options
    }
}

impl PostgresUrl {
    /// Which database it is, whoever asks: server, name, and what is set for its sessions.
    pub(crate) fn place(&self) -> String {
        let options = &self.options;
        let server = match options.get_socket() {
            Some(socket) => socket.display().to_string(),
            None => options.get_host().to_owned(),
        };
        let (port, database) = (options.get_port(), options.get_database().unwrap_or_default());
        format!("{server}:{port}/{database}?{}", options.get_options().unwrap_or_default())
    }
}

impl FromStr for PostgresUrl {
    type Err = StoreError;

    fn from_str(url: &str) -> Result<Self, StoreError> {
        let wrong = |problem: &str| StoreError::DatabaseUrl(problem.to_owned());
        let Some((scheme, rest)) = url.split_once("://") else {
            return Err(wrong("it has no `://`"));
        };
        if !matches!(scheme, "postgres" | "postgresql") {
            return Err(wrong("it does not begin with `postgres://`"));
        }
        // A password with such a letter in it would be read as another part, and be shown as such.
        let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        if rest[authority_end..].contains(['@', '#']) {
            return Err(wrong("a `/`, `?` or `#` in the user's name or password is not escaped"));
        }
        let settings = rest.split_once('?').map_or("", |(_, settings)| settings);
        for setting in settings.split('&').filter(|setting| !setting.is_empty()) {
            let name = setting.split_once('=').map_or(setting, |(name, _)| name);
            if !SETTINGS.contains(&name) && !name.starts_with("options[") {
                let known = SETTINGS.join("`, `");
                return Err(wrong(&format!(
                    "it has an unknown setting after the `?`; known are `{known}`"
                )));
            }
        }
        let options: PgConnectOptions =
            url.parse().map_err(|error: sea_orm::sqlx::Error| wrong(&error.to_string()))?;
        if options.get_database().is_none() {
            return Err(wrong("it names no database"));
        }
        Ok(Self { options: Arc::new(options) })
    }
}

impl fmt::Display for PostgresUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { options } = self;
        let (user, port) = (options.get_username(), options.get_port());
        let database = options.get_database().unwrap_or_default();
        match options.get_socket() {
            Some(socket) => {
                let socket = socket.display();
                write!(formatter, "postgres://{user}@/{database}?host={socket}&port={port}")
            }
            None => write!(formatter, "postgres://{user}@{}:{port}/{database}", options.get_host()),
        }
    }
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PostgresUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_url_is_shown_without_its_password() {
        for (url, shown) in [
            ("postgres://ann:s3cret@db.example:6432/bench", "postgres://ann@db.example:6432/bench"),
            ("postgresql://ann:s3cret@db/bench", "postgres://ann@db:5432/bench"),
            ("postgres://ann@db/bench?password=s3cret", "postgres://ann@db:5432/bench"),
            (
                "postgres://ann:s3cret@%2Ftmp%2Fpg/bench?sslmode=disable",
                "postgres://ann@/bench?host=/tmp/pg&port=5432",
            ),
        ] {
            let location: DatabaseLocation = url.parse().unwrap();
            let location = location.with_max_connections(3);
            let DatabaseLocation::Postgres { url, max_connections: 3 } = &location else {
                panic!("{location:?}")
            };
            assert_eq!(url.to_string(), shown);
            assert!(!format!("{location:?}").contains("s3cret"), "{location:?}");
        }
    }

    #[test]
    fn a_wrong_url_is_refused_without_being_repeated() {
        for url in [
            "",
            "s3cret",
            "mysql://ann:s3cret@db/bench",
            "postgres://ann:s3cret/more@db/bench",
            "postgres://ann:1#s3cret@db/bench",
            "postgres://ann:1?s3cret@db/bench",
            "postgres://ann:s3cret@db:port/bench",
            "postgres://ann:s3cret@db/bench?pass=s3cret",
            "postgres://ann:s3cret@db/bench?sslmode=maybe",
            "postgres://ann:s3cret@db",
        ] {
            let error = url.parse::<DatabaseLocation>().unwrap_err();
            assert!(matches!(error, StoreError::DatabaseUrl(_)), "{url}");
            let said = format!("{error} {error:?} {}", error.hint().unwrap());
            assert!(!said.contains("s3cret"), "{said}");
        }
    }
}
