//! Services as a systemd says that they are: a stand-in of it on the distribution's dbus-daemon. It answers, hangs, is not there,
//! refuses and answers nonsense.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use gtrace_event::Severity;
use tokio::sync::oneshot;
use zbus::message::Type;
use zbus::{Message, MessageStream};

use super::super::part::{HostReading, HostState, value};
use super::super::services::Services;
use super::super::services::tests::Host;
use super::*;

/// dbus-daemon, ended with the test.
struct Bus(Child);

impl Bus {
    /// `None` where the distribution's dbus-daemon is not installed.
    fn start(root: &Path) -> Option<Self> {
        let socket = root.join(BUS);
        fs::create_dir_all(socket.parent().unwrap()).unwrap();
        let config = root.join("bus.conf");
        let text = format!(
            "<busconfig><type>system</type><listen>unix:path={}</listen><auth>EXTERNAL</auth>\
             <policy context=\"default\"><allow user=\"*\"/><allow own=\"*\"/><allow send_destination=\"*\"/>\
             <allow receive_sender=\"*\"/></policy></busconfig>",
            socket.display()
        );
        fs::write(&config, text).unwrap();
        let child = Command::new("dbus-daemon")
            .arg(format!("--config-file={}", config.display()))
            .args(["--nofork", "--nopidfile", "--print-address=1"])
            .stdout(Stdio::piped())
            .spawn();
        let mut child = match child {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
            child => child.unwrap(),
        };
        let mut line = String::new();
        let stdout = child.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        assert!(line.starts_with("unix:path="), "{line}");
        Some(Self(child))
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A service: unit, ActiveState, SubState, Result, NRestarts.
type Said = (&'static str, &'static str, &'static str, &'static str, u32);

#[derive(Clone)]
enum Mode {
    Answers(Vec<Said>),
    /// A systemd before version 235.
    NoRestarts(Said),
    /// Somebody has masked it since it failed.
    Masked(Said),
    Hangs,
    Refuses,
    OtherTypes,
    OtherWord,
}

/// In place of systemd, in a thread of its own.
struct StandIn {
    mode: Arc<Mutex<Mode>>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl StandIn {
    fn start(root: &Path) -> Self {
        let mode = Arc::new(Mutex::new(Mode::Hangs));
        let (end, ended) = oneshot::channel();
        let (ready, is_ready) = std::sync::mpsc::channel();
        let (of_thread, socket) = (Arc::clone(&mode), root.join(BUS));
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                let stream = UnixStream::connect(socket).await.unwrap();
                let stream = stream.into_std().unwrap();
                let bus = Builder::unix_stream(stream).build().await.unwrap();
                bus.request_name(SYSTEMD).await.unwrap();
                let mut calls = MessageStream::from(&bus);
                ready.send(()).unwrap();
                let serve = async {
                    while let Some(Ok(call)) = calls.next().await {
                        if call.message_type() == Type::MethodCall {
                            let mode = of_thread.lock().unwrap().clone();
                            answer(&bus, &call, mode).await;
                        }
                    }
                };
                tokio::select! { () = serve => {}, _ = ended => {} }
            });
        });
        is_ready.recv().unwrap();
        Self {
            mode,
            end: Some(end),
            thread: Some(thread),
        }
    }

    fn is(&self, mode: Mode) {
        *self.mode.lock().unwrap() = mode;
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        let _ = self.end.take().unwrap().send(());
        self.thread.take().unwrap().join().unwrap();
    }
}

fn path(unit: &str) -> OwnedObjectPath {
    let name = unit.replace('-', "_2d");
    OwnedObjectPath::try_from(format!("/org/freedesktop/systemd1/unit/{name}_2eservice")).unwrap()
}

fn listed(name: &str, load: &str, active: &str, sub: &str, at: OwnedObjectPath) -> Listed {
    let nothing = OwnedObjectPath::try_from("/").unwrap();
    let text = str::to_owned;
    (
        text(name),
        text("a service"),
        text(load),
        text(active),
        text(sub),
        String::new(),
        at,
        0,
        String::new(),
        nothing,
    )
}

async fn answer(bus: &Connection, call: &Message, mode: Mode) {
    let header = call.header();
    let member = header.member().unwrap().to_string();
    let lists = member == "ListUnitsByNames";
    let load = match &mode {
        Mode::Masked(_) => "masked",
        _ => "loaded",
    };
    let units = match mode {
        Mode::Hangs => return,
        Mode::Refuses => {
            let name = "org.freedesktop.DBus.Error.AccessDenied";
            bus.reply_error(&header, name, &("no",)).await.unwrap();
            return;
        }
        Mode::OtherTypes => {
            bus.reply(&header, &(7_u32, "what")).await.unwrap();
            return;
        }
        Mode::OtherWord => vec![("docker", "delighted", "so", "success", 0)],
        Mode::NoRestarts(unit) => {
            let asks_restarts = !lists && {
                let (_, property): (String, String) = call.body().deserialize().unwrap();
                property == "NRestarts"
            };
            if asks_restarts {
                let name = "org.freedesktop.DBus.Error.UnknownProperty";
                bus.reply_error(&header, name, &("no",)).await.unwrap();
                return;
            }
            vec![unit]
        }
        Mode::Masked(unit) => vec![unit],
        Mode::Answers(units) => units,
    };
    if lists {
        let names: Vec<String> = call.body().deserialize().unwrap();
        let rows: Vec<Listed> = names
            .iter()
            .map(|name| {
                let known = units
                    .iter()
                    .find(|unit| *name == format!("{}.service", unit.0));
                match known {
                    Some((unit, active, sub, ..)) => listed(name, load, active, sub, path(unit)),
                    None => listed(name, "not-found", "inactive", "dead", path("none")),
                }
            })
            .collect();
        bus.reply(&header, &rows).await.unwrap();
        return;
    }
    let at = header.path().unwrap().to_string();
    let unit = units.iter().find(|unit| path(unit.0).as_str() == at);
    let (_, _, _, result, restarts) = unit.unwrap();
    let (interface, property): (String, String) = call.body().deserialize().unwrap();
    assert_eq!(interface, SERVICE);
    let value = match property.as_str() {
        "Result" => zbus::Variant::from(*result),
        "NRestarts" => zbus::Variant::from(*restarts),
        other => panic!("{other}"),
    };
    bus.reply(&header, &(value,)).await.unwrap();
}

fn news(reading: &HostReading) -> Vec<(String, Severity)> {
    let news = reading.news.iter();
    news.map(|news| {
        let occurrence = &news.occurrence;
        (occurrence.message.clone(), occurrence.severity)
    })
    .collect()
}

#[test]
fn what_systemd_says_counts_and_control_groups_do_where_it_says_nothing() {
    let host = Host::new();
    let root = host.root();
    host.run("docker", 1);
    host.enable("nvidia-fabricmanager");
    let services = std::cell::RefCell::new(Services::default());
    let patient = Duration::from_secs(10);
    services.borrow_mut().deadline = patient;
    let begin = Instant::now();
    let at = |seconds: u64| {
        let now = begin + Duration::from_secs(seconds);
        host.read(&mut services.borrow_mut(), now).unwrap()
    };
    let fabric = [("unit", "nvidia-fabricmanager")];
    let docker = [("unit", "docker")];
    let missing = |reading: &HostReading, want: &str| {
        let reason = reading.missing.clone().unwrap_or_default();
        assert!(
            reason.contains(want) && reason.contains("control groups alone"),
            "{reason}"
        );
    };

    let none = at(0);
    missing(&none, "no D-Bus at");
    assert_eq!(value(&none, "gtrace_service_running", &docker), Some(1.0));
    assert_eq!(value(&none, "gtrace_service_failed", &docker), None);

    let Some(_bus) = Bus::start(&root) else {
        eprintln!("skipped: dbus-daemon (package dbus) is not installed");
        return;
    };
    missing(&at(1), "D-Bus: ");

    let systemd = StandIn::start(&root);
    let works = ("docker", "active", "running", "success", 0);
    let failed = ("nvidia-fabricmanager", "failed", "failed", "exit-code", 5);
    systemd.is(Mode::Answers(vec![works, failed]));
    let broken = at(2);
    assert_eq!(
        (broken.missing.as_ref(), broken.state),
        (None, HostState::Degraded)
    );
    let text = "nvidia-fabricmanager.service failed: exit-code".to_owned();
    assert_eq!(broken.reasons, std::slice::from_ref(&text));
    // What runs is reported once: it may have failed before gtrace was started.
    let runs = ("docker.service runs again".to_owned(), Severity::Info);
    assert_eq!(news(&broken), [(text.clone(), Severity::Warning), runs]);
    assert_eq!(value(&broken, "gtrace_service_failed", &fabric), Some(1.0));
    assert_eq!(
        value(&broken, "gtrace_service_restarts", &fabric),
        Some(5.0)
    );
    assert_eq!(value(&broken, "gtrace_service_running", &docker), Some(1.0));
    assert!(at(3).news.is_empty(), "reported once");

    // On a host with NVSwitches nothing works without it.
    let device = host.0.path().join("sys/bus/pci/devices/0000:05:00.0");
    fs::create_dir_all(&device).unwrap();
    fs::write(device.join("class"), "0x068000\n").unwrap();
    fs::write(device.join("vendor"), "0x10de\n").unwrap();
    assert_eq!(at(4).state, HostState::Unhealthy);

    // What it said stands while it does not answer.
    for (mode, want) in [
        (Mode::Hangs, "has not answered over D-Bus for 100ms"),
        (Mode::Refuses, "AccessDenied"),
        (Mode::OtherTypes, "D-Bus: "),
        (Mode::OtherWord, "systemd calls docker.service delighted"),
    ] {
        if matches!(mode, Mode::Hangs) {
            services.borrow_mut().deadline = Duration::from_millis(100);
        }
        systemd.is(mode);
        let unanswered = at(5);
        services.borrow_mut().deadline = patient;
        missing(&unanswered, want);
        assert_eq!(unanswered.reasons, std::slice::from_ref(&text));
        assert!(unanswered.news.is_empty());
    }

    let mends = ("nvidia-fabricmanager", "active", "running", "success", 0);
    systemd.is(Mode::Answers(vec![works, mends]));
    let mended = at(6);
    assert_eq!(mended.state, HostState::Healthy);
    let over = "nvidia-fabricmanager.service runs again".to_owned();
    assert_eq!(news(&mended), [(over, Severity::Info)]);

    // Restarted by systemd again and again, and quiet for ten minutes after that.
    let restarted = |count| {
        let docker = ("docker", "activating", "auto-restart", "exit-code", count);
        systemd.is(Mode::Answers(vec![docker, mends]));
    };
    restarted(2);
    assert_eq!(at(30).state, HostState::Healthy);
    restarted(3);
    let restarts = at(60);
    assert_eq!(restarts.state, HostState::Degraded);
    let text = "docker.service restarts again and again".to_owned();
    assert_eq!(restarts.reasons, std::slice::from_ref(&text));
    let event = format!("{text}: 3 times within 10 min, now auto-restart");
    assert_eq!(news(&restarts), [(event, Severity::Warning)]);
    restarted(4);
    assert_eq!(at(61).reasons, [text], "one more makes no other reason");
    // A deadline that is missed while a process of it lives clears nothing for five minutes.
    host.run("nvidia-fabricmanager", 1);
    systemd.is(Mode::Refuses);
    assert_eq!(at(100).state, HostState::Degraded);
    assert_eq!(at(361).state, HostState::Degraded);
    assert_eq!(at(362).state, HostState::Healthy);
    restarted(4);
    assert_eq!(at(363).state, HostState::Degraded);
    let calm = ("docker", "active", "running", "success", 4);
    systemd.is(Mode::Answers(vec![calm, mends]));
    assert_eq!(at(400).state, HostState::Degraded);
    let quiet = at(700);
    assert_eq!(quiet.state, HostState::Healthy);
    assert_eq!(news(&quiet).len(), 1);
    // Somebody started it anew: its count begins at 0.
    systemd.is(Mode::Answers(vec![works, mends]));
    assert_eq!(at(730).state, HostState::Healthy);

    systemd.is(Mode::NoRestarts(works));
    let old = at(760);
    assert_eq!(
        (old.missing.as_ref(), old.state),
        (None, HostState::Healthy)
    );
    assert_eq!(value(&old, "gtrace_service_restarts", &docker), None);

    // Nobody has enabled docker, but it ran: that it fails counts, until somebody masks it.
    let failed = ("docker", "failed", "failed", "exit-code", 0);
    systemd.is(Mode::Answers(vec![failed, mends]));
    assert_eq!(at(790).state, HostState::Degraded);
    systemd.is(Mode::Masked(failed));
    let masked = at(820);
    assert_eq!(masked.state, HostState::Healthy);
    assert_eq!(value(&masked, "gtrace_service_failed", &docker), Some(1.0));
    // A link that enables it does not start it either.
    host.enable("docker");
    at(830);
    let masked = at(900);
    assert_eq!(masked.state, HostState::Healthy);
    assert_eq!(value(&masked, "gtrace_service_enabled", &docker), Some(0.0));
    let link = "etc/systemd/system/multi-user.target.wants/docker.service";
    fs::remove_file(root.join(link)).unwrap();
    // Of one that did not run, and that nothing starts, it is a value alone.
    *services.borrow_mut() = Services::default();
    services.borrow_mut().deadline = patient;
    systemd.is(Mode::Answers(vec![failed, mends]));
    let unused = at(910);
    assert_eq!((unused.state, news(&unused).len()), (HostState::Healthy, 1));
    assert_eq!(value(&unused, "gtrace_service_failed", &docker), Some(1.0));

    // A fabric manager that is being started, as after a boot, is late and not missing.
    let fabric = |active, sub| {
        let fabric = ("nvidia-fabricmanager", active, sub, "success", 0);
        systemd.is(Mode::Answers(vec![works, fabric]));
    };
    fabric("activating", "start");
    assert_eq!(at(940).state, HostState::Healthy);
    assert_eq!(at(1001).state, HostState::Degraded);
    fabric("inactive", "dead");
    assert_eq!(at(1002).state, HostState::Unhealthy);
}
