//! What only PostgreSQL does: the wall between organizations, partitions, locks across processes, connection problems.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use fullbench_types::{
    ContentHash, DEFAULT_ORGANIZATION, ErrorCode, Generation, OrganizationId, RunId, RunKind,
    Score, UnitKey,
};
use futures::TryStreamExt;
use jiff::{Timestamp, tz::TimeZone};
use sea_orm::sqlx::{self, AssertSqlSafe, Executor, Row};
use sea_orm::{ConnectionTrait, SqlxPostgresConnector, Statement, StreamTrait, TransactionTrait};
use uuid::Uuid;

use crate::backend::Place;
use crate::{
    ConnectionProblem, DatabaseLocation, GenerationRecord, LaneProgress, NewRun, RunLock,
    ScopedStore, ScoreRecord, Store, StoreError, StoreLocation,
};

const OTHER: OrganizationId = OrganizationId(Uuid::from_u128(7));

/// Makes the other organization.
async fn make_other(store: &Store) {
    let sql = format!(
        "INSERT INTO organizations (id, name, slug, plan, settings, last_event, created_at, updated_at) \
         VALUES ('{}', 'Other', 'other', 'FREE', '{{}}', 0, 1, 1)",
        OTHER.0
    );
    store.system().execute_unprepared(&sql).await.unwrap();
}

/// A run with a result of every kind.
async fn record_run(store: &ScopedStore) -> RunId {
    let new = NewRun {
        id: RunId::generate(),
        order: crate::RunOrder::default(),
        name: "test".to_owned(),
        kind: RunKind::Batch,
        spec: "{}".to_owned(),
        dataset: ContentHash::of(b"data"),
        planned_units: 1,
        version: "0".to_owned(),
    };
    let run = store.create_run(new).await.unwrap();
    record(store, run.id).await;
    run.id
}

async fn record(store: &ScopedStore, run: RunId) {
    let key = UnitKey { case_index: 0, model_index: 0, repetition: 0 };
    let text = Generation::recorded("text".to_owned());
    let generation = GenerationRecord { key, case_key: "a", result: Ok(&text) };
    let score = ScoreRecord { key, scorer: [1; 16], revision: 0, score: Score::binary(true) };
    let lane = LaneProgress { watermark: 1, ..LaneProgress::default() };
    store.recorder(run).commit(&[generation], &[&score], &[lane]).await.unwrap();
}

fn statement(sql: impl Into<String>) -> Statement {
    Statement::from_string(sea_orm::DbBackend::Postgres, sql.into())
}

async fn count(connection: &impl ConnectionTrait, table: &str) -> i64 {
    let counting = statement(format!("SELECT COUNT(*) FROM {table}"));
    connection.query_one_raw(counting).await.unwrap().unwrap().try_get_by_index(0).unwrap()
}

fn this_month(table: &str) -> String {
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    format!("{table}_{:04}_{:02}", today.year(), today.month())
}

#[tokio::test]
async fn a_query_that_names_no_organization_sees_its_own_rows_only() {
    let Some(place) = Place::postgres().await else { return };
    let store = place.open().await;
    make_other(&store).await;
    let (ours, theirs) = (store.scoped(DEFAULT_ORGANIZATION), store.scoped(OTHER));
    record_run(&ours).await;
    record_run(&theirs).await;
    record_run(&theirs).await;
    let (month_of_generations, month_of_scores) = (this_month("generations"), this_month("scores"));
    let tables =
        ["runs", "generations", "scores", "run_progress", &month_of_generations, &month_of_scores];
    for table in tables {
        assert_eq!(count(&ours.database, table).await, 1, "{table}");
        assert_eq!(count(&theirs.database, table).await, 2, "{table}");
        assert_eq!(count(store.system(), table).await, 3, "{table}");
        let transaction = ours.database.begin().await.unwrap();
        assert_eq!(count(&transaction, table).await, 1, "{table}");
        let inside = transaction.begin().await.unwrap();
        assert_eq!(count(&inside, table).await, 1, "{table}");
        let all = statement(format!("SELECT 1 FROM {table}"));
        let streamed: Vec<_> =
            theirs.database.stream_raw(all).await.unwrap().try_collect().await.unwrap();
        assert_eq!(streamed.len(), 2, "{table}");
    }
    assert_eq!(count(&ours.database, "organizations").await, 1);
    assert_eq!(count(&theirs.database, "organizations").await, 1, "not even names of others");
    // The same connection, without and after the setting.
    let mut connection = place.connect().await;
    for _ in 0..2 {
        let row = connection.fetch_one("SELECT COUNT(*) FROM runs").await.unwrap();
        assert_eq!(row.get::<i64, _>(0), 0, "nobody sees nothing");
        let scoped = "BEGIN; SELECT set_config('fullbench.organization', 'system', true); COMMIT";
        connection.execute(scoped).await.unwrap();
    }
}

#[tokio::test]
async fn nothing_is_written_for_another_organization() {
    let Some(place) = Place::postgres().await else { return };
    let store = place.open().await;
    make_other(&store).await;
    let (ours, theirs) = (store.scoped(DEFAULT_ORGANIZATION), store.scoped(OTHER));
    let run = record_run(&theirs).await;
    let foreign = OTHER.0;
    let insert = |table: &str| {
        let key = Uuid::now_v7();
        format!(
            "INSERT INTO {table} (run_id, case_index, model_index, repetition, organization_id, case_key, \
             status, attempts, cached, recorded_at) \
             VALUES ('{key}', 0, 0, 0, '{foreign}', 'a', 'answered', 1, false, 0)"
        )
    };
    for sql in [
        format!("INSERT INTO baselines VALUES ('{foreign}', 'main', '{}', 0)", run.0),
        insert("generations"),
        insert(&this_month("generations")),
        insert("generations_default"),
    ] {
        let refused = ours.database.execute_unprepared(&sql).await.unwrap_err();
        assert!(refused.to_string().contains("row-level security"), "{sql}: {refused}");
    }
    let mut own = format!("INSERT INTO baselines VALUES ('{}', 'main', '{}', 0)", foreign, run.0);
    theirs.database.execute_unprepared(&own).await.unwrap();
    own = format!("UPDATE baselines SET organization_id = '{}'", DEFAULT_ORGANIZATION.0);
    let refused = theirs.database.execute_unprepared(&own).await.unwrap_err();
    assert!(refused.to_string().contains("row-level security"), "{refused}");
    for sql in ["UPDATE runs SET name = 'taken'", "DELETE FROM generations", "DELETE FROM runs"] {
        let done = ours.database.execute_unprepared(sql).await.unwrap();
        assert_eq!(done.rows_affected(), 0, "{sql}");
    }
    assert_eq!(theirs.run(run).await.unwrap().name, "test");
}

#[tokio::test]
async fn every_table_with_an_organization_is_walled_in() {
    let Some(place) = Place::postgres().await else { return };
    place.open().await.close().await.unwrap();
    place.execute("CREATE TABLE later (organization_id uuid)").await.unwrap();
    place.open().await.close().await.unwrap();
    let mut connection = place.connect().await;
    let sql = "SELECT c.table_name, t.relrowsecurity AND t.relforcerowsecurity AND \
         (SELECT COUNT(*) FROM pg_policies p WHERE p.tablename = c.table_name \
         AND p.qual IS NOT NULL AND p.with_check IS NOT NULL AND p.cmd = 'ALL') = 1 \
         FROM information_schema.columns c JOIN pg_class t ON t.relname = c.table_name \
         WHERE c.table_schema = 'public' AND (c.column_name = 'organization_id' \
         OR c.table_name = 'organizations' AND c.column_name = 'id')";
    let rows = connection.fetch_all(sql).await.unwrap();
    let tables: Vec<(String, bool)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert!(tables.len() > 20, "{tables:?}");
    for (table, walled) in &tables {
        assert!(walled, "{table}");
    }
    for table in ["later", "generations", "generations_default", "scores_default", "organizations"]
    {
        assert!(tables.iter().any(|(name, _)| name == table), "{table}");
    }
    let database = |pool| SqlxPostgresConnector::from_sqlx_postgres_pool(pool);
    let pool = sqlx::PgPool::connect(&place.url()).await.unwrap();
    assert!(!super::security::is_bypassed(&database(pool)).await.unwrap());
}

#[tokio::test]
async fn results_lie_in_the_partition_of_their_month() {
    let Some(place) = Place::postgres().await else { return };
    let store = place.open().await;
    let ours = store.scoped(DEFAULT_ORGANIZATION);
    let run = record_run(&ours).await;
    record(&ours, RunId(Uuid::from_u128(1))).await;
    let place_of = async |table: &str, run: RunId| -> String {
        let sql =
            format!("SELECT tableoid::regclass::text FROM {table} WHERE run_id = '{}'", run.0);
        let row = ours.database.query_one_raw(statement(sql)).await.unwrap().unwrap();
        row.try_get_by_index(0).unwrap()
    };
    for table in ["generations", "scores"] {
        assert_eq!(place_of(table, run).await, this_month(table));
        assert_eq!(place_of(table, RunId(Uuid::from_u128(1))).await, format!("{table}_default"));
        let sql = format!("SELECT COUNT(*) FROM pg_inherits WHERE inhparent = '{table}'::regclass");
        let row = store.system().query_one_raw(statement(sql)).await.unwrap().unwrap();
        assert_eq!(row.try_get_by_index::<i64>(0).unwrap(), 4, "three months and the default one");
    }
    // A month that began in the default partition stays there, and the store opens all the same.
    let month = this_month("generations");
    place.execute(&format!("DROP TABLE {month}")).await.unwrap();
    record(&ours, run).await;
    assert_eq!(place_of("generations", run).await, "generations_default");
    let reopened = place.open().await.scoped(DEFAULT_ORGANIZATION);
    record(&reopened, run).await;
    assert_eq!(place_of("generations", run).await, "generations_default");
}

#[tokio::test]
async fn what_keeps_us_from_the_server_is_said_without_the_password() {
    let Some(place) = Place::postgres().await else { return };
    let url = place.url();
    assert!(url.contains("_password@"));
    let store = place.open().await;
    let shown = format!("{store:?} {:?}", store.scoped(DEFAULT_ORGANIZATION));
    assert!(!shown.contains("_password"), "{shown}");
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let free = nobody.local_addr().unwrap().port();
    drop(nobody);
    for (url, problem, code) in [
        (
            format!("postgres://ann:s3cret@127.0.0.1:{free}/bench"),
            ConnectionProblem::Unreachable,
            ErrorCode::Unavailable,
        ),
        (
            url.replacen("_password@", "_password_s3cret@", 1),
            ConnectionProblem::Unauthorized,
            ErrorCode::Unauthorized,
        ),
        (format!("{url}_not_there"), ConnectionProblem::NoDatabase, ErrorCode::InvalidInput),
    ] {
        let database: DatabaseLocation = url.parse().unwrap();
        let location = StoreLocation { database, ..StoreLocation::default() };
        let error = Store::open_at(place.home(), &location).await.unwrap_err();
        let StoreError::Unconnected { problem: found, .. } = &error else { panic!("{error}") };
        assert_eq!((*found, error.code()), (problem, code), "{error}");
        assert!(error.hint().is_some());
        let said = format!("{error} {error:?} {location:?}");
        assert!(!said.contains("s3cret") && !said.contains("_password"), "{said}");
    }
}

#[tokio::test]
async fn a_full_pool_says_so() {
    let Some(mut place) = Place::postgres().await else { return };
    place.location.database = place.location.database.clone().with_max_connections(1);
    let store = place.open().await.scoped(DEFAULT_ORGANIZATION);
    let transaction = store.database.begin().await.unwrap();
    tokio::time::pause();
    let error = store.runs(None).await.unwrap_err();
    tokio::time::resume();
    assert!(matches!(error, StoreError::Busy), "{error}");
    assert_eq!((error.code(), error.hint().is_some()), (ErrorCode::Unavailable, true));
    drop(transaction);
    assert!(store.runs(None).await.unwrap().is_empty());
}

/// The lock of a run whose holder is about to let it go.
async fn once_free(store: &ScopedStore, run: RunId) -> RunLock {
    loop {
        match store.lock_run(run).await {
            Err(StoreError::RunLocked(_)) => tokio::task::yield_now().await,
            lock => return lock.unwrap(),
        }
    }
}

#[tokio::test]
async fn a_lock_holds_for_all_processes_and_goes_with_its_connection() {
    let Some(place) = Place::postgres().await else { return };
    let (here, there) = (place.open().await, place.open().await);
    let (here, there) = (here.scoped(DEFAULT_ORGANIZATION), there.scoped(DEFAULT_ORGANIZATION));
    let (run, other) = (RunId::generate(), RunId::generate());
    let lock = here.lock_run(run).await.unwrap();
    let kept = here.lock_run(other).await.unwrap();
    assert!(matches!(there.lock_run(run).await, Err(StoreError::RunLocked(_))));
    drop(lock);
    // The release is on its way; the next request of the same store comes after it.
    assert!(matches!(here.lock_run(other).await, Err(StoreError::RunLocked(_))));
    let taken = there.lock_run(run).await.unwrap();
    assert!(matches!(here.lock_run(run).await, Err(StoreError::RunLocked(_))));
    // As when the process of one is killed: the server closes its connection.
    let sql = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' \
         AND objid = ($1 & 4294967295)::oid";
    let key = other.0.as_u64_pair().1 as i64;
    let mut connection = place.connect().await;
    sqlx::query(AssertSqlSafe(sql)).bind(key).execute(&mut connection).await.unwrap();
    let moved = once_free(&there, other).await;
    assert!(matches!(here.lock_run(other).await, Err(StoreError::RunLocked(_))));
    // Who had it is told as soon as there is a connection again, and stops.
    here.lock_run(RunId::generate()).await.unwrap();
    kept.lost().await;
    assert!(kept.is_lost() && !moved.is_lost() && !taken.is_lost());
    drop((taken, moved, kept));
    once_free(&here, run).await;
    once_free(&here, other).await;
}
