//! What is done to the frames of one connection: from a random generator, so that a seed reproduces it all.

use fastrand::Rng;
use gtrace_protocol::{BULK_MAX, FIRST_OPERATION, Flags, Header, SMALL_MAX, control};

use super::Direction;
use super::call::{Operation, Values, operations};

/// Numbers at which lengths, counts and handles go wrong.
const INTERESTING: [u64; 34] = [
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    16,
    31,
    32,
    63,
    64,
    127,
    128,
    255,
    256,
    1024,
    4095,
    4096,
    4097,
    0xffff,
    0x1_0000,
    SMALL_MAX as u64,
    BULK_MAX as u64,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    1 << 40,
    1 << 56,
    i64::MAX as u64,
    1 << 63,
    u64::MAX - 7,
    u64::MAX,
];
/// CUresult and nvmlReturn_t that a client treats in a way of their own, and some that do not exist.
const STATUSES: [u32; 16] = [
    0,
    1,
    2,
    3,
    4,
    6,
    46,
    201,
    400,
    600,
    700,
    716,
    801,
    999,
    12_345,
    u32::MAX,
];
/// Words of payloads that are remembered, to be put into other places.
const WORDS: usize = 256;

/// A frame, apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    pub(super) header: Header,
    pub(super) small: Vec<u8>,
    pub(super) bulk: Vec<u8>,
    /// The header says the lengths of the parts.
    pub(super) lengths_lie: bool,
    /// The checksum is made wrong.
    pub(super) spoilt: bool,
}

impl Frame {
    /// The bytes on the wire.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut header = self.header;
        if !self.lengths_lie {
            header.set_payload(self.small.len(), self.bulk.len());
        }
        let mut bytes = header.to_bytes().to_vec();
        if self.spoilt {
            bytes[60] ^= 0x40;
        }
        bytes.extend(&self.small);
        bytes.extend(&self.bulk);
        bytes
    }
}

/// What becomes of a frame.
#[derive(Debug)]
pub(super) enum Fate {
    /// It goes on as it is.
    Whole,
    /// These go on in its place, numbered as they should be or as they are; `true` for one that the other side
    /// must not get the answer of.
    Changed {
        frames: Vec<(Frame, bool)>,
        renumber: bool,
    },
    /// The first bytes of it, and then nothing more.
    Cut(usize),
}

/// Changes the frames of one connection.
#[derive(Debug)]
pub(super) struct Mutator {
    random: Rng,
    direction: Direction,
    /// One frame in so many is changed.
    rate: usize,
    /// Frames at the beginning that are left alone.
    spared: usize,
    /// Every other call has another one before it that nobody made, which disturbs a program little.
    invents: bool,
    words: Vec<u64>,
    held: Option<Frame>,
    /// What was done last.
    pub(super) note: String,
}

impl Mutator {
    pub(super) fn new(direction: Direction, seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let rates = [6, 20, 50, 50, 200];
        let rate = rates[random.usize(..rates.len())];
        // HELLO, PROOF, an echo and SWITCH; WELCOME and the answers to echoes.
        let spared = [0, 4][random.usize(..2)];
        let invents = direction == Direction::ToServer && random.usize(..3) == 0;
        Self {
            random,
            direction,
            rate,
            spared,
            invents,
            words: Vec::new(),
            held: None,
            note: String::new(),
        }
    }

    /// What becomes of the next frame.
    pub(super) fn fate(&mut self, frame: &Frame) -> Fate {
        self.remember(&frame.small);
        if let Some(held) = self.held.take() {
            let frames = vec![(frame.clone(), false), (held, false)];
            return Fate::Changed {
                frames,
                renumber: true,
            };
        }
        if self.spared > 0 {
            self.spared -= 1;
            return Fate::Whole;
        }
        self.note.clear();
        if self.invents && !frame.header.is_control() && self.random.usize(..2) == 0 {
            let frames = vec![(self.invented(&frame.header), true), (frame.clone(), false)];
            return Fate::Changed {
                frames,
                renumber: true,
            };
        }
        if self.random.usize(..self.rate) != 0 {
            return Fate::Whole;
        }
        let fate = self.changed(frame);
        self.note = format!(
            "op {:#x} seq {}:{}",
            frame.header.op, frame.header.seq, self.note
        );
        fate
    }

    fn changed(&mut self, frame: &Frame) -> Fate {
        let renumber = self.random.usize(..8) != 0;
        let mut changed = frame.clone();
        let frames = match self.random.usize(..60) {
            0 => {
                self.note += " dropped";
                Vec::new()
            }
            1 | 2 => {
                self.note += " repeated";
                vec![(changed.clone(), false), (changed, true)]
            }
            3 => {
                let len = changed.to_bytes().len();
                let at = self.random.usize(..len);
                self.note += &format!(" cut at {at} of {len}");
                return Fate::Cut(at);
            }
            4 => {
                self.note += " behind the next";
                self.held = Some(changed);
                Vec::new()
            }
            5..=7 => {
                self.note += " MORE";
                let last = (changed.clone(), true);
                changed.header.flags = changed.header.flags.with(Flags::MORE);
                vec![(changed, false), last]
            }
            8..=19 => {
                let invented = self.invented(&frame.header);
                vec![(invented, true), (changed, false)]
            }
            20..=29 => {
                self.header(&mut changed);
                vec![(changed, false)]
            }
            _ => {
                for _ in 0..=self.random.usize(..3) {
                    self.payload(&mut changed);
                }
                vec![(changed, false)]
            }
        };
        Fate::Changed { frames, renumber }
    }

    /// A frame that the sender has not sent.
    fn invented(&mut self, model: &Header) -> Frame {
        let mut frame = Frame {
            header: *model,
            ..Frame::default()
        };
        match self.direction {
            Direction::ToServer => {
                let operation = self.operation();
                self.note += &format!(" invented {} before", operation.name);
                frame.header.op = operation.op;
                frame.header.flags = match self.random.usize(..2) {
                    0 => operation.flags,
                    _ => operation.flags.with(Flags::ONE_WAY),
                };
                let described = self.random.usize(..4) != 0;
                if !described || !operation.arguments(&mut frame.small, self) {
                    self.arguments(&mut frame.small);
                }
                if self.random.usize(..4) == 0 {
                    frame.bulk = vec![0; self.random.usize(..5000)];
                    self.random.fill(&mut frame.bulk);
                }
            }
            Direction::ToClient => {
                let op = [
                    control::CREDIT,
                    control::GOODBYE,
                    control::WELCOME,
                    control::ECHO,
                    12,
                    model.op,
                ];
                frame.header.op = op[self.random.usize(..op.len())];
                self.note += &format!(" invented op {:#x} before", frame.header.op);
                frame.header.credit = self.random.u64(..) as u16;
                frame.header.seq = model.seq.wrapping_sub(self.random.usize(..3) as u64);
                self.arguments(&mut frame.small);
            }
        }
        frame
    }

    fn operation(&mut self) -> &'static Operation {
        let all = operations();
        &all[self.random.usize(..all.len())]
    }

    /// Arguments that might be those of any call.
    fn arguments(&mut self, small: &mut Vec<u8>) {
        for _ in 0..self.random.usize(..14) {
            match self.random.usize(..9) {
                0 => small.push(self.random.usize(..3) as u8),
                1 | 2 => small.extend((self.number() as u32).to_le_bytes()),
                3 => {
                    // An array, with its length.
                    let len = self.random.usize(..40);
                    small.extend((len as u64).to_le_bytes());
                    let begin = small.len();
                    small.resize(begin + len, 0);
                    self.random.fill(&mut small[begin..]);
                }
                4 => small.extend((self.random.usize(..4) as u32).to_le_bytes()),
                _ => small.extend(self.number().to_le_bytes()),
            }
        }
    }

    fn header(&mut self, frame: &mut Frame) {
        let header = &mut frame.header;
        match self.random.usize(..16) {
            0 => header.op = self.random.u64(..) as u32,
            1 => header.op = self.random.usize(..FIRST_OPERATION as usize + 1) as u32,
            2 | 3 => {
                let operation = self.operation();
                header.op = operation.op;
                header.flags = Flags(header.flags.0 & !Flags::NVML.0).with(operation.flags);
            }
            4 | 5 => header.status = STATUSES[self.random.usize(..STATUSES.len())],
            6 => header.context = STATUSES[self.random.usize(..STATUSES.len())],
            7 => header.after = self.number(),
            8 => {
                header.after =
                    (self.random.usize(..4) as u64) << 48 | self.random.usize(..100) as u64
            }
            9 => header.credit = [0, 1, 0xffff][self.random.usize(..3)],
            10 | 11 => header.flags.0 ^= 1 << self.random.usize(..6),
            12 => header.flags.0 ^= 1 << self.random.usize(..16),
            13 => {
                header.seq = header
                    .seq
                    .wrapping_add([1, u64::MAX, 1 << 40][self.random.usize(..3)])
            }
            14 => {
                // The border between arguments and bulk part moves.
                let all = [frame.small.as_slice(), &frame.bulk].concat();
                let at = self.random.usize(..all.len() + 1).min(SMALL_MAX);
                frame.small = all[..at].to_vec();
                frame.bulk = all[at..].to_vec();
            }
            _ => match self.random.usize(..3) {
                0 => frame.spoilt = true,
                1 => {
                    frame.lengths_lie = true;
                    header.length = self.number() as u32;
                }
                _ => {
                    frame.lengths_lie = true;
                    header.small = self.number() as u32;
                }
            },
        }
        let now = &frame.header;
        self.note += &format!(
            " header: op {:#x} status {} context {} after {:#x} credit {} flags {:#x} seq {} length {} small {}{}",
            now.op,
            now.status,
            now.context,
            now.after,
            now.credit,
            now.flags.0,
            now.seq,
            now.length,
            now.small,
            if frame.spoilt { " checksum" } else { "" },
        );
    }

    fn payload(&mut self, frame: &mut Frame) {
        let bulk =
            !frame.bulk.is_empty() && (frame.small.is_empty() || self.random.usize(..3) == 0);
        let (part, cap) = match bulk {
            true => (&mut frame.bulk, BULK_MAX),
            false => (&mut frame.small, SMALL_MAX),
        };
        self.note += if bulk { " bulk" } else { " small" };
        let len = part.len();
        let choice = match len {
            0 => 9,
            _ => self.random.usize(..12),
        };
        let at = self.random.usize(..len.max(1));
        let some = 1 + self.random.usize(..(len - at.min(len)).clamp(1, 64));
        let end = (at + some).min(len);
        match choice {
            0 | 1 => part[at] ^= 1 << self.random.usize(..8),
            2 => part[at..end].fill(0),
            3 => part[at..end].fill(0xff),
            4..=6 => {
                let width = [1, 2, 4, 8, 8][self.random.usize(..5)];
                let aligned = self.random.usize(..4) != 0;
                let at = if aligned { at / 4 * 4 } else { at };
                let number = match choice {
                    4 => self.number(),
                    _ => INTERESTING[self.random.usize(..INTERESTING.len())],
                };
                let (end, number) = ((at + width).min(len), number.to_le_bytes());
                part[at..end].copy_from_slice(&number[..end - at]);
                self.note += &format!(" {:x?}", &number[..end - at]);
            }
            7 => {
                let other = self.random.usize(..len);
                for (a, b) in (at..len).zip(other..len).take(8) {
                    part.swap(a, b);
                }
            }
            8 => part.truncate(at),
            9 => {
                let more = [1, 4, 8, 64, 5000][self.random.usize(..5)];
                let mut bytes = vec![0; more];
                self.random.fill(&mut bytes);
                part.extend(bytes);
                part.truncate(cap);
            }
            10 => drop(part.drain(at..end)),
            _ => {
                let bytes = part[at..end].to_vec();
                part.splice(at..at, bytes);
                part.truncate(cap);
            }
        }
        self.note += &format!(" ({choice} at {at}, {some} of {len})");
    }

    fn remember(&mut self, small: &[u8]) {
        for word in small.as_chunks().0.iter().take(16) {
            let word = u64::from_le_bytes(*word);
            if word > 1 << 20 && !self.words.contains(&word) {
                match self.words.len() < WORDS {
                    true => self.words.push(word),
                    false => self.words[(word % WORDS as u64) as usize] = word,
                }
            }
        }
    }
}

impl Values for Mutator {
    fn number(&mut self) -> u64 {
        match self.random.usize(..4) {
            0 => INTERESTING[self.random.usize(..INTERESTING.len())],
            1 => self.random.usize(..300) as u64,
            _ if self.words.is_empty() => self.random.u64(..),
            _ => {
                let seen = self.words[self.random.usize(..self.words.len())];
                seen.wrapping_add([0, 0, 0, 1, 8, 4096, u64::MAX][self.random.usize(..7)])
            }
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random.usize(..bound)
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        match self.random.usize(..3) {
            0 => {}
            1 => self.random.fill(&mut bytes),
            _ => {
                for chunk in bytes.chunks_mut(8) {
                    chunk.copy_from_slice(&self.number().to_le_bytes()[..chunk.len()]);
                }
            }
        }
        bytes
    }
}
