//! Courses of events, and the incidents that they come to: `tests/sequences/*.toml`. Kernel text goes through decoder
//! and catalogue, as in the daemon.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

#[path = "support/cases.rs"]
mod cases;

use std::collections::BTreeMap;
use std::path::Path;

use gtrace_catalogue::Catalogue;
use gtrace_event::{
    Confidence, EventId, FailureClass, Incident, IncidentId, Occurrence, PciAddress, Provenance,
};
use gtrace_incident::{Correlator, Options, Rules};
use serde::Deserialize;

use crate::cases::{Given, Ports};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sequence {
    about: String,
    #[serde(default)]
    ports: Ports,
    step: Vec<Step>,
    #[serde(default)]
    incident: Vec<Expected>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// Seconds since the beginning.
    at: f64,
    /// `{n}` stands for the number of the event, from 0 on, of those of this step.
    line: Option<String>,
    event: Option<Given>,
    #[serde(default = "cases::kernel")]
    provenance: Provenance,
    /// How many events of it there are, spread over `over` seconds.
    #[serde(default = "cases::one")]
    count: u32,
    #[serde(default)]
    over: f64,
    /// The process as the daemon finds it, for lines that name a pid only.
    cgroup: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    class: FailureClass,
    /// Steps that belong to it.
    members: Vec<usize>,
    #[serde(default)]
    chain: Vec<[usize; 2]>,
    #[serde(default)]
    gpus: Vec<PciAddress>,
    /// How sure its causes are, in the order of the effects.
    #[serde(default)]
    confidence: Vec<Confidence>,
    #[serde(default)]
    pids: Vec<u32>,
    #[serde(default)]
    jobs: Vec<String>,
    #[serde(default)]
    drill: bool,
    /// Words that the title has.
    #[serde(default)]
    title: Vec<String>,
}

fn occurrences(step: &Step, n: u32) -> Vec<Occurrence> {
    match (&step.line, &step.event) {
        (Some(line), None) => cases::decoded(&line.replace("{n}", &n.to_string())),
        (None, Some(given)) => vec![given.occurrence()],
        _ => panic!("a step has a line or an event"),
    }
}

/// As the daemon completes an occurrence before it becomes an event.
fn complete(occurrence: &mut Occurrence, step: &Step, ports: &Ports) {
    occurrence.provenance = step.provenance;
    cases::name_gpu(occurrence, ports);
    if let (Some(cgroup), Some(process)) = (&step.cgroup, &mut occurrence.process) {
        process.cgroup = Some(cgroup.clone());
    }
}

struct Played {
    steps: BTreeMap<EventId, usize>,
    incidents: BTreeMap<IncidentId, Incident>,
}

fn play(sequence: &Sequence) -> Played {
    let catalogue = Catalogue::builtin();
    let mut correlator = Correlator::new(Rules::builtin().unwrap(), Options::default());
    let mut played = Played {
        steps: BTreeMap::new(),
        incidents: BTreeMap::new(),
    };
    for (number, step) in sequence.step.iter().enumerate() {
        for n in 0..step.count {
            let at = step.at + step.over * f64::from(n) / f64::from(step.count);
            let time = cases::begin() + jiff::SignedDuration::from_secs_f64(at);
            for mut occurrence in occurrences(step, n) {
                complete(&mut occurrence, step, &sequence.ports);
                let event = cases::event(occurrence, time, &catalogue);
                played.steps.insert(event.id, number);
                for changed in correlator
                    .ingest(&event)
                    .into_iter()
                    .chain(correlator.tick(time))
                {
                    let known = played.incidents.insert(changed.id, changed.clone());
                    assert!(
                        known.is_none_or(|known| known.revision < changed.revision),
                        "a revision that does not rise"
                    );
                }
            }
        }
    }
    played
}

fn check(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.file_stem().unwrap().to_string_lossy();
    let sequence: Sequence =
        toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let played = play(&sequence);
    let found: Vec<&Incident> = played.incidents.values().collect();
    let shown = || format!("{name} ({}): {:#?}", sequence.about, found);
    assert_eq!(found.len(), sequence.incident.len(), "{}", shown());
    let mut left: Vec<&Incident> = found.clone();
    for expected in &sequence.incident {
        let steps = |incident: &Incident| {
            let mut steps: Vec<usize> = incident.events.iter().map(|id| played.steps[id]).collect();
            steps.sort_unstable();
            steps.dedup();
            steps
        };
        let at = left
            .iter()
            .position(|incident| steps(incident) == expected.members);
        let at = at.unwrap_or_else(|| {
            let members: Vec<_> = left.iter().map(|incident| steps(incident)).collect();
            panic!(
                "{name}: no incident of the steps {:?}, but {members:?}",
                expected.members
            )
        });
        let incident = left.remove(at);
        assert_eq!(incident.class, expected.class, "{}", shown());
        assert_eq!(incident.drill, expected.drill, "{}", shown());
        let chain: Vec<[usize; 2]> = incident
            .chain
            .iter()
            .map(|link| [played.steps[&link.from], played.steps[&link.to]])
            .collect();
        if !expected.confidence.is_empty() {
            let sure: Vec<_> = incident.chain.iter().map(|link| link.confidence).collect();
            assert_eq!(sure, expected.confidence, "{name}");
        }
        for link in &expected.chain {
            assert!(
                chain.contains(link),
                "{name}: no cause {link:?} in {chain:?}"
            );
        }
        let affected = &incident.affected;
        let gpus: Vec<_> = affected.gpus.iter().filter_map(|gpu| gpu.pci).collect();
        for gpu in &expected.gpus {
            assert!(gpus.contains(gpu), "{name}: {gpu} is not in {gpus:?}");
        }
        let pids: Vec<_> = affected.processes.iter().filter_map(|p| p.pid).collect();
        for pid in &expected.pids {
            assert!(pids.contains(pid), "{name}: {pid} is not in {pids:?}");
        }
        for job in &expected.jobs {
            assert!(
                affected.jobs.contains(job),
                "{name}: {job} is not in {:?}",
                affected.jobs
            );
        }
        for word in &expected.title {
            assert!(
                incident.title.contains(word),
                "{name}: {word:?} is not in {:?}",
                incident.title
            );
        }
        assert!(
            incident.title.chars().count() <= 200 && !incident.title.is_empty(),
            "{}",
            shown()
        );
    }
}

#[test]
fn each_sequence_comes_to_the_incidents_that_it_names() {
    cases::each("sequences", 12, check);
}
