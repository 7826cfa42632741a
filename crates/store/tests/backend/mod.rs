//! The backends that every test of the store runs on: SQLite, and PostgreSQL where `FULLBENCH_POSTGRES` names a server on which
//! databases can be made (`scripts/postgres`).
#![allow(dead_code, unused_imports, unused_macros, clippy::unwrap_used, clippy::expect_used)]

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
            StoreLocation { database: database.url.parse().unwrap(), ..StoreLocation::default() };
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
        self.database.as_ref().unwrap().url.clone()
    }

    pub(crate) async fn open(&self) -> Store {
        Store::open_at(self.home(), &self.location).await.unwrap()
    }

    /// Executes statements past the store, seeing the rows of all organizations; gives the message where they are refused.
    pub(crate) async fn execute(&self, sql: &str) -> Result<(), String> {
        if self.database.is_none() {
            let options = SqliteConnectOptions::new().filename(self.home().join("fullbench.db"));
            let mut connection = options.create_if_missing(true).connect().await.unwrap();
            let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await;
            return done.map(drop).map_err(|error| error.to_string());
        }
        let mut connection = self.connect().await;
        let scope = "SELECT set_config('fullbench.organization', 'system', false)";
        sqlx::raw_sql(scope).execute(&mut connection).await.unwrap();
        let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await;
        done.map(drop).map_err(|error| error.to_string())
    }

    /// The rows of a table, of all organizations.
    pub(crate) async fn count(&self, table: &str) -> i64 {
        let sql = AssertSqlSafe(format!("SELECT COUNT(*) FROM {table}"));
        if self.database.is_none() {
            let options = SqliteConnectOptions::new().filename(self.home().join("fullbench.db"));
            let mut connection = options.connect().await.unwrap();
            return sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap();
        }
        let mut connection = self.connect().await;
        let scope = "SELECT set_config('fullbench.organization', 'system', false)";
        sqlx::raw_sql(scope).execute(&mut connection).await.unwrap();
        sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap()
    }

    /// Texts that SQLite answers.
    pub(crate) async fn texts(&self, sql: &str) -> Vec<String> {
        let options = SqliteConnectOptions::new().filename(self.home().join("fullbench.db"));
        let mut connection = options.connect().await.unwrap();
        let sql = AssertSqlSafe(sql.to_owned());
        sqlx::query_scalar(sql).fetch_all(&mut connection).await.unwrap()
    }

    /// A transaction on PostgreSQL past the store, which sees the rows of all organizations and holds what a statement locks
    /// until it is dropped.
    pub(crate) async fn holding(&self, sql: &str) -> PgConnection {
        let mut connection = self.connect().await;
        let scope = "SELECT set_config('fullbench.organization', 'system', false); BEGIN;";
        let sql = AssertSqlSafe(format!("{scope} {sql}"));
        sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
        connection
    }

    /// A connection to PostgreSQL past the store, as the same role.
    pub(crate) async fn connect(&self) -> PgConnection {
        self.url().parse::<PgConnectOptions>().unwrap().connect().await.unwrap()
    }
}

/// A database and the role that owns it, of the same name. A server that lets us make no role has it as the one we have.
struct Database {
    server: PgConnectOptions,
    name: String,
    url: String,
    has_role: bool,
}

impl Database {
    async fn create(server_url: &str) -> Self {
        let server: PgConnectOptions = server_url.parse().unwrap();
        let name = format!("fullbench_test_{}", uuid::Uuid::now_v7().simple());
        let mut connection = server.connect().await.unwrap();
        let mut run = async |sql: String| {
            sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.map(drop)
        };
        let role = run(format!("CREATE ROLE {name} LOGIN PASSWORD '{name}_password'")).await;
        let has_role = role.is_ok();
        if has_role {
            run(format!("GRANT {name} TO CURRENT_USER")).await.unwrap();
            run(format!("CREATE DATABASE {name} OWNER {name}")).await.unwrap();
        } else {
            run(format!("CREATE DATABASE {name}")).await.unwrap();
        }
        let (host, port) = (server.get_host(), server.get_port());
        let url = match has_role {
            true => format!("postgres://{name}:{name}_password@{host}:{port}/{name}"),
            false => format!("{}/{name}", server_url.rsplit_once('/').unwrap().0),
        };
        Self { server, name, url, has_role }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        let role = self.has_role.then(|| format!("DROP ROLE {name}"));
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let mut connection = server.connect().await.unwrap();
                let database = format!("DROP DATABASE {name} WITH (FORCE)");
                for sql in std::iter::once(database).chain(role) {
                    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
                }
            });
        });
        // A test that fails says why by itself.
        let _ = dropping.join();
    }
}
