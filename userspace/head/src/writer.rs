//! The one thread that writes: what comes while it is busy goes into the next transaction together.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use gtrace_event::Timestamp;
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::committed::Committed;
use crate::db::{Arrived, Database, DbError, Ingested, NewFrames, NewState};

/// Jobs that wait; those who send more wait themselves.
const QUEUE: usize = 256;
/// Jobs of one transaction.
const TOGETHER: usize = 256;
/// Records of one transaction: how long others wait for it is bounded by that.
const RECORDS_TOGETHER: usize = 32_768;
/// Records that a slow reader may be behind.
const LIVE: usize = 4096;
/// Bytes of one of them at most: all that readers are behind is kept until they have read it.
const LIVE_BYTES: usize = 64 * 1024;

/// Between two notes of where the GPUs of a host are.
const PLACES: Duration = Duration::from_secs(60);

/// What somebody waits for.
type Answer<T> = oneshot::Sender<Result<T, String>>;
/// Writes some of a kind in one transaction.
type Write<W, T, A> = dyn Fn(&mut W, &[T]) -> Result<Vec<A>, DbError>;

pub(crate) enum Job {
    Batch(Arrived, Answer<Ingested>),
    State(NewState, Answer<()>),
    Frames(NewFrames, Answer<()>),
    /// Anything else, in a turn of its own.
    Other(Box<dyn FnOnce(&mut Database) + Send>),
}

/// Counts since the start, and whether the database takes nothing now.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) records: AtomicU64,
    pub(crate) known: AtomicU64,
    pub(crate) missing: AtomicU64,
    pub(crate) transactions: AtomicU64,
    pub(crate) failures: AtomicU64,
    pub(crate) frames: AtomicU64,
    is_refused: AtomicBool,
}

/// What readers of live streams get.
#[derive(Clone)]
pub(crate) enum Sent {
    /// A record that was committed, and its host; a large one is not there.
    Record(i64, Option<Arc<Committed>>),
    /// Some that other heads committed do not come.
    Gap,
}

/// Records for readers, once they are committed. Those of incidents lose none when events storm.
#[derive(Clone)]
pub(crate) struct Live {
    pub(crate) events: broadcast::Sender<Sent>,
    /// Changes of incidents.
    pub(crate) incidents: broadcast::Sender<Sent>,
}

impl Live {
    /// Readers may be this many records behind.
    fn new(kept: usize) -> Self {
        Self {
            events: broadcast::Sender::new(kept),
            incidents: broadcast::Sender::new(kept),
        }
    }

    pub(crate) fn record(&self, host: i64, body: &str) {
        // The field `record` is the first of each, as gtrace-event writes it.
        let to = match body {
            body if body.starts_with(r#"{"record":"event""#) => &self.events,
            body if body.starts_with(r#"{"record":"incident""#) => &self.incidents,
            _ => return,
        };
        if to.receiver_count() > 0 {
            let is_small = body.len() <= LIVE_BYTES;
            let record = is_small.then(|| Arc::new(Committed::new(body)));
            let _ = to.send(Sent::Record(host, record));
        }
    }

    pub(crate) fn gap(&self) {
        // Without readers nobody misses anything.
        let _ = self.events.send(Sent::Gap);
        let _ = self.incidents.send(Sent::Gap);
    }

    pub(crate) fn has_readers(&self) -> bool {
        self.events.receiver_count() + self.incidents.receiver_count() > 0
    }
}

#[derive(Clone)]
pub(crate) struct Writer {
    jobs: mpsc::Sender<Job>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) live: Live,
    /// By which other heads know what is written here.
    pub(crate) head: String,
}

impl Writer {
    /// Starts the thread, which ends when the last handle is dropped.
    pub(crate) fn start(mut database: Database) -> std::io::Result<Self> {
        let head = crate::secret::draw().map_err(std::io::Error::other)?;
        database.announce_as(head.clone());
        let (jobs, queue) = mpsc::channel(QUEUE);
        let mut thread = Thread::new(database, LIVE);
        let (counters, live) = (Arc::clone(&thread.counters), thread.live.clone());
        thread::Builder::new()
            .name("gtrace-head-db".to_owned())
            .spawn(move || thread.run(queue))?;
        Ok(Self {
            jobs,
            counters,
            live,
            head,
        })
    }

    /// Whether the thread is there.
    pub(crate) fn is_alive(&self) -> bool {
        !self.jobs.is_closed()
    }

    /// Whether the database takes what is written: where it refused the last, as it is full, one more is tried.
    pub(crate) async fn check(&self) -> Result<(), String> {
        if self.counters.is_refused.load(Ordering::Relaxed) {
            self.write(Database::touch).await?;
            self.counters.is_refused.store(false, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Waits until the thread has ended: nothing is written any more.
    pub(crate) async fn ended(&self) {
        self.jobs.closed().await;
    }

    /// Has something done and waits for it.
    pub(crate) async fn ask<T>(&self, job: impl FnOnce(Answer<T>) -> Job) -> Result<T, String> {
        let (answer, answered) = oneshot::channel();
        let ended = || "the head is ending".to_owned();
        self.jobs.send(job(answer)).await.map_err(|_| ended())?;
        answered.await.map_err(|_| ended())?
    }

    /// Writes something, in a turn of its own.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Database) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, String> {
        self.ask(|answer| {
            Job::Other(Box::new(move |database| {
                let _ = answer.send(work(database).map_err(|e| e.to_string()));
            }))
        })
        .await
    }
}

struct Thread {
    database: Database,
    /// When the places of the GPUs of each host were noted last, and a hash of what was noted.
    placed: HashMap<i64, (Instant, u64)>,
    counters: Arc<Counters>,
    live: Live,
    /// Why the database refused the last that was written, as the log has it.
    warned: Option<String>,
}

impl Thread {
    fn new(database: Database, live: usize) -> Self {
        Self {
            database,
            placed: HashMap::new(),
            counters: Arc::default(),
            live: Live::new(live),
            warned: None,
        }
    }

    /// Places of GPUs are noted once a minute, and when one has changed: a state comes every 10 s.
    fn place_now(&mut self, state: &mut NewState) {
        let mut hasher = DefaultHasher::new();
        state.gpus.hash(&mut hasher);
        let now = hasher.finish();
        let due = |(at, noted): &(Instant, u64)| at.elapsed() >= PLACES || *noted != now;
        if self.placed.get(&state.host).is_none_or(due) {
            self.placed.insert(state.host, (Instant::now(), now));
        } else {
            state.gpus.clear();
        }
    }

    fn run(&mut self, mut queue: mpsc::Receiver<Job>) {
        let mut first = queue.blocking_recv();
        while let Some(job) = first.take() {
            let (mut batches, mut answers, mut states, mut state_answers) =
                (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            let (mut frames, mut frame_answers) = (Vec::new(), Vec::new());
            let mut records = 0;
            let mut next = Some(job);
            let mut other = None;
            while let Some(job) = next.take() {
                match job {
                    Job::Batch(arrived, answer) => {
                        records += arrived.batch.records.len();
                        batches.push(arrived);
                        answers.push(answer);
                    }
                    Job::State(mut state, answer) => {
                        self.place_now(&mut state);
                        states.push(state);
                        state_answers.push(answer);
                    }
                    Job::Frames(new, answer) => {
                        records += new.frames.len();
                        frames.push(new);
                        frame_answers.push(answer);
                    }
                    Job::Other(work) => {
                        other = Some(work);
                        break;
                    }
                }
                let jobs = batches.len() + states.len() + frames.len();
                if jobs < TOGETHER && records < RECORDS_TOGETHER {
                    next = queue.try_recv().ok();
                }
            }
            self.put(&batches, answers, &Self::batches);
            self.put(&states, state_answers, &Self::states);
            self.put(&frames, frame_answers, &Self::frames);
            if let Some(work) = other {
                work(&mut self.database);
            }
            first = queue.blocking_recv();
        }
    }

    /// Writes all of these together. Where the database refuses that, each by itself: one does not keep the others out.
    fn put<T, A>(&mut self, all: &[T], answers: Vec<Answer<A>>, write: &Write<Self, T, A>) {
        if all.is_empty() {
            return;
        }
        let error = match write(self, all) {
            Ok(done) => {
                self.took();
                for (answer, done) in answers.into_iter().zip(done) {
                    let _ = answer.send(Ok(done));
                }
                return;
            }
            Err(error) => self.failed(&error),
        };
        for (one, answer) in all.iter().zip(answers) {
            match all.len() {
                1 => drop(answer.send(Err(error.clone()))),
                _ => self.put(std::slice::from_ref(one), vec![answer], write),
            }
        }
    }

    fn batches(&mut self, batches: &[Arrived]) -> Result<Vec<Ingested>, DbError> {
        self.counters.transactions.fetch_add(1, Ordering::Relaxed);
        let done = self.database.ingest(Timestamp::now(), batches)?;
        for (arrived, ingested) in batches.iter().zip(&done) {
            self.count(arrived, ingested);
        }
        Ok(done)
    }

    fn states(&mut self, states: &[NewState]) -> Result<Vec<()>, DbError> {
        self.database.put_states(states, Timestamp::now())?;
        Ok(vec![(); states.len()])
    }

    fn frames(&mut self, frames: &[NewFrames]) -> Result<Vec<()>, DbError> {
        let new = self.database.put_frames(frames, Timestamp::now())?;
        self.counters.frames.fetch_add(new, Ordering::Relaxed);
        Ok(vec![(); frames.len()])
    }

    fn count(&self, arrived: &Arrived, ingested: &Ingested) {
        let all = arrived.batch.records.len();
        let new = &arrived.batch.records[all - ingested.taken.min(all)..];
        let add = |counter: &AtomicU64, n: usize| counter.fetch_add(n as u64, Ordering::Relaxed);
        add(&self.counters.records, new.len());
        match ingested.missing {
            true => add(&self.counters.missing, 1),
            false => add(&self.counters.known, all - new.len()),
        };
        for record in new {
            self.live.record(arrived.host, &record.body);
        }
    }

    fn took(&mut self) {
        self.counters.is_refused.store(false, Ordering::Relaxed);
        if self.warned.take().is_some() {
            tracing::info!("the fleet's database takes again what is written");
        }
    }

    fn failed(&mut self, error: &DbError) -> String {
        self.counters.failures.fetch_add(1, Ordering::Relaxed);
        self.counters.is_refused.store(true, Ordering::Relaxed);
        let error = error.to_string();
        // Once for each reason: a full disk refuses each of thousands of agents, again and again.
        if self.warned.as_ref() != Some(&error) {
            tracing::warn!("{error}; agents send it again");
            self.warned = Some(error.clone());
        }
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::{Place, Placed};

    /// Has the thread write, and says which of it the database took.
    fn taken<T>(thread: &mut Thread, all: &[T], write: &Write<Thread, T, ()>) -> Vec<bool> {
        let (answers, mut answered): (Vec<_>, Vec<_>) =
            all.iter().map(|_| oneshot::channel()).unzip();
        thread.put(all, answers, write);
        let taken = answered.iter_mut().map(|answer| answer.try_recv().unwrap());
        taken.map(|answer| answer.is_ok()).collect()
    }

    #[test]
    fn what_the_database_refuses_keeps_nothing_else_out() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("fleet.db");
        let database = Database::open(&Place::File(path.clone())).unwrap();
        let connection = rusqlite::Connection::open(&path).unwrap();
        let refuses = "CREATE TRIGGER refuse BEFORE INSERT ON placements WHEN NEW.host = 2 \
            BEGIN SELECT RAISE(ABORT, 'no'); END";
        connection.execute_batch(refuses).unwrap();
        let mut thread = Thread::new(database, 1);
        let state = |host| NewState {
            host,
            state: "{}".to_owned(),
            tip: 1,
            gpus: vec![Placed {
                pci: "0000:3b:00.0".to_owned(),
                uuid: String::new(),
                versions: String::new(),
            }],
            usage: Vec::new(),
            ends: Vec::new(),
            latency: Vec::new(),
            seen: Timestamp::now(),
        };
        for host in 1..4 {
            let insert = "INSERT INTO hosts(id, name, simulated, credential, enrolled_ns, taken, tip, forks) \
                 VALUES (?1, 'h' || ?1, 0, x'00', 0, 0, 0, 0)";
            connection.execute(insert, [host]).unwrap();
        }
        let states = [1, 2, 3].map(state);
        let of_states = taken(&mut thread, &states, &Thread::states);
        assert_eq!(of_states, [true, false, true]);
        // And frames of a session.
        let session = "INSERT INTO sessions VALUES (7, 's', '', 20, 0, NULL, '', NULL, ''); \
            CREATE TRIGGER refuse_frames BEFORE INSERT ON frames WHEN NEW.host = 2 \
            BEGIN SELECT RAISE(ABORT, 'no'); END";
        connection.execute_batch(session).unwrap();
        let frames = [1, 2, 3].map(|host| NewFrames {
            host,
            session: 7,
            frames: vec![(5, 0, "{}".to_owned())],
        });
        let of_frames = taken(&mut thread, &frames, &Thread::frames);
        assert_eq!(of_frames, [true, false, true]);
    }

    #[test]
    fn a_large_record_is_not_kept_for_slow_readers() {
        let live = Live::new(2);
        let mut reader = live.events.subscribe();
        for length in [10, LIVE_BYTES] {
            let text = "x".repeat(length);
            live.record(1, &format!(r#"{{"record":"event","message":"{text}"}}"#));
        }
        assert!(matches!(reader.try_recv(), Ok(Sent::Record(1, Some(_)))));
        assert!(matches!(reader.try_recv(), Ok(Sent::Record(1, None))));
    }

    #[tokio::test]
    async fn the_end_of_the_thread_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let database = Database::open(&Place::File(dir.path().join("fleet.db"))).unwrap();
        let writer = Writer::start(database).unwrap();
        assert!(writer.is_alive());
        let wrong = |_: &mut Database| -> Result<(), DbError> { std::panic::panic_any("wrong") };
        assert!(writer.write(wrong).await.is_err());
        let ended = tokio::time::timeout(Duration::from_secs(60), writer.ended());
        ended.await.unwrap();
        assert!(!writer.is_alive());
    }
}
