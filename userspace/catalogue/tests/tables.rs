//! The tables are whole: no code is missing, doubled or silent.

use std::collections::BTreeSet;

use gtrace_catalogue::{Catalogue, Category, Scope};
use gtrace_event::{Kind, Severity};

const SXIDS: [u32; 92] = [
    10001, 10002, 10003, 10004, 10005, 11001, 11004, 11009, 11012, 11013, 11018, 11019, 11020,
    11021, 11022, 11023, 12001, 12002, 12020, 12021, 12022, 12023, 12024, 12025, 12026, 12027,
    12028, 12030, 12031, 12032, 14017, 15001, 15006, 15008, 15009, 15010, 15011, 15012, 15013,
    19047, 19048, 19049, 19054, 19055, 19056, 19057, 19058, 19059, 19060, 19061, 19062, 19063,
    19064, 19065, 19066, 19067, 19068, 19069, 19070, 19071, 19084, 20001, 20009, 20012, 20034,
    22003, 22011, 22013, 23001, 23002, 23003, 23004, 23005, 23006, 23007, 23008, 23009, 23010,
    23011, 23012, 23013, 23014, 23015, 23016, 23017, 24001, 24002, 24003, 24004, 24005, 24006,
    24007,
];

fn sentence(text: &str) -> bool {
    text.len() > 12 && text.ends_with('.') && !text.contains("  ") && text.trim() == text
}

#[test]
fn every_xid_from_1_to_176_is_there_once_and_says_something() {
    let catalogue = Catalogue::builtin();
    let codes: Vec<u32> = catalogue.xids().map(|e| e.code).collect();
    assert_eq!(codes, (1..=176).collect::<Vec<_>>());
    let names: BTreeSet<&str> = catalogue.xids().map(|e| e.name).collect();
    assert_eq!(names.len(), 176, "a name stands for two codes");
    for e in catalogue.xids() {
        assert!(sentence(e.meaning), "{}: {}", e.code, e.meaning);
        assert!(!e.vendor.is_empty(), "{}", e.code);
        assert!(
            e.vendor.iter().all(|s| sentence(s)),
            "{}: {:?}",
            e.code,
            e.vendor
        );
        assert!(
            e.name
                .bytes()
                .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_'),
            "{}",
            e.name
        );
        assert_eq!(catalogue.xid(e.code).map(|x| x.name), Some(e.name));
    }
    assert!(catalogue.xid(0).is_none() && catalogue.xid(177).is_none());
}

#[test]
fn every_sxid_is_there_once_and_its_severity_follows_its_scope() {
    let catalogue = Catalogue::builtin();
    let codes: Vec<u32> = catalogue.sxids().map(|e| e.code).collect();
    assert_eq!(codes, SXIDS);
    for e in catalogue.sxids() {
        assert!(sentence(e.meaning), "{}: {}", e.code, e.meaning);
        assert!(!e.vendor.is_empty() && e.vendor.iter().all(|s| sentence(s)));
        assert!(!e.name.is_empty() && !e.area.is_empty(), "{}", e.code);
        let highest = match e.scope {
            Scope::NonFatal => Severity::Warning,
            Scope::PotentiallyFatal => Severity::Critical,
            Scope::AlwaysFatal => Severity::Fatal,
        };
        assert!(e.severity <= highest, "{}", e.code);
        assert_eq!(
            e.severity == Severity::Fatal,
            e.scope == Scope::AlwaysFatal,
            "{}",
            e.code
        );
    }
}

#[test]
fn every_kind_has_a_meaning_and_steps() {
    let catalogue = Catalogue::builtin();
    for kind in Kind::ALL {
        let e = catalogue.kind(kind);
        assert_eq!(e.kind, kind);
        assert!(sentence(e.meaning), "{kind}: {}", e.meaning);
        assert!(
            !e.steps.is_empty() && e.steps.iter().all(|s| sentence(s)),
            "{kind}"
        );
    }
}

#[test]
fn severities_are_those_an_engineer_on_call_expects() {
    let catalogue = Catalogue::builtin();
    let all = |want: Severity, codes: &[u32]| {
        for code in codes {
            assert_eq!(catalogue.xid(*code).unwrap().severity, want, "Xid {code}");
        }
    };
    all(Severity::Warning, &[13, 31, 43, 45, 63, 92, 94]);
    all(Severity::Critical, &[48, 136]);
    all(
        Severity::Fatal,
        &[
            46, 62, 64, 74, 79, 95, 119, 120, 140, 143, 158, 167, 169, 173,
        ],
    );
    for e in catalogue.xids().filter(|e| e.category == Category::Unknown) {
        assert!(
            e.severity <= Severity::Warning,
            "Xid {}: nobody knows it",
            e.code
        );
    }
}
