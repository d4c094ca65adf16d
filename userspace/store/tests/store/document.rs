//! docs/store.md gives a Python script that verifies a store: it must agree with this crate.

use std::path::Path;
use std::process::Command;

use gtrace_event::Record;
use rusqlite::Connection;

use crate::common::{Place, ack, amended, day, event, events, put};

pub(crate) fn script() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/store.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("```python\n").unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_script_of_the_documentation_verifies_a_store_and_finds_tampering() {
    let place = Place::new();
    let mut store = place.store();
    for n in 0..3 {
        let old = event(day(n), 0);
        let (_, amendment) = amended(&old, day(n), |e| e.message = "Gerät ✗".to_owned());
        let note = Record::Ack(ack(old.id, day(n)));
        let first = Record::Event(Box::new(old));
        put(&mut store, n, &[first, amendment, note]);
        put(&mut store, n, &events(day(n), 1..9));
    }
    let last_hash = store.last_hash().to_string();
    drop(store);
    let run = || {
        let output = Command::new("python3")
            .args(["-c", &script()])
            .arg(&place.path)
            .output();
        output.map(|o| {
            (
                o.status.success(),
                String::from_utf8_lossy(&o.stdout).into_owned(),
            )
        })
    };
    let Ok((good, output)) = run() else {
        println!("SKIPPED: no python3 here");
        return;
    };
    assert!(
        good && output.contains("33 records") && output.contains(&last_hash),
        "{output}"
    );
    let change = |sql: &str| {
        Connection::open(&place.path)
            .unwrap()
            .execute_batch(sql)
            .unwrap()
    };
    change("UPDATE records_20261122 SET severity = 'info' WHERE seq = 15");
    let (good, output) = run().unwrap();
    assert!(!good && output.contains("15"), "{output}");
    change("UPDATE records_20261122 SET severity = 'critical' WHERE seq = 15");
    assert!(run().unwrap().0);
    change("UPDATE records_20261122 SET body = replace(body, 'number', 'Number') WHERE seq = 15");
    let (good, output) = run().unwrap();
    assert!(!good && output.contains("15"), "{output}");
}
