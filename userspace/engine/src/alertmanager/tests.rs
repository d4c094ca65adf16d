use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use gtrace_event::{
    Action, Advice, Affected, FailureClass, Gpu, IncidentState, Severity, StateChange,
};
use serde_json::Value;

use super::*;
use crate::fake_server::{Answer, Request, Server};

const MINUTE: Duration = Duration::from_secs(61);

fn incident(gpu: &str) -> Incident {
    Incident {
        title: format!("GPU {gpu} fell off the bus"),
        host: Some("node1".to_owned()),
        event_count: 1,
        occurrences: 1,
        affected: Affected {
            gpus: vec![Gpu::at(gpu.parse().unwrap())],
            ..Affected::default()
        },
        advice: Some(Advice {
            meaning: Some("The link is gone.".to_owned()),
            vendor: vec!["Restart the host.".to_owned()],
            action: Some(Action::Page),
            site: vec!["Drain it.".to_owned()],
            rule: None,
        }),
        ..Incident::new(Timestamp::now(), FailureClass::Pcie, Severity::Critical)
    }
}

fn change(incident: &mut Incident, state: IncidentState) {
    incident.change_state(StateChange::new(Timestamp::now(), state, "alice", ""));
}

fn alerts_of(request: &Request) -> Vec<Value> {
    serde_json::from_slice(&request.body).unwrap()
}

impl Server {
    /// What came, in requests all of which the sender has an answer to.
    fn alerts(&self) -> Vec<Value> {
        let requests = self.requests.try_iter();
        requests.flat_map(|request| alerts_of(&request)).collect()
    }
}

/// A sender with `urls`, its hub, and the clock of its rounds.
struct Setup {
    hub: Arc<Hub>,
    sender: Sender,
    now: Instant,
}

impl Setup {
    fn new(urls: &[&str], change: impl FnOnce(&mut Options)) -> Self {
        let (hub, _commands) = Hub::new(crate::hub::bare_status());
        let mut options = Options {
            urls: urls.iter().map(|url| url.parse().unwrap()).collect(),
            ..Options::default()
        };
        change(&mut options);
        let counts: Vec<_> = urls.iter().map(|_| Arc::default()).collect();
        Self {
            hub,
            sender: Sender::new(options, &counts),
            now: Instant::now(),
        }
    }

    fn round(&mut self) -> Duration {
        self.sender.round(&self.hub, self.now)
    }

    fn round_after(&mut self, time: Duration) -> Duration {
        self.now += time;
        self.round()
    }

    /// sent, failed, dropped of the target at `url`
    fn counts(&self, url: &str) -> [u64; 3] {
        let mut targets = self.sender.targets.iter();
        let counts = &targets.find(|t| t.url.to_string() == url).unwrap().counts;
        [&counts.sent, &counts.failed, &counts.dropped].map(|count| count.load(Ordering::Relaxed))
    }

    /// `gtrace_alertmanager_failing` of the last target.
    fn failing(&self) -> f64 {
        self.sender.metrics().last().unwrap().value
    }
}

#[test]
fn an_incident_is_an_alert_until_it_is_resolved() {
    let server = Server::start();
    let mut setup = Setup::new(&[&server.url], |options| {
        options.runbooks = Some("https://wiki/{class}".parse().unwrap());
    });
    let mut incident = incident("0000:3b:00.0");
    setup.hub.set_incident(incident.clone());
    setup.round();
    let sent = server.alerts();
    assert_eq!(sent.len(), 1);
    let expected = serde_json::json!({
        "labels": {
            "alertname": "GtraceIncident", "class": "pcie", "severity": "critical",
            "instance": "node1", "gpu": "0000:3b:00.0", "page": "true",
            "incident": incident.id.to_string(),
        },
        "annotations": {
            "summary": "GPU 0000:3b:00.0 fell off the bus",
            "description": format!(
                "The link is gone.\nSite: Drain it.\nVendor: Restart the host.\n\
                 gtrace incidents show {}", incident.id
            ),
            "state": "open",
            "runbook_url": "https://wiki/pcie",
        },
        "startsAt": incident.opened.to_string(),
    });
    assert_eq!(sent[0], expected);

    setup.round_after(Duration::from_secs(50));
    assert!(server.alerts().is_empty(), "nothing is new");
    setup.round_after(Duration::from_secs(11));
    assert_eq!(server.alerts()[0], expected, "repeated every minute");

    change(&mut incident, IncidentState::Acknowledged);
    setup.hub.set_incident(incident.clone());
    setup.round_after(Duration::from_secs(6));
    let sent = server.alerts();
    assert_eq!(sent[0]["labels"], expected["labels"]);
    assert_eq!(sent[0]["annotations"]["state"], "acknowledged");

    change(&mut incident, IncidentState::Resolved);
    setup.hub.set_incident(incident.clone());
    setup.round();
    let sent = server.alerts();
    assert_eq!(sent[0]["labels"], expected["labels"]);
    assert_eq!(sent[0]["endsAt"], incident.closed.unwrap().to_string());
    setup.round_after(MINUTE);
    assert!(server.alerts().is_empty(), "it is over");
    assert_eq!(setup.counts(&server.url), [4, 0, 0]);
}

#[test]
fn an_alert_whose_labels_change_ends_as_what_it_was() {
    let server = Server::start();
    let mut setup = Setup::new(&[&server.url], |_| {});
    let mut incident = incident("0000:3b:00.0");
    setup.hub.set_incident(incident.clone());
    setup.round();
    server.alerts();
    incident.severity = Severity::Fatal;
    incident.revision += 1;
    setup.hub.set_incident(incident);
    setup.round();
    let sent = server.alerts();
    let severities: Vec<_> = sent.iter().map(|a| &a["labels"]["severity"]).collect();
    assert_eq!(severities, ["critical", "fatal"]);
    assert!(sent[0]["endsAt"].is_string() && sent[1]["endsAt"].is_null());
}

#[test]
fn no_time_of_an_alert_is_ahead_after_the_clock_was_set_back() {
    let server = Server::start();
    let mut setup = Setup::new(&[&server.url], |_| {});
    let mut incident = incident("0000:3b:00.0");
    incident.opened = Timestamp::now() + jiff::SignedDuration::from_hours(1);
    let is_ahead = |alert: &Value, name: &str| {
        let time: Timestamp = alert[name].as_str().unwrap().parse().unwrap();
        time > Timestamp::now()
    };
    setup.hub.set_incident(incident.clone());
    setup.round();
    let sent = server.alerts();
    assert!(!is_ahead(&sent[0], "startsAt"), "{sent:?}");
    incident.severity = Severity::Fatal;
    change(&mut incident, IncidentState::Resolved);
    setup.hub.set_incident(incident);
    setup.round();
    let sent = server.alerts();
    assert_eq!(sent.len(), 2, "another severity is another alert");
    for alert in &sent {
        assert!(!is_ahead(alert, "endsAt"), "{alert}");
    }
}

#[test]
fn alerts_carry_a_label_while_people_work_on_the_host() {
    let incident = incident("0000:3b:00.0");
    let options = Options::default();
    let label = |maintenance| {
        let alert = Alert::new(&incident, &options, maintenance);
        alert.labels.get("maintenance").cloned()
    };
    assert_eq!(label(true).as_deref(), Some("true"));
    assert_eq!(label(false), None);
}

#[test]
fn drills_are_sent_only_if_the_site_wants_them_and_never_page() {
    let server = Server::start();
    let mut drill = incident("0000:3b:00.0");
    drill.drill = true;
    let mut setup = Setup::new(&[&server.url], |_| {});
    setup.hub.set_incident(drill.clone());
    setup.round();
    assert!(server.alerts().is_empty());
    let mut setup = Setup::new(&[&server.url], |options| options.drills = true);
    setup.hub.set_incident(drill);
    setup.round();
    let labels = &server.alerts()[0]["labels"];
    assert_eq!(
        (&labels["drill"], &labels["page"]),
        (&"true".into(), &"false".into())
    );
}

#[test]
fn an_alertmanager_that_fails_gets_the_newest_state_once_it_works() {
    let server = Server::start();
    let mut setup = Setup::new(&[&server.url], |_| {});
    let mut incident = incident("0000:3b:00.0");
    setup.hub.set_incident(incident.clone());
    server.answer(Answer::Status(503, b"why\n".to_vec()));
    server.answer(Answer::Close);
    server.answer(Answer::Status(302, b"why\n".to_vec()));
    let wait = setup.round();
    assert!(wait <= Duration::from_millis(100), "{wait:?}");
    setup.round();
    assert_eq!(
        setup.counts(&server.url),
        [0, 1, 0],
        "it waits before it tries again"
    );
    change(&mut incident, IncidentState::Acknowledged);
    setup.hub.set_incident(incident);
    for failures in [2, 3] {
        setup.round_after(MINUTE);
        assert_eq!(setup.counts(&server.url), [0, failures, 0]);
    }
    assert_eq!(setup.failing(), 1.0);
    server.alerts();
    setup.round_after(MINUTE);
    let sent = server.alerts();
    assert_eq!(sent.len(), 1, "one alert, whatever has become of it");
    assert_eq!(sent[0]["annotations"]["state"], "acknowledged");
    assert_eq!(setup.counts(&server.url), [1, 3, 0]);
    assert_eq!(setup.failing(), 0.0);
}

#[test]
fn an_alertmanager_works_again_also_where_nothing_is_left_to_send() {
    let server = Server::start();
    let mut setup = Setup::new(&[&server.url], |_| {});
    let mut incident = incident("0000:3b:00.0");
    setup.hub.set_incident(incident.clone());
    for _ in 0..2 {
        server.answer(Answer::Status(503, b"why\n".to_vec()));
    }
    setup.round();
    change(&mut incident, IncidentState::Resolved);
    setup.hub.set_incident(incident);
    setup.round_after(MINUTE);
    assert_eq!(setup.failing(), 1.0);
    server.alerts();
    setup.round_after(MINUTE);
    assert_eq!(setup.failing(), 0.0);
    assert!(server.alerts().is_empty(), "it never heard of the incident");
    assert_eq!(setup.counts(&server.url), [0, 1, 0]);
    setup.round_after(MINUTE);
    let requests = server.requests.try_iter().count();
    assert_eq!(requests, 0, "one that works is asked nothing");
}

#[test]
fn one_that_refuses_and_one_that_hangs_do_not_keep_alerts_from_another() {
    let refusing = TcpListener::bind("127.0.0.1:0").unwrap();
    let refuses = format!("http://{}", refusing.local_addr().unwrap());
    drop(refusing);
    // It listens, and nobody accepts.
    let hanging = TcpListener::bind("127.0.0.1:0").unwrap();
    let hangs = format!("http://{}", hanging.local_addr().unwrap());
    let server = Server::start();
    let mut setup = Setup::new(&[&refuses, &hangs, &server.url], |_| {});
    setup.hub.set_incident(incident("0000:3b:00.0"));
    setup.round();
    assert_eq!(server.alerts().len(), 1);
    assert_eq!(setup.counts(&refuses), [0, 1, 0]);
    assert_eq!(setup.counts(&hangs), [0, 1, 0]);
    setup.hub.set_incident(incident("0000:5e:00.0"));
    setup.round();
    assert_eq!(server.alerts().len(), 1);
    let first = &setup.sender.targets[0].url;
    assert_eq!(first.to_string(), server.url, "who answers comes first");
}

#[test]
fn many_incidents_are_bounded_and_what_could_not_be_sent_counts() {
    let refusing = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", refusing.local_addr().unwrap());
    drop(refusing);
    let mut setup = Setup::new(&[&url], |_| {});
    for _ in 0..300 {
        setup.hub.set_incident(incident("0000:3b:00.0"));
        setup.sender.take(setup.hub.incidents(), false);
    }
    assert_eq!(setup.sender.alerts.len(), 256);
    assert_eq!(setup.counts(&url), [0, 0, 44]);
    assert_eq!(setup.hub.metrics.lost_of("incidents"), 44);
}

#[test]
fn an_incident_that_has_no_room_counts_once_however_often_it_changes() {
    let setup = Setup::new(&[], |_| {});
    let mut oldest = incident("0000:3b:00.0");
    oldest.id = IncidentId::new(1);
    setup.hub.set_incident(oldest.clone());
    for _ in 0..256 {
        setup.hub.set_incident(incident("0000:3b:00.0"));
    }
    for revision in 1..=3 {
        oldest.revision = revision;
        setup.hub.set_incident(oldest.clone());
    }
    assert!(setup.hub.incident(oldest.id).is_none());
    assert_eq!(setup.hub.metrics.lost_of("incidents"), 1);
}

#[test]
fn a_fatal_incident_goes_on_as_an_alert_while_many_drills_and_milder_ones_come() {
    let mut setup = Setup::new(&["http://127.0.0.1:1"], |_| {});
    let mut fatal = incident("0000:3b:00.0");
    fatal.id = IncidentId::new(1);
    fatal.severity = Severity::Fatal;
    setup.hub.set_incident(fatal.clone());
    for nth in 0..600 {
        let mut other = incident("0000:5e:00.0");
        other.drill = nth % 2 == 0;
        other.severity = match other.drill {
            true => Severity::Fatal,
            false => Severity::Warning,
        };
        setup.hub.set_incident(other);
    }
    setup.sender.take(setup.hub.incidents(), false);
    assert!(setup.sender.alerts.contains_key(&fatal.id));
    assert_eq!(
        setup.sender.alerts.len(),
        256,
        "a drill was kept before others"
    );
}

#[test]
fn incidents_beyond_one_request_go_in_several() {
    let server = Server::start();
    let mut setup = Setup::new(&[&server.url], |_| {});
    for _ in 0..150 {
        setup.hub.set_incident(incident("0000:3b:00.0"));
    }
    setup.round();
    let sizes = server.requests.try_iter().map(|r| alerts_of(&r).len());
    let sizes: Vec<_> = sizes.collect();
    assert_eq!(sizes, [64, 64, 22]);
}

#[test]
fn a_token_is_read_for_each_request() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("token");
    std::fs::write(&file, "first\n").unwrap();
    let server = Server::start();
    let mut setup = Setup::new(&[&server.url], |options| {
        options.token_file = Some(file.clone());
    });
    setup.hub.set_incident(incident("0000:3b:00.0"));
    setup.round();
    std::fs::write(&file, "second\n").unwrap();
    setup.round_after(MINUTE);
    std::fs::remove_file(&file).unwrap();
    setup.round_after(MINUTE);
    let heads: Vec<_> = server.requests.try_iter().map(|r| r.head).collect();
    assert!(heads[0].contains("authorization: bearer first\r\n"));
    assert!(heads[1].contains("authorization: bearer second\r\n"));
    assert_eq!(heads.len(), 2, "without its token nothing is sent");
    assert_eq!(setup.counts(&server.url), [2, 1, 0]);
}

#[test]
fn https_needs_a_certificate_of_the_ca() {
    let own = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let other = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(own.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    let accept = move |stream| {
        let mut connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut stream = stream;
        connection.complete_io(&mut stream)?;
        Ok(rustls::StreamOwned::new(connection, stream))
    };
    let server = Server::of("https", accept);
    let dir = tempfile::tempdir().unwrap();
    let ca = dir.path().join("ca.pem");
    std::fs::write(&ca, other.cert.pem()).unwrap();
    let mut setup = Setup::new(&[&server.url], |options| options.ca_file = Some(ca.clone()));
    setup.hub.set_incident(incident("0000:3b:00.0"));
    setup.round();
    assert_eq!(setup.counts(&server.url), [0, 1, 0]);
    std::fs::write(&ca, own.cert.pem()).unwrap();
    setup.round_after(MINUTE);
    assert_eq!(setup.counts(&server.url), [1, 1, 0]);
    assert_eq!(server.alerts().len(), 1);
}

#[test]
fn the_task_sends_what_the_hub_learns_and_shows_its_counts() {
    let server = Server::start();
    let (hub, _commands) = Hub::new(crate::hub::bare_status());
    let options = Options {
        urls: vec![server.url.parse().unwrap()],
        ..Options::default()
    };
    start(&hub, options).unwrap();
    hub.set_incident(incident("0000:3b:00.0"));
    let request = server.requests.recv_timeout(Duration::from_secs(30));
    assert_eq!(alerts_of(&request.unwrap()).len(), 1);
    let left = hub
        .tasks
        .stop(&[names::ALERTMANAGER], Duration::from_secs(30));
    assert!(left.is_empty(), "{left:?}");
    let metrics = hub.samples.last(names::ALERTMANAGER).unwrap().metrics;
    assert_eq!(metrics[0].labels, [("url", server.url)]);
}

/// Alertmanager itself, which ends with this.
struct RealAlertmanager {
    child: Child,
    _dir: tempfile::TempDir,
    url: String,
}

impl RealAlertmanager {
    fn start(program: &Path) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("alertmanager.yml");
        std::fs::write(
            &config,
            "route: {receiver: none}\nreceivers: [{name: none}]\n",
        )
        .unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        // Debian's reads a template from /usr/share, where nothing was installed.
        let share = program.ancestors().nth(2).unwrap().join("share");
        let script = "mount --bind \"$0\" /usr/share && exec \"$@\"";
        let child = Command::new("unshare")
            .args(["--map-root-user", "--mount", "sh", "-c", script])
            .arg(share)
            .arg(program)
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.path={}", dir.path().display()))
            .arg(format!("--web.listen-address={address}"))
            .arg("--cluster.listen-address=")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self {
            child,
            _dir: dir,
            url: format!("http://{address}"),
        }
    }

    /// Its alerts; `None` while it does not answer.
    fn alerts(&self) -> Option<Vec<Value>> {
        let mut response = ureq::get(format!("{}/api/v2/alerts", self.url))
            .call()
            .ok()?;
        let text = response.body_mut().read_to_string().ok()?;
        serde_json::from_str(&text).ok()
    }
}

impl Drop for RealAlertmanager {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn real() -> Option<PathBuf> {
    // target/debug/deps/gtrace_engine-...
    let test = std::env::current_exe().unwrap();
    let tools = test.ancestors().nth(3).unwrap();
    let unpacked = tools.join("e2e-prometheus-alertmanager/usr/bin/prometheus-alertmanager");
    unpacked.is_file().then_some(unpacked)
}

#[test]
fn alertmanager_itself_has_the_alert_until_the_incident_is_resolved() {
    let Some(program) = real() else {
        println!(
            "SKIPPED: no Alertmanager: cargo xtask test fetches the package prometheus-alertmanager of Debian"
        );
        return;
    };
    let mut alertmanager = RealAlertmanager::start(&program);
    let mut setup = Setup::new(&[&alertmanager.url], |_| {});
    let mut incident = incident("0000:3b:00.0");
    setup.hub.set_incident(incident.clone());
    // Refused until it listens; one round is a second try.
    let until = Instant::now() + Duration::from_secs(30);
    while setup.counts(&alertmanager.url)[0] == 0 {
        if let Some(status) = alertmanager.child.try_wait().unwrap() {
            println!("SKIPPED: no Alertmanager in a namespace of its own: {status}");
            return;
        }
        assert!(Instant::now() < until, "it takes no alert");
        std::thread::sleep(Duration::from_millis(50));
        setup.round_after(MINUTE);
    }
    let alerts = alertmanager.alerts().unwrap();
    assert_eq!(alerts.len(), 1);
    assert_eq!(alerts[0]["labels"]["incident"], incident.id.to_string());
    assert_eq!(alerts[0]["status"]["state"], "active");
    change(&mut incident, IncidentState::Acknowledged);
    setup.hub.set_incident(incident.clone());
    setup.round_after(MINUTE);
    let alerts = alertmanager.alerts().unwrap();
    assert_eq!(alerts.len(), 1, "the state is no part of its identity");
    assert_eq!(alerts[0]["annotations"]["state"], "acknowledged");
    change(&mut incident, IncidentState::Resolved);
    setup.hub.set_incident(incident);
    setup.round_after(MINUTE);
    assert_eq!(alertmanager.alerts().unwrap(), Vec::<Value>::new());
}
