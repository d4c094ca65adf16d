//! The faults that the demonstration injects, and how it knows them again.

use serde_json::Value;

/// One injected fault.
pub(crate) struct Drill {
    /// Arguments of `gtrace inject`.
    pub(crate) inject: &'static [&'static str],
    /// The event's kind.
    kind: &'static str,
    /// A field of the event's detail and its value, as text.
    detail: Option<(&'static str, &'static str)>,
    /// PCI address of the device.
    device: Option<&'static str>,
    /// The process.
    pid: Option<u64>,
}

const GPU: &str = "0000:3b:00.0";
const PORT: &str = "0000:00:1c.0";

/// Every drill: each line is a fault that people meet, and each is of another code or device.
pub(crate) const DRILLS: [Drill; 10] = [
    Drill {
        inject: &["xid", "79", "--gpu", GPU],
        kind: "xid",
        detail: Some(("xid", "79")),
        device: Some(GPU),
        pid: None,
    },
    Drill {
        inject: &[
            "xid", "31", "--gpu", GPU, "--pid", "4242", "--comm", "python3",
        ],
        kind: "xid",
        detail: Some(("xid", "31")),
        device: Some(GPU),
        pid: Some(4242),
    },
    Drill {
        inject: &["xid", "94", "--gpu", "0000:5e:00.0"],
        kind: "xid",
        detail: Some(("xid", "94")),
        device: Some("0000:5e:00.0"),
        pid: None,
    },
    Drill {
        inject: &["xid", "154", "--gpu", GPU],
        kind: "xid",
        detail: Some(("xid", "154")),
        device: Some(GPU),
        pid: None,
    },
    Drill {
        inject: &["sxid", "12028", "--nvswitch", "0", "--gpu", "0000:c1:00.0"],
        kind: "sxid",
        detail: Some(("sxid", "12028")),
        device: Some("0000:c1:00.0"),
        pid: None,
    },
    Drill {
        inject: &["aer", "corrected", "--gpu", PORT],
        kind: "aer",
        detail: Some(("severity", "corrected")),
        device: Some(PORT),
        pid: None,
    },
    Drill {
        inject: &["aer", "nonfatal", "--gpu", "0000:00:1d.0"],
        kind: "aer",
        detail: Some(("severity", "non-fatal")),
        device: Some("0000:00:1d.0"),
        pid: None,
    },
    Drill {
        inject: &["aer", "fatal", "--gpu", "0000:00:1e.0"],
        kind: "aer",
        detail: Some(("severity", "(fatal)")),
        device: Some("0000:00:1e.0"),
        pid: None,
    },
    Drill {
        inject: &["oom-kill", "--pid", "4243", "--comm", "trainer"],
        kind: "oom_kill",
        detail: None,
        device: None,
        pid: Some(4243),
    },
    Drill {
        inject: &[
            "line",
            "INFO: task dataloader:4244 blocked for more than 122 seconds.",
        ],
        kind: "hung_task",
        detail: Some(("seconds", "122")),
        device: None,
        pid: Some(4244),
    },
];

impl Drill {
    /// For people: the command that injects it, without what is too long to read.
    pub(crate) fn name(&self) -> String {
        let words = self.inject.iter().map(|word| {
            let end = word.char_indices().nth(40).map_or(word.len(), |(at, _)| at);
            if end < word.len() {
                format!("'{}…'", &word[..end])
            } else {
                (*word).to_owned()
            }
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// The event among `events` that this drill caused.
    pub(crate) fn find<'e>(&self, events: &'e [Value], since: &str) -> Option<&'e Value> {
        events
            .iter()
            .find(|event| happened_since(event, since) && self.is(event))
    }

    /// An event as this drill should cause it.
    #[cfg(test)]
    pub(crate) fn sample(&self) -> Value {
        let mut event = serde_json::json!({
            "time": "2026-03-03T04:05:06.123456789Z",
            "kind": self.kind,
            "gpu": { "pci": self.device },
            "process": { "pid": self.pid },
            "witnesses": [{ "source": "printk:console" }, { "source": "/dev/kmsg" }],
            "provenance": "injected",
        });
        if let Some((field, text)) = self.detail {
            let number = text.parse::<u64>().map(Value::from);
            event["detail"][field] = number.unwrap_or_else(|_| text.into());
        }
        event
    }

    fn is(&self, event: &Value) -> bool {
        event["kind"] == self.kind
            && self.detail.is_none_or(|(field, wanted)| {
                let text = match &event["detail"][field] {
                    Value::String(text) => text.to_lowercase(),
                    other => other.to_string(),
                };
                match self.kind {
                    "aer" => severity_matches(&text, wanted),
                    _ => text == wanted,
                }
            })
            && self.device.is_none_or(|pci| {
                // An error of PCIe names the device that the kernel named, which need be no GPU.
                event["gpu"]["pci"] == pci || event["detail"]["pci_device"] == pci
            })
            && self.pid.is_none_or(|pid| event["process"]["pid"] == pid)
    }
}

/// Kernels differ in their words: `Corrected` and `Correctable`, `Uncorrected (Fatal)` and
/// `Uncorrectable (Fatal)`.
fn severity_matches(text: &str, wanted: &str) -> bool {
    match wanted {
        "corrected" => text.starts_with("correct"),
        other => text.contains(other),
    }
}

/// The sources that read the kernel log and are active, out of what `gtrace status --json`
/// prints: each of them has to see every drill. `None` where no daemon answered.
pub(crate) fn log_sources(status: &Value) -> Option<Vec<String>> {
    if status["running"] != true {
        return None;
    }
    let sources = status["status"]["sources"].as_array();
    let names = sources
        .into_iter()
        .flatten()
        .filter(|source| source["state"] == "active")
        .filter_map(|source| source["witness"].as_str())
        .filter(|name| ["printk:console", "/dev/kmsg"].contains(name))
        .map(str::to_owned);
    Some(names.collect())
}

/// What is wrong with an event that was found and that `sources` should have seen; empty if
/// nothing is.
pub(crate) fn faults(event: &Value, sources: &[String]) -> Vec<String> {
    let mut faults = Vec::new();
    if event["provenance"] != "injected" {
        faults.push(format!(
            "provenance is {}, not injected",
            event["provenance"]
        ));
    }
    let seen_by = witnesses(event);
    if seen_by.is_empty() {
        faults.push("it has no witness".to_owned());
    }
    let blind = sources.iter().filter(|s| !seen_by.contains(&s.as_str()));
    faults.extend(blind.map(|source| format!("{source} did not see it")));
    faults
}

/// The names of the sources that saw `event`.
pub(crate) fn witnesses(event: &Value) -> Vec<&str> {
    let list = event["witnesses"].as_array();
    list.into_iter()
        .flatten()
        .filter_map(|witness| witness["source"].as_str())
        .collect()
}

/// Whether `event`, or its newest repeat, is not older than the second `since`
/// (`2026-01-01T00:00:00`, UTC). The kernel log still holds the drills of earlier runs.
fn happened_since(event: &Value, since: &str) -> bool {
    [&event["last_time"], &event["time"]]
        .into_iter()
        .filter_map(Value::as_str)
        .filter_map(|time| time.get(..since.len()))
        .any(|second| second >= since)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn xid_79() -> Value {
        DRILLS[0].sample()
    }

    #[test]
    fn no_drill_is_taken_for_another() {
        let since = "2026-01-01T00:00:00";
        for (at, drill) in DRILLS.iter().enumerate() {
            for (other, event) in DRILLS.iter().map(Drill::sample).enumerate() {
                assert_eq!(drill.find(&[event], since).is_some(), at == other);
            }
        }
    }

    #[test]
    fn a_drill_knows_its_event_by_code_and_device() {
        let since = "2026-03-03T04:05:06";
        assert!(DRILLS[0].find(&[xid_79()], since).is_some());
        assert!(DRILLS[1].find(&[xid_79()], since).is_none());
        let mut other_gpu = xid_79();
        other_gpu["gpu"]["pci"] = json!("0000:5e:00.0");
        assert!(DRILLS[0].find(&[other_gpu], since).is_none());
    }

    #[test]
    fn an_event_of_an_earlier_run_does_not_count_unless_it_was_repeated() {
        let since = "2026-03-03T04:05:07";
        let mut event = xid_79();
        assert!(DRILLS[0].find(&[event.clone()], since).is_none());
        event["last_time"] = json!("2026-03-03T04:05:08Z");
        assert!(DRILLS[0].find(&[event], since).is_some());
    }

    #[test]
    fn an_event_must_be_marked_as_injected_and_be_seen_by_every_log_source() {
        let sources = ["printk:console".to_owned(), "/dev/kmsg".to_owned()];
        assert!(faults(&xid_79(), &sources).is_empty());
        let mut event = xid_79();
        event["provenance"] = json!("kernel");
        event["witnesses"] = json!([{ "source": "/dev/kmsg" }]);
        assert_eq!(faults(&event, &sources).len(), 2);
        assert_eq!(faults(&event, &sources[1..]).len(), 1);
        event["witnesses"] = json!([]);
        assert_eq!(faults(&event, &[]).len(), 2);
    }

    #[test]
    fn only_a_running_daemon_has_sources() {
        assert_eq!(log_sources(&json!({ "running": false })), None);
        let status = json!({ "running": true, "status": { "sources": [
            { "witness": "printk:console", "state": "absent" },
            { "witness": "/dev/kmsg", "state": "active" },
            { "witness": "nvml", "state": "active" },
        ] } });
        assert_eq!(log_sources(&status).unwrap(), ["/dev/kmsg"]);
    }

    #[test]
    fn severities_are_known_in_the_words_of_old_and_new_kernels() {
        assert!(severity_matches("correctable", "corrected"));
        assert!(severity_matches("uncorrectable (non-fatal)", "non-fatal"));
        assert!(severity_matches("uncorrected (fatal)", "(fatal)"));
        assert!(!severity_matches("uncorrected (non-fatal)", "(fatal)"));
        assert!(!severity_matches("uncorrected (fatal)", "corrected"));
    }
}
