//! The fleet's page in a browser, over a database with a month of a simulated fleet: every view is drawn without an error, asks nobody
//! else, fits a phone, can be read by everybody, and follows what happens.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

#[path = "../../gtrace/tests/support/chromium.rs"]
#[allow(dead_code, reason = "not all of it is used here")]
mod chromium;
mod support;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chromium::{Chromium, View};
use gtrace_event::{
    Epoch, FailureClass, GpuUsage, HealthReport, HealthState, HealthSubject, Holder, Incident,
    Record, SubjectHealth, SubjectKind, Timestamp,
};
use gtrace_fleet::{Batch, Carried, EnrollRequest, GpuState, HostState};
use gtrace_head::SessionRequest;
use gtrace_head::db::{Arrived, CallsOfDay, Database, NewState, Place, Session};
use gtrace_profile::{DailyCalls, Histogram, Layer};
use gtrace_store::Hash;
use support::fleet::{Agent, Agents, Head, enrolled};
use support::{Host, event};

const RACKS: usize = 12;
const OF_RACK: usize = 8;
const GPUS: usize = 8;
const DAYS: i64 = 30;
const DAY_S: i64 = 86_400;
/// Of this host nothing comes any more.
const SILENT: usize = 70;

fn name(n: usize) -> String {
    format!("gpu-{:03}", n + 1)
}

fn pci(gpu: usize) -> String {
    format!("0000:{:02x}:00.0", 0x1a + 0x11 * gpu)
}

fn uuid(host: usize, gpu: usize) -> String {
    format!("GPU-8f3a0b1c-0000-1111-2222-0000{host:04x}{gpu:04x}")
}

/// A third of the racks have the new driver for ten days.
fn driver(host: usize, day: i64) -> &'static str {
    match host / OF_RACK % 3 == 1 && day >= DAYS - 10 {
        true => "580.82.07",
        false => "570.172.08",
    }
}

/// What a host says of itself now.
fn state(host: usize) -> HostState {
    let rack = host / OF_RACK;
    let mut subjects = vec![subject(SubjectKind::Host, "", HealthState::Healthy, "")];
    let mut of_host = HealthState::Healthy;
    if rack == 4 && host % OF_RACK != 6 {
        of_host = HealthState::Unhealthy;
        let why = "lost: it does not answer on PCIe since Xid 79";
        subjects.push(subject(SubjectKind::Gpu, &pci(2), of_host, why));
    } else if host == 17 {
        of_host = HealthState::Degraded;
        let why = "clocks are held down by heat: 89 of 90 °C";
        subjects.push(subject(SubjectKind::Gpu, &pci(5), of_host, why));
    }
    subjects[0].state = of_host;
    let labels = [
        ("rack", format!("r{}", rack + 1)),
        (
            "feed",
            if rack.is_multiple_of(2) { "a" } else { "b" }.to_owned(),
        ),
        ("switch", format!("leaf-{}", rack / 2 + 1)),
    ];
    HostState {
        time: Timestamp::now(),
        version: "0.1.0".to_owned(),
        driver: Some(driver(host, DAYS).to_owned()),
        kernel: Some("6.12.41-amd64".to_owned()),
        labels: labels.map(|(name, value)| (name.to_owned(), value)).into(),
        gpus: (0..GPUS)
            .map(|gpu| GpuState {
                index: u32::try_from(gpu).unwrap(),
                pci: Some(pci(gpu)),
                uuid: Some(uuid(host, gpu)),
                name: Some("NVIDIA H100 80GB HBM3".to_owned()),
                vbios: Some("96.00.a5.00.01".to_owned()),
                firmware: Some(driver(host, DAYS).to_owned()),
            })
            .collect(),
        health: Some(HealthReport {
            time: Timestamp::now(),
            host: Some(name(host)),
            state: of_host,
            subjects,
            ..HealthReport::default()
        }),
        allows_sessions: host.is_multiple_of(2),
        permits: match host.is_multiple_of(2) {
            true => Vec::new(),
            false => ["page", "report", "trace"].map(str::to_owned).to_vec(),
        },
        ..HostState::default()
    }
}

fn subject(kind: SubjectKind, name: &str, state: HealthState, why: &str) -> SubjectHealth {
    let mut json = serde_json::json!({
        "subject": HealthSubject::new(kind, name), "state": state, "since": Timestamp::now(), "action": "none",
    });
    if !why.is_empty() {
        let now = Timestamp::now();
        json["action"] = "reset_gpu".into();
        json["reasons"] = serde_json::json!([{
            "rule": "simulated", "status": "active", "state": state, "action": "reset_gpu", "confidence": "high",
            "text": why, "since": now, "last": now,
        }]);
    }
    serde_json::from_value(json).unwrap()
}

struct Fleet {
    hosts: Vec<(i64, Hash, u64)>,
    database: Database,
}

impl Fleet {
    /// A month of a fleet: hosts that fail now and then, a GPU that fails more, and a rack whose hosts lost a GPU an hour ago.
    fn new(file: &Path) -> Self {
        let mut database = Database::open(&Place::File(file.to_owned())).unwrap();
        let now = Timestamp::now().as_second();
        let hosts = (0..RACKS * OF_RACK).map(|n| {
            database
                .add_token(&name(n), None, Timestamp::MAX, 1, "test")
                .unwrap();
            let request = EnrollRequest {
                token: name(n),
                host: name(n),
                machine_id: Some(name(n)),
                simulated: true,
            };
            let at = Timestamp::from_second(now - DAYS * DAY_S).unwrap();
            let id = database.enroll(&request, "secret", at).unwrap();
            (id, Hash::GENESIS, 0)
        });
        let hosts = hosts.collect();
        let mut fleet = Self { hosts, database };
        fleet.expose(file, now);
        let mut rng = fastrand::Rng::with_seed(4);
        let classes = [
            (FailureClass::Pcie, "PCIe errors on the GPU's link"),
            (FailureClass::GpuMemory, "an uncorrectable ECC error"),
            (FailureClass::Nvlink, "an NVLink link failed"),
            (FailureClass::Application, "a program ended with Xid 13"),
        ];
        let mut all = Vec::new();
        for _ in 0..90 {
            let (class, title) = classes[rng.usize(..classes.len())];
            let ago = rng.i64(2 * 3600..DAYS * DAY_S);
            all.push((
                rng.usize(..RACKS * OF_RACK),
                rng.usize(..GPUS),
                class,
                title,
                ago,
            ));
        }
        for n in 0..9 {
            let (class, title) = classes[1];
            all.push((33, 3, class, title, (n * 3 + 2) * DAY_S));
        }
        for n in (0..OF_RACK).filter(|n| *n != 6) {
            let host = 4 * OF_RACK + n;
            let title = "a GPU fell off the bus";
            all.push((host, 2, FailureClass::Pcie, title, 3600 - n as i64 * 5));
        }
        all.sort_by_key(|(.., ago)| std::cmp::Reverse(*ago));
        for (host, gpu, class, title, ago) in all {
            let at = Timestamp::from_second(now - ago).unwrap();
            fleet.incident(host, gpu, class, title, at, ago > 7200);
        }
        fleet.say(Timestamp::from_second(now - 120).unwrap(), RACKS * OF_RACK);
        fleet.say(Timestamp::now(), SILENT);
        fleet
    }

    /// Writes a month of exposure: states of every ten seconds would take a month.
    fn expose(&self, file: &Path, now: i64) {
        let sqlite = rusqlite::Connection::open(file).unwrap();
        sqlite.execute_batch("BEGIN").unwrap();
        let insert = "INSERT INTO placements VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let mut insert = sqlite.prepare(insert).unwrap();
        let (today, ns) = (now / DAY_S, 1_000_000_000);
        for (host, (id, ..)) in self.hosts.iter().enumerate() {
            for day in 0..DAYS {
                let versions = format!(
                    "{{\"driver\":\"{}\",\"kernel\":\"6.12.41-amd64\"}}",
                    driver(host, day)
                );
                let date = today - DAYS + day;
                for gpu in 0..GPUS {
                    let (first, last) = (date * DAY_S * ns, (date + 1) * DAY_S * ns - ns);
                    let (pci, uuid) = (pci(gpu), uuid(host, gpu));
                    insert
                        .execute((id, pci, uuid, date, &versions, first, last, last - first))
                        .unwrap();
                }
            }
        }
        drop(insert);
        sqlite.execute_batch("COMMIT").unwrap();
    }

    fn incident(
        &mut self,
        host: usize,
        gpu: usize,
        class: FailureClass,
        title: &str,
        at: Timestamp,
        resolved: bool,
    ) {
        let event = event(&name(host), 79, at);
        let mut json = serde_json::to_value(support::incident(&name(host), class, at)).unwrap();
        let title = format!("{title}: {}", pci(gpu));
        json["title"] = title.into();
        json["drill"] = false.into();
        json["events"] = serde_json::json!([event.id]);
        json["affected"] = serde_json::json!({
            "gpus": [{ "pci": pci(gpu), "uuid": uuid(host, gpu), "index": gpu }], "jobs": ["slurm:48213"],
            "remote_clients": ["train@node9"],
        });
        if resolved {
            json["state"] = "resolved".into();
            json["closed"] = serde_json::to_value(at + Duration::from_secs(5400)).unwrap();
        }
        let incident: Incident = serde_json::from_value(json).unwrap();
        let (id, mut hash, mut seq) = self.hosts[host];
        let mut batch = Batch::default();
        let found = Record::Incident(Box::new(incident));
        for record in [Record::Event(Box::new(event)), found] {
            seq += 1;
            let body = serde_json::to_string(&record).unwrap();
            let carried = Carried::new(Epoch::from_bytes([7; 16]), seq, hash, body);
            hash = carried.hash;
            batch.records.push(carried);
        }
        batch.tip = seq;
        batch.after = self.database.cursor(id).unwrap();
        self.hosts[host] = (id, hash, seq);
        let arrived = Arrived {
            host: id,
            batch,
            seen: at,
        };
        let done = self.database.ingest(at, &[arrived]).unwrap();
        assert_eq!(done[0].taken, 2);
    }

    /// Has each host say how it is, but for this one.
    fn say(&mut self, at: Timestamp, silent: usize) {
        let all = self.hosts.iter().enumerate();
        let states: Vec<NewState> = all
            .filter(|(n, _)| *n != silent)
            .map(|(n, (id, _, seq))| NewState {
                usage: (0..2).map(|gpu| usage(n, gpu, at)).collect(),
                ends: Vec::new(),
                latency: latency(n, at).into_iter().map(CallsOfDay::from).collect(),
                host: *id,
                state: serde_json::to_string(&state(n)).unwrap(),
                tip: *seq,
                gpus: Vec::new(),
                seen: at,
            })
            .collect();
        self.database.put_states(&states, at).unwrap();
    }
}

/// How long calls of a host took; one host's are slow.
fn latency(host: usize, at: Timestamp) -> Vec<DailyCalls> {
    let calls = [
        (Layer::Driver, "RM_ALLOC", 40_000),
        (Layer::Driver, "NV2080_CTRL_CMD_GPU_GET_INFO_V2", 12_000),
        (Layer::Api, "cuLaunchKernel", 3_000),
    ];
    let slow = if host == 33 { 20 } else { 1 };
    let of = |(layer, call, ns): (Layer, &str, u64)| {
        let mut histogram = Histogram::default();
        (0..500).for_each(|n| histogram.record(slow * (ns + ns * n / 100)));
        DailyCalls {
            day: at.to_zoned(jiff::tz::TimeZone::UTC).date(),
            since: at,
            last: at,
            layer,
            call: call.to_owned(),
            driver: Some("550.54.15".to_owned()),
            histogram,
        }
    };
    calls.map(of).into()
}

/// Who had a GPU of a host: five owners, of whom each is busier than the one before; nobody had that of some.
fn usage(host: usize, gpu: usize, at: Timestamp) -> GpuUsage {
    let owner = (host * 2 + gpu) % 6;
    let seconds = 3600.0 * (1 + host % 7) as f64;
    let busy = owner as f64 / 5.0;
    let holder = (owner < 5).then(|| Holder {
        job: Some(format!("slurm:{}", 48_213 + owner)),
        user: Some(["ada", "bob", "eve", "joan", "max"][owner].to_owned()),
        ..Holder::default()
    });
    GpuUsage {
        day: at.to_zoned(jiff::tz::TimeZone::UTC).date(),
        since: at,
        pci: pci(gpu).parse().unwrap(),
        uuid: Some(uuid(host, gpu)),
        model: Some("NVIDIA H100".to_owned()),
        holder,
        first: at,
        last: at,
        seconds,
        measured_s: seconds,
        busy_s: seconds * busy,
        idle_s: seconds * (1.0 - busy) / 2.0,
    }
}

/// Views: name, address, and what is there once each is drawn: how many of which elements at least, and texts.
const VIEWS: &str = "\
overview|overview|96 a.cell; 7 a.cell.unhealthy|7 of 8 hosts of rack=r5
hosts|hosts|96 table.hosts tbody tr|silent since
incidents|incidents?since=24h|1 .timeline .band; 7 .timeline .point|
incidents-open|incidents?since=15m&state=open|7 a.incident|
incident|incidents/INCIDENT|1 .incident-page .timeline .point|Part of an outbreak; train@node9
usage|usage|5 svg.shares|user/ada
latency|latency|3 svg.spread|cuLaunchKernel
latency-of-a-call|latency/RM_ALLOC?by=host|96 svg.spread|
lemons|lemons|20 svg.interval; 1 tbody .mark.fatal|
versions|versions|1 svg.ratio; 2 tbody tr|
sessions|sessions|1 tbody tr|
session|sessions/1|96 tbody tr|
host|hosts/gpu-034|9 a.incident|NVIDIA H100
";

fn views(incident: &str) -> Vec<View> {
    let of_row = |row: &'static str| {
        let [view, address, elements, texts] = row.split('|').collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        let address = address.replace("INCIDENT", incident);
        let kind = address.split(['/', '?']).next().unwrap();
        let mut drawn = vec![format!(
            "document.querySelector('main').dataset.view === '{kind}'"
        )];
        drawn.extend(elements.split("; ").map(|of| {
            let (least, selector) = of.split_once(' ').unwrap();
            format!("document.querySelectorAll('{selector}').length >= {least}")
        }));
        let text =
            |text: &str| format!("document.querySelector('main').innerText.includes('{text}')");
        drawn.extend(texts.split("; ").filter(|text| !text.is_empty()).map(text));
        if view == "latency-of-a-call" {
            // The slowest host comes first.
            drawn
                .push("document.querySelector('tbody code')?.textContent === 'gpu-034'".to_owned());
        }
        (view, format!("#/{address}"), drawn.join(" && "))
    };
    assert_eq!((RACKS * OF_RACK, name(33).as_str()), (96, "gpu-034"));
    VIEWS.lines().map(of_row).collect()
}

#[test]
fn every_view_of_the_fleet_is_drawn_in_a_browser_and_follows() {
    let Some(mut browser) = Chromium::start() else {
        eprintln!("skipped: chromium is not installed");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("fleet.db");
    let mut fleet = Fleet::new(&file);
    let head = Head::start(dir.path(), &Place::File(file), "127.0.0.1:0");
    let asked = SessionRequest {
        name: "train-7".to_owned(),
        hosts: Vec::new(),
        interval_ms: 200,
        metrics: Vec::new(),
        for_s: 3600,
        by: "test".to_owned(),
    };
    let _: Session = head.client.post("/fleet/v1/sessions", &asked).unwrap();
    let found: Vec<gtrace_head::db::FleetIncident> = head
        .client
        .get("/fleet/v1/incidents?open=true&limit=1")
        .unwrap();
    let one = &found[0];
    let views = views(&format!("{}~{}", one.fleet_host, one.incident.id));
    // Hosts are not silent for as long as this takes.
    let over = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&over);
    let saying = std::thread::spawn(move || {
        while !ended.load(Ordering::Relaxed) {
            fleet.say(Timestamp::now(), SILENT);
            std::thread::park_timeout(Duration::from_secs(10));
        }
    });

    let base = format!("{}/", head.url);
    browser.draws(&base, &views, "fleet-");

    // What an agent ships is there at once, and keys work.
    let key = enrolled(&head, "live-1", &head.token(None, 1));
    let mut live = Host::new(dir.path(), "live-1");
    let agents = Agents::start(vec![Agent::new(&live, key, "r1")]);
    browser.window(1440, 900, "light");
    browser.open(&format!("{base}#/incidents?since=15m"));
    browser.wait(
        "nothing happened lately",
        "document.querySelector('.empty')",
    );
    browser.wait(
        "the stream is open",
        "document.querySelector('.connection').innerText.includes('live')",
    );
    let found = support::incident("live-1", FailureClass::Thermal, Timestamp::now());
    live.append(&[Record::Incident(Box::new(found))]);
    agents.wake();
    browser.wait(
        "the new incident",
        "document.querySelector('a.incident').innerText.includes('live-1')",
    );
    browser.press("2");
    browser.wait(
        "the second view",
        "document.querySelector('main').dataset.view === 'hosts'",
    );
    browser.press("/");
    browser.wait("the search", "document.activeElement.id === 'search'");
    over.store(true, Ordering::Relaxed);
    saying.thread().unpark();
    saying.join().unwrap();
}
