//! Where an agent goes on, from what the streams say.

use serde::{Deserialize, Serialize};

use crate::Position;

/// What a head has of a host, JSON. One is kept for each host; a head writes it before it acknowledges a batch to the stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeadPosition {
    /// The newest record that was committed.
    pub cursor: Option<Position>,
    /// The generation of a batch before which records are missing, and which was not taken.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub missing: Option<String>,
}

/// The newest batch of a host that the stream still has: no head has acknowledged it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Last {
    /// Its generation.
    pub generation: String,
    /// Its last record.
    pub position: Position,
}

/// Where to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resume {
    /// After this record, as a part of this generation.
    Generation(Option<Position>, String),
    /// After this record, with a generation of its own.
    NewGeneration(Option<Position>),
    /// No head has reported anything yet: one has to be asked.
    Ask,
}

/// Says where an agent goes on. `known` is where it is itself, and in which generation; `last` was read before `reported`, so that a batch that was
/// acknowledged in between is in `reported`.
pub fn resume(
    known: Option<&(Option<Position>, String)>,
    last: Option<&Last>,
    reported: Option<&HeadPosition>,
) -> Resume {
    let generation = last
        .map(|last| &last.generation)
        .or_else(|| known.map(|(_, generation)| generation));
    if let Some(reported) = reported
        && reported.missing.is_some()
        && reported.missing.as_ref() == generation
    {
        // What is left of the generation in the stream will not be taken.
        return Resume::NewGeneration(reported.cursor);
    }
    match (last, reported) {
        (Some(last), _) => Resume::Generation(Some(last.position), last.generation.clone()),
        (None, Some(reported)) => match known {
            Some((cursor, generation)) if *cursor == reported.cursor => {
                Resume::Generation(*cursor, generation.clone())
            }
            // The stream lost what was sent last, another process of this host sent more, or the head was put back.
            _ => Resume::NewGeneration(reported.cursor),
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

    fn head_position(seq: u64, missing: Option<&str>) -> HeadPosition {
        HeadPosition {
            cursor: at(seq),
            missing: missing.map(str::to_owned),
        }
    }

    #[test]
    fn an_agent_goes_on_after_the_stream_else_after_the_head_and_a_gap_begins_a_generation() {
        let last = Last {
            generation: "r".to_owned(),
            position: at(9).unwrap(),
        };
        let known = (at(9), "r".to_owned());
        let going_on = Resume::Generation(at(9), "r".to_owned());
        // Just started; the stream has more than the head.
        assert_eq!(
            resume(None, Some(&last), Some(&head_position(5, None))),
            going_on
        );
        assert_eq!(resume(None, Some(&last), None), going_on);
        // All is committed.
        assert_eq!(
            resume(Some(&known), None, Some(&head_position(9, None))),
            going_on
        );
        assert_eq!(
            resume(None, None, Some(&head_position(9, None))),
            Resume::NewGeneration(at(9))
        );
        // A gap that a head found: also one that was found while nobody listened.
        let gap = head_position(5, Some("r"));
        assert_eq!(
            resume(Some(&known), Some(&last), Some(&gap)),
            Resume::NewGeneration(at(5))
        );
        assert_eq!(
            resume(None, Some(&last), Some(&gap)),
            Resume::NewGeneration(at(5))
        );
        assert_eq!(
            resume(Some(&known), None, Some(&gap)),
            Resume::NewGeneration(at(5))
        );
        // One of a generation that is over.
        let old = head_position(5, Some("q"));
        assert_eq!(resume(Some(&known), Some(&last), Some(&old)), going_on);
        // The stream lost its end.
        assert_eq!(
            resume(Some(&known), None, Some(&head_position(5, None))),
            Resume::NewGeneration(at(5))
        );
        assert_eq!(resume(Some(&known), None, None), Resume::Ask);
    }

    #[test]
    fn a_position_reads_back() {
        for reported in [
            head_position(4, None),
            head_position(4, Some("r")),
            HeadPosition::default(),
        ] {
            let text = serde_json::to_string(&reported).unwrap();
            assert_eq!(
                serde_json::from_str::<HeadPosition>(&text).unwrap(),
                reported
            );
        }
    }
}
