//! Links over shared memory.

mod ring;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use rustix::thread::futex;

use crate::halves::{Put, RingRx, RingTx, Take};
use crate::link::{Endable, Ender, Link, LinkError, LinkInfo, LinkKind};
use crate::mapping::{Mapping, Ring};
use crate::ring::RingError;
use crate::socket::Socket;
use crate::spin::{Peer, Spin};
use ring::{Consumer, Producer};

#[cfg(feature = "fuzzing")]
pub use ring::hostile;

/// Bytes of a ring, unless a server says otherwise.
pub const RING: usize = 4 << 20;
/// Best piece of a bulk copy, bytes.
const CHUNK: usize = 256 << 10;
/// Longest sleep between two checks whether the other process lives, during the first second of a
/// wait.
const POLL: Duration = Duration::from_millis(100);
/// The same later on: an idle link costs two wake-ups a second.
const POLL_IDLE: Duration = Duration::from_millis(500);
/// Polls between two readings of the clock, when spinning.
const POLLS: u32 = 8;

/// What both halves have.
#[derive(Debug)]
struct Shared {
    mapping: Arc<Mapping>,
    /// Stays open: its end is the end of the other process.
    socket: Socket,
}

impl Shared {
    fn closed(&self) -> LinkError {
        self.socket.closed()
    }

    fn error(&self, error: RingError) -> LinkError {
        // Nobody can go on with a peer that writes wrong counters.
        self.end();
        error.into()
    }

    /// Tries `attempt` until it gives a value: spinning, then sleeping on `sleeps`.
    fn until<T>(
        &self,
        spin: &mut Spin,
        sleeps: &AtomicU32,
        deadline: Option<Instant>,
        mut attempt: impl FnMut() -> Result<Option<T>, RingError>,
    ) -> Result<T, LinkError> {
        let mut attempt = || attempt().map_err(|error| self.error(error));
        let began = Instant::now();
        let budget = spin.budget();
        if !budget.is_zero() {
            let end = began + budget;
            let end = deadline.map_or(end, |deadline| deadline.min(end));
            loop {
                for _ in 0..POLLS {
                    if let Some(value) = attempt()? {
                        spin.paid();
                        return Ok(value);
                    }
                    std::hint::spin_loop();
                }
                if Instant::now() >= end {
                    break;
                }
            }
        }
        let slept = Instant::now();
        let mut woken = false;
        loop {
            sleeps.store(1, Ordering::Relaxed);
            // See the module `ring`: the check after this fence and that of the other side after its
            // own cannot both miss.
            fence(Ordering::SeqCst);
            let outcome = attempt();
            if !matches!(outcome, Ok(None)) {
                sleeps.store(0, Ordering::Relaxed);
                if let Ok(Some(value)) = outcome {
                    spin.slept(!budget.is_zero(), slept.elapsed());
                    return Ok(value);
                }
                outcome?;
            }
            // What the other side published before it ended counts: it was read after this.
            // Who was not woken for so long may wait on a descriptor that the program has closed.
            let is_own = !woken || self.socket.is_own();
            if !is_own || !self.socket.is_alive() {
                sleeps.store(0, Ordering::Relaxed);
                return attempt()?.ok_or_else(|| self.closed());
            }
            let now = Instant::now();
            if deadline.is_some_and(|deadline| now >= deadline) {
                sleeps.store(0, Ordering::Relaxed);
                return Err(LinkError::TimedOut(self.socket.peer.clone()));
            }
            let next_check = match now - began < Duration::from_secs(1) {
                true => POLL,
                false => POLL_IDLE,
            };
            let nap = deadline.map_or(next_check, |deadline| next_check.min(deadline - now));
            let nap = Timespec {
                tv_sec: 0,
                tv_nsec: nap.as_nanos().min(999_999_999) as i64,
            };
            // Woken, timed out, interrupted or not slept at all: the loop checks the counters.
            let _ = futex::wait(sleeps, futex::Flags::empty(), 1, Some(&nap));
            woken = true;
        }
    }
}

impl Endable for Shared {
    fn end(&self) {
        self.socket.end();
        for ring in [Ring::ToServer, Ring::ToClient] {
            let counters = self.mapping.counters(ring);
            ring::wake(counters.reader_sleeps());
            ring::wake(counters.writer_sleeps());
        }
    }

    fn is_alive(&self) -> bool {
        self.socket.is_alive()
    }
}

/// The link over `mapping`; `sends` is the ring that this side writes.
pub(crate) fn link(mapping: Mapping, sends: Ring, socket: Socket) -> Link {
    let mapping = Arc::new(mapping);
    let shared = Arc::new(Shared {
        mapping: Arc::clone(&mapping),
        socket,
    });
    let info = LinkInfo::new(LinkKind::SharedMemory, &shared.socket.peer, CHUNK);
    Link {
        tx: Box::new(RingTx::new(ShmPut {
            producer: Producer::new(Arc::clone(&mapping), sends),
            ring: sends,
            shared: Arc::clone(&shared),
            spin: Spin::new(Peer::ThisHost),
        })),
        end: Ender::new(&shared),
        rx: Box::new(RingRx::new(ShmTake {
            consumer: Consumer::new(mapping, sends.other()),
            ring: sends.other(),
            shared,
            spin: Spin::new(Peer::ThisHost),
        })),
        info,
        channel: None,
    }
}

/// The end of a shared ring that this process writes.
struct ShmPut {
    producer: Producer,
    ring: Ring,
    shared: Arc<Shared>,
    spin: Spin,
}

impl Put for ShmPut {
    #[inline]
    fn capacity(&self) -> usize {
        self.producer.capacity()
    }

    #[inline]
    fn room(&mut self, wanted: usize) -> Result<usize, LinkError> {
        self.producer
            .room(wanted)
            .map_err(|error| self.shared.error(error))
    }

    #[cold]
    fn wait_for_room(&mut self, len: usize) -> Result<usize, LinkError> {
        self.producer.publish();
        let sleeps = self.shared.mapping.counters(self.ring).writer_sleeps();
        let producer = &mut self.producer;
        self.shared.until(&mut self.spin, sleeps, None, || {
            let room = producer.room(len)?;
            Ok((room >= len).then_some(room))
        })
    }

    #[inline]
    fn space(&mut self, len: usize) -> &mut [u8] {
        self.producer.space(len)
    }

    #[inline]
    fn commit(&mut self, len: usize) {
        self.producer.commit(len);
    }

    #[inline]
    fn pending(&self) -> usize {
        self.producer.pending()
    }

    #[inline]
    fn publish(&mut self) -> Result<(), LinkError> {
        self.producer.publish();
        Ok(())
    }
}

/// The end of a shared ring that this process reads.
struct ShmTake {
    consumer: Consumer,
    ring: Ring,
    shared: Arc<Shared>,
    spin: Spin,
}

impl Take for ShmTake {
    #[inline]
    fn available(&mut self, wanted: usize) -> Result<usize, LinkError> {
        self.consumer
            .available(wanted)
            .map_err(|error| self.shared.error(error))
    }

    fn wait_for(&mut self, len: usize, deadline: Option<Instant>) -> Result<usize, LinkError> {
        self.consumer.publish();
        let sleeps = self.shared.mapping.counters(self.ring).reader_sleeps();
        let consumer = &mut self.consumer;
        let waited = self.shared.until(&mut self.spin, sleeps, deadline, || {
            let available = consumer.available(len)?;
            Ok((available >= len).then_some(available))
        });
        if let Err(LinkError::Closed(_)) = &waited {
            // A writer that has not seen the end yet goes on, and who read that it is there reads no more.
            self.consumer.freeze();
        }
        waited
    }

    #[inline]
    fn unread(&self, len: usize) -> &[u8] {
        self.consumer.unread(len)
    }

    #[inline]
    fn consume(&mut self, len: usize) {
        self.consumer.consume(len);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // So that the other side does not find out only by its next check.
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::Stream;
    use std::os::unix::net::UnixStream;

    /// A link, and the mapping of a peer that keeps to nothing.
    fn hostile() -> (Link, Mapping, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (mapping, memory) = Mapping::create(1 << 20).unwrap();
        let peer = Mapping::open(&memory, 1 << 20).unwrap();
        let (socket, _) = Stream::from(ours).prepare();
        (link(mapping, Ring::ToClient, socket), peer, theirs)
    }

    #[test]
    fn wrong_counters_end_the_link_with_an_error() {
        let most = 1u64 << 20;
        for tail in [most + 1, u64::MAX, 1 << 40] {
            let (mut link, peer, _socket) = hostile();
            let tails = peer.counters(Ring::ToServer).tail();
            tails.store(tail, Ordering::SeqCst);
            let error = link.rx.peek(64, None).unwrap_err();
            assert!(matches!(error, LinkError::Ring(_)), "{error}");
            assert!(error.to_string().contains("tail is"), "{error}");
        }
        // One that goes back.
        let (mut link, peer, _socket) = hostile();
        let tails = peer.counters(Ring::ToServer).tail();
        tails.store(100, Ordering::SeqCst);
        assert_eq!(link.rx.peek(64, None).unwrap(), [0; 64]);
        tails.store(64, Ordering::SeqCst);
        assert!(matches!(link.rx.peek(200, None), Err(LinkError::Ring(_))));
        // A reader that claims to have read what was never sent.
        let (mut link, peer, _socket) = hostile();
        link.tx.bulk(&vec![1; 1 << 20]).unwrap();
        let heads = peer.counters(Ring::ToClient).head();
        heads.store(most + 1, Ordering::SeqCst);
        let error = link.tx.bulk(&[1; 100]).unwrap_err();
        assert!(matches!(error, LinkError::Ring(_)), "{error}");
    }

    #[test]
    fn what_was_peeked_at_cannot_be_changed_any_more() {
        let (mut link, peer, _socket) = hostile();
        peer.bytes_mut(Ring::ToServer, 0, 4)
            .copy_from_slice(b"good");
        let tails = peer.counters(Ring::ToServer).tail();
        tails.store(4, Ordering::SeqCst);
        assert_eq!(link.rx.peek(4, None).unwrap(), b"good");
        peer.bytes_mut(Ring::ToServer, 0, 4)
            .copy_from_slice(b"evil");
        assert_eq!(link.rx.peek(4, None).unwrap(), b"good");
    }

    /// A program that becomes a daemon closes all its descriptors, and opens others by their numbers.
    #[test]
    #[allow(unsafe_code)]
    fn a_wait_ends_when_the_program_has_closed_the_descriptor() {
        use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
        for reopened in [false, true] {
            let (ours, _theirs) = UnixStream::pair().unwrap();
            let number = ours.as_raw_fd();
            let (mapping, _memory) = Mapping::create(1 << 20).unwrap();
            let (socket, _) = Stream::from(ours).prepare();
            let mut link = link(mapping, Ring::ToClient, socket);
            let waiter = std::thread::spawn(move || {
                let ended = link.rx.peek(1, None).map(<[u8]>::to_vec);
                std::mem::forget(link);
                ended
            });
            std::thread::sleep(Duration::from_millis(20));
            // SAFETY: a number of this process; the link that has it is forgotten.
            drop(unsafe { OwnedFd::from_raw_fd(number) });
            let other = reopened.then(|| std::fs::File::open("/dev/null").unwrap());
            let end = Instant::now() + Duration::from_secs(5);
            while !waiter.is_finished() {
                assert!(Instant::now() < end, "waits for ever; reopened: {reopened}");
                std::thread::sleep(Duration::from_millis(10));
            }
            assert!(matches!(waiter.join().unwrap(), Err(LinkError::Closed(_))));
            drop(other);
        }
    }

    #[test]
    fn a_doorbell_that_is_rung_without_need_does_no_harm() {
        let (mut link, peer, socket) = hostile();
        let sleeps = peer.counters(Ring::ToServer).reader_sleeps();
        let deadline = Instant::now() + Duration::from_millis(100);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while Instant::now() < deadline {
                    ring::wake(sleeps);
                }
            });
            let error = link.rx.peek(1, Some(deadline)).unwrap_err();
            assert!(matches!(error, LinkError::TimedOut(_)), "{error}");
        });
        drop(socket);
        assert!(matches!(link.rx.peek(1, None), Err(LinkError::Closed(_))));
    }
}
