//! What a report is about: the events of its incident before others, those of its time, and no drill where there is a fault.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{at, event, html, material, page};
use gtrace_event::{Kind, Provenance, Severity, WitnessName};
use gtrace_report::{LogRecord, Material, Report};

/// An incident after a storm of another GPU, as severe as it: the time around it has more events than any table.
#[test]
fn an_incident_has_its_own_events_also_after_a_storm_of_others() {
    let mut material = material();
    material.events.remove(0);
    let own: Vec<String> = material.events.iter().map(|e| e.id.to_string()).collect();
    material.incident.as_mut().unwrap().chain.clear();
    let storm = (0..300).map(|n| {
        let text = format!("NVRM: Xid (PCI:0000:86:00): 79, pid={n}, name=other");
        let ms = -200_000 + n;
        event(ms, Kind::Xid, Severity::Fatal, WitnessName::Kmsg, &text)
    });
    material.events = storm.chain(material.events).collect();
    let first = &material.events[300];
    let seen = format!(
        "gtrace saw the first event at {} UTC",
        first.time.strftime("%F %T%.3f")
    );
    let postmortem = Report::new(material.clone()).postmortem();
    assert!(postmortem.contains(&seen), "{postmortem}");
    assert!(
        postmortem.contains("(213 times, last 03:12:07.880)"),
        "{postmortem}"
    );
    for event in &material.events[300..] {
        let line = format!(
            "{} {} **{}**",
            event.time.strftime("%F %T%.3f"),
            event.severity,
            event.kind
        );
        assert!(postmortem.contains(&line), "{line} in {postmortem}");
    }
    let left = format!("* {} events more", 300 + own.len() - 60);
    assert!(postmortem.contains(&left), "{left} in {postmortem}");
    let html = html(material);
    let page = page(&html);
    for id in own {
        assert!(page.contains(&id), "{id}");
    }
}

#[test]
fn drills_and_forged_lines_are_marked_and_are_not_what_a_time_was_about() {
    let mut material = material();
    material.incident = None;
    material.chain = None;
    material.events.truncate(2);
    let texts = ["NVRM: Xid: a drill", "NVRM: Xid: forged"];
    for (text, provenance) in texts
        .into_iter()
        .zip([Provenance::Injected, Provenance::Userspace])
    {
        let mut other = event(500, Kind::Xid, Severity::Fatal, WitnessName::Kmsg, text);
        other.provenance = provenance;
        material.events.push(other);
    }
    let postmortem = Report::new(material.clone()).postmortem();
    for part in [
        "fatal **xid** (drill) `NVRM: Xid: a drill`",
        "fatal **xid** (a process wrote it) `NVRM: Xid: forged`",
        "| Severity | critical |",
        "# Postmortem: `aer: ",
    ] {
        assert!(postmortem.contains(part), "{part} in {postmortem}");
    }
    // As where /dev/kmsg cannot be read.
    material.events[3].provenance = Provenance::Unknown;
    let postmortem = Report::new(material).postmortem();
    for part in [
        "fatal **xid** (unconfirmed) `NVRM: Xid: forged`",
        "| Severity | fatal |",
        "# Postmortem: `xid: NVRM: Xid: forged`",
    ] {
        assert!(postmortem.contains(part), "{part} in {postmortem}");
    }
}

/// Ten minutes of a fault that has gone on since the day before.
fn going_on() -> Material {
    let mut material = material();
    material.incident = None;
    let text = "NVRM: Xid (PCI:0000:3b:00): 63, row remapper";
    let mut fault = event(
        -86_400_000,
        Kind::Xid,
        Severity::Warning,
        WitnessName::Kmsg,
        text,
    );
    fault.repeats = 1_999;
    fault.last_time = Some(at(200_000));
    material.events = vec![fault];
    material
}

#[test]
fn a_report_of_what_began_before_is_about_its_own_time() {
    let mut material = going_on();
    material.kernel_log = (-600..600)
        .map(|n| LogRecord {
            time: at(n * 500),
            priority: Some(4),
            text: format!("line {n} of the log"),
        })
        .collect();
    let stem = Report::new(material.clone()).file_stem();
    assert!(
        stem.starts_with("gtrace-incident-20260303T030707Z-"),
        "{stem}"
    );
    let page = page(&html(material));
    // The last repeat is at 400 times 500 ms.
    for line in [399, 400, 401] {
        assert!(page.contains(&format!("line {line} of the log")), "{line}");
    }
}

#[test]
fn times_of_another_day_have_their_date() {
    let mut material = going_on();
    let postmortem = Report::new(material.clone()).postmortem();
    let repeats = "(2,000 times, last 2026-03-03 03:15:27.250)";
    assert!(postmortem.contains(repeats), "{postmortem}");
    // Until the next day.
    material.window.to = at(86_400_000);
    let page = page(&html(material));
    for part in [
        "<td class=\"time\">2026-03-02 03:12:07.250</td>",
        "· 2,000 times, last 2026-03-03 03:15:27.250<",
        "2026-03-03 03:07:07.250 to 2026-03-04 03:12:07.250",
    ] {
        assert!(page.contains(part), "{part}");
    }
}
