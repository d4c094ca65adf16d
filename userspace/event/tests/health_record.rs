//! A record of health among the other records.
#![allow(clippy::unwrap_used, reason = "tests only")]

use gtrace_event::{
    HealthNews, HealthRecord, HealthSubject, MaintenanceWindow, Occasion, Record, RecordRef,
    SubjectKind, Timestamp,
};

#[test]
fn a_record_reads_back_whole_and_has_what_the_store_looks_for() {
    let time: Timestamp = "2026-03-03T04:05:06Z".parse().unwrap();
    let subject = HealthSubject::new(SubjectKind::Gpu, "0000:3b:00.0");
    for news in [
        HealthNews::Observed {
            occasion: Occasion::GpuReset {
                subject: subject.clone(),
            },
        },
        HealthNews::Observed {
            occasion: Occasion::Quiet,
        },
        HealthNews::Maintenance {
            window: MaintenanceWindow {
                from: time,
                until: time,
                by: "me".to_owned(),
                note: String::new(),
            },
        },
        HealthNews::Snapshot {
            snapshot: Box::default(),
        },
    ] {
        let record = Record::Health(Box::new(HealthRecord::new(time, news)));
        let json = serde_json::to_string(&record).unwrap();
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["record"], "health");
        assert_eq!(value["id"], RecordRef::from(&record).subject());
        // These are columns of the store, and mean something else there.
        for column in ["kind", "severity", "gpu"] {
            assert!(value.get(column).is_none(), "{json}");
        }
        assert_eq!(serde_json::from_str::<Record>(&json).unwrap(), record);
    }
}
