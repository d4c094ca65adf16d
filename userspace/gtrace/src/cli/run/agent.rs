//! The agent of a fleet within the daemon: a task that ships what the store gets, as soon as it has it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use gtrace_agent::{Actor, Enrolled, HeadUrl, NatsAccess, Options, Progress, now_ns};
use gtrace_api::client::Client;
use gtrace_collect::{HostActor, HostSampler, NvmlOf, Turn, gpu_state};
use gtrace_engine::config::{Config, HeadConfig};
use gtrace_engine::daemon::FLEET;
use gtrace_engine::hub::Hub;
use gtrace_engine::sources::devices::nvml_of;
use gtrace_engine::supervise::{Pulse, Task, Timer, beat};
use gtrace_event::{IncidentState, Timestamp};
use gtrace_fleet::{HostState, PAGE};
use gtrace_nats::Access;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, watch};

use crate::cli::nats::nats_of;

/// Between two heartbeats of the task.
const BEAT: Duration = Duration::from_secs(15);
/// The agent may wait for the store or be stopped for so long.
const SILENCE: Duration = Duration::from_secs(60);
/// Incidents of a state.
const INCIDENTS: usize = 32;

/// What the task needs, read while the daemon has all rights.
pub(super) struct Member {
    options: Options,
    config: Arc<Config>,
}

impl Member {
    /// Of the configuration; `None` where it names no head.
    ///
    /// # Errors
    ///
    /// That the host is not enrolled there.
    pub(super) fn new(config: &Config) -> anyhow::Result<Option<Self>> {
        let Some(head) = &config.head else {
            return Ok(None);
        };
        let HeadConfig {
            url,
            credential,
            labels,
            rate,
            sessions,
            reports,
            traces,
            page,
            nats,
        } = head;
        let wanted: HeadUrl = url.parse()?;
        let enrolled = Enrolled::read(credential)
            .with_context(|| format!("this host is not in the fleet of {url}"))?;
        let access = |url| NatsAccess {
            access: Access {
                url,
                credentials: nats.credentials.clone(),
                ca: nats.ca.clone(),
                identity: nats.identity.clone(),
            },
            site: nats.site.clone(),
        };
        let nats = nats_of(&wanted, &enrolled, access)
            .with_context(|| format!("{} cannot be used with `head`", credential.display()))?;
        Ok(Some(Self {
            options: Options {
                enrolled,
                nats,
                store: config.store(),
                labels: labels.clone(),
                rate: *rate,
                allow_sessions: *sessions,
                actor: actor(config, *reports, *traces, *page),
                clock: Arc::new(now_ns),
            },
            config: Arc::new(config.clone()),
        }))
    }

    /// The same for the daemon, which watches its host also where it cannot ship.
    pub(super) fn or_without(config: &Config) -> Option<Self> {
        Self::new(config).unwrap_or_else(|error| {
            tracing::warn!(
                "{error:#}. Nothing is shipped to the head; all else works. Once that is mended, start the daemon anew"
            );
            None
        })
    }

    /// Starts the task.
    pub(super) fn start(self, hub: &Arc<Hub>) -> std::io::Result<()> {
        let task = Task::optional(FLEET, SILENCE);
        let to = match &self.options.nats {
            Some(nats) => nats.access.url.to_string(),
            None => self.options.enrolled.head.clone(),
        };
        tracing::info!("{} ships to {to}", self.options.enrolled.host);
        let of_task = Arc::clone(hub);
        hub.tasks
            .start(task, move |pulse| self.run(&of_task, pulse))
    }

    fn run(&self, hub: &Arc<Hub>, pulse: &Pulse) -> Result<(), String> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("cannot wait for the head: {error}"))?;
        let (stop, stopped) = watch::channel(false);
        let (woken, stops) = (Arc::<Notify>::default(), Arc::<Notify>::default());
        let wake = Arc::clone(&stops);
        pulse.wake_by(move || wake.notify_one());
        let sampler = Box::new(HostSampler::new(self.nvml(hub), self.own_api()));
        let ended = runtime.block_on(async {
            let mut live = hub.subscribe().live;
            let wake = Arc::clone(&woken);
            tokio::spawn(async move {
                while !matches!(live.recv().await, Err(RecvError::Closed)) {
                    wake.notify_one();
                }
            });
            let (mut of_usage, mut of_latency) = (Turn::of_usage(), Turn::of_latency());
            let state = || {
                let usage = of_usage.next(Instant::now());
                let latency = of_latency.next(Instant::now());
                HostState {
                    usage: usage.map_or_else(Vec::new, |since| hub.usage.rows(since)),
                    ends: usage.map_or_else(Vec::new, |since| hub.usage.ends(since)),
                    latency: latency.map_or_else(Vec::new, |since| hub.latencies.rows(since)),
                    ..state_of(hub)
                }
            };
            let options = self.options.clone();
            let progress = Progress::default();
            let agent = gtrace_agent::run(options, state, Some(sampler), woken, progress, stopped);
            tokio::pin!(agent);
            let failed = |error: std::io::Error| format!("cannot wait for the head: {error}");
            let timer = Timer::new().map_err(failed)?;
            loop {
                beat();
                if pulse.is_stopping() {
                    let _ = stop.send(true);
                }
                tokio::select! {
                    ended = &mut agent => return ended.map_err(|error| error.to_string()),
                    () = stops.notified() => {}
                    over = timer.sleep(BEAT) => over.map_err(failed)?,
                }
            }
        });
        // What it reads for the head may wait for the daemon that is being stopped.
        runtime.shutdown_background();
        ended
    }

    fn nvml(&self, hub: &Arc<Hub>) -> NvmlOf {
        let (config, hub) = (Arc::clone(&self.config), Arc::clone(hub));
        Box::new(move || {
            let mut nvml = nvml_of(&config);
            let hub = Arc::clone(&hub);
            // Its process is no user of a GPU.
            nvml.started = Box::new(move |pid| hub.started_own(pid));
            nvml
        })
    }

    /// For driver calls, as any other reader has them.
    fn own_api(&self) -> Client {
        Client::unix(&self.config.socket)
    }
}

/// Writes reports of incidents for the head, traces processes, and reads the daemon for its page, as far as that is permitted. The daemon has no right to do
/// more to its host.
fn actor(config: &Config, reports: bool, traces: bool, page: bool) -> Option<Arc<dyn Actor>> {
    let names = [("report", reports), ("trace", traces), (PAGE, page)];
    let permits = names.into_iter().filter(|(_, permitted)| *permitted);
    let permits: Vec<String> = permits.map(|(name, _)| name.to_owned()).collect();
    if permits.is_empty() {
        return None;
    }
    Some(Arc::new(HostActor {
        permits,
        store: config.store(),
        daemon: Client::unix(&config.socket),
        gtrace: "/proc/self/exe".into(),
        nvidia_smi: "nvidia-smi".into(),
        systemctl: "systemctl".into(),
        generator: format!("gtrace {}", env!("CARGO_PKG_VERSION")),
    }))
}

/// Whether the daemon can ship to the head that the configuration names.
///
/// # Errors
///
/// That the host is not enrolled there.
pub(in crate::cli) fn check(config: &Config) -> anyhow::Result<()> {
    Member::new(config).map(drop)
}

/// The host as it is now.
fn state_of(hub: &Hub) -> HostState {
    let gpus = hub.gpus();
    let mut incidents = hub.incidents();
    incidents.retain(|incident| incident.state != IncidentState::Resolved);
    let surplus = incidents.len().saturating_sub(INCIDENTS);
    incidents.drain(..surplus);
    let health = gtrace_engine::health::report(hub);
    HostState {
        time: Timestamp::now(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        boot_id: health.as_ref().and_then(|health| health.boot_id.clone()),
        driver: gpus.iter().find_map(|gpu| gpu.driver_version.clone()),
        kernel: Some(gtrace_engine::host::kernel_release()),
        gpus: gpus.iter().filter_map(gpu_state).collect(),
        health,
        incidents,
        ..HostState::default()
    }
}

#[cfg(test)]
mod tests {
    use gtrace_engine::config::Keys;

    use super::*;

    #[test]
    fn a_credential_that_is_missing_or_of_another_head_is_said_and_keeps_no_daemon_from_starting() {
        let dir = tempfile::tempdir().unwrap();
        let credential = dir.path().join("head.json");
        let keys = Keys {
            head: Some("https://head.example.com:7481".to_owned()),
            head_credential: Some(credential.clone()),
            ..Config::defaults()
        };
        let config = Config::from_keys(keys).unwrap();
        let error = format!("{:#}", check(&config).unwrap_err());
        assert!(error.contains("gtrace agent enroll"), "{error}");
        assert!(Member::or_without(&config).is_none());
        let mut enrolled = Enrolled {
            head: "https://other.example.com:7481".to_owned(),
            host: "a".to_owned(),
            credential: "secret".to_owned(),
            ca: None,
            file: None,
        };
        enrolled.write(&credential).unwrap();
        let error = format!("{:#}", check(&config).unwrap_err());
        assert!(error.contains("other.example.com"), "{error}");
        enrolled.head = "https://head.example.com:7481".to_owned();
        enrolled.write(&credential).unwrap();
        check(&config).unwrap();
        assert!(Member::or_without(&config).is_some());
        // Through NATS any head knows it; the files for the servers have to be good.
        let mut through = config.clone();
        let head = through.head.as_mut().unwrap();
        head.url = "nats://127.0.0.1:4222".to_owned();
        check(&through).unwrap();
        through.head.as_mut().unwrap().nats.credentials = Some(dir.path().join("nothing"));
        let error = format!("{:#}", check(&through).unwrap_err());
        assert!(error.contains("nothing: cannot be read"), "{error}");
    }
}
