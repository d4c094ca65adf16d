//! What agents hand over, by whichever way it comes. A [`Receiver`] is such a way: it finds out which host something is of, and passes it on.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use gtrace_event::{PciAddress, Timestamp};
use gtrace_fleet::{Batch, GpuState, HostState, Position, check_labels};
use tokio::sync::{Semaphore, watch};

use crate::db::{Arrived, CallsOfDay, Digest, Ingested, NewState, Placed, Versions};
use crate::readers::{Readers, Unread};
use crate::writer::{Job, Writer};

/// Batches that are read and decoded at the same time: memory is bounded by it, at some 20 MiB each.
const DECODING: usize = 8;
/// Largest body of a state and of frames.
pub(crate) const STATE_MAX: usize = 512 * 1024;
/// For so long a credential is believed that was looked up: a revocation takes effect after it.
const BELIEVED: Duration = Duration::from_secs(2);
/// GPUs of a host whose places are noted.
const GPUS_MAX: usize = 256;
const VERSIONS: &str = "agent and head have to be of versions that fit";

/// A way by which agents reach this head.
pub(crate) trait Receiver: Send {
    /// Takes what comes until `ended`. `router` answers what is asked.
    fn receive(
        self: Box<Self>,
        intake: Intake,
        router: Router,
        ended: watch::Receiver<bool>,
    ) -> Receiving;
}

/// What a receiver does, until it has ended.
pub(crate) type Receiving = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The host that something is of, as its credential showed.
#[derive(Clone, Debug)]
pub(crate) struct KnownHost {
    /// Its number.
    pub(crate) id: i64,
    pub(crate) name: Arc<str>,
    /// The digest of its secret.
    pub(crate) digest: Digest,
}

/// Why something was not taken.
#[derive(Debug)]
pub(crate) enum NotTaken {
    /// It is not as it has to be; to send it again is of no use.
    Bad { cause: String, remedy: &'static str },
    /// It may be taken later.
    Unavailable(String),
}

impl From<Unread> for NotTaken {
    fn from(Unread(cause): Unread) -> Self {
        Self::Unavailable(cause)
    }
}

/// What came through NATS, since the start.
#[derive(Debug, Default)]
pub(crate) struct NatsCounters {
    /// Messages that were taken.
    pub(crate) taken: AtomicU64,
    /// Messages that were put off: records before them are still under way, or the database did not answer.
    pub(crate) again: AtomicU64,
    /// Batches before which records are missing, so that the host was asked for them.
    pub(crate) missing: AtomicU64,
    /// Messages that were removed: of no host, of another, not understood, or refused by the database again and again.
    pub(crate) refused: AtomicU64,
}

/// Where it goes.
#[derive(Clone)]
pub(crate) struct Intake {
    pub(crate) writer: Writer,
    pub(crate) readers: Arc<Readers>,
    decoding: Arc<Semaphore>,
    credentials: Arc<Mutex<Credentials>>,
    /// What came without a good credential.
    refused: Arc<AtomicU64>,
    /// What came through NATS.
    pub(crate) nats: Arc<NatsCounters>,
}

/// For so long a number is believed to be no host's: anybody may ask about any number.
const UNKNOWN: Duration = Duration::from_secs(1);
/// Such numbers that are kept.
const UNKNOWN_MAX: usize = 1024;

/// What was looked up, and when.
#[derive(Default)]
struct Credentials {
    /// Hosts by their numbers.
    known: HashMap<i64, (KnownHost, Instant)>,
    /// Numbers of no host.
    unknown: HashMap<i64, Instant>,
}

impl Credentials {
    /// Whose number it is, where that was looked up lately.
    fn get(&self, id: i64) -> Option<Option<KnownHost>> {
        let known = self.known.get(&id);
        if let Some((host, _)) = known.filter(|(_, at)| at.elapsed() < BELIEVED) {
            return Some(Some(host.clone()));
        }
        let unknown = self.unknown.get(&id);
        unknown.filter(|at| at.elapsed() < UNKNOWN).map(|_| None)
    }

    fn note(&mut self, id: i64, host: Option<&KnownHost>) {
        let now = Instant::now();
        if let Some(host) = host {
            self.unknown.remove(&id);
            self.known.insert(id, (host.clone(), now));
            return;
        }
        self.known.remove(&id);
        if self.unknown.len() >= UNKNOWN_MAX {
            self.unknown.clear();
        }
        self.unknown.insert(id, now);
    }
}

impl Intake {
    pub(crate) fn new(writer: Writer, readers: Arc<Readers>) -> Self {
        Self {
            writer,
            readers,
            decoding: Arc::new(Semaphore::new(DECODING)),
            credentials: Arc::default(),
            refused: Arc::default(),
            nats: Arc::default(),
        }
    }

    /// Counts something without a good credential or join token.
    pub(crate) fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn refused(&self) -> &AtomicU64 {
        &self.refused
    }

    fn credentials(&self) -> MutexGuard<'_, Credentials> {
        self.credentials
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The host with this number, unless its credential was revoked. Whoever says to be it has yet to show that.
    pub(crate) async fn host(&self, id: i64) -> Result<Option<KnownHost>, Unread> {
        let believed = self.credentials().get(id);
        if let Some(believed) = believed {
            return Ok(believed);
        }
        let known = self.readers.read(move |db| db.credential(id)).await?;
        let known = known.and_then(|(digest, name)| {
            Some(KnownHost {
                id,
                name: name.into(),
                digest: digest.try_into().ok()?,
            })
        });
        self.credentials().note(id, known.as_ref());
        Ok(known)
    }

    /// The credential of the host with this number is another one now.
    pub(crate) fn forget(&self, id: i64) {
        let mut credentials = self.credentials();
        credentials.known.remove(&id);
        credentials.unknown.remove(&id);
    }

    /// The number is believed to be no host's for as long as a test takes.
    #[cfg(test)]
    pub(crate) fn disbelieve(&self, id: i64) {
        let later = Instant::now() + Duration::from_secs(3600);
        self.credentials().unknown.insert(id, later);
    }

    /// A turn to read and decode a batch.
    pub(crate) async fn turn(&self) -> Result<tokio::sync::OwnedSemaphorePermit, NotTaken> {
        let turn = Arc::clone(&self.decoding).acquire_owned().await;
        turn.map_err(|e| NotTaken::Unavailable(e.to_string()))
    }

    /// Decodes a batch. It has to have a turn.
    pub(crate) async fn decode(
        &self,
        body: impl AsRef<[u8]> + Send + 'static,
    ) -> Result<Batch, NotTaken> {
        tokio::task::spawn_blocking(move || gtrace_fleet::decode(body.as_ref()))
            .await
            .map_err(|e| NotTaken::Unavailable(e.to_string()))?
            .map_err(bad)
    }

    /// Takes a batch of a host that came at `seen`. What it answers is committed.
    pub(crate) async fn batch(
        &self,
        host: i64,
        batch: Batch,
        seen: Timestamp,
    ) -> Result<Ingested, NotTaken> {
        let arrived = Arrived { host, batch, seen };
        self.writer
            .ask(|answer| Job::Batch(arrived, answer))
            .await
            .map_err(NotTaken::Unavailable)
    }

    /// Takes the state of a host, JSON, as it was at `seen`.
    pub(crate) async fn state(
        &self,
        host: i64,
        body: Bytes,
        seen: Timestamp,
    ) -> Result<(), NotTaken> {
        // What servers of NATS take is the site's matter.
        if body.len() > STATE_MAX {
            return Err(bad(format!("a state has {STATE_MAX} bytes at most")));
        }
        let new = new_state(host, &body, seen)?;
        // All hosts may wait for the database at the same time.
        drop(body);
        self.writer
            .ask(|answer| Job::State(new, answer))
            .await
            .map_err(NotTaken::Unavailable)
    }

    /// The newest record of a host that was taken.
    pub(crate) async fn cursor(&self, host: i64) -> Result<Option<Position>, Unread> {
        self.readers.read(move |db| db.cursor(host)).await
    }
}

fn bad(cause: impl ToString) -> NotTaken {
    NotTaken::Bad {
        cause: cause.to_string(),
        remedy: VERSIONS,
    }
}

fn new_state(host: i64, body: &[u8], seen: Timestamp) -> Result<NewState, NotTaken> {
    let mut state: HostState = serde_json::from_slice(body).map_err(bad)?;
    check_labels(&state.labels).map_err(|cause| NotTaken::Bad {
        cause,
        remedy: "change the labels of the agent",
    })?;
    // They are kept apart, and added up.
    let usage = std::mem::take(&mut state.usage);
    let ends = std::mem::take(&mut state.ends);
    let latency = std::mem::take(&mut state.latency);
    let text = serde_json::to_string(&state).map_err(bad)?;
    let gpus = state.gpus.iter().take(GPUS_MAX);
    Ok(NewState {
        host,
        state: text,
        tip: state.tip,
        gpus: gpus.filter_map(|gpu| placed(&state, gpu)).collect(),
        usage,
        ends,
        latency: latency.into_iter().map(CallsOfDay::from).collect(),
        seen,
    })
}

/// Where a GPU is; `None` where that is no PCI address. A UUID that is none is not known.
fn placed(host: &HostState, gpu: &GpuState) -> Option<Placed> {
    let uuid = gpu.uuid.clone().filter(|uuid| is_uuid(uuid));
    let versions = Versions {
        driver: host.driver.clone(),
        kernel: host.kernel.clone(),
        vbios: gpu.vbios.clone(),
        firmware: gpu.firmware.clone(),
    };
    Some(Placed {
        pci: PciAddress::parse(gpu.pci.as_deref()?)?.to_string(),
        uuid: uuid.unwrap_or_default(),
        versions: versions.text(),
    })
}

/// Whether it is one as NVML gives them: `GPU-` and five groups of hex digits.
fn is_uuid(text: &str) -> bool {
    let groups = text.strip_prefix("GPU-").map(|rest| rest.split('-'));
    groups.is_some_and(|groups| {
        let hex = |group: &str| group.bytes().all(|b| b.is_ascii_hexdigit());
        let lengths = groups.clone().map(str::len);
        lengths.eq([8, 4, 4, 4, 12]) && groups.clone().all(hex)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::{Database, Place};

    #[test]
    fn places_are_pci_addresses_and_uuids_and_nothing_else() {
        let of = |pci: &str, uuid: &str| {
            let state = GpuState {
                pci: Some(pci.to_owned()),
                uuid: Some(uuid.to_owned()),
                ..GpuState::default()
            };
            placed(&HostState::default(), &state).map(|placed| (placed.pci, placed.uuid))
        };
        let uuid = "GPU-8f3a0b1c-0000-1111-2222-0123456789ab";
        let pci = "0000:3b:00.0".to_owned();
        assert_eq!(
            of("00000000:3B:00.0", uuid),
            Some((pci.clone(), uuid.to_owned()))
        );
        for wrong in ["GPU-1", "x", "GPU-8f3a0b1c-0000-1111-2222-0123456789xy"] {
            assert_eq!(
                of("0000:3b:00.0", wrong),
                Some((pci.clone(), String::new()))
            );
        }
        assert_eq!(of("anything", uuid), None);
    }

    #[tokio::test]
    async fn a_state_is_no_larger_by_any_way_than_over_http() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::File(dir.path().join("fleet.db"));
        let writer = Writer::start(Database::open(&place).unwrap()).unwrap();
        let intake = Intake::new(writer, Readers::open(&place, 1).unwrap());
        let put = async |length: usize| {
            let start = r#"{"time":"2026-01-01T00:00:00Z","version":""#;
            let version = "x".repeat(length - start.len() - 2);
            let body = Bytes::from(format!("{start}{version}\"}}"));
            assert_eq!(body.len(), length);
            intake.state(1, body, Timestamp::now()).await
        };
        assert!(put(STATE_MAX).await.is_ok());
        let refused = put(STATE_MAX + 1).await;
        assert!(matches!(refused, Err(NotTaken::Bad { .. })), "{refused:?}");
    }
}
