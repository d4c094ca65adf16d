//! The daemon: what it is put together of, how it is started, supervised and stopped. What shows it, as the
//! HTTP API does, is a task that the caller adds before [`Daemon::serve`].

mod control;
mod footprint;
mod start;
mod watch;

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::TrySendError;
use std::time::Duration;

use anyhow::Context as _;
use gtrace_catalogue::Catalogue;
use gtrace_devices::{PciTree, SysRoot};
use gtrace_store::Store;
use tokio::sync::mpsc;

use self::control::Control;
use self::start::{
    KernelLog, first_status, mount_tracefs, nothing_to_watch, open_store, start_kmsg, start_probes,
};
use self::watch::{notify, watch_over};
use crate::config::Config;
use crate::hub::{Command, Hub};
use crate::input::{Input, InputSender};
use crate::open_record::EndRecord;
use crate::pipeline::{self, CoreOptions, SiteRules};
use crate::previous_boot::PreviousBoot;
use crate::sources::driver_modules::DriverHold;
use crate::sources::{devices, probes};
use crate::supervise::names;
use crate::triggers::{self, Triggers};
use crate::{
    alertmanager, component, cuda, health_rules, history, host, memory, nvsentinel, otlp, poll,
    privileges, recorder,
};

pub use self::start::{catalogue, explain_load, triggers, try_probes};
pub use self::watch::Ended;

/// The task that ships to the head of a fleet, where its caller has added one.
pub const FLEET: &str = "fleet";

/// How long tasks have to end.
const STOP_PATIENCE: Duration = Duration::from_secs(3);
/// What is answered to a request for which the core has no room.
const BUSY: &str = "the daemon is too busy to take it; try again";
/// Between attempts to hand over what waits for room.
const RETRY: Duration = Duration::from_millis(20);

/// What is asked of a run beside the configuration.
#[derive(Debug, Default)]
pub struct Options {
    /// Load the probes that log what they do.
    pub probe_log: bool,
    /// Keep all capabilities of root.
    pub keep_privileges: bool,
    /// Demonstrate on this instead of watching the host.
    pub stand_in: Option<StandIn>,
}

/// What a demonstration has in place of the host. No probe is loaded, and /dev/kmsg is not opened.
#[derive(Debug)]
pub struct StandIn {
    /// Name of the host in every record.
    pub host: String,
    /// In place of /dev/kmsg: a socket of type SOCK_SEQPACKET that does not block. Each packet is what one read(2) of
    /// /dev/kmsg gives.
    pub kernel_log: OwnedFd,
}

/// A daemon that holds its store, and nothing else of the host. Whoever serves it binds sockets now: the
/// right to do so can be gone once it runs.
pub struct Prepared {
    config: Config,
    catalogue: Catalogue,
    triggers: Triggers,
    store: Store,
}

/// A daemon whose parts run.
#[derive(Debug)]
pub struct Daemon {
    hub: Arc<Hub>,
    commands: mpsc::UnboundedReceiver<Command>,
    core: pipeline::Core,
    context: component::Context,
    previous_boot: PreviousBoot,
}

impl Prepared {
    /// With what `config` names: site policy and store.
    ///
    /// # Errors
    ///
    /// If one of them or the triggers cannot be read, or another daemon has the store.
    pub fn new(config: Config) -> anyhow::Result<Self> {
        let catalogue = catalogue(&config)?;
        let triggers = triggers(&config)?;
        let store = open_store(&config)?;
        Ok(Self {
            config,
            catalogue,
            triggers,
            store,
        })
    }

    /// Starts every part. Of the privileges only those stay that the parts need.
    ///
    /// # Errors
    ///
    /// If there is nothing to watch, or a thread cannot be started.
    pub fn start(self, options: Options) -> anyhow::Result<Daemon> {
        let Self {
            config,
            catalogue,
            triggers,
            store,
        } = self;
        // While it may: no other system call of the daemon needs this right.
        if options.stand_in.is_none() && host::is_root() {
            mount_tracefs();
        }
        // Capabilities belong to threads: before any other is started.
        if !options.keep_privileges
            && host::is_root()
            && let Err(error) = privileges::drop_unneeded(config.cuda_api)
        {
            tracing::warn!("privileges that are not needed are kept: {error:#}");
        }
        let stand_in = options.stand_in;
        let host = match &stand_in {
            Some(stand_in) => stand_in.host.clone(),
            None => host::name(),
        };
        // A demonstration's records are of no machine.
        let machine_id = host::machine_id().filter(|_| stand_in.is_none());
        let mut status = first_status(&config);
        status.host.clone_from(&host);
        status.machine_id.clone_from(&machine_id);
        let (hub, commands) = Hub::new(status);
        let (poll_soon, _) = poll::channel();
        let end_record = EndRecord::new().context("the core cannot be started")?;
        // Before any source, and before the core takes up what an earlier run left.
        let recorder = config.recorder();
        if let Some(options) = recorder {
            recorder::start(&hub, options)
                .context("the thread of the flight recorder cannot be started")?;
        }
        let core = pipeline::spawn(CoreOptions {
            hub: Arc::clone(&hub),
            catalogue,
            store,
            store_path: config.store(),
            dedup_window: config.dedup_window,
            host,
            machine_id,
            boot_id: host::boot_id(),
            site_rules: site_rules(&config),
            tree: PciTree::read(&SysRoot(config.sysfs_root.clone())),
            poll_soon: poll_soon.clone(),
            end_record: end_record.clone(),
        })?;
        let inputs = core.inputs.clone();
        let hold = Arc::new(DriverHold::default());
        let is_demonstration = stand_in.is_some();
        let probes = match is_demonstration {
            true => Ok(None),
            false => start_probes(&config, options.probe_log, &hub, &inputs, &hold).map(Some),
        };
        let log = match stand_in {
            Some(stand_in) => KernelLog::StandIn(stand_in.kernel_log),
            None => KernelLog::Host,
        };
        let log = start_kmsg(&config, log, &hub, &core, end_record);
        let probes = match (probes, log) {
            (Err(probes), Err(log)) => {
                core.finish();
                return Err(nothing_to_watch(&probes, &log));
            }
            (probes, log) => {
                let complain = |what: &str, error: &anyhow::Error| {
                    tracing::warn!("{what}: {error:#}; `gtrace doctor` says more");
                };
                let probes = probes.inspect_err(|e| complain("no probes", e));
                let probes = probes.ok().flatten();
                if let Err(error) = &log {
                    complain("no /dev/kmsg", error);
                }
                probes
            }
        };
        if let Some(options) = config.history() {
            history::start(&hub, history::directory(&config.store()), options)
                .context("the thread that keeps samples cannot be started")?;
        }
        if !triggers.is_empty() {
            triggers::start(&hub, inputs.clone(), triggers)
                .context("the thread that watches for triggers cannot be started")?;
        }
        if let Some(options) = config.alertmanager.clone() {
            alertmanager::start(&hub, options)
                .context("the thread that sends alerts cannot be started")?;
        }
        if let Some(options) = config.otlp.clone() {
            otlp::start(&hub, options).context("the thread that sends OTLP cannot be started")?;
        }
        if let Some(options) = config.nvsentinel.clone() {
            nvsentinel::start(&hub, options)
                .context("the thread that reports health to NVSentinel cannot be started")?;
        }
        let places = config.previous_boot();
        let (previous_boot, input) = PreviousBoot::begin(&places, &host::boot_id());
        if let Some(input) = input.filter(|_| !is_demonstration) {
            // The core has just started and waits for it.
            let _ = inputs.send(input);
        }
        let context = config.components(&hub);
        devices::start(&config, &context, inputs, poll_soon, hold)
            .context("the thread that polls the devices cannot be started")?;
        if let Some(probes) = probes {
            context.parts.add(probes::DRAIN, Arc::new(probes));
        }
        component::start(&context)
            .map_err(|(name, error)| anyhow::anyhow!("{name} cannot be started: {error}"))?;
        if let Some(cuda) = cuda_calls(&config, &hub)? {
            context.parts.add(cuda::TASK, Arc::new(cuda));
        }
        memory::give_back();
        Ok(Daemon {
            hub,
            commands,
            core,
            context,
            previous_boot,
        })
    }
}

impl Daemon {
    /// What the daemon knows, and the registry of its tasks.
    pub fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    /// Supervises the parts and does what is asked of the hub, until `asked` is ready or a part is lost
    /// that only a new process brings back. Then stops all of them. Called by the main thread.
    ///
    /// # Errors
    ///
    /// If a thread or the runtime cannot be started, or `asked` fails.
    pub fn serve(self, asked: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<Ended> {
        let Self {
            hub,
            commands,
            core,
            context,
            previous_boot,
        } = self;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("the runtime cannot be started")?;
        let control = start_control(&hub, &context)?;
        let inputs = core.inputs.clone();
        let lost = runtime.block_on(async {
            tokio::spawn(obey(commands, control, inputs.clone()));
            notify(&[sd_notify::NotifyState::Ready]);
            let lost = watch_over(&hub, &inputs, asked).await?;
            notify(&[sd_notify::NotifyState::Stopping]);
            if lost.is_none() {
                // Before anything that may take longer than systemd waits.
                previous_boot.stopped();
            }
            tracing::info!("stopping");
            anyhow::Ok(lost)
        })?;
        // No task is started again from here on.
        let mut left = hub.tasks.stop(
            &[names::HTTP, names::RECORDER, names::HISTORY, FLEET],
            STOP_PATIENCE,
        );
        left.extend(component::stop(&context, STOP_PATIENCE));
        for name in left {
            tracing::error!("{name} does not end and is left behind");
        }
        let needed = ["core", "store"];
        let hung = needed.into_iter().find(|name| !hub.tasks.is_running(name));
        Ok(match (lost, hung) {
            (Some(loss), _) => {
                // If the core is gone, the store still gets what waits for it.
                let _ = hub.tasks.stop(&["store"], STOP_PATIENCE);
                Ended::Lost(loss)
            }
            (None, Some(name)) => Ended::Hung(name),
            (None, None) => {
                core.finish();
                Ended::InOrder
            }
        })
    }
}

/// The site's rules of health. Those that are refused stop nothing: the component says so, and those before hold.
fn site_rules(config: &Config) -> SiteRules {
    if config.disabled.contains(&component::health_rules::NAME) {
        return SiteRules::Read(None);
    }
    match health_rules::load(&config.health_rules) {
        Ok(text) => SiteRules::Read(text),
        Err(_) => SiteRules::AsStored,
    }
}

/// The task that pauses components on request; without probes there is none.
fn start_control(hub: &Hub, context: &component::Context) -> anyhow::Result<Option<Control>> {
    if !context.parts.has(probes::DRAIN) {
        return Ok(None);
    }
    let context = context.clone();
    let control = Control::start(
        hub,
        Arc::new(move |pause| component::pause(&context, pause)),
    );
    control
        .context("the thread that detaches probes cannot be started")
        .map(Some)
}

/// Passes on what the API asks for, and what threads have observed. While the core has no room, the former is refused and the
/// latter waits.
async fn obey(
    mut commands: mpsc::UnboundedReceiver<Command>,
    control: Option<Control>,
    inputs: InputSender,
) {
    let mut waiting: VecDeque<Command> = VecDeque::new();
    loop {
        while let Some(command) = waiting.pop_front() {
            if let Some(command) = offer(&inputs, command) {
                waiting.push_front(command);
                break;
            }
        }
        let next = match waiting.is_empty() {
            true => commands.recv().await,
            false => match tokio::time::timeout(RETRY, commands.recv()).await {
                Ok(next) => next,
                Err(_) => continue,
            },
        };
        match (next, &control) {
            (None, _) => return,
            (Some(Command::Pause(pause, answer)), Some(control)) => control.ask(pause, answer),
            (Some(Command::Pause(_, answer)), None) => {
                // Whoever asked may have given up.
                let _ = answer.send(Err("no probe is loaded".to_owned()));
            }
            (Some(command), _) => {
                let left = match waiting.is_empty() {
                    true => offer(&inputs, command),
                    false => Some(command),
                };
                waiting.extend(left.and_then(|command| command.refuse(BUSY)));
            }
        }
    }
}

/// Hands the command to the core; gives it back if that has no room.
fn offer(inputs: &InputSender, command: Command) -> Option<Command> {
    match inputs.try_send(Input::Command(command)) {
        Err(TrySendError::Full(Input::Command(command))) => Some(command),
        // A core that has ended takes nothing more.
        _ => None,
    }
}

/// The thread that counts CUDA calls, if that is asked for.
fn cuda_calls(config: &Config, hub: &Arc<Hub>) -> anyhow::Result<Option<cuda::Service>> {
    if !config.cuda_api {
        return Ok(None);
    }
    let options = cuda::ServiceOptions {
        hub: Arc::clone(hub),
        budget: config.cuda_api_budget,
    };
    cuda::Service::start(options)
        .context("the thread that counts CUDA calls cannot be started")
        .map(Some)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use gtrace_event::Occasion;
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn what_was_observed_waits_for_a_busy_core_and_a_request_is_refused() {
        let (sender, received) = sync_channel(1);
        sender.send(Input::Stop).unwrap();
        let (commands, asked) = mpsc::unbounded_channel();
        let obeying = tokio::spawn(obey(asked, None, sender.into()));
        let observed = || Command::Observed(Occasion::DriverReload);
        commands.send(observed()).unwrap();
        commands.send(observed()).unwrap();
        let (answer, answered) = oneshot::channel();
        commands.send(Command::Flush(answer)).unwrap();
        assert_eq!(answered.await.unwrap(), Err(BUSY.to_owned()));
        assert!(matches!(received.try_recv(), Ok(Input::Stop)));
        for _ in 0..2 {
            let input = loop {
                match received.try_recv() {
                    Ok(input) => break input,
                    Err(_) => tokio::time::sleep(RETRY).await,
                }
            };
            assert!(matches!(input, Input::Command(Command::Observed(_))));
        }
        drop(commands);
        obeying.await.unwrap();
    }
}
