//! One producer and one consumer of a ring, each in its process.
//!
//! Each side keeps its own counter to itself and only ever publishes it; of the other side's it
//! believes nothing that cannot be: a counter that goes back, or claims more than the ring has, is an
//! error and never an address.
//!
//! # Doorbells
//!
//! A sleeper announces that and checks again; a publisher checks whether the other side sleeps:
//! ```text
//! consumer: sleeps = 1; fence; tail?        producer: tail = n; fence; sleeps?
//! ```
//! Both fences are sequentially consistent, so one comes before the other in their single order
//! (C++20 [atomics.fences]; Rust has the same model). If the consumer's is first, the producer sees
//! `sleeps == 1` and wakes; if the producer's is first, the consumer sees the new tail and does not
//! sleep. FUTEX_WAIT reads `sleeps` once more under the kernel's lock, so that a wake between the
//! check and the sleep is not lost either. The bytes themselves go by release of the counter and
//! acquire.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use rustix::thread::futex;

use crate::mapping::{Mapping, Ring};
use crate::ring::RingError;

fn checked(
    counter: &'static str,
    value: &AtomicU64,
    least: u64,
    most: u64,
) -> Result<u64, RingError> {
    let found = value.load(Ordering::Acquire);
    if (least..=most).contains(&found) {
        Ok(found)
    } else {
        Err(RingError {
            counter,
            found,
            least,
            most,
        })
    }
}

/// Wakes who sleeps on `sleeps`, if anybody does, after a counter was stored.
#[inline]
fn ring_bell(sleeps: &AtomicU32) {
    fence(Ordering::SeqCst);
    if sleeps.load(Ordering::Relaxed) != 0 {
        wake(sleeps);
    }
}

/// Wakes who sleeps on `sleeps`.
#[cold]
pub(crate) fn wake(sleeps: &AtomicU32) {
    sleeps.store(0, Ordering::SeqCst);
    // Fails for bad addresses only.
    let _ = futex::wake(sleeps, futex::Flags::empty(), u32::MAX);
}

/// The writing side.
#[derive(Debug)]
pub(crate) struct Producer {
    mapping: Arc<Mapping>,
    ring: Ring,
    tail: u64,
    published: u64,
    /// Last known counter of the reader.
    head: u64,
}

impl Producer {
    pub(crate) fn new(mapping: Arc<Mapping>, ring: Ring) -> Self {
        Self {
            mapping,
            ring,
            tail: 0,
            published: 0,
            head: 0,
        }
    }

    /// Bytes of the ring.
    pub(crate) fn capacity(&self) -> usize {
        self.mapping.ring()
    }

    /// Free bytes, reading the reader's counter only if fewer than `wanted` are known.
    #[inline]
    pub(crate) fn room(&mut self, wanted: usize) -> Result<usize, RingError> {
        let free = self.known_room();
        if free >= wanted {
            return Ok(free);
        }
        let head = self.mapping.counters(self.ring).head();
        self.head = checked("head", head, self.head, self.published)?;
        Ok(self.known_room())
    }

    #[inline]
    fn known_room(&self) -> usize {
        self.capacity() - (self.tail - self.head) as usize
    }

    /// The first `len` free bytes, of which as many as [`Producer::room`] returned are free.
    #[inline]
    pub(crate) fn space(&mut self, len: usize) -> &mut [u8] {
        let len = len.min(self.known_room());
        self.mapping.bytes_mut(self.ring, self.tail, len)
    }

    /// The first `len` bytes of the space were written.
    #[inline]
    pub(crate) fn commit(&mut self, len: usize) {
        self.tail += len.min(self.known_room()) as u64;
    }

    /// Bytes committed and not published.
    #[inline]
    pub(crate) fn pending(&self) -> usize {
        (self.tail - self.published) as usize
    }

    /// Shows the reader what was committed.
    #[inline]
    pub(crate) fn publish(&mut self) {
        if self.published != self.tail {
            let counters = self.mapping.counters(self.ring);
            counters.tail().store(self.tail, Ordering::Release);
            self.published = self.tail;
            ring_bell(counters.reader_sleeps());
        }
    }
}

/// The reading side.
#[derive(Debug)]
pub(crate) struct Consumer {
    mapping: Arc<Mapping>,
    ring: Ring,
    head: u64,
    published: u64,
    /// Last known counter of the writer.
    tail: u64,
    /// Whether it is no longer read.
    frozen: bool,
}

impl Consumer {
    pub(crate) fn new(mapping: Arc<Mapping>, ring: Ring) -> Self {
        Self {
            mapping,
            ring,
            head: 0,
            published: 0,
            tail: 0,
            frozen: false,
        }
    }

    /// The link was found at its end: what the writer publishes from here on does not count.
    pub(super) fn freeze(&mut self) {
        self.frozen = true;
    }

    /// Unread bytes, reading the writer's counter only if fewer than `wanted` are known.
    #[inline]
    pub(crate) fn available(&mut self, wanted: usize) -> Result<usize, RingError> {
        if self.known() < wanted && !self.frozen {
            let most = self.published + self.mapping.ring() as u64;
            let tail = self.mapping.counters(self.ring).tail();
            self.tail = checked("tail", tail, self.tail, most)?;
        }
        Ok(self.known())
    }

    #[inline]
    fn known(&self) -> usize {
        (self.tail - self.head) as usize
    }

    /// The first `len` unread bytes, or as many as are known.
    #[inline]
    pub(crate) fn unread(&self, len: usize) -> &[u8] {
        self.mapping
            .bytes(self.ring, self.head, len.min(self.known()))
    }

    /// The first `len` unread bytes are read. The writer learns it when an eighth of the ring is free
    /// or at the next [`Consumer::publish`].
    #[inline]
    pub(crate) fn consume(&mut self, len: usize) {
        self.head += len.min(self.known()) as u64;
        if (self.head - self.published) as usize >= self.mapping.ring() / 8 {
            self.publish();
        }
    }

    /// Publishes to the writer what was read. To be called before a wait: the writer may wait for room.
    #[inline]
    pub(crate) fn publish(&mut self) {
        if self.published != self.head {
            let counters = self.mapping.counters(self.ring);
            counters.head().store(self.head, Ordering::Release);
            self.published = self.head;
            ring_bell(counters.writer_sleeps());
        }
    }
}

/// Both sides of a ring whose peer writes the counters that `data` says: nothing outside the ring is
/// touched, and no more is lent than there can be.
#[cfg(feature = "fuzzing")]
pub fn hostile(data: &[u8]) {
    let Ok((mapping, _)) = Mapping::create(0) else {
        return;
    };
    let mapping = Arc::new(mapping);
    let mut producer = Producer::new(Arc::clone(&mapping), Ring::ToServer);
    let mut consumer = Consumer::new(Arc::clone(&mapping), Ring::ToClient);
    let capacity = producer.capacity();
    for step in data.chunks_exact(12) {
        let (choice, rest) = (step[0], &step[1..]);
        let word =
            |at: usize| u32::from_le_bytes([rest[at], rest[at + 1], rest[at + 2], rest[at + 3]]);
        // Near what is right as often as far away.
        let mut value = u64::from(word(0)) % (4 * capacity as u64);
        if choice & 1 != 0 {
            value |= u64::from(word(4)) << 32;
        }
        let len = word(4) as usize % (2 * capacity);
        mapping
            .counters(Ring::ToServer)
            .head()
            .store(value, Ordering::SeqCst);
        let room = producer.room(len);
        if let Ok(room) = room {
            assert!(room <= capacity);
            let space = producer.space(len);
            assert!(space.len() <= room);
            space.fill(choice);
            producer.commit(len);
            producer.publish();
        }
        mapping
            .counters(Ring::ToClient)
            .tail()
            .store(value, Ordering::SeqCst);
        if let Ok(available) = consumer.available(len) {
            assert!(available <= capacity);
            let unread = consumer.unread(len);
            assert!(unread.len() <= available);
            std::hint::black_box(unread.iter().fold(0u8, |sum, byte| sum ^ byte));
            consumer.consume(len);
            if choice & 2 != 0 {
                consumer.publish();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RING: usize = 256 << 10;

    fn both() -> (Arc<Mapping>, Producer, Consumer) {
        let (mapping, _) = Mapping::create(RING).unwrap();
        let mapping = Arc::new(mapping);
        let producer = Producer::new(Arc::clone(&mapping), Ring::ToServer);
        let consumer = Consumer::new(Arc::clone(&mapping), Ring::ToServer);
        (mapping, producer, consumer)
    }

    #[test]
    fn nothing_is_seen_before_it_is_published() {
        let (_, mut producer, mut consumer) = both();
        assert_eq!(producer.room(1), Ok(RING));
        producer.space(3).copy_from_slice(b"abc");
        producer.commit(3);
        assert_eq!(consumer.available(1), Ok(0));
        producer.publish();
        assert_eq!(consumer.available(1), Ok(3));
        assert_eq!(consumer.unread(9), b"abc");
        consumer.consume(3);
        assert_eq!(producer.room(RING), Ok(RING - 3));
        consumer.publish();
        assert_eq!(producer.room(RING), Ok(RING));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Whatever a peer writes to its counters, what is lent lies within the ring, and the
        /// counters that are believed never contradict each other.
        #[test]
        fn a_hostile_peer_gets_an_error(
            values in proptest::collection::vec(prop_oneof![
                any::<u64>(),
                0..3 * RING as u64,
                Just(u64::MAX),
            ], 1..40),
            steps in proptest::collection::vec(0..RING + 10, 40),
        ) {
            let (mapping, mut producer, mut consumer) = both();
            let counters = mapping.counters(Ring::ToServer);
            for (value, step) in values.into_iter().zip(steps) {
                counters.head().store(value, Ordering::SeqCst);
                if let Ok(room) = producer.room(RING) {
                    prop_assert!(room <= RING);
                    prop_assert!(producer.space(step).len() <= room);
                }
                producer.commit(step);
                counters.tail().store(value, Ordering::SeqCst);
                if let Ok(available) = consumer.available(RING) {
                    prop_assert!(available <= RING);
                    prop_assert!(consumer.unread(step).len() <= available);
                }
                consumer.consume(step);
                consumer.publish();
            }
        }

        #[test]
        fn bytes_come_in_order_at_any_sizes(
            sizes in proptest::collection::vec((1..RING, 1..RING), 1..12),
        ) {
            let (_, mut producer, mut consumer) = both();
            let (mut sent, mut received) = (0u64, 0u64);
            for (send, receive) in sizes {
                let room = producer.room(send).unwrap().min(send);
                for byte in producer.space(room) {
                    *byte = (sent % 251) as u8;
                    sent += 1;
                }
                producer.commit(room);
                producer.publish();
                let len = consumer.available(receive).unwrap().min(receive);
                for byte in consumer.unread(len) {
                    prop_assert_eq!(*byte, (received % 251) as u8);
                    received += 1;
                }
                consumer.consume(len);
                consumer.publish();
            }
        }
    }
}
