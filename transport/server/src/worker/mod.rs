//! A worker: the process that serves one client. Its main thread takes connections from the
//! supervisor; each has a thread of its own, which executes the frames of that lane.

pub(crate) mod client;
mod connection;
pub(crate) mod deferred_copies;
pub(crate) mod handles;
pub(crate) mod host_memory;
pub(crate) mod hosts;
pub(crate) mod images;
mod lane;
pub(crate) mod lending;
pub(crate) mod library;
pub(crate) mod memory;
pub(crate) mod objects;
pub(crate) mod order;
pub(crate) mod output;
pub(crate) mod physical;
pub(crate) mod session;
pub(crate) mod shared_memory;
pub(crate) mod sticky;
mod tally;
pub(crate) mod time;
pub(crate) mod watermark;
mod work;

use std::io;
use std::os::fd::{AsRawFd as _, IntoRawFd as _, OwnedFd};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use gtrace_link::{ConnectionKey, LinkError, Opening, ServerTerms};
use gtrace_protocol::Features;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tracing::{debug, info, warn};

use self::connection::Connection;
use self::session::{Death, LaneAdmission, Session, SessionAdmission};
use self::shared_memory::Shared;
use crate::control::{Channel, FromWorker, STATS_MAX, Start, ToWorker};
use crate::exec::Libraries;
use crate::sandbox::{self, Layer};
use crate::special;
use crate::supervisor::DriverInfo;

/// Between checks of lanes whose client may have died while they are in the driver.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// Between reports of statistics.
const REPORT_EVERY: Duration = Duration::from_secs(1);
/// How long the handshake of a lane may take.
const HANDSHAKE: Duration = Duration::from_secs(2);
/// How long the driver may take to clean up; then the kernel does.
const EXIT_MAX: Duration = Duration::from_secs(2);

/// Runs a worker: the other end of its channel is the standard input. Set up logging before.
///
/// The process ends with its supervisor, or when its client is gone.
pub fn main() -> ExitCode {
    main_then(|| {})
}

/// As [`main`], and does `first` once the process is confined and before its client is served: for tests of what it can do
/// then.
pub fn main_then(first: impl FnOnce()) -> ExitCode {
    match Worker::begin() {
        Ok(Some(mut worker)) => {
            first();
            let code = match worker.serve() {
                Ok(()) => 0,
                Err(error) => {
                    warn!("{error}");
                    1
                }
            };
            worker.exit(code)
        }
        Ok(None) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gtrace: a worker is started by `gtrace serve` only: {error}");
            ExitCode::FAILURE
        }
    }
}

struct Worker {
    channel: Arc<Channel>,
    session: Arc<Session>,
    terms: ServerTerms,
    sessions: Arc<SessionAdmission>,
    libraries: Arc<OnceLock<Result<Libraries, String>>>,
    /// Threads of connections.
    threads: Arc<AtomicUsize>,
    /// A connection came.
    begun: bool,
    /// A client was let in.
    welcomed: Arc<AtomicBool>,
    reported: (Instant, u64),
}

/// Takes the channel from the standard input, whose place /dev/null takes.
fn take_channel() -> io::Result<Channel> {
    let fd: OwnedFd = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let null = std::fs::File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    Ok(Channel::from_fd(fd))
}

impl Worker {
    fn begin() -> io::Result<Option<Self>> {
        // What the driver, and with it the kernel log, calls this process. It is executed as /proc/self/exe.
        let _ = rustix::thread::set_name(c"gtrace-worker");
        sandbox::end_with_parent()?;
        let channel = take_channel()?;
        let mut start = match channel.receive::<ToWorker>(true)? {
            Some((ToWorker::Start(mut start), library)) => {
                if let Some(library) = library {
                    open_by_descriptor(&mut start, library);
                }
                *start
            }
            _ => return Err(io::Error::other("no start message")),
        };
        let confined = start.sandbox.take().map(|order| sandbox::enter(&order));
        let layers = match confined.unwrap_or(Ok(Vec::new())) {
            Ok(layers) => layers,
            Err(error) => {
                let reason = format!("the worker cannot be confined: {error}");
                channel.send(&FromWorker::Failed(reason), None)?;
                return Ok(None);
            }
        };
        // The supervisor may have died before the signal was asked for.
        let parent = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get());
        if parent.map(i32::cast_unsigned) != Some(start.supervisor) {
            return Err(io::Error::other("the supervisor is gone"));
        }
        if start.session == [0; 16] {
            answer_probe(&channel, &start, layers);
            return Ok(None);
        }
        let channel = Arc::new(channel);
        let session = Arc::new(Session::new(start, &channel));
        let _ = session.output.set(output::Output::capture()?);
        let sessions = SessionAdmission::new(&session).map_err(io::Error::other)?;
        let sessions = Arc::new(sessions);
        let terms = terms(&session.start, &sessions).map_err(io::Error::other)?;
        Ok(Some(Self {
            channel,
            session,
            terms,
            sessions,
            libraries: Arc::default(),
            threads: Arc::default(),
            begun: false,
            welcomed: Arc::default(),
            reported: (Instant::now(), 0),
        }))
    }

    /// Until the client, or the supervisor, is gone.
    fn serve(&mut self) -> io::Result<()> {
        let tick = Timespec {
            tv_sec: 0,
            tv_nsec: POLL_INTERVAL.subsec_nanos().into(),
        };
        let mut looked = Instant::now();
        loop {
            let mut fds = [
                PollFd::new(&*self.channel, PollFlags::IN),
                PollFd::from_borrowed_fd(self.sessions.ended(), PollFlags::IN),
            ];
            match poll(&mut fds, Some(&tick)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let (message, ended) = (!fds[0].revents().is_empty(), !fds[1].revents().is_empty());
            if message {
                match self.channel.receive::<ToWorker>(false) {
                    Ok(Some((
                        ToWorker::Lane {
                            tls,
                            further,
                            version,
                            key,
                            peer,
                        },
                        Some(fd),
                    ))) => {
                        let opening = Opening {
                            tls: tls.map(Into::into),
                            further,
                            version,
                            key: key.map(ConnectionKey),
                        };
                        self.open(opening, peer, fd);
                    }
                    Ok(Some((ToWorker::ClientProcess, Some(process)))) => {
                        self.session.client.know(process);
                    }
                    Ok(Some((ToWorker::ClientProcess, None))) => self.session.client.ends(),
                    Ok(Some((ToWorker::Image(hash), file))) => {
                        self.session.images.deliver(hash, file);
                    }
                    Ok(Some((ToWorker::Memory(ticket, bytes), memory))) => {
                        let shared = memory.map(|memory| Shared { memory, bytes });
                        self.session.shared_memory.deliver(ticket, shared);
                    }
                    Ok(Some(_)) => {}
                    // The supervisor is gone.
                    Ok(None) => return Ok(()),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error),
                }
            }
            if ended {
                self.sessions.clear_ended();
            }
            self.report(false);
            if self.begun && self.threads.load(Ordering::SeqCst) == 0 {
                debug!("the client is gone");
                return Ok(());
            }
            // Looks are counted, and what they see is no passing state: lanes that end wake this thread many times in a moment.
            if looked.elapsed() < POLL_INTERVAL {
                continue;
            }
            looked = Instant::now();
            self.session.log_changes();
            match self.session.client_is_dead() {
                None => {}
                Some(Death::InACall) => {
                    info!("the client died in the middle of a call");
                    return Ok(());
                }
                Some(Death::Between) => {
                    info!("the client is gone, and what its lanes had is not given back in time");
                    return Ok(());
                }
            }
        }
    }

    fn report(&mut self, last: bool) {
        let frames = self.session.frames();
        let (at, before) = self.reported;
        if !last && (at.elapsed() < REPORT_EVERY || frames == before) {
            return;
        }
        self.reported = (Instant::now(), frames);
        let mut stats = self.session.stats();
        let fits = stats.fit(STATS_MAX).map_err(std::io::Error::from);
        let stats = FromWorker::Stats(Box::new(stats));
        if let Err(error) = fits.and_then(|()| self.channel.send(&stats, None)) {
            debug!("report: {error}");
        }
    }

    /// A connection: its handshake and its frames are its own thread's.
    fn open(&mut self, opening: Opening, peer: String, fd: OwnedFd) {
        self.begun = true;
        self.threads.fetch_add(1, Ordering::SeqCst);
        let connection = Connection {
            channel: Arc::clone(&self.channel),
            session: Arc::clone(&self.session),
            terms: self.terms.clone(),
            sessions: Arc::clone(&self.sessions),
            libraries: Arc::clone(&self.libraries),
            welcomed: Arc::clone(&self.welcomed),
            peer,
        };
        let (threads, sessions) = (Arc::clone(&self.threads), Arc::clone(&self.sessions));
        let spawned = std::thread::Builder::new()
            .name("gtrace-lane".into())
            .spawn(move || {
                // Also if it panics: the process ends when no thread is left.
                let _ended = AtEnd(|| {
                    threads.fetch_sub(1, Ordering::SeqCst);
                    sessions.notify_ended();
                });
                connection.run(&opening, fd);
            });
        if let Err(error) = spawned {
            warn!("no thread for a lane: {error}");
            self.threads.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Ends the process, and with it everything that the driver holds for the client.
    fn exit(mut self, code: i32) -> ! {
        // A driver that waits for an endless kernel in its exit handlers must not keep the memory, nor a
        // thread in it that holds what is needed below.
        let _ = std::thread::Builder::new()
            .name("gtrace-exit".into())
            .spawn(|| {
                std::thread::sleep(EXIT_MAX);
                let own = rustix::process::getpid();
                let _ = rustix::process::kill_process(own, rustix::process::Signal::KILL);
            });
        self.session.end();
        self.report(true);
        std::process::exit(code)
    }
}

/// Does something when it is dropped.
struct AtEnd<F: FnMut()>(F);

impl<F: FnMut()> Drop for AtEnd<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// What the handshake needs to know.
fn terms(start: &Start, sessions: &Arc<SessionAdmission>) -> Result<ServerTerms, LinkError> {
    Ok(ServerTerms {
        // The supervisor has seen to that.
        token: None,
        // And of that what comes of its handshake comes with each connection.
        tls: None,
        features: Features(
            Features::WATERMARK.0
                | Features::IMAGE_CACHE.0
                | Features::SHARED_MEMORY.0
                | Features::DEFERRED_COPIES.0
                | Features::WORK.0
                | Features::SENT_WHEN_COPIED.0,
        ),
        credits: start.limits.credits,
        driver_version: start.driver_version,
        nvml: start.libnvml.is_some(),
        host: start.host.clone(),
        timeout: HANDSHAKE,
        resume: Duration::from_millis(start.resume_ms),
        ring: gtrace_link::RING,
        rdma_trusted: start.rdma_trusted.parse()?,
        sessions: Arc::new(LaneAdmission::new(sessions)),
    })
}

/// Which libraries to open.
fn paths(start: &Start) -> Result<(PathBuf, Option<PathBuf>), library::LibraryError> {
    let libcuda = match &start.libcuda {
        Some(path) => path.clone(),
        None => library::find("libcuda.so.1")?,
    };
    let libnvml = match &start.libnvml {
        Some(path) => Some(path.clone()),
        None => library::find("libnvidia-ml.so.1").ok(),
    };
    Ok((libcuda, libnvml))
}

/// The driver's library is the file `library` from here on, and NVML's too if it was the same.
fn open_by_descriptor(start: &mut Start, library: OwnedFd) {
    let path = PathBuf::from(format!("/proc/self/fd/{}", library.as_raw_fd()));
    if start.libnvml == start.libcuda {
        start.libnvml = Some(path.clone());
    }
    start.libcuda = Some(path);
    // It is opened when the first client comes.
    let _ = library.into_raw_fd();
}

fn answer_probe(channel: &Channel, start: &Start, layers: Vec<Layer>) {
    let answer = match probe(start) {
        Ok(info) => FromWorker::Probed(Box::new(info), layers),
        Err(reason) => FromWorker::Failed(reason),
    };
    if let Err(error) = channel.send(&answer, None) {
        debug!("probe: {error}");
    }
}

fn probe(start: &Start) -> Result<DriverInfo, String> {
    let (libcuda, libnvml) = paths(start).map_err(|e| e.to_string())?;
    for path in [Some(&libcuda), libnvml.as_ref()].into_iter().flatten() {
        library::refuse_shim(path).map_err(|e| e.to_string())?;
    }
    let (libraries, libnvml) = match library::open(&libcuda, libnvml.as_deref()) {
        // One that was found and does not work is one that is not there.
        Err(error) if start.libnvml.is_none() && libnvml.is_some() => {
            let without = library::open(&libcuda, None).map_err(|e| e.to_string())?;
            info!("going on without NVML: {error}");
            (without, None)
        }
        opened => (opened.map_err(|e| e.to_string())?, libnvml),
    };
    let failed = |code| {
        format!(
            "the driver {} does not start: CUDA error {code}; does `nvidia-smi` work here?",
            libcuda.display()
        )
    };
    special::init(libraries.driver).map_err(failed)?;
    let mut info = special::devices(libraries.driver).map_err(failed)?;
    info.libcuda = libcuda.display().to_string();
    info.libnvml = libnvml.map(|path| path.display().to_string());
    Ok(info)
}
