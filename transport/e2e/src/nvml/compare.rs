//! Compares what NVML (or nvidia-smi) answers directly with what it answers through the network.
//!
//! A device does not stand still: its clocks, its power, its temperature and its processes change by themselves.
//! So the direct answers are taken twice, before and after the others. Where the two differ, and for functions that
//! are known to be of such things, the answer must be there with the same status, and its value is
//! not compared. Everything else must be the same, byte for byte.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// Parts of the names of functions whose values change by themselves.
const CHANGING: [&str; 29] = [
    "AccountingPids",
    "AccountingStats",
    "BAR1MemoryInfo",
    "ClockInfo",
    "CoolerInfo",
    "CurrentClockFreqs",
    "CurrPcieLink",
    "CurrentClocks",
    "DynamicPstates",
    "EncoderSessions",
    "EncoderStats",
    "FBCSessions",
    "FBCStats",
    "FanSpeed",
    "GetClock",
    "GetMemoryInfo",
    "GetSamples",
    "PcieSpeed",
    "PcieThroughput",
    "PerformanceState",
    "PowerState",
    "PowerUsage",
    "ProtectedMemoryUsage",
    "RunningProcesses",
    "Temperature",
    "ThermalSettings",
    "TotalEnergyConsumption",
    "Utilization",
    "ViolationStatus",
];
/// Fields whose values change by themselves, by NVML's numbers: times of clocks held back, temperature of the memory
/// and energy (74 to 83), data over NVLink (138 to 141, 201 to 204) and its power state (167), power (185, 186),
/// energy (191), bytes over PCIe (197, 198).
const FIELDS: [RangeInclusive<u32>; 7] = [
    74..=83,
    138..=141,
    167..=167,
    185..=186,
    191..=191,
    197..=198,
    201..=204,
];
/// Names that contain one of these parts and do not change all the same.
const STANDING: [&str; 4] = [
    "AdaptiveClockInfoStatus",
    "GetClockOffsets",
    "MaxClockInfo",
    "TemperatureThreshold",
];
/// Statuses of a function that the driver's NVML does not have, in the client's library that has all of them:
/// NVML_ERROR_NOT_SUPPORTED, NVML_ERROR_FUNCTION_NOT_FOUND.
const ABSENT: [&str; 2] = ["3", "13"];

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status, or nothing where there is none.
    pub status: String,
    /// Whatever else was answered.
    pub value: String,
}

/// Answers by what was asked.
pub type Answers = BTreeMap<String, Answer>;

/// What a comparison found.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Answers that are the same.
    pub same: usize,
    /// What changes by itself: status and presence are the same.
    pub changing: BTreeSet<String>,
    /// Answers that differ.
    pub different: Vec<String>,
}

/// Reads lines of `gtrace-e2e-client nvml`.
pub fn answers(text: &str) -> Answers {
    let parts = text.lines().filter_map(|line| line.split_once(": "));
    parts
        .map(|(key, answer)| {
            let (status, value) = answer.split_once(' ').unwrap_or((answer, ""));
            let answer = Answer {
                status: status.to_owned(),
                value: value.to_owned(),
            };
            (key.to_owned(), answer)
        })
        .collect()
}

/// Reads what `nvidia-smi -q` prints: names are found by the names above them, which are less indented.
pub fn nvidia_smi(text: &str) -> Answers {
    let mut above: Vec<(usize, String)> = Vec::new();
    let mut answers = Answers::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let indent = line.len() - line.trim_start().len();
        while above.last().is_some_and(|(of, _)| *of >= indent) {
            above.pop();
        }
        let (name, value) = line.trim().split_once(" : ").unwrap_or((line.trim(), ""));
        above.push((indent, name.trim().to_owned()));
        let path: Vec<_> = above.iter().map(|(_, name)| name.as_str()).collect();
        let mut key = path.join(" / ");
        // Of processes there are several of one name.
        while answers.contains_key(&key) {
            key.push('\'');
        }
        let answer = Answer {
            status: String::new(),
            value: value.trim().to_owned(),
        };
        answers.insert(key, answer);
    }
    answers
}

/// Compares `remote` with the direct answers of before and after it.
pub fn compare(before: &Answers, remote: &Answers, after: &Answers) -> Comparison {
    let mut found = Comparison::default();
    for (key, direct) in before {
        let later = after.get(key);
        match remote.get(key) {
            Some(answer) if answer == direct || Some(answer) == later => found.same += 1,
            Some(answer)
                if is_status_of(answer, direct, later) && is_changing(key, direct, later) =>
            {
                found.changing.insert(name_of(key));
            }
            Some(answer) => found.different.push(format!(
                "{key}: directly {}{}, remotely {}",
                show(direct),
                match later {
                    Some(later) if later != direct => format!(", then {}", show(later)),
                    _ => String::new(),
                },
                show(answer)
            )),
            None if direct.status == "absent" => match absent_remotely(remote, key) {
                Ok(()) => found.same += 1,
                Err(difference) => found.different.push(difference),
            },
            None if later.is_none() => {
                found.changing.insert(name_of(key));
            }
            None => found.different.push(format!(
                "{key}: directly {}, remotely nothing",
                show(direct)
            )),
        }
    }
    for (key, answer) in remote {
        let absent = before
            .get(&function_of(key))
            .is_some_and(|direct| direct.status == "absent");
        if !before.contains_key(key) && !after.contains_key(key) && !absent {
            found.different.push(format!(
                "{key}: directly nothing, remotely {}",
                show(answer)
            ));
        }
    }
    found
}

fn show(answer: &Answer) -> String {
    format!("{} {}", answer.status, answer.value)
        .trim()
        .to_owned()
}

fn is_status_of(answer: &Answer, direct: &Answer, later: Option<&Answer>) -> bool {
    answer.status == direct.status || later.is_some_and(|later| answer.status == later.status)
}

fn is_changing(key: &str, direct: &Answer, later: Option<&Answer>) -> bool {
    let name = function_of(key);
    let contains = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    let known = contains(&CHANGING) && !contains(&STANDING)
        || field(key).is_some_and(|id| FIELDS.iter().any(|ids| ids.contains(&id)));
    known || later.is_none_or(|later| later != direct)
}

/// The number of a field.
fn field(key: &str) -> Option<u32> {
    let arguments = key.strip_prefix("nvmlDeviceGetFieldValues(")?;
    arguments
        .rsplit_once(", ")?
        .1
        .trim_end_matches(')')
        .parse()
        .ok()
}

/// What the results name: a function, or one field.
fn name_of(key: &str) -> String {
    match field(key) {
        Some(id) => format!("field {id}"),
        None => function_of(key),
    }
}

/// The part before the arguments.
fn function_of(key: &str) -> String {
    let end = key.find('(').filter(|_| key.starts_with("nvml"));
    key[..end.unwrap_or(key.len())].to_owned()
}

/// A function that the driver's NVML does not have is refused by the client's.
fn absent_remotely(remote: &Answers, name: &str) -> Result<(), String> {
    let calls = remote.iter().filter(|(key, _)| function_of(key) == name);
    for (key, answer) in calls {
        if !ABSENT.contains(&answer.status.as_str()) {
            return Err(format!(
                "{key}: the driver has no such function, remotely {}",
                show(answer)
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(before: &str, remote: &str, after: &str) -> Comparison {
        compare(&answers(before), &answers(remote), &answers(after))
    }

    #[test]
    fn constant_values_must_be_the_same() {
        let name = "nvmlDeviceGetName(device 0, 96): 0 Success name=\"A\"\n";
        assert!(of(name, name, name).different.is_empty());
        let other = name.replace("\"A\"", "\"B\"");
        assert_eq!(of(name, &other, name).different.len(), 1);
        assert_eq!(of(name, "", name).different.len(), 1);
        assert_eq!(of("", name, "").different.len(), 1);
    }

    #[test]
    fn what_changes_must_be_there_with_the_same_status() {
        let power = "nvmlDeviceGetPowerUsage(device 0): 0 Success power=70000\n";
        let more = power.replace("70000", "70100");
        let found = of(power, &more, power);
        assert!(found.different.is_empty());
        assert!(found.changing.contains("nvmlDeviceGetPowerUsage"));
        let failed = "nvmlDeviceGetPowerUsage(device 0): 3 Not Supported\n";
        assert_eq!(of(power, failed, power).different.len(), 1);
        assert_eq!(of(power, "", power).different.len(), 1);
        let energy = "nvmlDeviceGetFieldValues(device 0, 83): 0 Success type=3 value=5\n";
        let found = of(energy, &energy.replace("=5", "=6"), energy);
        assert!(found.changing.contains("field 83"), "{found:?}");
        let limit = "nvmlDeviceGetFieldValues(device 0, 188): 0 Success type=1 value=5\n";
        assert_eq!(
            of(limit, &limit.replace("=5", "=6"), limit).different.len(),
            1
        );
        // Of the same kind by its name, and yet a constant.
        let clock = "nvmlDeviceGetMaxClockInfo(device 0, 1): 0 Success clock=1980\n";
        assert_eq!(
            of(clock, &clock.replace("1980", "1981"), clock)
                .different
                .len(),
            1
        );
    }

    #[test]
    fn what_differs_between_two_direct_answers_changes_by_itself() {
        let counter =
            |n: u32| format!("nvmlDeviceGetPcieReplayCounter(device 0): 0 Success value={n}\n");
        let found = of(&counter(1), &counter(2), &counter(3));
        assert!(found.different.is_empty() && found.changing.len() == 1);
        assert_eq!(of(&counter(1), &counter(2), &counter(1)).different.len(), 1);
    }

    #[test]
    fn a_function_that_the_driver_lacks_is_refused_remotely() {
        let absent = "nvmlDeviceGetPdi: absent\n";
        let refused = "nvmlDeviceGetPdi(device 0): 13 Function Not Found\n";
        assert!(of(absent, refused, absent).different.is_empty());
        let answered = "nvmlDeviceGetPdi(device 0): 0 Success pdi=1\n";
        assert_eq!(of(absent, answered, absent).different.len(), 1);
    }

    #[test]
    fn nvidia_smi_is_read_by_its_indentation() {
        let text = "Driver Version : 1\n\nGPU 00000000:01:00.0\n    Clocks\n        SM : 5 MHz\n    Max Clocks\n        SM : 9 MHz\n";
        let answers = nvidia_smi(text);
        assert_eq!(answers["GPU 00000000:01:00.0 / Clocks / SM"].value, "5 MHz");
        assert_eq!(
            answers["GPU 00000000:01:00.0 / Max Clocks / SM"].value,
            "9 MHz"
        );
        assert_eq!(answers["Driver Version"].value, "1");
    }
}
