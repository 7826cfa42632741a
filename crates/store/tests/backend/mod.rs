//! The backends that every test of the store runs on: SQLite, and PostgreSQL where `FULLBENCH_POSTGRES` names a server on which
//! databases can be made (`scripts/postgres`).
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

use std::io::Write;
use std::path::Path;
use std::sync::Once;

use fullbench_store::{Store, StoreLocation};
use sea_orm::sqlx::postgres::PgConnectOptions;
use sea_orm::sqlx::sqlite::SqliteConnectOptions;
use sea_orm::sqlx::{self, AssertSqlSafe, ConnectOptions, PgConnection};

/// Makes a test of every function of these names: one for each backend.
macro_rules! on_every_backend {
    ($($test:ident),+ $(,)?) => {
        $(
            mod $test {
                #[tokio::test]
                async fn sqlite() {
                    super::$test(crate::backend::Place::sqlite()).await;
                }

                #[tokio::test]
                async fn postgres() {
                    if let Some(place) = crate::backend::Place::postgres().await {
                        super::$test(place).await;
                    }
                }
            }
        )+
    };
}
pub(crate) use on_every_backend;

/// Where a test keeps its store; gone when the test is over.
pub(crate) struct Place {
    pub(crate) location: StoreLocation,
    database: Option<Database>,
    folder: tempfile::TempDir,
}

impl Place {
    /// A folder of its own.
    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { location: StoreLocation::default(), database: None, folder }
    }

    /// A database of its own on the server, owned by a role without privileges; none without a server.
    pub(crate) async fn postgres() -> Option<Self> {
        static TOLD: Once = Once::new();
        let Ok(server) = std::env::var("FULLBENCH_POSTGRES") else {
            // Past the test harness, which keeps what a passing test prints to itself.
            let message = b"SKIPPED: the tests with PostgreSQL: FULLBENCH_POSTGRES is not set\n";
            TOLD.call_once(|| std::io::stderr().write_all(message).unwrap());
            return None;
        };
        let database = Database::create(&server).await;
        let location =
            StoreLocation { database: database.url().parse().unwrap(), ..StoreLocation::default() };
        let folder = tempfile::tempdir().unwrap();
        Some(Self { location, database: Some(database), folder })
    }

    /// The folder of the store.
    pub(crate) fn home(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn is_postgres(&self) -> bool {
        self.database.is_some()
    }

    /// The URL of the database, where there is one.
    pub(crate) fn url(&self) -> String {
        self.database.as_ref().unwrap().url()
    }

    pub(crate) async fn open(&self) -> Store {
        Store::open_at(self.home(), &self.location).await.unwrap()
    }

    /// Executes statements past the store, seeing the rows of all organizations; gives the message where they are refused.
    pub(crate) async fn execute(&self, sql: &str) -> Result<(), String> {
        if self.database.is_none() {
            let options = SqliteConnectOptions::new().filename(self.home().join("fullbench.db"));
            let mut connection = options.connect().await.unwrap();
            let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await;
            return done.map(drop).map_err(|error| error.to_string());
        }
        let mut connection = self.connect().await;
        let scope = "SELECT set_config('fullbench.organization', 'system', false)";
        sqlx::raw_sql(scope).execute(&mut connection).await.unwrap();
        let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await;
        done.map(drop).map_err(|error| error.to_string())
    }

    /// A connection to PostgreSQL past the store, as the same role.
    pub(crate) async fn connect(&self) -> PgConnection {
        self.url().parse::<PgConnectOptions>().unwrap().connect().await.unwrap()
    }
}

/// A database and the role that owns it, of the same name.
struct Database {
    server: PgConnectOptions,
    name: String,
}

impl Database {
    async fn create(server: &str) -> Self {
        let server: PgConnectOptions = server.parse().unwrap();
        let name = format!("fullbench_test_{}", uuid::Uuid::now_v7().simple());
        let database = Self { server, name: name.clone() };
        database.on_server(&format!("CREATE ROLE {name} LOGIN PASSWORD '{name}'")).await;
        database.on_server(&format!("GRANT {name} TO CURRENT_USER")).await;
        database.on_server(&format!("CREATE DATABASE {name} OWNER {name}")).await;
        database
    }

    fn url(&self) -> String {
        let Self { server, name } = self;
        format!("postgres://{name}:{name}@{}:{}/{name}", server.get_host(), server.get_port())
    }

    async fn on_server(&self, sql: &str) {
        let mut connection = self.server.connect().await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let mut connection = server.connect().await.unwrap();
                for sql in
                    [format!("DROP DATABASE {name} WITH (FORCE)"), format!("DROP ROLE {name}")]
                {
                    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
                }
            });
        });
        // A test that fails says why by itself.
        let _ = dropping.join();
    }
}
