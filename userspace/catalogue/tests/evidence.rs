//! Nothing that gtrace advises destroys the evidence of a fault before it says to keep it: no reset, restart or reload
//! stands before that step, in the catalogue, the built-in policy, the pages of docs/events and docs/runbooks.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use gtrace_catalogue::Catalogue;
use gtrace_event::{Detail, Kind, Occurrence, Severity};

/// Words of a step after which the state of GPU, driver or host is gone.
const DESTROYS: &[&str] = &[
    "reset it",
    "reset the gpu",
    "resets the gpu",
    "reset all",
    "and reset",
    "then reset",
    ", reset,",
    "gpu-reset",
    "restart the host",
    "restart the virtual machine",
    "the host and restart",
    "restart it; ask",
    "drain and restart",
    "reload the driver",
    "reload the module",
    "boot again",
    "power cycle",
    "power-cycle",
    "stop and start the instance",
    "rmmod",
];
/// What keeps it, or says how.
const KEEPS: &[&str] = &[
    "gtrace capture",
    "nvidia-bug-report.sh",
    "save evidence",
    "keep the dump",
];

fn has(step: &str, words: &[&str]) -> bool {
    let step = step.to_lowercase().replace("do not reset", "");
    words.iter().any(|word| step.contains(word))
}

/// A step that says to keep it at once, not only where the fault returns, and that destroys nothing itself before it does.
fn keeps(step: &str) -> bool {
    let step = step.to_lowercase();
    let of = |words: &[&str]| words.iter().filter_map(|word| step.find(word)).min();
    let at = of(KEEPS).filter(|_| !step.starts_with("if it"));
    at.is_some_and(|at| {
        step.contains("before any reset") || of(DESTROYS).is_none_or(|destroys| at < destroys)
    })
}

/// The step that comes too early.
fn too_early<S: AsRef<str>>(steps: &[S]) -> Option<&str> {
    let steps = steps.iter().map(AsRef::as_ref);
    steps
        .take_while(|step| !keeps(step))
        .find(|step| has(step, DESTROYS))
}

#[test]
fn the_check_finds_what_it_is_for() {
    let reset = "Stop everything that uses the GPU and reset it: nvidia-smi --gpu-reset -i <GPU>.";
    let late = "Run nvidia-bug-report.sh before any reset and open a case with the vendor.";
    assert_eq!(too_early(&[reset, late]), Some(reset));
    assert_eq!(
        too_early(&["If it returns, run nvidia-bug-report.sh.", reset]),
        Some(reset)
    );
    assert_eq!(too_early(&[late, reset]), None);
}

#[test]
fn no_code_and_no_kind_is_reset_before_its_evidence_is_kept() {
    let catalogue = Catalogue::builtin();
    let advice = |kind: Kind, fill: &dyn Fn(&mut Detail)| {
        let mut found = Vec::new();
        for severity in Severity::ALL {
            let mut occurrence = Occurrence::new(kind, severity, "");
            fill(&mut occurrence.detail);
            let advice = catalogue.assess(&mut occurrence);
            found.push((advice.vendor, advice.site));
        }
        found
    };
    let mut checked = 0;
    let mut check = |what: String, advice: Vec<(Vec<String>, Vec<String>)>| {
        for (vendor, site) in advice {
            assert_eq!(too_early(&vendor), None, "{what}: {vendor:#?}");
            assert_eq!(too_early(&site), None, "{what}, policy: {site:#?}");
            checked += 1;
        }
    };
    for entry in catalogue.xids() {
        let code = entry.code;
        assert_eq!(
            too_early(entry.vendor),
            None,
            "Xid {code}: {:#?}",
            entry.vendor
        );
        let with = |fill: &dyn Fn(&mut Detail)| {
            advice(Kind::Xid, &|detail| {
                detail.xid.xid = Some(code);
                fill(detail);
            })
        };
        check(format!("Xid {code}"), with(&|_| {}));
        for to in [
            "GPU Reset Required",
            "Node Reboot Required",
            "Drain P2P",
            "Drain and Reset",
            "?",
        ] {
            check(
                format!("Xid {code} to {to}"),
                with(&|d| d.xid.recovery_to = Some(to.to_owned())),
            );
        }
        for (reset, drain) in [(true, false), (false, true), (false, false)] {
            let fill = |detail: &mut Detail| {
                detail.xid.reset_required = Some(reset);
                detail.xid.drain_reset_required = Some(drain);
            };
            check(
                format!("Xid {code}, reset {reset}, drain {drain}"),
                with(&fill),
            );
        }
        for (unit, sub_code, status) in [("RLW_REMAP", 0, "0x40"), ("NETIR_LINK_DOWN", 2, "0x0")] {
            for severity in [None, Some("Fatal"), Some("Nonfatal")] {
                let fill = |detail: &mut Detail| {
                    detail.xid.sub_unit = Some(unit.to_owned());
                    detail.xid.sub_code = Some(sub_code);
                    detail.xid.sub_severity = severity.map(str::to_owned);
                    detail.xid.words = vec!["0x0".to_owned(), status.to_owned()];
                };
                check(format!("Xid {code} of {unit}"), with(&fill));
            }
        }
    }
    for entry in catalogue.sxids() {
        assert_eq!(too_early(entry.vendor), None, "SXid {}", entry.code);
        for scope in [None, Some("Fatal"), Some("Non-fatal")] {
            let fill = |detail: &mut Detail| {
                detail.fabric.sxid = Some(entry.code);
                detail.fabric.scope = scope.map(str::to_owned);
            };
            check(format!("SXid {}", entry.code), advice(Kind::Sxid, &fill));
        }
    }
    for kind in Kind::ALL {
        assert_eq!(too_early(catalogue.kind(kind).steps), None, "{kind}");
        check(kind.to_string(), advice(kind, &|_| {}));
        for error in [
            "GSP heartbeat timed out",
            "hard lockup",
            "no available path",
        ] {
            let fill = |d: &mut Detail| d.host.error = Some(error.to_owned());
            check(format!("{kind}, {error}"), advice(kind, &fill));
        }
    }
    assert!(checked > 5000, "{checked}");
}

/// The items of the numbered lists of a page.
fn lists(text: &str) -> Vec<Vec<String>> {
    let mut lists: Vec<Vec<String>> = Vec::new();
    let mut within = false;
    for line in text.lines() {
        let number = line
            .split_once(". ")
            .filter(|(n, _)| n.parse::<u32>().is_ok());
        match (number, lists.last_mut()) {
            (Some(("1", item)), _) => {
                lists.push(vec![item.to_owned()]);
                within = true;
            }
            (Some((_, item)), Some(list)) if within => list.push(item.to_owned()),
            (None, Some(list)) if within && line.starts_with("   ") => {
                let item = list.last_mut().unwrap();
                item.push(' ');
                item.push_str(line.trim());
            }
            _ => within = false,
        }
    }
    lists
}

#[test]
fn no_page_resets_before_it_keeps_the_evidence() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut pages = 0;
    for folder in ["events", "runbooks"] {
        for entry in fs::read_dir(docs.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            for list in lists(&text) {
                assert_eq!(too_early(&list), None, "{}: {list:#?}", path.display());
                pages += 1;
            }
        }
    }
    assert!(pages > 60, "{pages}");
}
