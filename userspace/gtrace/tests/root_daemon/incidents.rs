//! From a drill to its incident, through kill -9, to a report of it.

use gtrace_event::{FailureClass, Incident, IncidentState};

use crate::harness::*;

fn of_gpu(daemon: &Daemon, gpu: &str) -> Option<Incident> {
    let all: Vec<Incident> = daemon.client().get("/api/v1/incidents").ok()?;
    let named = |incident: &Incident| {
        let mut gpus = incident.affected.gpus.iter();
        gpus.any(|known| known.pci.is_some_and(|pci| pci.to_string() == gpu))
    };
    all.into_iter().find(named)
}

#[test]
fn root_a_drill_is_an_incident_that_outlives_kill_9_and_has_a_report() {
    let Some(_turn) = Turn::take() else { return };
    let dir = tempfile::tempdir().unwrap();
    let daemon = Daemon::start_in(dir.path(), &[]);
    let gpu = format!("{}.0", fresh_gpu());
    assert!(
        gtrace(&["inject", "xid", "79", "--gpu", &gpu])
            .status
            .success()
    );
    let opened = eventually("the drill is an incident", || of_gpu(&daemon, &gpu));
    assert!(
        opened.drill && opened.class == FailureClass::Pcie,
        "{opened:#?}"
    );
    let event = &daemon.events(&["--gpu", &gpu, "--kind", "xid"])[0];
    assert_eq!(opened.events, [event.id]);

    daemon.kill9();
    let daemon = Daemon::start_in(dir.path(), &[]);
    let id = opened.id.to_string();
    daemon.gtrace(&format!("incidents ack {id} --by a --note seen"));
    let again = eventually("the incident is there again", || of_gpu(&daemon, &gpu));
    assert_eq!(
        (again.id, again.state),
        (opened.id, IncidentState::Acknowledged)
    );
    assert_eq!(
        again.events, opened.events,
        "the log was read again, and nothing counted twice"
    );
    let kept = eventually("the next run finishes the recording", || {
        of_gpu(&daemon, &gpu).filter(|incident| !incident.evidence.is_empty())
    });
    let interrupted = |gap: &gtrace_event::MissingEvidence| gap.why.contains("interrupted");
    assert!(kept.missing.iter().any(interrupted), "{:?}", kept.missing);
    let store = daemon.store();
    daemon.stop();
    verify(dir.path());

    let store = store.to_str().unwrap();
    let made = ["--incident", &id, "--store", store, "--out", "report.html"];
    report(dir.path(), &made);
    report(dir.path(), &["verify", "report.html"]);
    let page = std::fs::read_to_string(dir.path().join("report.html")).unwrap();
    assert!(page.contains(&id) && page.contains(&gpu));
    assert!(page.contains("interrupted"));
}

#[test]
fn root_a_capture_and_a_rule_of_the_site_keep_the_log_and_the_state_of_the_host() {
    let Some(_turn) = Turn::take() else { return };
    let dir = tempfile::tempdir().unwrap();
    // A share of time is never below 0: this holds from the second sample on.
    let rules = "[[trigger]]\nname = \"memory is watched\"\nmetric = \"gtrace_pressure_ratio\"\nabove = -1\nfor_s = 1\n";
    let triggers = dir.path().join("triggers.toml");
    std::fs::write(&triggers, rules).unwrap();
    let args = ["--recording-after-s", "2", "--triggers"];
    let args = args.into_iter().chain([triggers.to_str().unwrap()]);
    let daemon = Daemon::start_in(dir.path(), &args.collect::<Vec<_>>());
    let mark = format!("no event at all {}", std::process::id());
    KernelLog::open().write(&mark);
    let captured = daemon.gtrace("capture --note slow --by a --wait --json");
    let incident: Incident = serde_json::from_slice(&captured).unwrap();
    assert_eq!(incident.title, "Captured by a: slow");
    let root = dir.path().join("evidence");
    let kept = gtrace_recorder::evidence::read(&root, incident.id, &incident.evidence);
    assert_eq!(kept.missing, []);
    let has = |entry: &gtrace_recorder::Entry| match &entry.what {
        gtrace_recorder::What::Kernel(line) => line.text == mark,
        _ => false,
    };
    assert!(kept.lines.entries.iter().any(has));
    let snapshot = kept.snapshot.unwrap();
    let of_host = |part: &gtrace_recorder::Part| part.text.contains("/proc/pressure/cpu");
    assert!(snapshot.parts.iter().any(of_host));
    // Whatever else there is on this host, the daemon has samples of its own.
    let samples = gtrace_history::Reader::open(&kept.samples.unwrap()).unwrap();
    assert!(!samples.metrics(|_| true).unwrap().is_empty());

    let of_site = eventually("the site's rule has opened one, with evidence", || {
        let all: Vec<Incident> = daemon.client().get("/api/v1/incidents").ok()?;
        all.into_iter().find(|incident| {
            incident.title.contains("memory is watched") && !incident.evidence.is_empty()
        })
    });
    assert!(!of_site.drill, "{of_site:#?}");
    daemon.stop();
}

#[test]
fn root_a_storm_on_eight_gpus_is_eight_incidents_with_the_beginning_of_it() {
    let Some(_turn) = Turn::take() else { return };
    const LINES: usize = 4_000;
    let dir = tempfile::tempdir().unwrap();
    let daemon = Daemon::start_in(dir.path(), &["--recording-after-s", "2"]);
    let gpus: Vec<String> = (0..8).map(|_| fresh_gpu()).collect();
    let mut log = KernelLog::open();
    let line = |n: usize| {
        let (gpu, code) = (&gpus[n % 8], [79, 48, 31, 94, 119][n / 8 % 5]);
        format!("gtrace-inject: NVRM: Xid (PCI:{gpu}): {code}, pid={n}, name=train, number {n}")
    };
    log.write(&line(0));
    eventually("the first is an incident", || {
        of_gpu(&daemon, &format!("{}.0", gpus[0]))
    });
    // Before the flood, of which /dev/kmsg loses a part while its reader is behind.
    daemon.wait_events(&["--gpu", &gpus[0]], |e| {
        e.len() == 1 && e[0].witnesses.len() == 2
    });
    (1..LINES).for_each(|n| log.write(&line(n)));
    let named = || -> Vec<Incident> {
        let gpus = gpus.iter().map(|gpu| format!("{gpu}.0"));
        gpus.filter_map(|gpu| of_gpu(&daemon, &gpu)).collect()
    };
    let incidents = eventually("each GPU has an incident with evidence", || {
        let all = named();
        let kept = |incident: &Incident| !incident.evidence.is_empty();
        (all.len() == 8 && all.iter().all(kept)).then_some(all)
    });
    let all: Vec<Incident> = daemon.client().get("/api/v1/incidents").unwrap();
    let of_storm = all
        .iter()
        .filter(|incident| incident.drill && incident.opened >= incidents[0].opened);
    assert_eq!(
        of_storm.count(),
        8,
        "{:?}",
        all.iter().map(|i| &i.title).collect::<Vec<_>>()
    );
    let root = dir.path().join("evidence");
    let first = &incidents[0];
    let kept = gtrace_recorder::evidence::read(&root, first.id, &first.evidence);
    let texts = kept
        .lines
        .entries
        .iter()
        .filter_map(|entry| match &entry.what {
            gtrace_recorder::What::Kernel(line) => Some(line.text.as_str()),
            _ => None,
        });
    let texts: Vec<&str> = texts.filter(|text| text.contains(&gpus[0])).collect();
    // Wherever it stands: a reader of the log can be behind the probe that saw the line first.
    let is_first = |text: &&str| text.ends_with("number 0");
    assert!(texts.iter().any(is_first), "{:?}", texts.first());
    assert!(texts.len() > 20, "{}", texts.len());
    let status = std::fs::read_to_string(format!("/proc/{}/status", daemon.child.id())).unwrap();
    let anon = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let anon = anon
        .unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse::<u64>()
        .unwrap();
    assert!(anon < 96 << 10, "{anon} KiB");
    daemon.stop();
}
