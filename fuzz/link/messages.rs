//! Any bytes as header, preamble and messages: no panic, and what is read is written as it was.
#![no_main]

use gtrace_protocol::{
    ClientHello, GREETING_LEN, Greeting, HEADER_LEN, Header, LaneResumed, Message, PIECE_LEN,
    PREAMBLE_LEN, Piece, Preamble, Proof, QueuePairs, QueuePairsAnswer, Reader, Refused,
    ResumeLane, SEGMENT_LEN, Segment, Times, Welcome, Works, Writer,
};
use libfuzzer_sys::fuzz_target;

fn there_and_back<M: Message>(bytes: &[u8]) {
    if let Ok(message) = M::parse(bytes) {
        assert_eq!(message.to_bytes(), bytes);
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((choice, bytes)) = data.split_first() else {
        return;
    };
    match choice % 16 {
        0 => there_and_back::<ClientHello>(bytes),
        1 => {
            if let Some(bytes) = bytes.first_chunk::<GREETING_LEN>()
                && let Ok(greeting) = Greeting::parse(bytes)
            {
                // All but the versions, which are those of the other side.
                let again = Greeting::parse(&greeting.to_bytes());
                assert_eq!(again, Ok(greeting));
            }
        }
        2 => there_and_back::<Proof>(bytes),
        3 => there_and_back::<Refused>(bytes),
        4 => there_and_back::<Welcome>(bytes),
        13 => there_and_back::<ResumeLane>(bytes),
        14 => there_and_back::<LaneResumed>(bytes),
        15 => {
            if let Some(bytes) = bytes.first_chunk::<PIECE_LEN>()
                && let Ok(piece) = Piece::parse(bytes)
            {
                assert_eq!(piece.to_bytes(), *bytes);
            }
        }
        7 => there_and_back::<QueuePairs>(bytes),
        8 => there_and_back::<QueuePairsAnswer>(bytes),
        9 => {
            if let Some(bytes) = bytes.first_chunk::<SEGMENT_LEN>()
                && let Ok(segment) = Segment::parse(bytes)
            {
                assert_eq!(Segment::parse(&segment.to_bytes()), Ok(segment));
            }
        }
        10 => {
            if let Ok(times) = Times::read(bytes) {
                let mut writer = Writer::default();
                times.write(&mut writer);
                assert_eq!(writer.as_slice(), bytes);
            }
        }
        11 => {
            if let Ok(works) = Works::read(bytes) {
                let mut writer = Writer::default();
                works.write(&mut writer);
                assert_eq!(writer.as_slice(), bytes);
            }
        }
        5 => {
            if let Some(bytes) = bytes.first_chunk::<PREAMBLE_LEN>()
                && let Ok(preamble) = Preamble::parse(bytes)
            {
                assert_eq!(preamble.to_bytes(), *bytes);
            }
        }
        6 => {
            // The checksum of random bytes is wrong: it is made right, to get behind it.
            let mut header = [0; HEADER_LEN];
            let len = bytes.len().min(HEADER_LEN - 4);
            header[..len].copy_from_slice(&bytes[..len]);
            header[56..60].fill(0);
            let sum = gtrace_protocol::checksum(&header);
            header[60..].copy_from_slice(&sum.to_le_bytes());
            if let Ok(parsed) = Header::parse(&header) {
                assert_eq!(parsed.to_bytes(), header);
                assert!(parsed.bulk() + parsed.small as usize == parsed.payload());
            }
        }
        _ => {
            let mut reader = Reader::new(bytes);
            while reader.left() > 0 {
                let before = reader.left();
                if reader.bytes().is_err() && reader.u8().is_err() {
                    break;
                }
                assert!(reader.left() < before);
            }
        }
    }
});
