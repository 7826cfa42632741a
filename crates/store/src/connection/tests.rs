//! What a connection must do on every backend.
#![allow(clippy::unwrap_used)]

use fullbench_types::DEFAULT_ORGANIZATION;
use futures::TryStreamExt;
use sea_orm::{
    ConnectionTrait, DbErr, StreamTrait, TransactionError, TransactionSession, TransactionTrait,
};

use crate::backend::{Place, on_every_backend};
use crate::{ScopedStore, Store};

on_every_backend!(
    a_stream_has_every_row,
    what_is_not_committed_is_not_done,
    a_transaction_can_be_a_closure,
);

async fn scoped(place: &Place) -> (Store, ScopedStore) {
    let store = place.open().await;
    let scoped = store.scoped(DEFAULT_ORGANIZATION);
    (store, scoped)
}

async fn add(connection: &impl ConnectionTrait, store: &ScopedStore, name: &str) {
    let sql =
        "INSERT INTO baselines (organization_id, name, run_id, set_at) VALUES ($1, $2, $1, 0)";
    let values = vec![store.organization.0.into(), name.into()];
    connection.execute_raw(store.statement(sql, values)).await.unwrap();
}

async fn names(store: &ScopedStore) -> Vec<String> {
    store.baselines().await.unwrap().into_iter().map(|baseline| baseline.name).collect()
}

async fn a_stream_has_every_row(place: Place) {
    let (_whole, store) = scoped(&place).await;
    let sql = "WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers \
         WHERE number < $1) SELECT number FROM numbers";
    for count in [0_i64, 1, 1024, 3000] {
        let statement = store.statement(sql, vec![count.max(1).into()]);
        let mut rows = store.database.stream_raw(statement).await.unwrap();
        let mut expected = 0;
        while let Some(row) = rows.try_next().await.unwrap() {
            expected += 1;
            let number: i64 = match place.is_postgres() {
                true => i64::from(row.try_get_by_index::<i32>(0).unwrap()),
                false => row.try_get_by_index(0).unwrap(),
            };
            assert_eq!(number, expected);
        }
        assert_eq!(expected, count.max(1));
    }
    // Other columns, through a connection that has streamed before.
    let statement = store.statement("SELECT 'a', 2, 'c'", vec![]);
    let rows: Vec<_> =
        store.database.stream_raw(statement).await.unwrap().try_collect().await.unwrap();
    assert_eq!(rows[0].try_get_by_index::<String>(2).unwrap(), "c");
    let wrong = store.statement("SELECT nothing FROM nowhere", vec![]);
    let failed = async { store.database.stream_raw(wrong).await?.try_collect::<Vec<_>>().await };
    assert!(failed.await.is_err());
}

async fn what_is_not_committed_is_not_done(place: Place) {
    let (_whole, store) = scoped(&place).await;
    let transaction = store.database.begin().await.unwrap();
    add(&transaction, &store, "dropped").await;
    drop(transaction);
    let transaction = store.database.begin().await.unwrap();
    add(&transaction, &store, "rolled back").await;
    TransactionSession::rollback(transaction).await.unwrap();
    let transaction = store.database.begin().await.unwrap();
    add(&transaction, &store, "kept").await;
    let inner = transaction.begin().await.unwrap();
    add(&inner, &store, "dropped inside").await;
    drop(inner);
    let inner = transaction.begin().await.unwrap();
    add(&inner, &store, "kept inside").await;
    inner.commit().await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(names(&store).await, ["kept", "kept inside"]);
}

async fn a_transaction_can_be_a_closure(place: Place) {
    let (_whole, store) = scoped(&place).await;
    let insert = |name: &'static str, fail: bool| {
        let store = store.clone();
        async move {
            let outer = store.clone();
            let done = outer.database.transaction(move |transaction| {
                Box::pin(async move {
                    add(transaction, &store, name).await;
                    if fail { Err(DbErr::Custom("no".to_owned())) } else { Ok(7) }
                })
            });
            done.await
        }
    };
    assert_eq!(insert("kept", false).await.unwrap(), 7);
    assert!(matches!(insert("not", true).await, Err(TransactionError::Transaction(_))));
    assert_eq!(names(&store).await, ["kept"]);
}
