//! Histories of a host, and the states that they come to: `tests/histories/*.toml`. Kernel text goes through decoder and
//! catalogue, as in the daemon. Each history is also replayed from its records, from the beginning and from a snapshot
//! after each record.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

#[path = "../../incident/tests/support/cases.rs"]
mod cases;
mod common;

use std::collections::BTreeMap;
use std::path::Path;

use gtrace_catalogue::Catalogue;
use gtrace_event::{
    EventId, Gpu, HealthAction, HealthState, HealthSubject, Occasion, Occurrence, PciAddress,
    Provenance, Record, RuleOrigin, SubjectHealth, SubjectKind, Timestamp,
};
use serde::Deserialize;

use crate::cases::{Given, Ports};
use crate::common::{Host, replay, replay_from};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct History {
    about: String,
    #[serde(default)]
    ports: Ports,
    repeat: Option<Repeat>,
    step: Vec<Step>,
}

/// The first steps come again, each time later by `every`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Repeat {
    steps: usize,
    times: i32,
    every: String,
}

/// One thing happens; `expect` holds right after it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// Since the beginning: `90s`, `30m`, `2h`, `5d`.
    at: String,
    line: Option<String>,
    event: Option<Given>,
    #[serde(default = "cases::kernel")]
    provenance: Provenance,
    #[serde(default = "cases::one")]
    count: u32,
    /// Step whose event a person acknowledges.
    ack: Option<usize>,
    /// Step whose event gets another count of repeats, or another provenance.
    amend: Option<Amend>,
    /// `#` is how often it came before.
    boot: Option<String>,
    reset: Option<PciAddress>,
    #[serde(default)]
    reload: bool,
    found: Option<Found>,
    judged: Option<Judged>,
    /// The site's file of rules is this from now on; empty: it is gone.
    rules: Option<String>,
    /// The daemon starts again: in order, or after it was killed.
    restart: Option<Restart>,
    /// Time passes.
    #[serde(default)]
    wait: bool,
    #[serde(default)]
    expect: Vec<Expected>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Restart {
    InOrder,
    Killed,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Amend {
    step: usize,
    repeats: Option<u64>,
    provenance: Option<Provenance>,
    /// The GPU that it turns out to be about.
    gpu: Option<PciAddress>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Found {
    gpu: PciAddress,
    uuid: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Judged {
    component: String,
    state: HealthState,
    #[serde(default)]
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    /// `host`, `gpu 0000:3b:00.0`.
    of: String,
    /// Absent: nothing is known of it.
    state: Option<HealthState>,
    action: Option<HealthAction>,
    /// Rules of the reasons that hold; with `!` where it is escalated, `@site` where the rule is the site's.
    reasons: Option<Vec<String>>,
    /// Since when, as `at`.
    since: Option<String>,
    occurrences: Option<u64>,
    acknowledged: Option<bool>,
}

fn span(text: &str) -> jiff::SignedDuration {
    let (number, unit) = text.split_at(text.len() - 1);
    let factor = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        other => panic!("{other} is no unit"),
    };
    let seconds: i64 = number.parse().unwrap_or_else(|_| panic!("{text}"));
    jiff::SignedDuration::from_secs(seconds * factor)
}

fn time(text: &str) -> Timestamp {
    cases::begin() + span(text)
}

impl History {
    /// When each step is played, by its number, and how often it came before.
    fn played(&self) -> Vec<(Timestamp, usize, i32)> {
        let at = |number: usize| time(&self.step[number].at);
        let mut played = Vec::new();
        let mut first = 0;
        if let Some(repeat) = &self.repeat {
            first = repeat.steps;
            for n in 0..repeat.times {
                let later = span(&repeat.every) * n;
                played.extend((0..first).map(|number| (at(number) + later, number, n)));
            }
        }
        played.extend((first..self.step.len()).map(|number| (at(number), number, 0)));
        played
    }
}

fn occurrences(step: &Step) -> Vec<Occurrence> {
    match &step.line {
        Some(line) => cases::decoded(line),
        None => vec![step.event.as_ref().unwrap().occurrence()],
    }
}

struct Player {
    host: Host,
    boot: String,
    events: BTreeMap<usize, EventId>,
}

impl Player {
    fn play(&mut self, history: &History, number: usize, at: Timestamp, before: i32) {
        let step = &history.step[number];
        self.host.tick(at);
        assert!(
            !(step.wait && (step.line.is_some() || step.event.is_some())),
            "a step that waits does nothing else"
        );
        if step.line.is_some() || step.event.is_some() {
            for n in 0..step.count {
                let at = at + jiff::SignedDuration::from_millis(i64::from(n));
                for occurrence in occurrences(step) {
                    let id = self.event(history, step, at, occurrence);
                    self.events.insert(number, id);
                }
            }
        }
        if let Some(of) = step.ack {
            self.host.ack(self.events[&of], at);
        }
        if let Some(amend) = &step.amend {
            let catalogue = Catalogue::builtin();
            self.host.amend(self.events[&amend.step], at, |event| {
                if let Some(repeats) = amend.repeats {
                    (event.repeats, event.last_time) = (repeats, Some(at));
                }
                if let Some(provenance) = amend.provenance {
                    event.provenance = provenance;
                }
                if let Some(gpu) = amend.gpu {
                    event.gpu = Some(Gpu::at(gpu));
                }
                let mut occurrence = Occurrence::from(&*event);
                event.advice = Some(catalogue.assess(&mut occurrence));
                event.severity = occurrence.severity;
            });
        }
        let gpu = |pci: PciAddress| HealthSubject::new(SubjectKind::Gpu, pci.to_string());
        if let Some(boot) = &step.boot {
            let boot = boot.replace('#', &before.to_string());
            self.boot.clone_from(&boot);
            self.host.observe(at, Occasion::Boot { boot });
        }
        if let Some(pci) = step.reset {
            let subject = gpu(pci);
            self.host.observe(at, Occasion::GpuReset { subject });
        }
        if step.reload {
            self.host.observe(at, Occasion::DriverReload);
        }
        if let Some(found) = &step.found {
            let (subject, uuid) = (gpu(found.gpu), found.uuid.clone());
            self.host.observe(at, Occasion::Found { subject, uuid });
        }
        if let Some(judged) = &step.judged {
            let subject = HealthSubject::new(SubjectKind::Component, judged.component.clone());
            let occasion = Occasion::Judged {
                subject,
                rule: "component".to_owned(),
                state: judged.state,
                action: HealthAction::Watch,
                text: judged.text.clone(),
            };
            self.host.observe(at, occasion);
        }
        if let Some(text) = &step.rules {
            let site = (!text.is_empty()).then(|| text.clone());
            if let Some(text) = &site {
                gtrace_health::Rules::with_site("rules", text).unwrap();
            }
            self.host.observe(at, Occasion::Rules { site });
        }
        match step.restart {
            Some(Restart::InOrder) => self.host.restart(at, true),
            Some(Restart::Killed) => self.host.restart(at, false),
            None => {}
        }
    }

    fn event(
        &mut self,
        history: &History,
        step: &Step,
        at: Timestamp,
        mut occurrence: Occurrence,
    ) -> EventId {
        occurrence.provenance = step.provenance;
        cases::name_gpu(&mut occurrence, &history.ports);
        let mut event = cases::event(occurrence, at, &Catalogue::builtin());
        event.boot_id = Some(self.boot.clone());
        let id = event.id;
        self.host.append(Record::Event(Box::new(event)));
        id
    }

    fn check(&self, name: &str, number: usize, now: Timestamp, expected: &Expected) {
        let report = self.host.fold.report(now);
        let found = report
            .subjects
            .iter()
            .find(|subject| subject.subject.to_string() == expected.of);
        let about = format!("{name}, after step {number} at {now}, {}", expected.of);
        let Some(state) = expected.state else {
            assert!(found.is_none(), "{about}: {found:#?}");
            return;
        };
        let found = found.unwrap_or_else(|| panic!("{about}: not in {report:#?}"));
        let shown = || format!("{about}: {found:#?}");
        assert_eq!(found.state, state, "{}", shown());
        if let Some(action) = expected.action {
            assert_eq!(found.action, action, "{}", shown());
        }
        if let Some(reasons) = &expected.reasons {
            let mut wanted = reasons.clone();
            wanted.sort();
            assert_eq!(names(found), wanted, "{}", shown());
        }
        if let Some(since) = &expected.since {
            assert_eq!(found.since, time(since), "{}", shown());
        }
        let reasons = || found.reasons.iter();
        if let Some(occurrences) = expected.occurrences {
            let sum: u64 = reasons().map(|r| r.occurrences).sum();
            assert_eq!(sum, occurrences, "{}", shown());
        }
        if let Some(acknowledged) = expected.acknowledged {
            let any = reasons().any(|r| r.acknowledged.is_some());
            assert_eq!(any, acknowledged, "{}", shown());
        }
    }
}

fn names(subject: &SubjectHealth) -> Vec<String> {
    let name = |reason: &gtrace_event::HealthReason| {
        let escalated = if reason.escalated { "!" } else { "" };
        let origin = match reason.origin {
            RuleOrigin::Builtin => "",
            RuleOrigin::Site => "@site",
        };
        format!("{}{escalated}{origin}", reason.rule)
    };
    let mut names: Vec<String> = subject.reasons.iter().map(name).collect();
    names.sort();
    names
}

fn check(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.file_stem().unwrap().to_string_lossy();
    let history: History = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let name = format!("{name} ({})", history.about);
    let mut player = Player {
        host: Host::new(),
        boot: "boot-1".to_owned(),
        events: BTreeMap::new(),
    };
    player.host.observe(
        cases::begin(),
        Occasion::Boot {
            boot: "boot-1".to_owned(),
        },
    );
    let mut snapshots = Vec::new();
    let mut expectations = 0;
    for (at, number, before) in history.played() {
        player.play(&history, number, at, before);
        snapshots.push((player.host.records.len(), player.host.fold.snapshot()));
        for expected in &history.step[number].expect {
            player.check(&name, number, at, expected);
            expectations += 1;
        }
    }
    assert!(expectations > 0, "{name} expects nothing");
    let (records, live) = (&player.host.records, player.host.fold.snapshot());
    let whole = replay(records).fold.snapshot();
    assert_eq!(whole, live, "{name}: a replay comes to something else");
    for (at, snapshot) in snapshots {
        let replayed = replay_from(records, at, snapshot);
        assert_eq!(replayed, live, "{name}: from a snapshot after {at} records");
    }
}

#[test]
fn each_history_comes_to_the_states_that_it_names() {
    cases::each("histories", 60, check);
}
