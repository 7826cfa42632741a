//! Connections to a server, and what to say when there are none.

use std::time::Duration;

use sea_orm::sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sea_orm::sqlx::{self, ConnectOptions, Connection, PgConnection, PgPool};

use crate::error::ConnectionProblem;
use crate::error::passing::is_refused_for_now;
use crate::{PostgresUrl, StoreError};

/// How long a statement waits for a free connection, and opening for the server.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection that was idle for longer is asked whether it is alive before it is used.
const TRUSTED_IDLE: Duration = Duration::from_secs(1);

/// A pool of connections, of which one is known to work.
pub(super) async fn connect(url: &PostgresUrl, max_connections: u32) -> Result<PgPool, StoreError> {
    // A pool tries again until its time is over, and then says only that; one connection says why.
    connect_once(url).await?.close().await.map_err(|error| unconnected(url, &error))?;
    let pool = PgPoolOptions::new()
        .max_connections(max_connections.max(1))
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .test_before_acquire(false)
        .before_acquire(|connection, idle| {
            Box::pin(async move {
                if idle.idle_for > TRUSTED_IDLE {
                    connection.ping().await?;
                }
                Ok(true)
            })
        });
    pool.connect_with(options(url)).await.map_err(|error| unconnected(url, &error))
}

/// A pool of one connection for work that changes tables: it keeps no prepared statements, which would be for tables as they
/// were.
pub(crate) async fn connect_alone(url: &PostgresUrl) -> Result<PgPool, StoreError> {
    connect_once(url).await?.close().await.map_err(|error| unconnected(url, &error))?;
    let options = options(url).statement_cache_capacity(0);
    let pool = PgPoolOptions::new().max_connections(1).acquire_timeout(ACQUIRE_TIMEOUT);
    pool.connect_with(options).await.map_err(|error| unconnected(url, &error))
}

/// One connection of its own.
pub(crate) async fn connect_once(url: &PostgresUrl) -> Result<PgConnection, StoreError> {
    match tokio::time::timeout(ACQUIRE_TIMEOUT, options(url).connect()).await {
        Ok(connected) => connected.map_err(|error| unconnected(url, &error)),
        Err(_) => Err(StoreError::Unconnected {
            database: url.to_string(),
            problem: ConnectionProblem::Unreachable,
            reason: format!("no answer within {} s", ACQUIRE_TIMEOUT.as_secs()),
        }),
    }
}

fn options(url: &PostgresUrl) -> PgConnectOptions {
    let options = url.options().clone().disable_statement_logging();
    match options.get_application_name() {
        Some(_) => options,
        None => options.application_name("fullbench"),
    }
}

/// What is wrong, by the server's code where there is one.
fn unconnected(url: &PostgresUrl, error: &sqlx::Error) -> StoreError {
    let problem = match error {
        // What closes a connection before the first answer is something in between that cannot reach the server.
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::PoolTimedOut => {
            ConnectionProblem::Unreachable
        }
        sqlx::Error::Database(refused) => match refused.code().as_deref() {
            // Invalid authorization or password.
            Some("28000" | "28P01") => ConnectionProblem::Unauthorized,
            Some("3D000") => ConnectionProblem::NoDatabase,
            // Too many connections.
            Some("53300") => ConnectionProblem::Full,
            _ if is_refused_for_now(&**refused) => ConnectionProblem::Unreachable,
            _ => ConnectionProblem::Other,
        },
        _ => ConnectionProblem::Other,
    };
    StoreError::Unconnected { database: url.to_string(), problem, reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// What is said of a server that answers the first message with these bytes and hangs up.
    async fn refusal(answer: &'static [u8]) -> StoreError {
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = server.local_addr().unwrap();
        let answering = tokio::spawn(async move {
            let (mut connection, _) = server.accept().await.unwrap();
            let mut asked = [0; 1024];
            assert!(connection.read(&mut asked).await.unwrap() > 0);
            connection.write_all(answer).await.unwrap();
        });
        let url = format!("postgres://fullbench@{address}/fullbench?sslmode=disable");
        let refused = connect_once(&url.parse().unwrap()).await.unwrap_err();
        answering.await.unwrap();
        refused
    }

    #[tokio::test]
    async fn a_server_that_is_starting_is_worth_another_try() {
        let starting = refusal(b"E\0\0\0\x27SFATAL\0VFATAL\0C57P03\0Mstarting up\0\0").await;
        assert!(starting.is_passing(), "{starting:?}");
        let lost = refusal(b"E\0\0\0\x25SFATAL\0VFATAL\0C08006\0Mno server\0\0").await;
        assert!(lost.is_passing(), "{lost:?}");
        let garbled = refusal(b"HTTP/1.1 502 Bad Gateway\r\n\r\n").await;
        assert!(garbled.is_passing(), "{garbled:?}");
        let wrong = refusal(b"E\0\0\0\x22SFATAL\0VFATAL\0C28P01\0Mno way\0\0").await;
        assert!(!wrong.is_passing(), "{wrong:?}");
    }
}
