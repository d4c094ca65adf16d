use super::*;
use crate::rdma::number::MESSAGE_MAX;
use proptest::prelude::*;

/// Lies by the queue pairs, with what was sent before, and on which of them.
const LIES: [(u32, Outcome, bool); 8] = [
    // Read what was never sent, or nothing, or more than once around.
    (0, Outcome::SendImm(1), true),
    (100, Outcome::SendImm(101), true),
    (100, Outcome::SendImm(0), true),
    (100, Outcome::SendImm(u32::MAX >> 1), true),
    // Receives posted that were never used.
    (0, Outcome::SendImm(1 | 1 << 31), true),
    (100, Outcome::SendImm(2 | 1 << 31), true),
    // A write where numbers come alone.
    (0, Outcome::Written(1), true),
    // A number alone where writes come.
    (0, Outcome::SendImm(1), false),
];

#[test]
fn a_lie_by_a_queue_pair_ends_the_link_and_is_named() {
    for client in [true, false] {
        for (sent, lie, out) in LIES {
            let mut both = Both::new(client).unwrap();
            if sent > 0 {
                both.send(sent as usize).unwrap();
            }
            let error = match out {
                true => {
                    both.say_out(lie);
                    both.link.tx.poll_completions().unwrap_err()
                }
                false => {
                    both.say_in(lie);
                    both.link.rx.ready(1).unwrap_err()
                }
            };
            assert!(matches!(error, LinkError::Ring(_)), "{lie:?}: {error}");
            let text = error.to_string();
            assert!(text.contains("does not keep to the protocol"), "{text}");
            // The other half finds it ended, and so does the peer.
            assert!(!both.link.end.is_alive());
            let error = both.link.rx.peek(1, None).unwrap_err();
            assert!(matches!(error, LinkError::Closed(_)), "{lie:?}: {error}");
            both.peer.set_nonblocking(false).unwrap();
            let mut received = Vec::new();
            both.peer.read_to_end(&mut received).unwrap();
        }
    }
}

#[test]
fn what_is_said_twice_counts_once() {
    let mut both = Both::new(true).unwrap();
    both.send(100).unwrap();
    both.say_out(Outcome::SendImm(100));
    both.link.tx.poll_completions().unwrap();
    both.say_out(Outcome::SendImm(100));
    let error = both.link.tx.poll_completions().unwrap_err();
    assert!(matches!(error, LinkError::Ring(_)), "{error}");
}

#[test]
fn more_than_there_is_room_for_ends_the_link() {
    let mut both = Both::new(true).unwrap();
    let zeros = vec![0; MESSAGE_MAX];
    for _ in 0..RING / MESSAGE_MAX {
        both.say_in(Outcome::Written(number::of(&zeros)));
    }
    assert!(both.link.rx.ready(RING).unwrap());
    both.say_in(Outcome::Written(number::of(&[0])));
    let error = both.link.rx.ready(RING + 1).unwrap_err();
    assert!(matches!(error, LinkError::Ring(_)), "{error}");
}

/// Nor is what was announced behind them.
#[test]
fn bytes_that_are_not_what_was_sent_are_not_taken() {
    let mut both = Both::new(true).unwrap();
    both.say_in(Outcome::Written(number::of(&[0; 10])));
    both.say_in(Outcome::Written(number::of(b"something")));
    both.say_in(Outcome::Written(number::of(&[0; 10])));
    assert!(!both.link.rx.ready(11).unwrap());
    assert_eq!(both.link.rx.some(usize::MAX).unwrap(), [0; 10]);
    assert_eq!(both.link.info.changes.failovers(), 1);
    let why = both.link.info.changes.reasons();
    assert!(why[0].contains("checksum"), "{why:?}");
}

/// Positions behind what was sent, before what was read, and far away; read were 40 of 100 bytes.
#[test]
fn positions_that_cannot_be_end_the_link() {
    for received in [0, START, START + 39, START + 101, START << 20, u64::MAX] {
        let mut both = Both::new(true).unwrap();
        both.send(100).unwrap();
        both.say_out(Outcome::SendImm(40));
        both.link.tx.poll_completions().unwrap();
        let generation = 1;
        both.say(
            Segment::Move {
                generation,
                received,
            },
            &[],
        );
        let error = both.link.tx.poll_completions().unwrap_err();
        assert!(matches!(error, LinkError::Ring(_)), "{received}: {error}");
        assert!(error.to_string().contains("received bytes"), "{error}");
        assert!(!both.link.end.is_alive());
    }
    // What can be is gone on from.
    let mut both = Both::new(true).unwrap();
    both.send(100).unwrap();
    let received = START + 60;
    both.say(
        Segment::Move {
            generation: 1,
            received,
        },
        &[],
    );
    both.link.tx.poll_completions().unwrap();
    assert_eq!(both.link.info.changes.failovers(), 1);
    both.end(false);
}

/// A peer that gives the device up, twice, or queue pairs that there never were.
#[test]
fn what_was_said_already_is_no_second_time() {
    for generation in [1, 0, 7] {
        let mut both = Both::new(true).unwrap();
        let moved = |generation| Segment::Move {
            generation,
            received: START,
        };
        both.say(moved(1), &[]);
        both.link.tx.poll_completions().unwrap();
        both.say(moved(generation), &[]);
        let error = both.link.tx.poll_completions().unwrap_err();
        assert!(matches!(error, LinkError::Decode(_)), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn whatever_a_peer_says_is_survived(data in proptest::collection::vec(any::<u8>(), 0..400)) {
        hostile(&data);
    }

    /// The same with a peer that is honest for longer.
    #[test]
    fn a_peer_that_lies_late_is_survived(
        steps in proptest::collection::vec(
            prop_oneof![
                4 => (Just(8u8), any::<u8>(), any::<u32>()),
                3 => (Just(1u8), Just(0u8), any::<u32>()),
                1 => (Just(0u8), Just(0u8), 0u32..200),
                1 => (any::<u8>(), 0u8..4, 0u32..600),
            ],
            0..60,
        ),
        first in any::<u8>(),
    ) {
        let mut data = vec![first];
        for (choice, kind, value) in steps {
            data.extend([choice, kind]);
            data.extend(value.to_be_bytes());
        }
        hostile(&data);
    }
}
