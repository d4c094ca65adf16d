use std::collections::BTreeSet;

use gtrace_catalogue::Catalogue;
use gtrace_decoder::{Decoder, LogRecord};
use gtrace_event::{Event, FailureClass, Incident, Provenance, Severity, Witness, WitnessName};
use gtrace_incident::{Correlator, Options, Rules};

use super::drills::Target;
use super::verdict::{Observed, Outcome};
use super::*;

const SOURCES: [WitnessName; 2] = [WitnessName::PrintkConsole, WitnessName::Kmsg];

/// The kernel text of a drill.
fn line(drill: &Drill, target: &Target) -> String {
    inject::line(&drill.what(target)).unwrap()
}

/// The event of a drill, as decoder and catalogue make it, and the incident that it opens.
fn played(drill: &Drill, target: &Target) -> (Event, Option<Incident>) {
    let line = line(drill, target);
    let text = line.strip_prefix(inject::MARK).unwrap();
    let mut decoder = Decoder::new(gtrace_decoder::Options::default());
    let mut found = Vec::new();
    let record = LogRecord {
        text,
        facility: Some(0),
        ..LogRecord::default()
    };
    decoder.feed(&record, &mut found);
    decoder.flush(&mut found);
    assert_eq!(found.len(), 1, "{}: {line}", drill.name);
    let mut occurrence = found.remove(0);
    occurrence.provenance = Provenance::Injected;
    Catalogue::builtin().assess(&mut occurrence);
    let time = Timestamp::now();
    let mut event = Event::seen(time, SOURCES[0], 1, occurrence);
    event.witnesses.push(Witness {
        source: SOURCES[1],
        count: 1,
        first_time: time,
    });
    let mut correlator = Correlator::new(Rules::builtin().unwrap(), Options::default());
    let incident = correlator.ingest(&event).pop();
    (event, incident)
}

/// What a daemon that works makes of a drill.
fn observed(drill: &Drill, target: &Target) -> Observed {
    let (event, incident) = played(drill, target);
    Observed {
        event: Some((event, Duration::from_micros(1_234))),
        incident,
        alerts: alerts::expected(drill),
        unclosed: None,
    }
}

fn judge(drill: &Drill, observed: &Observed) -> Outcome {
    Outcome::judge(drill, "the line".to_owned(), observed, &SOURCES)
}

fn drill(name: &str) -> &'static Drill {
    DRILLS.iter().find(|drill| drill.name == name).unwrap()
}

#[test]
fn every_drill_has_the_kind_severity_and_class_that_it_is_expected_to_have() {
    let mut wrong = Vec::new();
    for (n, drill) in (0..).zip(DRILLS) {
        let outcome = judge(drill, &observed(drill, &Target::new(n)));
        if !outcome.problems.is_empty() {
            wrong.push(format!("{}: {}", drill.name, outcome.problems.join("; ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_two_drills_have_a_name_or_a_mark_in_common() {
    let names: BTreeSet<_> = DRILLS.iter().map(|drill| drill.name).collect();
    assert_eq!(names.len(), DRILLS.len());
    for seed in [0, 1, u64::MAX, 0x0123_4567_89ab_cdef] {
        let target = Target::new(seed);
        let other = Target::new(!seed);
        for drill in DRILLS {
            let (event, _) = played(drill, &target);
            let event = serde_json::to_string(&event).unwrap();
            assert!(
                event.contains(&drill.mark(&target)),
                "{}: {event}",
                drill.name
            );
            assert!(
                !event.contains(&drill.mark(&other)),
                "{}: {event}",
                drill.name
            );
        }
    }
}

#[test]
fn what_is_missed_is_said() {
    let drill = drill("xid-79");
    let target = Target::new(7);
    let fine = || observed(drill, &target);
    assert!(judge(drill, &fine()).problems.is_empty());

    let nothing = judge(drill, &Observed::default());
    assert_eq!(nothing.problems, ["not detected"]);
    assert!(!nothing.detected && nothing.detected_ms.is_none());

    type Change = fn(&mut Observed);
    let cases: [(Change, &str); 7] = [
        (
            |o| o.event.as_mut().unwrap().0.severity = Severity::Warning,
            "severity is warning, not fatal",
        ),
        (
            |o| o.event.as_mut().unwrap().0.provenance = Provenance::Kernel,
            "provenance is kernel, not injected",
        ),
        (
            |o| o.event.as_mut().unwrap().0.witnesses.truncate(1),
            "/dev/kmsg did not see it",
        ),
        (
            |o| o.incident = None,
            "class of the incident is none, not pcie",
        ),
        (
            |o| o.incident.as_mut().unwrap().class = FailureClass::Host,
            "class of the incident is host, not pcie",
        ),
        (
            |o| o.alerts.truncate(1),
            "what would alert is GpuXid, not GpuXid, GpuFaultOpen, GpuIncidentOpen",
        ),
        (
            |o| o.unclosed = Some("the incident stays open".to_owned()),
            "the incident stays open",
        ),
    ];
    for (change, problem) in cases {
        let mut observed = fine();
        change(&mut observed);
        assert_eq!(judge(drill, &observed).problems, [problem]);
    }
}

#[test]
fn what_must_open_no_incident_and_does_is_wrong() {
    let target = Target::new(7);
    let quiet = drill("aer-correctable");
    let mut seen = observed(quiet, &target);
    assert!(judge(quiet, &seen).problems.is_empty());
    seen.incident = observed(drill("aer-fatal"), &target).incident;
    let problems = judge(quiet, &seen).problems;
    assert_eq!(problems, ["class of the incident is host, not none"]);
}

#[test]
fn alerts_fire_where_their_series_count_the_drill_in_the_place_of_a_fault() {
    let of = |severity, class| alerts::Of { severity, class };
    let fatal = of(Severity::Fatal, Some(FailureClass::Pcie));
    let before = "# TYPE gtrace_xid counter\n\
                  gtrace_xid_total{gpu=\"other\",xid=\"79\",provenance=\"injected\"} 1\n";
    let before = alerts::selected(before, fatal);
    let fired = |metrics: &str, of| alerts::fired(&before, &alerts::selected(metrics, of));
    let risen = "gtrace_xid_total{gpu=\"a\\\"b\",xid=\"79\",provenance=\"injected\"} 2\n";
    assert_eq!(fired(risen, fatal), ["GpuXid"]);
    let same = "gtrace_xid_total{gpu=\"other\",xid=\"79\",provenance=\"injected\"} 1\n\
                gtrace_xid_total{gpu=\"other\",xid=\"79\",provenance=\"kernel\"} 9\n\
                gtrace_xid_total{gpu=\"other\",xid=\"31\",provenance=\"injected\"} 9\n";
    assert!(fired(same, fatal).is_empty());

    let open = "gtrace_open_events{severity=\"fatal\",provenance=\"injected\"} 1\n\
                gtrace_open_incidents{class=\"pcie\",severity=\"fatal\",state=\"open\",drill=\"true\"} 1\n";
    assert_eq!(fired(open, fatal), ["GpuFaultOpen", "GpuIncidentOpen"]);
    let another_class = of(Severity::Fatal, Some(FailureClass::Host));
    assert_eq!(fired(open, another_class), ["GpuFaultOpen"]);
    assert!(fired(open, of(Severity::Warning, None)).is_empty());
    let of_faults = "gtrace_open_events{severity=\"fatal\",provenance=\"kernel\"} 1\n\
                     gtrace_open_incidents{class=\"pcie\",severity=\"fatal\",state=\"open\",drill=\"false\"} 1\n\
                     gtrace_open_incidents{class=\"pcie\",severity=\"fatal\",state=\"acknowledged\",drill=\"true\"} 1\n";
    assert!(fired(of_faults, fatal).is_empty());
    assert_eq!(
        alerts::expected(drill("xid-79")),
        ["GpuXid", "GpuFaultOpen", "GpuIncidentOpen"]
    );
    assert_eq!(alerts::expected(drill("aer-correctable")), [""; 0]);
}

#[test]
fn the_alerts_are_those_of_the_documentation() {
    let page = include_str!("../../../../../docs/api.md");
    for (name, selector) in alerts::ALERTS {
        assert!(page.contains(selector), "{name}: {selector}");
    }
    let documented = page
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- alert: "));
    let others: Vec<_> = documented
        .filter(|name| alerts::ALERTS.iter().all(|(known, _)| known != name))
        .collect();
    assert_eq!(others, ["KernelLogLost"], "no drill loses records");
}

#[test]
fn the_report_says_how_it_ended() {
    let target = Target::new(7);
    let mut summary = Summary::new("node1".to_owned(), Timestamp::now());
    let drill = drill("xid-79");
    summary.drills.push(judge(drill, &observed(drill, &target)));
    summary.conclude(false);
    assert_eq!(exit_of(&summary), Exit::Success);
    assert!(show::end(&summary).contains("all 1 drills came through"));
    let row = show::row(&summary.drills[0]);
    for word in [
        "xid-79",
        "1.2 ms",
        "printk:console,/dev/kmsg",
        "fatal",
        "pcie",
        "yes",
        "ok",
    ] {
        assert!(row.contains(word), "{row}");
    }
    summary.conclude(true);
    assert_eq!(exit_of(&summary), Exit::Problem);
    assert!(show::end(&summary).contains("aborted after 1 drills"));
    summary.drills.push(judge(drill, &Observed::default()));
    summary.conclude(false);
    assert_eq!(exit_of(&summary), Exit::Problem);
    let end = show::end(&summary);
    assert!(
        end.contains("xid-79: not detected") && end.contains("1 of 2"),
        "{end}"
    );
    let json = serde_json::to_value(&summary).unwrap();
    assert_eq!(json["drills"][0]["detected_ms"], 1.23);
    assert_eq!(json["drills"][1]["detected"], false);
}
