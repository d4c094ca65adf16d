use super::*;
use proptest::prelude::*;

const RING: usize = 256 << 10;

#[test]
fn what_goes_over_the_end_is_two_pieces() {
    let mut writer = Writer::new(RING, RECEIVES);
    writer.commit(RING - 10);
    let rest = RING - 10 - MESSAGE_MAX;
    for piece in [(0, MESSAGE_MAX), (MESSAGE_MAX, rest)] {
        assert_eq!(writer.post().unwrap().pieces, [piece, (0, 0)]);
        writer.completed();
    }
    writer.acknowledged((RING - 10) as u32).unwrap();
    assert_eq!(writer.room(), RING);
    writer.commit(30);
    let plan = writer.post().unwrap();
    assert_eq!(plan.pieces, [(RING - 10, 10), (0, 20)]);
    assert_eq!(plan.message, (2 * RING as u64 - 10, 30));
    assert_eq!(writer.post(), None);
}

#[test]
fn bytes_are_free_when_they_are_read_and_acknowledged() {
    let mut writer = Writer::new(RING, RECEIVES);
    writer.commit(RING);
    for _ in 0..RING / MESSAGE_MAX {
        assert!(writer.post().unwrap().signal);
    }
    writer.acknowledged(RING as u32).unwrap();
    for done in 0..RING / MESSAGE_MAX {
        assert_eq!(writer.room(), done * MESSAGE_MAX);
        writer.completed();
    }
    assert_eq!(writer.room(), RING);
}

#[test]
fn a_writer_stops_when_the_receives_are_used_up() {
    let mut writer = Writer::new(RING, 3);
    for _ in 0..3 {
        writer.commit(1);
        assert!(writer.post().is_some());
    }
    writer.commit(1);
    assert_eq!(writer.post(), None);
    assert_eq!(writer.pending(), 1);
    writer.acknowledged(2 | ARE_RECEIVES).unwrap();
    assert!(writer.post().is_some());
}

#[test]
fn numbers_that_cannot_be_are_errors() {
    let mut writer = Writer::new(RING, RECEIVES);
    writer.commit(100);
    writer.post().unwrap();
    for number in [
        0,
        101,
        u32::MAX >> 1,
        ARE_RECEIVES,
        2 | ARE_RECEIVES,
        u32::MAX,
    ] {
        writer.acknowledged(number).unwrap_err();
    }
    writer.acknowledged(100).unwrap();
    writer.acknowledged(1).unwrap_err();
    let mut reader = Reader::new(RING);
    for number in [0, RING as u32 + 1, u32::MAX] {
        reader.arrived(number).unwrap_err();
    }
    reader.arrived(RING as u32).unwrap();
    reader.arrived(1).unwrap_err();
}

proptest! {
    /// A writer and a reader that keep to the rules never stop for good: whatever the sizes,
    /// half the ring comes free once the reader has read, and never is more written than is free.
    #[test]
    fn both_sides_go_on_for_ever(
        sizes in proptest::collection::vec(1..RING / 2, 1..300),
        lag in 0..8usize,
    ) {
        let (mut writer, mut reader) = (Writer::new(RING, RECEIVES), Reader::new(RING));
        let mut signals = VecDeque::new();
        for size in sizes {
            // The device completes late, and everything at the latest when the writer waits.
            while writer.room() < size || !writer.may_post() {
                let before = (writer.room(), writer.under_way());
                if signals.pop_front().is_some() {
                    writer.completed();
                }
                while let Some((number, signal)) = reader.next_ack() {
                    writer.acknowledged(number).unwrap();
                    if signal {
                        reader.completed();
                    }
                }
                prop_assert!(
                    before != (writer.room(), writer.under_way()) || !signals.is_empty(),
                    "stuck with {} of {size}", writer.room()
                );
            }
            writer.commit(size);
            let plan = writer.post().unwrap();
            prop_assert_eq!(plan.pieces[0].1 + plan.pieces[1].1, size);
            if plan.signal {
                signals.push_back(());
            }
            reader.arrived(plan.message.1 as u32).unwrap();
            reader.consume(reader.available());
            while signals.len() > lag {
                signals.pop_front();
                writer.completed();
            }
        }
    }
}

#[test]
fn a_ring_comes_free_in_four_steps() {
    let mut writer = Writer::new(RING, RECEIVES);
    let mut reader = Reader::new(RING);
    let piece = RING / 8;
    let (mut signals, mut acks) = (0, 0);
    for _ in 0..8 {
        writer.commit(piece);
        if writer.post().unwrap().signal {
            signals += 1;
            writer.completed();
        }
        reader.arrived(piece as u32).unwrap();
        reader.consume(piece);
        while let Some((number, signal)) = reader.next_ack() {
            acks += 1;
            writer.acknowledged(number).unwrap();
            if signal {
                reader.completed();
            }
        }
    }
    assert_eq!((signals, acks), (4, 4));
    assert_eq!(writer.room(), RING);
}

#[test]
fn half_of_the_ring_is_free_while_the_reader_waits_for_a_quarter() {
    let mut writer = Writer::new(RING, RECEIVES);
    let mut reader = Reader::new(RING);
    let almost = RING / 4 - 1;
    for read in [true, false] {
        writer.commit(almost);
        if writer.post().unwrap().signal {
            writer.completed();
        }
        reader.arrived(almost as u32).unwrap();
        if read {
            reader.consume(almost);
        }
        assert_eq!(reader.next_ack(), None);
    }
    assert_eq!(reader.available(), almost);
    assert!(writer.room() >= RING / 2);
}
