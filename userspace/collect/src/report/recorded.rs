//! What the flight recorder has of the time: evidence of the incident, else its last minutes.

use std::path::{Path, PathBuf};

use gtrace_event::{Event, MissingEvidence, Process, Timestamp};
use gtrace_recorder::{Disk, Entry, ModuleChange, ProcessChange, Snapshot, What, evidence};
use gtrace_report::{Call, LogRecord, Loss, Material, SnapshotPart};

use super::calls;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    entries: Vec<Entry>,
    snapshot: Option<Snapshot>,
    /// Directory of the samples of that time.
    pub(super) samples: Option<PathBuf>,
}

impl Recorded {
    /// Reads it. What is not as the incident's record says is named in `material`.
    pub(super) fn read(
        material: &mut Material,
        evidence: Option<&Path>,
        recorder: Option<&Path>,
    ) -> Self {
        let incident = material.incident.as_ref();
        let kept = incident.filter(|incident| !incident.evidence.is_empty());
        if let Some(incident) = kept
            && let Some(root) = evidence
        {
            let kept = evidence::read(root, incident.id, &incident.evidence);
            material.missing.extend(kept.missing);
            let traced = kept.calls.iter().map(|(pid, _)| format!("process {pid}"));
            let traced: Vec<String> = traced.collect();
            if !traced.is_empty() {
                material.notes.push(format!(
                    "gtrace trace was recording {}: trace.pftrace has its last calls, each with its time",
                    traced.join(", ")
                ));
            }
            material.traces = kept.calls.into_iter().map(|(_, trace)| trace).collect();
            let mut recorded = Self {
                entries: kept.lines.entries,
                snapshot: kept.snapshot,
                samples: kept.samples,
            };
            recorded.losses(material, kept.lines.unreadable);
            return recorded;
        }
        if let (Some(incident), Some(root)) = (incident, evidence)
            && evidence::is_under_way(root, incident.id)
        {
            let why = "it is recorded until half a minute after the incident opened: make the report again then";
            material.missing.push(MissingEvidence::new("evidence", why));
        }
        // Another host's store was copied without them, or nothing is recorded there.
        let lines =
            recorder.and_then(|dir| Disk::read(dir, material.window.from, material.window.to).ok());
        let lines = lines.unwrap_or_default();
        let mut recorded = Self {
            entries: lines.entries,
            ..Self::default()
        };
        recorded.losses(material, lines.unreadable);
        recorded
    }

    fn losses(&mut self, material: &mut Material, unreadable: u64) {
        if unreadable > 0 {
            material.losses.push(Loss {
                what: "lines of the flight recorder".to_owned(),
                count: Some(unreadable),
                why: "a crash has torn them, or a newer gtrace wrote them".to_owned(),
            });
        }
        let left_out = self.entries.iter().filter_map(|entry| match &entry.what {
            What::LeftOut { of, count, why } => Some(Loss {
                what: of.clone(),
                count: Some(*count),
                why: format!("{why}; counted, and not recorded one by one"),
            }),
            _ => None,
        });
        material.losses.extend(left_out);
        self.entries.sort_by_key(|entry| entry.time);
    }

    /// The records of the kernel log, with their numbers in it.
    pub(super) fn kernel_log(&self) -> Vec<(u64, LogRecord)> {
        let record = |entry: &Entry| match &entry.what {
            What::Kernel(line) => Some((
                line.seq,
                LogRecord {
                    time: entry.time,
                    priority: Some(line.level),
                    text: line.text.clone(),
                },
            )),
            _ => None,
        };
        self.entries.iter().filter_map(record).collect()
    }

    /// Slow and failed calls: each that was recorded, and those of events of another time.
    pub(super) fn calls(&self, events: &[Event]) -> Vec<Call> {
        let call = |entry: &Entry| match &entry.what {
            What::Observed { occurrence, .. } => calls::of_occurrence(entry.time, occurrence),
            _ => None,
        };
        let mut all: Vec<Call> = self.entries.iter().filter_map(call).collect();
        let ends = self.entries.first().zip(self.entries.last());
        let is_recorded = |time: Timestamp| {
            ends.is_some_and(|(first, last)| (first.time..=last.time).contains(&time))
        };
        let others = events.iter().filter(|event| !is_recorded(event.time));
        all.extend(others.filter_map(calls::of_event));
        all.sort_by_key(|call| call.start);
        all
    }

    /// The state of the host at the opening, and who came and went.
    pub(super) fn snapshot(&self) -> Vec<SnapshotPart> {
        let mut parts = Vec::new();
        let comings: Vec<String> = self.entries.iter().filter_map(coming).collect();
        if !comings.is_empty() {
            parts.push(SnapshotPart {
                name: "processes with a GPU and modules of the driver that came and went"
                    .to_owned(),
                text: comings.join("\n"),
                error: None,
            });
        }
        if let Some(snapshot) = &self.snapshot {
            parts.extend(snapshot.parts.iter().map(|part| SnapshotPart {
                name: format!("{} at {}", part.name, snapshot.time),
                text: part.text.clone(),
                error: part.error.clone(),
            }));
        }
        parts
    }
}

fn coming(entry: &Entry) -> Option<String> {
    let name = |process: &Process| {
        let comm = process.comm.as_deref().unwrap_or("?");
        format!("{comm} ({})", process.pid.unwrap_or(0))
    };
    let text = match &entry.what {
        What::Process {
            change,
            process,
            devices,
            job,
        } => {
            let change = match change {
                ProcessChange::Opened => format!("opened {}", devices.join(" ")),
                ProcessChange::Closed => "has closed all".to_owned(),
            };
            let group = process
                .cgroup
                .as_ref()
                .map(|path| format!(", cgroup {path}"));
            let container = process
                .container
                .as_ref()
                .map(|id| format!(", container {id}"));
            let job = job.as_ref().map(|job| format!(", job {job}"));
            let whose: String = [group, container, job].into_iter().flatten().collect();
            format!("{} {change}{whose}", name(process))
        }
        What::Module { change, name } => match change {
            ModuleChange::Loaded => format!("module {name} was loaded"),
            ModuleChange::Unloaded => format!("module {name} was unloaded"),
        },
        What::Observed { occurrence, .. }
            if occurrence.kind == gtrace_event::Kind::GpuProcessExit =>
        {
            occurrence.message.clone()
        }
        What::Started { version, .. } => format!("gtrace {version} began to record"),
        _ => return None,
    };
    Some(format!("{} {text}", entry.time))
}

#[cfg(test)]
mod tests {
    use gtrace_event::{FailureClass, Incident, Severity};
    use gtrace_recorder::{Plan, Recording};
    use gtrace_report::Window;

    use super::*;

    #[test]
    fn a_report_says_that_the_evidence_is_being_recorded() {
        let root = tempfile::tempdir().unwrap();
        let time: Timestamp = "2026-03-03T04:05:06Z".parse().unwrap();
        let incident = Incident::new(time, FailureClass::Pcie, Severity::Fatal);
        let plan = Plan {
            incident: incident.id,
            from: time,
            opened: time,
            until: time,
        };
        let recording = Recording::begin(root.path(), plan, b"", 1 << 20).unwrap();
        let window = Window {
            from: time,
            to: time,
        };
        let mut material = Material::new(time, String::new(), window);
        material.incident = Some(incident);
        let mut missing = || {
            material.missing.clear();
            Recorded::read(&mut material, Some(root.path()), None);
            material.missing.iter().any(|one| one.what == "evidence")
        };
        assert!(missing());
        recording.finish().unwrap();
        evidence::settle(root.path(), plan.incident).unwrap();
        assert!(!missing());
    }
}
