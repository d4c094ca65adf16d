//! Where an agent goes on, from what the streams say.

use serde::{Deserialize, Serialize};

use crate::Position;

/// What a head has of a host, JSON. One is kept for each host; a head writes it before it acknowledges a batch to the stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Word {
    /// The newest record that was committed.
    pub cursor: Option<Position>,
    /// The round of a batch before which records are missing, and which was not taken.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub missing: Option<String>,
}

/// The newest batch of a host that the stream still has: no head has acknowledged it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Last {
    /// Its round.
    pub round: String,
    /// Its last record.
    pub position: Position,
}

/// Where to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resume {
    /// After this record, as a part of this round.
    Round(Option<Position>, String),
    /// After this record, with a round of its own.
    NewRound(Option<Position>),
    /// No head has said anything yet: one has to be asked.
    Ask,
}

/// Says where an agent goes on. `known` is where it is itself, and in which round; `last` was read before `word`, so that a batch that was
/// acknowledged in between is in `word`.
pub fn resume(
    known: Option<&(Option<Position>, String)>,
    last: Option<&Last>,
    word: Option<&Word>,
) -> Resume {
    let round = last
        .map(|last| &last.round)
        .or_else(|| known.map(|(_, round)| round));
    if let Some(word) = word
        && word.missing.is_some()
        && word.missing.as_ref() == round
    {
        // What is left of the round in the stream will not be taken.
        return Resume::NewRound(word.cursor);
    }
    match (last, word) {
        (Some(last), _) => Resume::Round(Some(last.position), last.round.clone()),
        (None, Some(word)) => match known {
            Some((cursor, round)) if *cursor == word.cursor => {
                Resume::Round(*cursor, round.clone())
            }
            // The stream lost what was sent last, another process of this host sent more, or the head was put back.
            _ => Resume::NewRound(word.cursor),
        },
        (None, None) => Resume::Ask,
    }
}

#[cfg(test)]
mod tests {
    use gtrace_event::Epoch;
    use gtrace_store::Hash;

    use super::*;

    fn at(seq: u64) -> Option<Position> {
        Some(Position::new(
            Epoch::from_bytes([1; 16]),
            seq,
            Hash::GENESIS,
        ))
    }

    fn word(seq: u64, missing: Option<&str>) -> Word {
        Word {
            cursor: at(seq),
            missing: missing.map(str::to_owned),
        }
    }

    #[test]
    fn an_agent_goes_on_after_the_stream_else_after_the_head_and_a_gap_begins_a_round() {
        let last = Last {
            round: "r".to_owned(),
            position: at(9).unwrap(),
        };
        let known = (at(9), "r".to_owned());
        let going_on = Resume::Round(at(9), "r".to_owned());
        // Just started; the stream has more than the head.
        assert_eq!(resume(None, Some(&last), Some(&word(5, None))), going_on);
        assert_eq!(resume(None, Some(&last), None), going_on);
        // All is committed.
        assert_eq!(resume(Some(&known), None, Some(&word(9, None))), going_on);
        assert_eq!(
            resume(None, None, Some(&word(9, None))),
            Resume::NewRound(at(9))
        );
        // A gap that a head found: also one that was found while nobody listened.
        let gap = word(5, Some("r"));
        assert_eq!(
            resume(Some(&known), Some(&last), Some(&gap)),
            Resume::NewRound(at(5))
        );
        assert_eq!(
            resume(None, Some(&last), Some(&gap)),
            Resume::NewRound(at(5))
        );
        assert_eq!(
            resume(Some(&known), None, Some(&gap)),
            Resume::NewRound(at(5))
        );
        // One of a round that is over.
        let old = word(5, Some("q"));
        assert_eq!(resume(Some(&known), Some(&last), Some(&old)), going_on);
        // The stream lost its end.
        assert_eq!(
            resume(Some(&known), None, Some(&word(5, None))),
            Resume::NewRound(at(5))
        );
        assert_eq!(resume(Some(&known), None, None), Resume::Ask);
    }

    #[test]
    fn a_word_reads_back() {
        for word in [word(4, None), word(4, Some("r")), Word::default()] {
            let text = serde_json::to_string(&word).unwrap();
            assert_eq!(serde_json::from_str::<Word>(&text).unwrap(), word);
        }
    }
}
