//! The supervisor: takes connections, reads their first bytes, and gives each to the worker process
//! of its session. It never loads the driver, and one thread with one poll(2) does all of it, so
//! that a slow client keeps nobody waiting.

mod access;
mod admit;
mod cgroup;
mod clients;
mod images;
mod listen;
mod share;
mod shared_memory;
mod status;
mod watch;
mod workers;

use std::collections::HashMap;
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tracing::{debug, info, warn};

use self::access::Access;
use self::cgroup::Groups;
use self::images::ImageCache;
use self::listen::{Listener, Pending};
use self::workers::{Leaving, Worker};
use crate::control::Start;
use crate::options::{Listen, Options};
use crate::sandbox::{Layer, SandboxMode, Users};

pub use self::listen::ListenError;
pub use self::status::{Counters, Device, DriverInfo, ServerStatus, SessionStatus};
pub use self::workers::WorkerCommand;

/// Most connections whose preamble is awaited. One more takes the place of one of those: [`listen::gives_way`].
const PENDING_MAX: usize = 256;
/// Most threads that send a status, or a client the reason of its refusal.
const ASIDE_MAX: usize = 16;
/// The status can be read by everybody on this host: `gtrace run` has no right to open the sockets of
/// other users, and a connection can change nothing.
const STATUS_MODE: u32 = 0o666;
/// How long a worker may go without having let its client in: both handshakes and the start.
const WELCOME_MAX: Duration = Duration::from_secs(10);
/// Between checks of workers that are about to end.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Its options contradict each other, or are not safe.
    #[error("{0}")]
    Options(String),
    /// An address.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The driver.
    #[error("{0}")]
    Driver(String),
    /// The system.
    #[error("the server cannot start: {0}")]
    System(#[from] io::Error),
}

/// A server that listens.
#[derive(Debug)]
pub struct Supervisor {
    options: Options,
    access: Access,
    command: WorkerCommand,
    host: String,
    driver: DriverInfo,
    /// Whom workers become, or why they do not.
    users: Result<Users, String>,
    /// Where their control groups are, or why they have none.
    groups: Result<Groups, String>,
    /// How they are confined.
    layers: Vec<Layer>,
    images: Option<ImageCache>,
    shared_memory: shared_memory::SharedMemory,
    listeners: Vec<Listener>,
    status: Option<Listener>,
    stop: (UnixStream, UnixStream),
    /// Readable when the files of credentials are to be read at once.
    reload: (UnixStream, UnixStream),
    pending: Vec<Pending>,
    workers: Vec<Worker>,
    leaving: Vec<Leaving>,
    counters: Counters,
    /// Threads for what may take a moment.
    aside: Arc<AtomicUsize>,
    started: Instant,
}

/// Ends a server, from any thread.
#[derive(Debug)]
pub struct Stopper(UnixStream);

impl Stopper {
    /// The server ends its workers and then itself.
    pub fn stop(&self) {
        use std::io::Write as _;
        // A server that is gone needs no stopping.
        let _ = (&self.0).write_all(b"s");
    }
}

/// What poll(2) has found, by place.
enum Ready {
    Stop,
    Reload,
    Status,
    Listener(usize),
    Pending(usize),
    Worker(usize),
}

impl Supervisor {
    /// Finds the driver, listens, and starts nothing else yet.
    ///
    /// # Errors
    ///
    /// [`StartError`], with the remedy.
    pub fn start(options: Options, command: WorkerCommand) -> Result<Self, StartError> {
        options.check().map_err(StartError::Options)?;
        // What would refuse each client refuses to start.
        let access = Access::open(&options).map_err(StartError::Options)?;
        if options.insecure && options.listen.iter().any(|listen| !listen.is_local()) {
            warn!(
                "--insecure: whoever reaches {} can run programs on the GPUs of this host",
                join(&options.listen)
            );
        }
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname")
            .map_or_else(|_| "unknown".into(), |host| host.trim_end().to_owned());
        let users = match options.sandbox {
            SandboxMode::Off => Err("no sandbox".into()),
            _ => Users::available(options.worker_users),
        };
        if let (Err(why), Some(_)) = (&users, options.worker_users) {
            return Err(StartError::Options(format!("--worker-user: {why}")));
        }
        let groups = match options.sandbox {
            SandboxMode::Off => Err("no sandbox".into()),
            _ => Groups::take(options.worker_memory, options.limits.max_lanes),
        };
        let (driver, mut layers) = probe(&options, &command, &users, &host)?;
        if options.sandbox != SandboxMode::Off {
            layers.push(match &groups {
                Ok(groups) => groups.layer(),
                Err(why) => Layer::missing("cgroup", why.clone()),
            });
        }
        report(options.sandbox, &layers)?;
        let images = options.image_cache.clone();
        let images = images.map(|folder| ImageCache::new(folder, options.image_cache_max));
        let mut listeners = Vec::new();
        for at in &options.listen {
            listeners.push(Listener::bind(at, options.socket_mode, "--listen")?);
        }
        for at in &options.listen_optional {
            match Listener::bind(at, options.socket_mode, "--listen") {
                Ok(listener) => listeners.push(listener),
                Err(error) => info!("{error}; going on without"),
            }
        }
        if listeners.is_empty() {
            return Err(StartError::Options(
                "there is no address to listen on: give one with --listen".into(),
            ));
        }
        let status = options.status_socket.as_ref().and_then(|path| {
            Listener::bind(&Listen::Unix(path.clone()), STATUS_MODE, "--status-socket")
                .inspect_err(|error| warn!("{error}; `gtrace status --remote` cannot ask"))
                .ok()
        });
        let (stop, reload) = (UnixStream::pair()?, UnixStream::pair()?);
        for end in [&stop.0, &reload.0, &reload.1] {
            end.set_nonblocking(true)?;
        }
        Ok(Self {
            options,
            access,
            command,
            host,
            driver,
            users,
            groups,
            layers,
            images,
            shared_memory: shared_memory::SharedMemory::default(),
            listeners,
            status,
            stop,
            reload,
            pending: Vec::new(),
            workers: Vec::new(),
            leaving: Vec::new(),
            counters: Counters::default(),
            aside: Arc::default(),
            started: Instant::now(),
        })
    }

    /// Addresses it listens on, chosen ports included.
    pub fn addresses(&self) -> Vec<String> {
        self.listeners.iter().map(Listener::address).collect()
    }

    /// What driver and devices were found.
    pub fn driver(&self) -> &DriverInfo {
        &self.driver
    }

    /// What ends it.
    ///
    /// # Errors
    ///
    /// The system's: out of descriptors.
    pub fn stopper(&self) -> io::Result<Stopper> {
        self.stop.1.try_clone().map(Stopper)
    }

    /// Also ends at SIGTERM and SIGINT, and reads the files of credentials again at SIGHUP.
    pub fn obey_signals(&self) -> io::Result<()> {
        let reload = self.reload.1.try_clone()?;
        signal_hook::low_level::pipe::register(signal_hook::consts::SIGHUP, reload)?;
        for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
            signal_hook::low_level::pipe::register(signal, self.stop.1.try_clone()?)?;
        }
        Ok(())
    }

    /// Serves until it is stopped. Workers die with the thread that this runs on.
    ///
    /// # Errors
    ///
    /// The system's: poll(2) failed.
    pub fn run(mut self) -> io::Result<()> {
        info!(
            "serving {} of driver {}.{} on {}",
            devices(&self.driver),
            self.driver.version / 1000,
            self.driver.version % 1000 / 10,
            self.addresses().join(", ")
        );
        loop {
            // From the last to the first of a kind, so that removing one moves none that follows.
            for ready in self.wait()?.into_iter().rev() {
                match ready {
                    Ready::Stop => {
                        self.end();
                        return Ok(());
                    }
                    Ready::Reload => self.reload_now(),
                    Ready::Status => self.send_status(),
                    Ready::Listener(at) => self.accept(at),
                    Ready::Pending(at) => self.read_preamble(at),
                    Ready::Worker(at) => self.read_worker(at),
                }
            }
            self.expire();
            self.reap();
            if self.access.check(false) {
                self.end_unauthorised();
            }
        }
    }

    fn reload_now(&mut self) {
        use std::io::Read as _;
        // What is in there says no more than that it is time.
        let _ = self.reload.0.read(&mut [0; 64]);
        self.access.check(true);
        self.end_unauthorised();
    }

    fn wait(&self) -> io::Result<Vec<Ready>> {
        let mut places = vec![Ready::Stop, Ready::Reload];
        let mut fds = vec![
            PollFd::new(&self.stop.0, PollFlags::IN),
            PollFd::new(&self.reload.0, PollFlags::IN),
        ];
        if let Some(status) = &self.status {
            places.push(Ready::Status);
            fds.push(PollFd::new(status, PollFlags::IN));
        }
        for (at, listener) in self.listeners.iter().enumerate() {
            places.push(Ready::Listener(at));
            fds.push(PollFd::new(listener, PollFlags::IN));
        }
        for (at, pending) in self.pending.iter().enumerate() {
            places.push(Ready::Pending(at));
            let events = match pending.wants_write() {
                true => PollFlags::OUT,
                false => PollFlags::IN,
            };
            fds.push(PollFd::new(pending, events));
        }
        for (at, worker) in self.workers.iter().enumerate() {
            places.push(Ready::Worker(at));
            let room = match worker.waiting() {
                0 => PollFlags::empty(),
                _ => PollFlags::OUT,
            };
            fds.push(PollFd::new(worker, PollFlags::IN | room));
        }
        let timeout = self.timeout().map(|left| Timespec {
            tv_sec: left.as_secs().cast_signed(),
            tv_nsec: left.subsec_nanos().into(),
        });
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        }
        let ready = fds.iter().map(|fd| !fd.revents().is_empty());
        Ok(places
            .into_iter()
            .zip(ready)
            .filter_map(|(place, ready)| ready.then_some(place))
            .collect())
    }

    /// Until something is due that no descriptor reports.
    fn timeout(&self) -> Option<Duration> {
        let now = Instant::now();
        let deadlines = self
            .pending
            .iter()
            .map(|pending| pending.deadline.saturating_duration_since(now));
        let leaving = (!self.leaving.is_empty()).then_some(POLL_INTERVAL);
        let unwelcomed = self
            .workers
            .iter()
            .filter(|worker| worker.client.is_none())
            .map(|worker| WELCOME_MAX.saturating_sub(worker.age()) + Duration::from_millis(1));
        let check = self.access.next_check();
        deadlines
            .chain(leaving)
            .chain(unwelcomed)
            .chain(check)
            .min()
    }

    /// Does what may take a moment in a thread of its own; nothing, if there are many already.
    fn aside(&self, name: &str, action: impl FnOnce() + Send + 'static) {
        if self.aside.fetch_add(1, Ordering::Relaxed) >= ASIDE_MAX {
            self.aside.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let count = Arc::clone(&self.aside);
        let spawned = std::thread::Builder::new()
            .name(name.into())
            .spawn(move || {
                action();
                count.fetch_sub(1, Ordering::Relaxed);
            });
        if spawned.is_err() {
            self.aside.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// How it stands.
    pub fn status(&self) -> ServerStatus {
        ServerStatus {
            version: env!("CARGO_PKG_VERSION").into(),
            pid: std::process::id(),
            host: self.host.clone(),
            uptime_s: self.started.elapsed().as_secs_f64(),
            listen: self.addresses(),
            token: self.access.asks(),
            tls: self.options.tls.is_some(),
            certificates: self.access.takes_certificates(),
            credentials_error: self.access.error(),
            sandbox: self.options.sandbox,
            layers: self.layers.clone(),
            max_clients: self.options.max_clients,
            driver: self.driver.clone(),
            counters: self.counters.clone(),
            sessions: self.workers.iter().map(Worker::status).collect(),
        }
    }

    fn send_status(&self) {
        let Some(listener) = &self.status else {
            return;
        };
        let Ok((fd, ..)) = listener.accept() else {
            return;
        };
        let status = self.status();
        self.aside("gtrace-status", move || {
            if let Err(error) = status.send(UnixStream::from(fd)) {
                debug!("status: {error}");
            }
        });
    }
}

fn join(listen: &[Listen]) -> String {
    let all: Vec<String> = listen.iter().map(ToString::to_string).collect();
    all.join(", ")
}

fn devices(driver: &DriverInfo) -> String {
    let mut names: HashMap<&str, u32> = HashMap::new();
    for device in &driver.devices {
        *names.entry(&device.name).or_default() += 1;
    }
    let mut names: Vec<String> = names
        .into_iter()
        .map(|(name, count)| format!("{count} x {name}"))
        .collect();
    names.sort();
    match names.is_empty() {
        true => "no device".into(),
        false => names.join(", "),
    }
}

/// Asks a worker what driver there is, and how it is confined. A driver that does not start confined may have to make its
/// device files first, which it does unconfined, and is asked again.
fn probe(
    options: &Options,
    command: &WorkerCommand,
    users: &Result<Users, String>,
    host: &str,
) -> Result<(DriverInfo, Vec<Layer>), StartError> {
    let environment = share::of(None, options, &[])
        .map_err(StartError::Options)?
        .environment;
    let user = users.clone().map(|users| users.one(&[]));
    let libraries = [&options.libcuda, &options.libnvml];
    let libraries = libraries.into_iter().flatten().map(|path| path.as_path());
    let start = Start {
        libcuda: options.libcuda.clone(),
        libnvml: options.libnvml.clone(),
        limits: options.limits.clone(),
        host: host.to_owned(),
        supervisor: std::process::id(),
        sandbox: options.confinement(user, libraries),
        ..Start::default()
    };
    let ask = |start: &Start| workers::probe(command, &environment, start);
    let confined = match (ask(&start), &start.sandbox) {
        (Err(first), Some(_)) => {
            let open = Start {
                sandbox: None,
                ..start.clone()
            };
            // Where it fails so too, the sandbox has no part in it.
            ask(&open).map_err(StartError::Driver)?;
            ask(&start).map_err(|_| {
                StartError::Driver(format!(
                    "the driver works, but not in the sandbox of a worker: {first}; see \"The sandbox\" in \
                     docs/remoting.md, or serve without one with --sandbox off"
                ))
            })
        }
        (answer, _) => answer.map_err(StartError::Driver),
    };
    let (mut driver, layers) = confined?;
    // One that came by a descriptor has another path there.
    if let Some(path) = options
        .libcuda
        .as_deref()
        .filter(|path| workers::is_descriptor(path))
    {
        driver.libcuda = path.display().to_string();
        driver.libnvml = options
            .libnvml
            .as_ref()
            .map(|path| path.display().to_string());
    }
    Ok((driver, layers))
}

/// Says what of the sandbox is not in force.
fn report(mode: SandboxMode, layers: &[Layer]) -> Result<(), StartError> {
    if mode == SandboxMode::Off {
        warn!("--sandbox off: a client that takes its worker over has what the server's user has");
    }
    for layer in layers {
        match layer.active {
            true => debug!("sandbox: {}: {}", layer.name, layer.note),
            false => warn!(
                "not in force of the sandbox: {}: {}",
                layer.name, layer.note
            ),
        }
    }
    match layers.iter().find(|layer| !layer.active) {
        Some(layer) if mode == SandboxMode::Required => Err(StartError::Options(format!(
            "--sandbox required, and {} is not in force: {}",
            layer.name, layer.note
        ))),
        _ => Ok(()),
    }
}
