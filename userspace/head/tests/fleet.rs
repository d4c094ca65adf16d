//! Agents and a head, end to end, over both databases.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod support;

use std::time::Duration;

use gtrace_agent::{Enrolled, enroll};
use gtrace_api::client::EventStream;
use gtrace_event::{FailureClass, HealthState, Holder, ProcessEnds, Record, Severity, Timestamp};
use gtrace_fleet::{EnrollRequest, READS_MAX};
use gtrace_head::db::{
    ChainReport, FleetEvent, FleetIncident, LatencyLine, LatencyReport, Place, UsageLine,
    UsageReport,
};
use gtrace_profile::{DailyCalls, Histogram, Layer};
use support::fleet::{Agent, Agents, Head, RecordingActor, block, enrolled, request};
use support::{Host, Postgres, amendment, event, incident};

/// What is asked of either database.
fn fleet(database: &Place) {
    let dir = tempfile::tempdir().unwrap();
    let mut head = Head::start(dir.path(), database, "127.0.0.1:0");
    let token = head.token(None, 3);
    let mut hosts: Vec<Host> = ["a1", "a2", "a3"]
        .iter()
        .map(|name| Host::new(dir.path(), name))
        .collect();
    let keys: Vec<Enrolled> = hosts
        .iter()
        .map(|h| enrolled(&head, &h.name, &token))
        .collect();

    // Three hosts of a rack fail alike; one event becomes worse later, on another day of the store.
    let now = Timestamp::now();
    let first = event("a1", 79, now);
    for host in &mut hosts {
        host.events(200);
        let found = incident(&host.name, FailureClass::Pcie, now);
        host.append(&[Record::Incident(Box::new(found))]);
    }
    hosts[0].append(&[Record::Event(Box::new(first.clone()))]);
    let worse = amendment(&first, Severity::Fatal);
    hosts[0].append(&[Record::Amendment(Box::new(worse))]);
    let with = |hosts: &'_ [Host]| -> Vec<(usize, Enrolled)> {
        (0..hosts.len()).map(|n| (n, keys[n].clone())).collect()
    };
    let start = |hosts: &[Host]| {
        let of: Vec<_> = with(hosts)
            .into_iter()
            .map(|(n, key)| Agent::new(&hosts[n], key, "r7"))
            .collect();
        Agents::start(of)
    };
    let agents = start(&hosts);
    agents.caught_up(&hosts.iter().collect::<Vec<_>>());

    let views = head.hosts();
    assert_eq!(
        views.iter().map(|v| v.records).collect::<Vec<_>>(),
        [203, 201, 201]
    );
    assert!(
        views
            .iter()
            .all(|v| v.simulated && v.behind == 0 && v.labels["rack"] == "r7")
    );
    assert!(
        views
            .iter()
            .all(|v| v.state == HealthState::Unknown && v.clock.is_some())
    );
    let events: Vec<FleetEvent> = head.client.get("/fleet/v1/events?severity=fatal").unwrap();
    let [found] = events.as_slice() else {
        panic!("{events:?}");
    };
    assert_eq!(
        (found.event.id, found.event.severity),
        (first.id, Severity::Fatal)
    );
    let of_one: Vec<FleetEvent> = head
        .client
        .get("/fleet/v1/events?host=a2&limit=1000")
        .unwrap();
    assert_eq!(of_one.len(), 200);
    let outbreaks: Vec<gtrace_fleet::outbreak::Outbreak> =
        head.client.get("/fleet/v1/outbreaks?open=true").unwrap();
    assert_eq!(
        (
            outbreaks.len(),
            outbreaks[0].hosts.len(),
            outbreaks[0].drill
        ),
        (1, 3, true)
    );

    // The head goes away and comes back while records come; a change of an incident is seen live.
    let address = head.url.strip_prefix("http://").unwrap().to_owned();
    drop(head);
    for host in &mut hosts {
        host.events(50);
    }
    agents.wake();
    head = Head::start(dir.path(), database, &address);
    let mut live = head
        .client
        .stream("/fleet/v1/incidents/stream", None)
        .unwrap();
    let path = "/fleet/v1/events/stream?host=a3&kind=xid&severity=critical";
    let mut events = head.client.stream(path, None).unwrap();
    let opened = incident("a3", FailureClass::Thermal, Timestamp::now());
    hosts[2].append(&[Record::Incident(Box::new(opened.clone()))]);
    agents.wake();
    let message = live.next_message().unwrap().unwrap();
    let seen: FleetIncident = serde_json::from_str(&message.data).unwrap();
    assert_eq!(
        (seen.fleet_host.as_str(), seen.incident.id),
        ("a3", opened.id)
    );
    agents.caught_up(&hosts.iter().collect::<Vec<_>>());
    drop(live);
    // Those of others, and less severe ones, are not among what was asked for. What the host had not sent when the reader came is.
    let (time, mut warning) = (Timestamp::now(), event("a3", 13, Timestamp::now()));
    warning.severity = Severity::Warning;
    let last = event("a3", 79, time);
    for (host, event) in [(0, event("a1", 48, time)), (2, warning), (2, last.clone())] {
        hosts[host].append(&[Record::Event(Box::new(event))]);
        agents.wake();
        agents.caught_up(&hosts.iter().collect::<Vec<_>>());
    }
    loop {
        let message = events.next_message().unwrap().unwrap();
        assert_eq!(message.event, "event");
        let seen: FleetEvent = serde_json::from_str(&message.data).unwrap();
        assert_eq!(
            (seen.fleet_host.as_str(), seen.event.severity),
            ("a3", Severity::Critical)
        );
        if seen.event.id == last.id {
            break;
        }
    }
    drop(events);
    assert!(
        head.client
            .stream("/fleet/v1/events/stream?kind=nonsense", None)
            .is_err()
    );

    // Damage: the store begins anew, and what was in it stays at the head.
    let replaced = &mut hosts[1];
    replaced.store.replace("a test says so").unwrap();
    replaced.events(10);
    agents.caught_up(&hosts.iter().collect::<Vec<_>>());
    let view = head.hosts().remove(1);
    // 201, 50, the record of the replacement, 10.
    assert_eq!(
        (view.records, view.forks, view.unexplained_gaps),
        (262, 1, 0)
    );
    let reports: Vec<ChainReport> = head.client.get("/fleet/v1/verify").unwrap();
    assert!(reports.iter().all(ChainReport::is_whole), "{reports:?}");
    assert_eq!(
        reports.iter().map(|r| r.records).sum::<u64>(),
        254 + 262 + 254
    );
    drop(agents);
    nobody_in(&head, &keys[0]);
}

/// Who is not let in, and what is not taken.
fn nobody_in(head: &Head, good: &Enrolled) {
    let url = head.url.parse().unwrap();
    let refused = |request: EnrollRequest| {
        block(enroll(&url, None, &request))
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    let used_up = head.token(None, 1);
    enrolled(head, "b1", &used_up);
    assert!(refused(request("b2", &used_up, "b2")).contains("used up"));
    assert!(refused(request("b2", "gtj_0", "b2")).contains("join token"));
    let taken = refused(request("a1", &head.token(None, 1), "another-machine"));
    assert!(taken.contains("another machine-id"), "{taken}");
    let other = refused(request("b3", &head.token(Some("b4"), 1), "b3"));
    assert!(other.contains("for host `b4`"), "{other}");
    let bad = refused(request("b4/../x", &head.token(None, 1), "b4"));
    assert!(bad.contains("letters, digits"), "{bad}");

    let curl = |credential: &str, path: &str, body: Vec<u8>| {
        let tcp = head.url.strip_prefix("http://").unwrap();
        let length = body.len();
        let mut message = format!(
            "POST {path} HTTP/1.1\r\nHost: {tcp}\r\nConnection: close\r\nContent-Length: {length}\r\n\
             Content-Type: application/json\r\nAuthorization: Bearer {credential}\r\n\r\n"
        )
        .into_bytes();
        message.extend(body);
        let mut stream = std::net::TcpStream::connect(tcp).unwrap();
        std::io::Write::write_all(&mut stream, &message).unwrap();
        let mut answer = Vec::new();
        let _ = std::io::Read::read_to_end(&mut stream, &mut answer);
        String::from_utf8_lossy(&answer)
            .get(9..12)
            .map_or(0, |code| code.parse::<u16>().unwrap())
    };
    let batch = "/fleet/v1/batch";
    let key = good.credential.as_str();
    assert_eq!(curl(key, batch, b"not zstd".to_vec()), 400);
    assert_eq!(curl(&format!("{key}0"), batch, Vec::new()), 401);
    // The number of another host with the secret of this one.
    let other = key.replacen("gta_1_", "gta_2_", 1);
    assert_ne!(other, key);
    assert_eq!(curl(&other, batch, Vec::new()), 401);
    // TCP changes nothing without a credential.
    let token = br#"{"for_s":60,"uses":1,"by":"x"}"#.to_vec();
    assert_eq!(curl(key, "/fleet/v1/tokens", token), 403);
    let by = gtrace_head::By {
        by: "test".to_owned(),
    };
    let metrics = || head.client.get_text("/metrics").unwrap();
    assert!(metrics().contains("{host=\"a1\"}"));
    let own = head.token(Some("a1"), 2);
    head.client
        .post::<()>("/fleet/v1/hosts/a1/revoke", &by)
        .unwrap();
    // It needs no attention, so that no alert of it goes on.
    assert!(!metrics().contains("{host=\"a1\"}"));
    std::thread::sleep(Duration::from_millis(2100));
    assert_eq!(curl(key, "/fleet/v1/state", b"{}".to_vec()), 401);
    // It does not take itself back by a token that is for any host, nor by one for it that is from before.
    assert!(refused(request("a1", &own, "a1")).contains("join token"));
    let again = refused(request("a1", &head.token(None, 1), "a1"));
    assert!(again.contains("was revoked"), "{again}");
    let back = enrolled(head, "a1", &head.token(Some("a1"), 1));
    assert_ne!(
        curl(&back.credential, "/fleet/v1/state", b"{}".to_vec()),
        401
    );
}

#[test]
fn a_fleet_over_the_embedded_database() {
    let dir = tempfile::tempdir().unwrap();
    fleet(&Place::File(dir.path().join("fleet.db")));
}

#[test]
fn a_fleet_over_postgresql() {
    if let Some(server) = Postgres::start() {
        fleet(&server.place());
    }
}

/// What a host counts of its GPU, as JSON: seconds held, measured, busy, idle.
fn usage(day: Timestamp, job: Option<(&str, &str)>, seconds: [f64; 4]) -> serde_json::Value {
    let [held, measured, busy, idle] = seconds;
    let holder = job.map(|(job, user)| serde_json::json!({ "job": job, "user": user }));
    let day_text = day.strftime("%Y-%m-%d").to_string();
    let mut row = serde_json::json!({
        "day": day_text, "since": "2026-01-01T00:00:00Z", "pci": "0000:3b:00.0", "uuid": "GPU-1", "model": "NVIDIA H100",
        "first": day, "last": day, "seconds": held, "measured_s": measured, "busy_s": busy, "idle_s": idle,
    });
    if let Some(holder) = holder {
        row["holder"] = holder;
    }
    row
}

#[test]
fn the_page_of_a_host_is_read_through_its_agent_where_it_permits_that() {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::File(dir.path().join("fleet.db"));
    let head = Head::start(dir.path(), &place, "127.0.0.1:0");
    let join = head.token(None, 2);
    let mut hosts = ["page", "p2"].map(|name| Host::new(dir.path(), name));
    hosts.iter_mut().for_each(|host| host.events(1));
    let of = |host: &Host, permits: &[&str]| {
        let mut agent = Agent::new(host, enrolled(&head, &host.name, &join), "r1");
        let actor = RecordingActor::of(&mut agent, permits);
        (agent, actor)
    };
    let (first, actor) = of(&hosts[0], &["page"]);
    let (second, other) = of(&hosts[1], &["report"]);
    let agents = Agents::start(vec![first, second]);
    agents.caught_up(&hosts.iter().collect::<Vec<_>>());
    let read = |host: &str, path: &str| {
        let path = format!("/fleet/v1/hosts/{host}/page{path}");
        head.client.get_text(&path).map_err(|e| e.to_string())
    };
    // Side by side, each its own.
    std::thread::scope(|threads| {
        for n in 0..READS_MAX {
            threads.spawn(move || {
                let path = format!("/api/v1/events?limit={n}");
                assert_eq!(read("page", &path), Ok(format!("{path:?}")));
            });
        }
    });
    assert_eq!(actor.done.lock().unwrap().len(), READS_MAX);
    // The daemon's own refusal; an answer that is too large; what no page asks for; who does not permit it; whom nobody knows.
    for (host, path, cause) in [
        ("page", "/api/v1/cuda", "none"),
        ("page", "/api/v1/samples", "too large"),
        ("page", "/api/v1/events/stream", "does not ask for that"),
        ("page", "/api/v1/pause", "does not ask for that"),
        ("p2", "/api/v1/status", "does not permit it"),
        ("p3", "/api/v1/status", "no host"),
    ] {
        let why = read(host, path).unwrap_err();
        assert!(why.contains(cause), "{path}: {why}");
    }
    assert!(other.done.lock().unwrap().is_empty());
    drop(agents);
    let document = head.client.get_text("/hosts/page/").unwrap();
    assert!(document.contains("/page/app.js"));
}

#[test]
fn a_host_is_read_over_whichever_head_of_the_database() {
    let Some(server) = Postgres::start() else {
        return;
    };
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let heads = dirs
        .each_ref()
        .map(|dir| Head::start(dir.path(), &server.place(), "127.0.0.1:0"));
    let join = heads[0].token(None, 2);
    let mut host = Host::new(dirs[0].path(), "p1");
    host.events(1);
    let mut agent = Agent::new(&host, enrolled(&heads[0], "p1", &join), "r1");
    let actor = RecordingActor::of(&mut agent, &["page"]);
    let agents = Agents::start(vec![agent]);
    agents.caught_up(&[&host]);
    let read = |head: &Head, path: &str| {
        let path = format!("/fleet/v1/hosts/p1/page{path}");
        head.client.get_text(&path).map_err(|e| e.to_string())
    };
    let both = |n: usize| {
        for head in &heads {
            let path = format!("/api/v1/events?limit={n}");
            assert_eq!(read(head, &path), Ok(format!("{path:?}")));
            for (path, cause) in [
                ("/api/v1/cuda", "none"),
                ("/api/v1/samples", "too large"),
                ("/api/v1/pause", "does not ask for that"),
            ] {
                let why = read(head, path).unwrap_err();
                assert!(why.contains(cause), "{path}: {why}");
            }
        }
    };
    // The agent may not have asked for work before the first question comes.
    read(&heads[0], "/api/v1/status").unwrap();
    both(1);
    // Side by side.
    std::thread::scope(|threads| {
        for n in 0..READS_MAX {
            let head = &heads[1];
            threads.spawn(move || {
                let path = format!("/api/v1/incidents?limit={n}");
                assert_eq!(read(head, &path), Ok(format!("{path:?}")));
            });
        }
    });
    // Each once: the two that are no path of the page were not asked.
    let asked = 1 + 2 * 3 + READS_MAX;
    assert_eq!(actor.done.lock().unwrap().len(), asked);
}

/// Calls of a host on a day: each of so many nanoseconds.
fn calls(day: Timestamp, call: &str, driver: &str, ns: &[u64]) -> DailyCalls {
    let mut histogram = Histogram::default();
    ns.iter().for_each(|ns| histogram.record(*ns));
    DailyCalls {
        day: day.to_zoned(jiff::tz::TimeZone::UTC).date(),
        since: "2026-01-01T00:00:00Z".parse().unwrap(),
        last: day,
        layer: Layer::Api,
        call: call.to_owned(),
        driver: (!driver.is_empty()).then(|| driver.to_owned()),
        histogram,
    }
}

fn latency_of_all_hosts(place: &Place) {
    let dir = tempfile::tempdir().unwrap();
    let head = Head::start(dir.path(), place, "127.0.0.1:0");
    let join = head.token(None, 2);
    let names = ["b1", "b2"];
    let mut hosts = names.map(|name| Host::new(dir.path(), name));
    let keys = names.map(|name| enrolled(&head, name, &join));
    hosts.iter_mut().for_each(|host| host.events(1));
    let now = Timestamp::now();
    let ago = |hours| now - jiff::SignedDuration::from_hours(hours);
    // 990 quick calls of one host and 10 slow ones of the other: no percentile of either is that of both.
    let quick: Vec<u64> = (0..990).map(|n| 1_000 + n).collect();
    let slow: Vec<u64> = (0..10).map(|n| 1_000_000 + n * 1_000).collect();
    let said = [
        vec![
            calls(now, "cuLaunchKernel", "550.1", &quick),
            calls(now, "cuMemAlloc_v2", "550.1", &[5]),
            // What is not sound is left out, and nothing else.
            calls(ago(24 * 90), "cuLaunchKernel", "550.1", &slow),
            calls(now, &"x".repeat(300), "550.1", &slow),
        ],
        vec![
            calls(now, "cuLaunchKernel", "580.2", &slow[..4]),
            calls(ago(24), "cuLaunchKernel", "", &slow[4..]),
        ],
    ];
    let agents: Vec<Agent> = (hosts.iter().zip(&keys).zip(&said))
        .map(|((host, key), said)| {
            let agent = Agent::new(host, key.clone(), "r1");
            agent.state.lock().unwrap().latency = said.clone();
            agent
        })
        .collect();
    let agents = Agents::start(agents);
    agents.caught_up(&hosts.iter().collect::<Vec<_>>());
    let report = |query: &str| -> LatencyReport {
        let path = format!("/fleet/v1/latency?{query}");
        head.client.get(&path).unwrap()
    };
    let all = loop {
        let report = report("since=2026-01-01T00:00:00Z");
        if report.lines.iter().map(|line| line.hosts).sum::<u64>() == 3 {
            break report;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let mut together = Histogram::default();
    quick
        .iter()
        .chain(&slow)
        .for_each(|ns| together.record(*ns));
    let launches = &all.lines[0];
    assert_eq!(
        (launches.name.as_str(), launches.layer, launches.hosts),
        ("cuLaunchKernel", Some(Layer::Api), 2)
    );
    // Exact: as if one host had counted all of them.
    assert_eq!(launches.histogram, together);
    assert_eq!(launches.calls, 1000);
    assert!((1_900..2_100).contains(&launches.p99_ns), "{launches:?}");
    assert!(launches.p999_ns > 1_000_000 && launches.max_ns == 1_009_000);
    assert_eq!(all.lines[1].name, "cuMemAlloc_v2");
    let of = |query: &str| -> Vec<(String, u64, u64)> {
        let query = format!("call=cuLaunchKernel&layer=api&{query}");
        let lines = report(&query).lines;
        let of = |line: LatencyLine| (line.name, line.calls, line.hosts);
        lines.into_iter().map(of).collect()
    };
    let line = |name: &str, calls, hosts| (name.to_owned(), calls, hosts);
    let both = [line("b2", 10, 1), line("b1", 990, 1)];
    assert_eq!(of("by=host"), both);
    let today = format!("since={now}");
    assert_eq!(of(&format!("by=host&host=b2&{today}")), [line("b2", 4, 1)]);
    // Calls whose driver is not known are of none.
    let drivers = [line("580.2", 4, 1), line("550.1", 990, 1)];
    assert_eq!(of("by=driver"), drivers);
    assert_eq!(of("by=rack"), [line("r1", 1000, 2)]);
    let many = head
        .client
        .get::<LatencyReport>("/fleet/v1/latency?limit=many");
    let many = many.unwrap_err().to_string();
    assert!(many.contains("lists the parameters"), "{many}");
    // What no route knows would be a filter that lets everything through.
    for question in [
        "events?sevrity=fatal",
        "events/stream?sevrity=fatal",
        "incidents?sevrity=fatal",
        "incidents/stream?sevrity=fatal",
        "outbreaks?sevrity=fatal",
        "lemons?sevrity=fatal",
        "verify?sevrity=fatal",
        "usage?sevrity=fatal",
        "latency?sevrity=fatal",
        "cohorts?sevrity=fatal",
        "compare?old=a&new=b&sevrity=fatal",
        "remediation?sevrity=fatal",
    ] {
        let path = format!("/fleet/v1/{question}");
        let why = head.client.get::<serde_json::Value>(&path).unwrap_err();
        assert!(why.to_string().contains("`sevrity`"), "{question}: {why}");
    }
    // A label that no host has is a mistake, and no fleet without failures.
    for question in [
        "latency?call=cuLaunchKernel&by=feed",
        "usage?by=feed",
        "lemons?by=feed",
        "cohorts?by=feed",
        "compare?by=feed&old=a&new=b",
    ] {
        let path = format!("/fleet/v1/{question}");
        let why = head.client.get::<serde_json::Value>(&path).unwrap_err();
        let why = why.to_string();
        assert!(why.contains("`feed`") && why.contains("rack"), "{why}");
    }
    let refused = head
        .client
        .get::<LatencyReport>("/fleet/v1/latency?by=host");
    assert!(refused.unwrap_err().to_string().contains("name the call"));
    drop(agents);
    // What comes again, or late with fewer, changes nothing; what has grown counts once.
    let mut grown = quick;
    grown.push(7);
    let mut agent = Agent::new(&hosts[0], keys[0].clone(), "r1");
    for (said, calls) in [(&grown[..5], 1000), (&grown[..], 1001)] {
        hosts[0].events(1);
        agent.state.lock().unwrap().latency =
            vec![self::calls(now, "cuLaunchKernel", "550.1", said)];
        let agents = Agents::start(vec![agent]);
        agents.caught_up(&[&hosts[0]]);
        drop(agents);
        assert_eq!(of("by=rack"), [line("r1", calls, 2)]);
        agent = Agent::new(&hosts[0], keys[0].clone(), "r1");
    }
}

#[test]
fn latency_of_all_hosts_over_both_databases() {
    let dir = tempfile::tempdir().unwrap();
    latency_of_all_hosts(&Place::File(dir.path().join("fleet.db")));
    if let Some(server) = Postgres::start() {
        latency_of_all_hosts(&server.place());
    }
}

/// How processes of a job ended.
fn ends(day: Timestamp, (job, user): (&str, &str), ended: u64, failed: u64) -> ProcessEnds {
    ProcessEnds {
        day: day.to_zoned(jiff::tz::TimeZone::UTC).date(),
        since: day,
        last: day,
        holder: Holder {
            job: Some(job.to_owned()),
            user: Some(user.to_owned()),
            ..Holder::default()
        },
        ended,
        failed,
    }
}

fn usage_by_owner_and_job(place: &Place) {
    let dir = tempfile::tempdir().unwrap();
    let head = Head::start(dir.path(), place, "127.0.0.1:0");
    let join = head.token(None, 2);
    let names = ["b1", "b2"];
    let mut hosts = names.map(|name| Host::new(dir.path(), name));
    let keys = names.map(|name| enrolled(&head, name, &join));
    let now = Timestamp::now();
    let yesterday = now - jiff::SignedDuration::from_hours(24);
    // An incident names one of the jobs.
    let mut failed = incident("b1", FailureClass::GpuMemory, now);
    (failed.drill, failed.affected.jobs) = (false, vec!["slurm:1".to_owned()]);
    hosts[0].append(&[Record::Incident(Box::new(failed))]);
    hosts[1].events(1);
    let hour = 3600.0;
    let (ada, again, bob) = (("slurm:1", "ada"), ("slurm:3", "ada"), ("slurm:2", "bob"));
    let said = [
        vec![
            usage(
                yesterday,
                Some(ada),
                [2.0 * hour, 2.0 * hour, hour, 0.5 * hour],
            ),
            usage(now, Some(again), [hour, 0.0, 0.0, 0.0]),
            usage(now, None, [3.0 * hour, 3.0 * hour, 0.0, 3.0 * hour]),
        ],
        vec![
            usage(now, Some(bob), [hour, hour, 0.0, hour]),
            // What is not sound is left out, and nothing else.
            usage(
                now - jiff::SignedDuration::from_hours(24 * 90),
                Some(bob),
                [hour; 4],
            ),
        ],
    ];
    let agents: Vec<Agent> = (hosts.iter().zip(&keys).zip(&said))
        .map(|((host, key), said)| {
            let agent = Agent::new(host, key.clone(), "r1");
            let rows = serde_json::from_value(serde_json::Value::from(said.clone()));
            agent.state.lock().unwrap().usage = rows.unwrap();
            if host.name == "b1" {
                agent.state.lock().unwrap().ends = vec![
                    ends(now, again, 4, 1),
                    // Too short for a reading of its GPU.
                    ends(now, ("slurm:9", "eve"), 1, 0),
                ];
            }
            agent
        })
        .collect();
    let agents = Agents::start(agents);
    agents.caught_up(&hosts.iter().collect::<Vec<_>>());
    let report = |query: &str| -> UsageReport {
        let path = format!("/fleet/v1/usage?{query}");
        head.client.get(&path).unwrap()
    };
    let all = loop {
        let report = report("by=owner");
        if report.lines.len() == 3 {
            break report;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let of = |line: &UsageLine| {
        let hours = [
            line.hours,
            line.measured_hours,
            line.busy_hours,
            line.idle_hours,
        ];
        (
            line.name.clone(),
            hours,
            [
                line.gpus,
                line.hosts,
                line.jobs,
                line.jobs_with_incident,
                line.jobs_failed,
            ],
        )
    };
    let lines: Vec<_> = all.lines.iter().map(of).collect();
    assert_eq!(
        lines[0],
        ("user/ada".to_owned(), [3.0, 2.0, 1.0, 0.5], [1, 1, 2, 1, 1])
    );
    assert_eq!(
        lines[1],
        ("user/bob".to_owned(), [1.0, 1.0, 0.0, 1.0], [1, 1, 1, 0, 0])
    );
    assert_eq!(lines[2], ("user/eve".to_owned(), [0.0; 4], [0, 1, 1, 0, 0]));
    assert_eq!(
        (all.held.hours, all.held.gpus, all.free_hours),
        (4.0, 2, 3.0)
    );
    assert_eq!(all.held.models["NVIDIA H100"], 4.0);
    // The same totals again, as each state has them, change nothing.
    for (n, host) in hosts.iter_mut().enumerate() {
        let before = agents.sent(n);
        host.events(1);
        agents.wake();
        while agents.sent(n) == before {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    agents.caught_up(&hosts.iter().collect::<Vec<_>>());
    assert_eq!(report("by=owner").held.hours, 4.0);
    // Where a job ran; from a day on.
    let job = report("by=gpu&job=slurm:1");
    let names: Vec<_> = job.lines.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(names, ["b1/0000:3b:00.0/GPU-1"]);
    let today = report(&format!("by=job&since={now}"));
    let names: Vec<_> = today.lines.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(names, ["slurm:2", "slurm:3", "slurm:9"]);
    assert_eq!(report("by=rack").lines[0].name, "r1");
    assert_eq!(report("by=host&host=b2").lines[0].hours, 1.0);
}

#[test]
fn gpu_hours_are_added_up_by_owner_job_and_host() {
    let dir = tempfile::tempdir().unwrap();
    usage_by_owner_and_job(&Place::File(dir.path().join("fleet.db")));
    if let Some(server) = Postgres::start() {
        usage_by_owner_and_job(&server.place());
    }
}

#[test]
fn streams_have_what_every_head_of_the_database_takes() {
    let Some(mut server) = Postgres::start() else {
        return;
    };
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let heads = dirs
        .each_ref()
        .map(|dir| Head::start(dir.path(), &server.place(), "127.0.0.1:0"));
    let join = heads[0].token(None, 1);
    let mut host = Host::new(dirs[0].path(), "a0");
    let key = enrolled(&heads[0], "a0", &join);
    let agents = Agents::start(vec![Agent::new(&host, key, "r1")]);
    let mut streams = heads.each_ref().map(|head| {
        let all = "/fleet/v1/events/stream";
        head.client.stream(all, None).unwrap()
    });
    let mut both_have = |streams: &mut [EventStream; 2], events: u32| {
        host.events(events);
        agents.wake();
        let [of_agent, of_other] = streams.each_mut().map(|stream| {
            (0..events)
                .map(|_| {
                    let message = stream.next_message().unwrap().unwrap();
                    assert_eq!(message.event, "event");
                    message.data
                })
                .collect::<Vec<_>>()
        });
        assert_eq!(of_agent, of_other);
    };
    both_have(&mut streams, 300);
    // What others commit while the connection is away does not come, and readers learn so.
    server.kill();
    server.run();
    for stream in &mut streams {
        let message = stream.next_message().unwrap().unwrap();
        assert_eq!(message.event, "gap");
    }
    both_have(&mut streams, 20);
}
