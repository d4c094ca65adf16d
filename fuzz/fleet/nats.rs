//! What comes through NATS servers, from whoever may use them: subjects, seals, positions and words of heads are refused, or read to what is
//! written the same again; where an agent goes on is one of the places that it was given.
#![no_main]

use gtrace_fleet::Position;
use gtrace_fleet::nats::{Key, Last, Resume, Seal, Subject, Word, resume};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    if let Ok(subject) = text.parse::<Subject>() {
        assert_eq!(subject.to_string(), text);
    }
    if let Ok(seal) = text.parse::<Seal>() {
        assert_eq!(seal.to_string(), text.to_lowercase());
        assert!(!Key::of_secret("x").holds(&seal, &[data]));
    }
    let words: Vec<Word> = data
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    for word in &words {
        let again = serde_json::to_vec(word).expect("what was read is written");
        let read: Word = serde_json::from_slice(&again).expect("what was written is read");
        assert_eq!(&read, word);
    }
    // The first is where the agent is, the second what the stream has, the third what a head said.
    let known = words
        .first()
        .map(|word| (word.cursor, word.missing.clone().unwrap_or_default()));
    let last = words.get(1).and_then(|word| {
        Some(Last {
            round: word.missing.clone().unwrap_or_default(),
            position: word.cursor?,
        })
    });
    let given = |cursor: Option<Position>| words.iter().any(|word| word.cursor == cursor);
    match resume(known.as_ref(), last.as_ref(), words.get(2)) {
        Resume::Round(cursor, _) | Resume::NewRound(cursor) => assert!(given(cursor)),
        Resume::Ask => assert!(last.is_none() && words.len() < 3),
    }
});
