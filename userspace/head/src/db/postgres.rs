//! PostgreSQL, for several heads and many hosts.

use std::collections::HashMap;
use std::error::Error;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::{StreamExt as _, TryStreamExt as _};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{AsyncMessage, Client, Statement};

use super::notes::Took;
use super::postgres_server::{Server, explain};
use super::sql::{DbError, Kind, Place, Sql, Value};

/// By it a head has the others know what it took.
const CHANNEL: &str = "gtrace_records";

/// A runtime that may end on a thread of another one.
struct Own(Option<Runtime>);

impl Drop for Own {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl std::ops::Deref for Own {
    type Target = Runtime;

    #[allow(clippy::expect_used, reason = "it is there until it is dropped")]
    fn deref(&self) -> &Runtime {
        self.0.as_ref().expect("a runtime")
    }
}

pub(super) struct Postgres {
    runtime: Own,
    client: Client,
    prepared: HashMap<String, Statement>,
    server: Server,
    /// Whether a transaction is open: its connection must not be replaced.
    open: bool,
}

impl Postgres {
    pub(super) fn open(url: &str, place: &Place) -> Result<Self, DbError> {
        let failed = |why: String| DbError::Open {
            place: place.to_string(),
            why,
        };
        let server = Server::parse(url).map_err(failed)?;
        // One thread drives the connection; calls wait for it.
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("gtrace-postgres")
            .enable_all()
            .build()
            .map_err(|e| failed(e.to_string()))?;
        let client = connect(&runtime, &server).map_err(failed)?;
        Ok(Self {
            runtime: Own(Some(runtime)),
            client,
            prepared: HashMap::new(),
            server,
            open: false,
        })
    }

    /// Connects again where the server was started anew. What was under way is rolled back by the server.
    fn ready(&mut self) -> Result<(), DbError> {
        if self.client.is_closed() {
            if self.open {
                let why = "the connection ended within a transaction, which was rolled back";
                return Err(DbError::Statement(why.to_owned()));
            }
            self.prepared.clear();
            self.client = connect(&self.runtime, &self.server).map_err(DbError::Statement)?;
        }
        Ok(())
    }

    fn statement(&mut self, sql: &str, parameters: &[Value]) -> Result<Statement, DbError> {
        if let Some(statement) = self.prepared.get(sql) {
            return Ok(statement.clone());
        }
        let types: Vec<Type> = parameters
            .iter()
            .map(|value| match value {
                Value::Int(_) => Type::INT8,
                Value::Text(_) => Type::TEXT,
                Value::Bytes(_) => Type::BYTEA,
                // The server knows from the column.
                Value::Null => Type::UNKNOWN,
            })
            .collect();
        // Where a value is absent the server decides; with all of them it cannot mistake a number's size.
        let types = match types.contains(&Type::UNKNOWN) {
            true => Vec::new(),
            false => types,
        };
        let statement = self
            .runtime
            .block_on(self.client.prepare_typed(sql, &types))
            .map_err(failed)?;
        if self.prepared.len() > 200 {
            self.prepared.clear();
        }
        self.prepared.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

fn connect(runtime: &Runtime, server: &Server) -> Result<Client, String> {
    let (client, mut messages) = runtime.block_on(server.connect())?;
    runtime.spawn(async move {
        // Until it ends. What the server says of itself is for nobody.
        while let Some(message) = messages.next().await {
            if let Err(error) = message {
                tracing::warn!("the connection to PostgreSQL ended: {}", explain(&error));
                break;
            }
        }
    });
    Ok(client)
}

/// Announcements that wait; of more than these it is known only that there were some.
const WAITING: usize = 256;

/// A connection that learns what other heads have committed, for a runtime of the caller's.
pub(crate) struct Listener {
    client: Client,
    bodies: Statement,
    announced: mpsc::Receiver<String>,
    missed: Arc<AtomicBool>,
}

impl Listener {
    pub(crate) async fn connect(url: &str) -> Result<Self, DbError> {
        let server = Server::parse(url).map_err(DbError::Statement)?;
        let (client, mut messages) = server.connect().await.map_err(DbError::Statement)?;
        let (sender, announced) = mpsc::channel(WAITING);
        let missed = Arc::<AtomicBool>::default();
        let misses = Arc::clone(&missed);
        tokio::spawn(async move {
            // What the server has to say drives the connection too, so that nothing here may wait for who reads it.
            while let Some(Ok(message)) = messages.next().await {
                if let AsyncMessage::Notification(note) = message
                    && let Err(TrySendError::Full(_)) = sender.try_send(note.payload().to_owned())
                {
                    misses.store(true, Ordering::Relaxed);
                }
            }
        });
        let listen = format!("LISTEN {CHANNEL}");
        client.batch_execute(&listen).await.map_err(failed)?;
        let bodies = client
            .prepare(
                "SELECT body FROM records WHERE day = $1 AND host = $2 AND n >= $3 AND n <= $4 \
                 AND record IN ('event', 'incident') ORDER BY n",
            )
            .await
            .map_err(failed)?;
        Ok(Self {
            client,
            bodies,
            announced,
            missed,
        })
    }

    /// The next announcement; a `None` for some that came too fast. Ends with the connection.
    pub(crate) async fn next(&mut self) -> Option<Option<String>> {
        if self.missed.swap(false, Ordering::Relaxed) {
            return Some(None);
        }
        self.announced.recv().await.map(Some)
    }

    /// Gives events and incidents among the records, in their order.
    pub(crate) async fn bodies(
        &self,
        day: i64,
        of: Took,
        mut give: impl FnMut(&str),
    ) -> Result<(), DbError> {
        let parameters: [i64; 4] = [day, of.host, of.first, of.last];
        let rows = self.client.query_raw(&self.bodies, parameters).await;
        let mut rows = pin!(rows.map_err(failed)?);
        while let Some(row) = rows.try_next().await.map_err(failed)? {
            give(row.try_get(0).map_err(failed)?);
        }
        Ok(())
    }
}

fn failed(error: tokio_postgres::Error) -> DbError {
    DbError::Statement(explain(&error))
}

impl ToSql for Value {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut tokio_postgres::types::private::BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(n) => n.to_sql(ty, out),
            Self::Text(text) => text.to_sql(ty, out),
            Self::Bytes(bytes) => bytes.to_sql(ty, out),
        }
    }

    fn accepts(ty: &Type) -> bool {
        matches!(*ty, Type::INT8 | Type::TEXT | Type::BYTEA)
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Value {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(match *ty {
            Type::INT8 => Self::Int(i64::from_sql(ty, raw)?),
            Type::INT4 => Self::Int(i32::from_sql(ty, raw)?.into()),
            Type::BYTEA => Self::Bytes(raw.to_vec()),
            _ => Self::Text(String::from_sql(ty, raw)?),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(ty: &Type) -> bool {
        matches!(*ty, Type::INT8 | Type::INT4 | Type::TEXT | Type::BYTEA)
    }
}

fn borrowed(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values
        .iter()
        .map(|value| value as &(dyn ToSql + Sync))
        .collect()
}

impl Sql for Postgres {
    fn execute(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, DbError> {
        self.ready()?;
        let statement = self.statement(sql, parameters)?;
        let parameters = borrowed(parameters);
        let done = self.client.execute(&statement, &parameters);
        self.runtime.block_on(done).map_err(failed)
    }

    fn query(
        &mut self,
        sql: &str,
        parameters: &[Value],
        row: &mut dyn FnMut(Vec<Value>) -> bool,
    ) -> Result<(), DbError> {
        self.ready()?;
        let statement = self.statement(sql, parameters)?;
        let client = &self.client;
        self.runtime
            .block_on(async {
                let rows = client.query_raw(&statement, borrowed(parameters)).await?;
                let mut rows = pin!(rows);
                while let Some(found) = rows.try_next().await? {
                    let values = (0..found.len())
                        .map(|i| found.try_get::<_, Value>(i))
                        .collect::<Result<_, _>>()?;
                    if !row(values) {
                        break;
                    }
                }
                Ok(())
            })
            .map_err(failed)
    }

    fn batch(&mut self, sql: &str) -> Result<(), DbError> {
        let ready = self.ready();
        if matches!(sql, "COMMIT" | "ROLLBACK") {
            self.open = false;
        }
        ready?;
        let done = self.client.batch_execute(sql);
        let done = self.runtime.block_on(done).map_err(failed);
        self.open |= done.is_ok() && sql.starts_with("BEGIN") && !sql.contains(';');
        done
    }

    fn append(
        &mut self,
        table: &str,
        columns: &[(&str, Kind)],
        rows: &mut dyn Iterator<Item = Vec<Value>>,
    ) -> Result<(), DbError> {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let types: Vec<Type> = columns
            .iter()
            .map(|(_, kind)| match kind {
                Kind::Int => Type::INT8,
                Kind::Text => Type::TEXT,
                Kind::Bytes => Type::BYTEA,
            })
            .collect();
        let sql = format!(
            "COPY {table} ({}) FROM STDIN (FORMAT binary)",
            names.join(", ")
        );
        self.ready()?;
        let client = &self.client;
        self.runtime
            .block_on(async {
                let sink = client.copy_in(&sql).await?;
                let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
                for row in rows {
                    writer.as_mut().write(&borrowed(&row)).await?;
                }
                writer.finish().await
            })
            .map(drop)
            .map_err(failed)
    }

    fn announce(&mut self, text: &str) -> Result<(), DbError> {
        let announce = format!("SELECT pg_notify('{CHANNEL}', $1)");
        self.execute(&announce, &[text.into()]).map(drop)
    }

    fn day_table(&self, name: &str, day: i64) -> String {
        format!(
            "CREATE TABLE {name} PARTITION OF records FOR VALUES FROM ({day}) TO ({});",
            day + 1
        )
    }

    fn bytes_type(&self) -> &'static str {
        "BYTEA"
    }
}
