//! Batches into a database, by the head's code and by as little as can be.

use std::path::Path;
use std::time::Instant;

use anyhow::Context as _;
use gtrace_event::{Epoch, Timestamp};
use gtrace_fleet::{Batch, Carried, EnrollRequest, decode, encode};
use gtrace_head::db::{Arrived, Database, Place};
use gtrace_store::Hash;
use rusqlite::Connection;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};

use super::super::Context;
use super::super::store::record;
use super::postgres::Postgres;
use crate::report::{Figure, Report};
use crate::scratch::Scratch;
use crate::stats::Samples;

/// Records of a batch, and batches of a transaction: as the head takes them under load.
pub(super) const RECORDS: usize = 1000;
pub(super) const TOGETHER: usize = 8;
/// Of what the bare database takes.
const BUDGET: f64 = 0.5;

/// Beside rows that go into one table of SQLite.
pub(super) fn sqlite(context: &Context, rounds: usize, report: &mut Report) -> anyhow::Result<()> {
    let dir = Scratch::new(context)?;
    let mut bare = BareSqlite::open(&dir.join("bare.db"))?;
    let place = Place::File(dir.join("fleet.db"));
    let names = ["ingest", "bare SQLite"];
    beside(context, rounds, &place, names, report, |batches| {
        bare.append(batches)
    })
}

/// Beside COPY of the same rows into the same server.
pub(super) fn postgres(
    context: &Context,
    rounds: usize,
    report: &mut Report,
) -> anyhow::Result<()> {
    let Some(server) = Postgres::start() else {
        report.note(
            "PostgreSQL is not installed (Debian: postgresql): ingest beside COPY was left out",
        );
        return Ok(());
    };
    let Place::Postgres(url) = server.place() else {
        anyhow::bail!("a server of PostgreSQL is no file");
    };
    let mut bare = BarePostgres::open(&url)?;
    let names = ["ingest, PostgreSQL", "COPY"];
    beside(context, rounds, &server.place(), names, report, |batches| {
        bare.append(batches)
    })
}

/// The head's code and `bare` in turn; `names` says what is what.
fn beside(
    context: &Context,
    rounds: usize,
    place: &Place,
    [name, than]: [&'static str; 2],
    report: &mut Report,
    mut bare: impl FnMut(&[Arrived]) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut head = Database::open(place)?;
    let mut chains: Vec<Chain> = Vec::new();
    for n in 0..TOGETHER {
        let token = format!("gtj_{n}");
        let later = Timestamp::now().saturating_add(jiff::SignedDuration::from_hours(1))?;
        head.add_token(&token, None, later, 1, "bench")?;
        let request = EnrollRequest {
            token,
            host: format!("simulated-{n}"),
            machine_id: None,
            simulated: true,
        };
        let id = head.enroll(&request, "secret", Timestamp::now())?;
        chains.push(Chain::new(id));
    }
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        context.say(&format!("{name}, round {} of {rounds}", round + 1));
        let mut packed = Vec::new();
        for chain in &mut chains {
            packed.push((chain.host, encode(&chain.batch()?)?));
        }
        let many = (RECORDS * TOGETHER) as f64;
        let start = Instant::now();
        let mut batches = Vec::new();
        for (host, bytes) in &packed {
            let batch = decode(bytes)?;
            batches.push(Arrived {
                host: *host,
                batch,
                seen: Timestamp::now(),
            });
        }
        let taken = head.ingest(Timestamp::now(), &batches)?;
        ours.push(many / start.elapsed().as_secs_f64());
        anyhow::ensure!(
            taken.iter().all(|one| one.taken == RECORDS),
            "not all was taken"
        );
        let start = Instant::now();
        bare(&batches)?;
        theirs.push(many / start.elapsed().as_secs_f64());
    }
    let (ours, theirs) = (Samples::new(ours), Samples::new(theirs));
    // The budget is one of the ratio, which has to be large: its inverse has to be small.
    let times = theirs.median() / ours.median();
    report.push(
        Figure::median(name, &ours, "records/s")
            .with(than, theirs.median())
            .beside(than, theirs.median()),
    );
    let name = format!("{name}: time of a record, as a multiple of that of {than}");
    report.push(Figure::new(name, times, "x").budget(1.0 / BUDGET));
    Ok(())
}

/// A host's records.
struct Chain {
    host: i64,
    batch: Batch,
    written: usize,
}

impl Chain {
    fn new(host: i64) -> Self {
        Self {
            host,
            batch: Batch::default(),
            written: 0,
        }
    }

    /// The next records.
    fn batch(&mut self) -> anyhow::Result<Batch> {
        let epoch = Epoch::from_bytes([self.host as u8; 16]);
        let after = self.batch.records.last().map(Carried::position);
        let (mut seq, mut hash) = after.map_or((0, Hash::GENESIS), |a| (a.id.seq, a.hash));
        let mut records = Vec::with_capacity(RECORDS);
        for _ in 0..RECORDS {
            seq += 1;
            self.written += 1;
            let body = serde_json::to_string(&record(self.written, Timestamp::now()))?;
            let carried = Carried::new(epoch, seq, hash, body);
            hash = carried.hash;
            records.push(carried);
        }
        self.batch = Batch {
            after,
            tip: seq,
            records,
        };
        Ok(self.batch.clone())
    }
}

/// One table with the columns of the head's and its key; no other index, nothing computed.
struct BareSqlite {
    conn: Connection,
    n: i64,
}

impl BareSqlite {
    fn open(path: &Path) -> anyhow::Result<Self> {
        let conn = Connection::open(path)?;
        conn.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        conn.pragma_update(None, "synchronous", "NORMAL")?;
        conn.execute_batch(
            "CREATE TABLE records(day INTEGER, host INTEGER, n INTEGER, epoch INTEGER, seq INTEGER, prior BLOB, hash BLOB, \
             record TEXT, subject TEXT, kind TEXT, severity TEXT, pci TEXT, time_ns INTEGER, body TEXT, PRIMARY KEY (host, n))",
        )?;
        Ok(Self { conn, n: 0 })
    }

    fn append(&mut self, batches: &[Arrived]) -> anyhow::Result<()> {
        let tx = self.conn.transaction()?;
        {
            let mut insert = tx.prepare_cached(
                "INSERT INTO records VALUES (1, ?1, ?2, 1, ?3, NULL, ?4, 'event', ?5, 'xid', 'warning', '0000:3b:00.0', ?6, ?7)",
            )?;
            for batch in batches {
                for record in &batch.batch.records {
                    self.n += 1;
                    insert.execute(rusqlite::params![
                        batch.host,
                        self.n,
                        record.seq as i64,
                        record.hash.0.as_slice(),
                        "01KJS4M0000000000000000000",
                        self.n,
                        record.body
                    ])?;
                }
            }
        }
        tx.commit()?;
        Ok(())
    }
}

/// The same in PostgreSQL.
struct BarePostgres {
    runtime: tokio::runtime::Runtime,
    client: tokio_postgres::Client,
    n: i64,
}

/// Columns of the table, as those of the head's, and their types.
const COLUMNS: [(&str, Type); 14] = [
    ("day", Type::INT8),
    ("host", Type::INT8),
    ("n", Type::INT8),
    ("epoch", Type::INT8),
    ("seq", Type::INT8),
    ("prior", Type::BYTEA),
    ("hash", Type::BYTEA),
    ("record", Type::TEXT),
    ("subject", Type::TEXT),
    ("kind", Type::TEXT),
    ("severity", Type::TEXT),
    ("pci", Type::TEXT),
    ("time_ns", Type::INT8),
    ("body", Type::TEXT),
];

impl BarePostgres {
    fn open(url: &str) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let (client, connection) =
            runtime.block_on(tokio_postgres::connect(url, tokio_postgres::NoTls))?;
        runtime.spawn(connection);
        let columns = COLUMNS
            .map(|(name, ty)| format!("{name} {}", ty.name()))
            .join(", ");
        let table = format!("CREATE TABLE bare({columns}, PRIMARY KEY (host, n))");
        runtime.block_on(client.batch_execute(&table))?;
        Ok(Self {
            runtime,
            client,
            n: 0,
        })
    }

    fn append(&mut self, batches: &[Arrived]) -> anyhow::Result<()> {
        let types = COLUMNS.map(|(_, ty)| ty);
        self.runtime.block_on(async {
            let sink = self
                .client
                .copy_in("COPY bare FROM STDIN (FORMAT binary)")
                .await?;
            let mut writer = std::pin::pin!(BinaryCopyInWriter::new(sink, &types));
            for batch in batches {
                for record in &batch.batch.records {
                    self.n += 1;
                    let (seq, hash) = (record.seq as i64, record.hash.0.as_slice());
                    let row: [&(dyn ToSql + Sync); 14] = [
                        &1_i64,
                        &batch.host,
                        &self.n,
                        &1_i64,
                        &seq,
                        &None::<&[u8]>,
                        &hash,
                        &"event",
                        &"01KJS4M0000000000000000000",
                        &"xid",
                        &"warning",
                        &"0000:3b:00.0",
                        &self.n,
                        &record.body,
                    ];
                    writer.as_mut().write(&row).await?;
                }
            }
            writer.finish().await.context("COPY")?;
            anyhow::Ok(())
        })
    }
}
