//! Databases that older versions made are brought up to date in place, with everything in them.
//!
//! `upgrade/*.sql` are dumps of such databases, each named after its last migration. A dump is never changed; a release adds one.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;

use fullbench_store::{NewDataset, ResultDetail, Store};
use fullbench_types::{Criterion, DEFAULT_ORGANIZATION, DatasetKind, RunOrigin, RunState, Scale};
use sea_orm::sqlx::sqlite::SqliteConnectOptions;
use sea_orm::sqlx::{self, SqlitePool};

async fn old_database(folder: &Path, dump: &str) {
    let path = folder.join("fullbench.db");
    let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let pool = SqlitePool::connect_with(options).await.unwrap();
    sqlx::raw_sql(sqlx::AssertSqlSafe(dump.to_owned())).execute(&pool).await.unwrap();
    pool.close().await;
}

#[tokio::test]
async fn an_old_database_keeps_its_runs_and_gets_everything_new() {
    for dump in [
        include_str!("upgrade/m0002.sql"),
        include_str!("upgrade/m0004.sql"),
        include_str!("upgrade/m0010.sql"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        old_database(folder.path(), dump).await;
        let whole = Store::open(folder.path()).await.unwrap();
        let store = whole.scoped(DEFAULT_ORGANIZATION);

        let run = store.find_run("latest").await.unwrap();
        assert_eq!((run.name.as_str(), run.state), ("before", RunState::Completed));
        assert_eq!(run.order.origin, RunOrigin::CommandLine);
        let units = store.results_after(run.id, None, 10, ResultDetail::Full).await.unwrap();
        let values: Vec<_> = units.iter().map(|unit| unit.scores[0].score.value).collect();
        assert_eq!(values, [Some(1.0), Some(0.0)]);
        assert_eq!(store.dataset(&run.dataset).await.unwrap().cases, 2);

        store.set_baseline("main", run.id).await.unwrap();
        let criterion = Criterion {
            name: "clarity".to_owned(),
            task_introduction: "You judge answers.".to_owned(),
            evaluation_criteria: "Is it clear?".to_owned(),
            scale: Scale { min: 1, max: 5 },
            levels: Vec::new(),
            needs_reference: false,
            needs_context: false,
        };
        store.add_criterion(&criterion).await.unwrap();
        let new = NewDataset {
            id: run.id.0,
            name: "new".to_owned(),
            description: None,
            kind: DatasetKind::Evaluation,
            tags: Vec::new(),
            created_by: None,
        };
        store.create_dataset(new).await.unwrap();
        assert_eq!(whole.organizations().await.unwrap().len(), 1);
        whole.close().await.unwrap();
        Store::open(folder.path()).await.unwrap();
    }
}
