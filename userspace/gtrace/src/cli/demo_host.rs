//! `gtrace demo`: one host, its GPU emulated and its kernel log written here. Every event is a drill.

use std::fs;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use gtrace_api::client::{Client, target};
use gtrace_engine::component;
use gtrace_engine::config::{Config, Keys};
use gtrace_engine::daemon::{Ended, Options, Prepared, StandIn};
use gtrace_event::{Event, Incident, PciAddress, Timestamp, WitnessName};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::oneshot;

use super::inject::{self, AerSeverity, What};
use super::shared::{self, Exit};
use super::signals::Signals;
use super::{report, run, serve};
use crate::render::{self, ColorChoice, Style};

/// Name of the host in every record.
const HOST: &str = "demonstration";
/// The address that the CPU emulator gives its first GPU: no host has this domain.
const GPU: &str = "5350:01:00.0";
/// The port above it.
const PORT: &str = "5350:00:01.0";
/// Sources that work on what is generated; all others are off.
const SOURCES: [WitnessName; 3] = [WitnessName::Kmsg, WitnessName::Nvml, WitnessName::SysfsPci];
/// How long an answer of the daemon may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two questions.
const ASK_EVERY: Duration = Duration::from_millis(50);
/// The pid in the drills: above the highest that Linux gives, PID_MAX_LIMIT of 2^22.
const PID: u32 = (1 << 22) + 79;

/// Show a fault, its incident, the page and the report, on any Linux host: without root, a GPU or a driver.
///
/// A private daemon works in a folder that is removed at the end, on a kernel log that this command writes and on a GPU that
/// the CPU emulates. Every event is marked as a drill. Nothing of the host is read or changed but for the report, a file.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Address of the page, on loopback; by default a free port.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: String,
    /// File for the report, or directory; by default the current directory.
    #[arg(long, value_name = "FILE|DIR")]
    out: Option<PathBuf>,
    /// End once the report is written instead of waiting for Ctrl-C.
    #[arg(long)]
    once: bool,
    /// When to use colours.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: ColorChoice,
}

/// Runs the command.
///
/// # Errors
///
/// What standard output says, a closed pipe aside; why the daemon cannot be started.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    // Before the folder is there, which nobody removes whom a signal ends.
    let mut signals = Signals::of_terminal()?;
    let folder = tempfile::Builder::new()
        .prefix("gtrace-demo-")
        .tempdir()
        .context("there is no room for a folder; set TMPDIR to one of yours")?;
    let log = fs::File::create(folder.path().join("daemon.log")).context("daemon.log")?;
    run::init_log_to(Mutex::new(log));
    generate_host(folder.path())?;
    // The daemon's child opens it by this process's descriptor.
    let emulator = serve::softgpu_library()?;
    let keys = keys(folder.path(), &args.listen, &emulator.path());
    let file = folder.path().join("gtrace.toml");
    fs::write(&file, toml::to_string(&keys)?).context("gtrace.toml")?;
    let config = Config::load(Some(&file), Keys::default())?;
    let api = run::api_config(&config);
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (reading, writing) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
        .context("the kernel log of the demonstration cannot be made")?;
    let prepared = Prepared::new(config)?;
    let bound = Arc::new(gtrace_http::bind(&api)?);
    let daemon = prepared.start(Options {
        stand_in: Some(StandIn {
            host: HOST.to_owned(),
            kernel_log: reading,
        }),
        // Root could else write its report only to folders of its own.
        keep_privileges: true,
        ..Options::default()
    })?;
    gtrace_http::start(&bound, daemon.hub())?;
    let show = Show {
        client: Client::unix(folder.path().join("gtrace.sock")),
        log: KernelLog::new(writing, &folder.path().join("kernel.log"))?,
        page: bound.tcp_addr().map(|address| format!("http://{address}/")),
        folder: folder.path().to_owned(),
        style: Style::of_stdout(args.color),
        out: args.out,
        waits: !args.once,
    };
    let (end, outcome) = oneshot::channel();
    std::thread::Builder::new()
        .name("gtrace-demo".to_owned())
        .spawn(move || {
            let mut show = show;
            let shown = show.play();
            // The log stays open until the daemon has ended; nobody waits for this if that was first.
            let _ = end.send((shown, show));
        })
        .context("cannot start a thread")?;
    let mut shown = None;
    let waits = !args.once;
    let ended = daemon.serve(async {
        tokio::select! {
            _ = signals.come() => {}
            outcome = outcome => {
                let outcome = outcome.context("the demonstration ended early; see above")?;
                let goes_on = waits && matches!(outcome.0, Ok(true));
                shown = Some(outcome);
                if goes_on {
                    signals.come().await;
                }
            }
        }
        Ok(())
    });
    bound.remove_socket_file();
    if let Some((Err(error), _)) = shown {
        let log = fs::read_to_string(folder.path().join("daemon.log")).unwrap_or_default();
        shared::print_error(&log);
        return Err(error);
    }
    match ended? {
        Ended::InOrder => Ok(Exit::Success.into()),
        Ended::Lost(loss) => anyhow::bail!("{} {}", loss.task, loss.reason),
        Ended::Hung(name) => anyhow::bail!("{name} does not end and is left behind"),
    }
}

/// The configuration of the private daemon.
fn keys(folder: &Path, listen: &str, nvml: &Path) -> Keys {
    let is_off = |component: &&dyn component::Component| {
        component
            .witness()
            .is_none_or(|witness| !SOURCES.contains(&witness))
    };
    let off = component::all().filter(is_off).map(|it| it.name());
    Keys {
        state_dir: Some(folder.join("state")),
        socket: Some(folder.join("gtrace.sock")),
        listen: Some(listen.to_owned()),
        baseline: Some(folder.join("baseline.toml")),
        health_rules: Some(folder.join("health-rules.toml")),
        kill_switch: Some(folder.join("pause")),
        disabled_sources: Some(off.collect::<Vec<_>>().join(",")),
        nvml_library: Some(nvml.to_owned()),
        nvml_interval_s: Some(2),
        pci_interval_s: Some(2),
        recording_after_s: Some(2),
        sysfs_root: Some(folder.join("sys")),
        proc_root: Some(folder.join("proc")),
        ..Keys::default()
    }
}

/// The files by which the daemon finds one GPU below one port.
fn generate_host(folder: &Path) -> anyhow::Result<()> {
    let create = |path: &Path| {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true).mode(0o700).create(path)
    };
    let make = || -> std::io::Result<()> {
        create(&folder.join("state"))?;
        create(&folder.join("proc/driver/nvidia"))?;
        let no_driver = "a demonstration of gtrace: there is no driver\n";
        fs::write(folder.join("proc/driver/nvidia/version"), no_driver)?;
        let list = folder.join("sys/bus/pci/devices");
        create(&list)?;
        let port = folder.join("sys/devices/pci5350:00").join(PORT);
        let gpu = port.join(GPU);
        create(&gpu)?;
        for (path, name, vendor, class) in [
            (&port, PORT, "0x8086", "0x060400"),
            (&gpu, GPU, "0x10de", "0x030200"),
        ] {
            std::os::unix::fs::symlink(path, list.join(name))?;
            fs::write(path.join("vendor"), format!("{vendor}\n"))?;
            fs::write(path.join("class"), format!("{class}\n"))?;
            for (file, text) in [
                ("current_link_speed", "32.0 GT/s PCIe\n"),
                ("max_link_speed", "32.0 GT/s PCIe\n"),
                ("current_link_width", "16\n"),
                ("max_link_width", "16\n"),
            ] {
                fs::write(path.join(file), text)?;
            }
        }
        Ok(())
    };
    make().with_context(|| format!("cannot write to {}", folder.display()))
}

/// The kernel log of the demonstration: to the daemon record by record, and as a file for the report.
struct KernelLog {
    daemon: OwnedFd,
    file: fs::File,
    path: PathBuf,
    seq: u64,
}

impl KernelLog {
    fn new(daemon: OwnedFd, path: &Path) -> anyhow::Result<Self> {
        Ok(Self {
            daemon,
            file: fs::File::create(path).context("kernel.log")?,
            path: path.to_owned(),
            seq: 0,
        })
    }

    /// Logs one line, as a program of user space does by /dev/kmsg: facility user, level warning.
    fn write(&mut self, text: &str) -> anyhow::Result<()> {
        let now = clock_gettime(ClockId::Monotonic);
        let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
        let us = seconds * 1_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0) / 1000;
        self.seq += 1;
        let record = format!("12,{},{us},-;{text}\n", self.seq);
        rustix::io::write(&self.daemon, record.as_bytes()).context("the daemon takes no line")?;
        self.file.write_all(record.as_bytes()).context("kernel.log")
    }
}

/// What happens, from beginning to end.
struct Show {
    client: Client,
    log: KernelLog,
    page: Option<String>,
    folder: PathBuf,
    style: Style,
    out: Option<PathBuf>,
    waits: bool,
}

impl Show {
    /// Whether somebody still reads what is printed.
    fn play(&mut self) -> anyhow::Result<bool> {
        let page = self.page.as_deref().unwrap_or("off");
        let goes_on = shared::print(&format!(
            "A private daemon on generated records. Every event is a drill; nothing of this host is watched.\n\n\
             page      {page}\n\
             folder    {} (removed at the end)\n\n",
            self.folder.display()
        ))? && self.fault()?;
        Ok(goes_on && self.aftermath()?)
    }

    /// Three lines of the kernel log, as a GPU that falls off the bus causes them, and what is made of them.
    fn fault(&mut self) -> anyhow::Result<bool> {
        let gpu: PciAddress = GPU.parse().context("an address of PCI")?;
        self.wait("the emulated GPU", |client| {
            let gpus: serde_json::Value = client.get("/api/v1/gpus")?;
            Ok(gpus.to_string().contains(GPU).then_some(()))
        })?;
        let xid = |code, of_process: bool| What::Xid {
            code,
            gpu,
            pid: of_process.then_some(PID),
            comm: of_process.then(|| "train-demo".to_owned()),
            message: None,
        };
        let aer = What::Aer {
            severity: AerSeverity::Fatal,
            gpu,
        };
        let lines = [aer, xid(79, true), xid(154, false)];
        let mut shown_text = "The kernel log says:\n".to_owned();
        let began = Instant::now();
        let since = Timestamp::now();
        for what in &lines {
            let line = inject::line(what).map_err(anyhow::Error::msg)?;
            self.log.write(&line)?;
            shown_text.push_str(&format!("  {line}\n"));
        }
        let query = [("since", since.to_string())];
        let events = self.wait("the events", |client| {
            let events: Vec<Event> = client.get(&target("/api/v1/events", &query))?;
            Ok((events.len() >= lines.len()).then_some(events))
        })?;
        let took = began.elapsed().as_secs_f64() * 1000.0;
        shown_text.push_str(&format!(
            "\nEvents, {took:.0} ms later (gtrace events):\n\n"
        ));
        let now = Timestamp::now();
        let xid = events.iter().filter(|it| it.detail.xid.xid == Some(79));
        for event in xid {
            shown_text.push_str(&render::event(event, &self.style, now));
        }
        shared::print(&shown_text)
    }

    /// The incident, and the report on it.
    fn aftermath(&mut self) -> anyhow::Result<bool> {
        let whole = |incident: &Incident| incident.events.len() > 1;
        let incident = self.wait("the incident", |client| {
            let found: Vec<Incident> = client.get("/api/v1/incidents")?;
            Ok(found.into_iter().find(whole))
        })?;
        let mut events = Vec::new();
        for id in &incident.events {
            events.push(self.client.get::<Event>(&format!("/api/v1/events/{id}"))?);
        }
        let text = render::incident(&incident, &events, &self.style, Timestamp::now());
        if !shared::print(&format!(
            "They are one incident (gtrace incidents show {}):\n\n{text}\nThe report waits 2 s for what is recorded after \
             an incident.\n",
            incident.id
        ))? {
            return Ok(false);
        }
        let path = format!("/api/v1/incidents/{}", incident.id);
        self.wait("the recording of the incident", |client| {
            let incident: Incident = client.get(&path)?;
            let is_kept = !incident.evidence.is_empty() || !incident.missing.is_empty();
            Ok(is_kept.then_some(()))
        })?;
        let config = self.folder.join("gtrace.toml");
        let report = report::of_incident(&config, incident.id, &self.log.path, self.out.clone());
        let report = report.map_err(|shared::Failure(_, why)| anyhow::anyhow!(why))?;
        let config = config.display();
        let mut shown_text = format!(
            "\nreport    {}   (open it in a browser; gtrace report verify checks its seal)\n",
            report.trim_end()
        );
        if self.waits {
            shown_text.push_str(&format!(
                "\nLook further in another terminal:\n  \
                 gtrace incidents --config {config}\n  \
                 gtrace events --config {config}\n  \
                 gtrace health --config {config}\n  \
                 gtrace top --config {config}\n\
                 To watch this host: sudo gtrace run\n\
                 Ctrl-C ends the demonstration.\n"
            ));
        }
        shared::print(&shown_text)
    }

    /// Asks until there is an answer.
    fn wait<T>(
        &self,
        what: &str,
        mut ask: impl FnMut(&Client) -> anyhow::Result<Option<T>>,
    ) -> anyhow::Result<T> {
        let until = Instant::now() + PATIENCE;
        loop {
            match ask(&self.client) {
                Ok(Some(answer)) => return Ok(answer),
                Ok(None) => {}
                // It may not have begun to answer.
                Err(error) if Instant::now() >= until => {
                    return Err(error).context(format!("{what} cannot be asked for"));
                }
                Err(_) => {}
            }
            if Instant::now() >= until {
                anyhow::bail!("{what} did not come within {} s", PATIENCE.as_secs());
            }
            std::thread::sleep(ASK_EVERY);
        }
    }
}
