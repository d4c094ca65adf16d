//! What comes through NATS servers, from whoever may use them: subjects, signatures and positions, of hosts and of heads, are refused, or read to what is
//! written the same again; where an agent goes on is one of the places that it was given.
#![no_main]

use gtrace_fleet::Position;
use gtrace_fleet::nats::{HeadPosition, Key, Last, Resume, Signature, Subject, resume};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    if let Ok(subject) = text.parse::<Subject>() {
        assert_eq!(subject.to_string(), text);
    }
    if let Ok(signature) = text.parse::<Signature>() {
        assert_eq!(signature.to_string(), text.to_lowercase());
        assert!(!Key::of_secret("x").verifies(&signature, &[data]));
    }
    let positions: Vec<HeadPosition> = data
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    for reported in &positions {
        let again = serde_json::to_vec(reported).expect("what was read is written");
        let read: HeadPosition = serde_json::from_slice(&again).expect("what was written is read");
        assert_eq!(&read, reported);
    }
    // The first is where the agent is, the second what the stream has, the third what a head said.
    let known = positions.first().map(|reported| {
        (
            reported.cursor,
            reported.missing.clone().unwrap_or_default(),
        )
    });
    let last = positions.get(1).and_then(|reported| {
        Some(Last {
            generation: reported.missing.clone().unwrap_or_default(),
            position: reported.cursor?,
        })
    });
    let given =
        |cursor: Option<Position>| positions.iter().any(|reported| reported.cursor == cursor);
    match resume(known.as_ref(), last.as_ref(), positions.get(2)) {
        Resume::Generation(cursor, _) | Resume::NewGeneration(cursor) => assert!(given(cursor)),
        Resume::Ask => assert!(last.is_none() && positions.len() < 3),
    }
});
