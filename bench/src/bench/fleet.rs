//! The head of a fleet: ingest beside bare SQLite, and what a connected agent costs it.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use gtrace_agent::{Enrolled, Options, Progress, enroll, now_ns};
use gtrace_api::client::Client;
use gtrace_event::{Epoch, Timestamp};
use gtrace_fleet::{Batch, Carried, EnrollRequest, HostState, decode, encode};
use gtrace_head::db::{Arrived, Database, Place};
use gtrace_head::{TokenAnswer, TokenRequest};
use gtrace_store::Hash;
use rusqlite::Connection;
use tokio::sync::{Notify, watch};

use super::Context;
use super::store::record;
use crate::machine::kib;
use crate::process::Process;
use crate::report::{Figure, Report};
use crate::scratch::Scratch;
use crate::stats::Samples;

/// Records of a batch, and batches of a transaction: as the head takes them under load.
const RECORDS: usize = 1000;
const TOGETHER: usize = 8;
/// Of what raw SQLite takes.
const INGEST_BUDGET: f64 = 0.5;
/// KiB of the head for a connected agent.
const AGENT_BUDGET_KIB: f64 = 32.0;

pub(super) fn run(context: &Context) -> anyhow::Result<Report> {
    let rounds = context.pick(2, 10, 40);
    let agents = context.pick(50, 1000, 1000);
    let mut report = Report::new(
        "fleet",
        format!(
            "ingest of {rounds} x {TOGETHER} batches of {RECORDS} records by the head (decoding, chains, columns, one transaction), \
             bare SQLite inserting the same rows with the same settings, in turn; then a head with {agents} simulated agents"
        ),
    );
    ingest(context, rounds, &mut report)?;
    connected(context, agents, &mut report)?;
    Ok(report)
}

fn ingest(context: &Context, rounds: usize, report: &mut Report) -> anyhow::Result<()> {
    let dir = Scratch::new(context)?;
    let mut head = Database::open(&Place::File(dir.join("fleet.db")))?;
    let mut bare = Bare::open(&dir.join("bare.db"))?;
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
        context.say(&format!("ingest, round {} of {rounds}", round + 1));
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
        bare.append(&batches)?;
        theirs.push(many / start.elapsed().as_secs_f64());
    }
    let (ours, theirs) = (Samples::new(ours), Samples::new(theirs));
    // The budget is one of the ratio, which has to be large: its inverse has to be small.
    let times = theirs.median() / ours.median();
    report.push(
        Figure::median("ingest", &ours, "records/s")
            .with("bare SQLite", theirs.median())
            .beside("bare SQLite", theirs.median()),
    );
    report.push(
        Figure::new(
            "time of a record, as a multiple of bare SQLite's",
            times,
            "x",
        )
        .budget(1.0 / INGEST_BUDGET),
    );
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
struct Bare {
    conn: Connection,
    n: i64,
}

impl Bare {
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

/// What simulated agents that are connected and idle cost a head of its own.
fn connected(context: &Context, agents: usize, report: &mut Report) -> anyhow::Result<()> {
    let dir = Scratch::new(context)?;
    let socket = dir.join("head.sock");
    let mut command = Command::new(&context.gtrace);
    command
        .args(["head", "--listen", "127.0.0.1:0", "--socket"])
        .arg(&socket)
        .arg("--database")
        .arg(dir.join("fleet.db"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut head = Process::start(&mut command)?;
    let mut lines = BufReader::new(head.stderr()?).lines();
    let url = lines
        .find_map(|line| {
            let line = line.ok()?;
            let (_, rest) = line.split_once("head at ")?;
            Some(rest.split(',').next()?.to_owned())
        })
        .context("the head ended before it said where it is")?;
    std::thread::spawn(move || lines.for_each(drop));
    let client = Client::unix(&socket);
    let asked = TokenRequest {
        host: None,
        for_s: 3600,
        uses: agents as u32,
        by: "bench".to_owned(),
    };
    let token: TokenAnswer = client.post("/fleet/v1/tokens", &asked)?;
    context.say(&format!("enrolling {agents} agents"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let url: gtrace_agent::HttpUrl = url.parse()?;
    let mut keys: Vec<Enrolled> = Vec::with_capacity(agents);
    for n in 0..agents {
        let request = EnrollRequest {
            token: token.token.clone(),
            host: format!("simulated-{n}"),
            machine_id: None,
            simulated: true,
        };
        keys.push(runtime.block_on(enroll(&url, None, &request))?);
    }
    let pid = head.pid();
    let anonymous = || {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        kib(&status, "RssAnon") as f64
    };
    let before = anonymous();
    let (stop, stopped) = watch::channel(false);
    let progress: Vec<Progress> = keys.iter().map(|_| Progress::default()).collect();
    let missing = dir.join("no-store.db");
    let of_thread = progress.clone();
    let thread = std::thread::spawn(move || {
        let local = tokio::task::LocalSet::new();
        local.block_on(&runtime, async move {
            let mut tasks = tokio::task::JoinSet::new();
            for (enrolled, progress) in keys.into_iter().zip(of_thread) {
                let options = Options {
                    enrolled,
                    nats: None,
                    store: missing.clone(),
                    labels: BTreeMap::new(),
                    rate: None,
                    allow_sessions: false,
                    actor: None,
                    clock: Arc::new(now_ns),
                };
                let state = || HostState {
                    time: Timestamp::now(),
                    version: "bench".to_owned(),
                    ..HostState::default()
                };
                let (woken, stopped) = (Arc::<Notify>::default(), stopped.clone());
                tasks.spawn_local(gtrace_agent::run(
                    options, state, None, woken, progress, stopped,
                ));
            }
            while tasks.join_next().await.is_some() {}
        });
    });
    context.say("waiting for their states");
    let until = Instant::now() + Duration::from_secs(120);
    while !progress.iter().all(|one| one.sent_bytes() > 0) {
        anyhow::ensure!(Instant::now() < until, "not all agents reached the head");
        std::thread::sleep(Duration::from_millis(100));
    }
    // Each sends its state every 10 s.
    std::thread::sleep(Duration::from_secs(context.pick(2, 15, 60)));
    let each = (anonymous() - before) / agents as f64;
    let name = format!("RssAnon of the head for each of {agents} connected agents");
    report.push(Figure::new(name, each, "KiB").budget(AGENT_BUDGET_KIB));
    drop(stop);
    let _ = thread.join();
    Ok(())
}
