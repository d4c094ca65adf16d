//! What is recorded: an entry is a line of JSON.

use std::io::Write as _;

use gtrace_event::{Occurrence, Process, Timestamp, WitnessName};
use serde::{Deserialize, Serialize};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When.
    pub time: Timestamp,
    /// What.
    #[serde(flatten)]
    pub what: What,
}

/// See [`Entry`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum What {
    /// A record of the kernel log.
    Kernel(KernelLine),
    /// What a probe saw: a call that was slow or failed, the end of a process, an error of a device.
    Observed {
        /// The probe.
        witness: WitnessName,
        /// What it saw.
        occurrence: Box<Occurrence>,
    },
    /// A process opened a device of the driver, or has closed all.
    Process {
        /// Which of the two.
        change: ProcessChange,
        /// The process, with control group and container.
        process: Box<Process>,
        /// Names of the device files.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        devices: Vec<String>,
        /// The job of a scheduler that it belongs to: `slurm:4711`, `pod:UID`.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        job: Option<String>,
    },
    /// A kernel module of the driver came or went.
    Module {
        /// Which of the two.
        change: ModuleChange,
        /// Its name.
        name: String,
    },
    /// Entries that are not here.
    LeftOut {
        /// Of what: `driver calls`.
        of: String,
        /// How many.
        count: u64,
        /// Why.
        why: String,
    },
    /// A daemon began to record.
    Started {
        /// Its version.
        version: String,
        /// The kernel's boot id.
        boot_id: String,
    },
}

/// A record of the kernel log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelLine {
    /// Level of syslog, 0 (emergency) to 7 (debug).
    pub level: u8,
    /// Facility of syslog: 0 is the kernel, anything else a process that wrote to the log.
    pub facility: u8,
    /// Its number in the log.
    pub seq: u64,
    /// The text, without prefix.
    pub text: String,
}

/// What became of a process's files on devices of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessChange {
    /// It opened the first.
    Opened,
    /// It has none left.
    Closed,
}

/// What became of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModuleChange {
    /// It was loaded.
    Loaded,
    /// It was unloaded.
    Unloaded,
}

/// `entry` as a line, with its end.
pub fn line(entry: &Entry) -> Vec<u8> {
    let mut out = Vec::with_capacity(160);
    // Structs of texts and numbers have a form in JSON, and a Vec takes all bytes.
    let _ = serde_json::to_writer(&mut out, entry);
    out.push(b'\n');
    out
}

/// As [`line()`] of a record of the kernel log, of which there are thousands in a second.
pub fn kernel_line(time: Timestamp, record: &KernelLine) -> Vec<u8> {
    let KernelLine {
        level,
        facility,
        seq,
        text,
    } = record;
    let mut out = Vec::with_capacity(text.len() + 112);
    // A Vec takes all bytes.
    let _ = write!(
        out,
        r#"{{"time":"{time}","kind":"kernel","level":{level},"facility":{facility},"seq":{seq},"text":"#
    );
    let _ = serde_json::to_writer(&mut out, text);
    out.extend_from_slice(b"}\n");
    out
}

#[cfg(test)]
mod tests {
    use gtrace_event::{Kind, Severity};

    use super::*;

    #[test]
    fn a_record_of_the_kernel_log_is_written_as_any_entry() {
        let time: Timestamp = "2026-03-03T04:05:06.789Z".parse().unwrap();
        let record = KernelLine {
            level: 3,
            facility: 1,
            seq: u64::MAX,
            text: "a \"text\" of\nlines, \u{7f}ä\u{1}".to_owned(),
        };
        let what = What::Kernel(record.clone());
        assert_eq!(kernel_line(time, &record), line(&Entry { time, what }));
    }

    #[test]
    fn every_kind_of_entry_is_a_line_that_reads_back() {
        let time: Timestamp = "2026-03-03T04:05:06.789Z".parse().unwrap();
        let all = [
            What::Kernel(KernelLine {
                level: 3,
                facility: 0,
                seq: 7,
                text: "NVRM: Xid\n(PCI:0000:3b:00): 79".to_owned(),
            }),
            What::Observed {
                witness: WitnessName::DriverIoctl,
                occurrence: Box::new(Occurrence::new(Kind::SlowCall, Severity::Warning, "slow")),
            },
            What::Process {
                change: ProcessChange::Opened,
                process: Box::default(),
                devices: vec!["nvidia0".to_owned()],
                job: Some("slurm:4711".to_owned()),
            },
            What::Module {
                change: ModuleChange::Unloaded,
                name: "nvidia_uvm".to_owned(),
            },
            What::LeftOut {
                of: "driver calls".to_owned(),
                count: 3,
                why: "more than 200 in a second".to_owned(),
            },
            What::Started {
                version: "0.1.0".to_owned(),
                boot_id: "b".to_owned(),
            },
        ];
        for what in all {
            let entry = Entry { time, what };
            let line = line(&entry);
            assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
            assert_eq!(serde_json::from_slice::<Entry>(&line).unwrap(), entry);
        }
    }
}
