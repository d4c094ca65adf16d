//! What each side counts, without a device: how much of the ring is free or unread, how many writes
//! the other side can still take, and which requests the device has done with.
//!
//! The number that comes with a write is how many bytes the writer of a ring wrote. The
//! reader gives back, by numbers that come alone, bytes that it has read and receives that it has
//! posted again. Impossible numbers are errors.

use std::collections::VecDeque;

use super::number::MESSAGE_MAX;
use crate::ring::RingError;

/// Receives that a reader posts: writes that may be on their way to it.
pub(super) const RECEIVES: u32 = 256;
/// Requests of a writer that its device may have.
pub(super) const SENDS: u32 = 128;
/// Requests of a reader, and receives of a writer, for numbers that come alone. While a writer takes
/// none of them, at most four for bytes and four for receives can come.
pub(super) const ACK_EVERY: u32 = 32;
/// Of so many requests in a row one is signalled, so that its completion speaks for all.
const SIGNAL_EVERY: u32 = 16;
/// In so many steps a ring comes free: at each the writer, if it sleeps, is woken twice, by its device that has
/// sent the bytes and by the reader that has read them. With fewer, half of the ring would not come free while the
/// reader waits for a quarter.
const STEPS: u64 = 4;
/// Set in numbers that count receives and not bytes.
const ARE_RECEIVES: u32 = 1 << 31;

/// Requests that the device has, of which some are signalled.
#[derive(Debug, Default)]
struct Requests {
    posted: u64,
    completed: u64,
    /// Posted after the last that is signalled.
    unsignalled: u32,
    /// For each that is signalled: what is done when it completes.
    signalled: VecDeque<(u64, u64)>,
}

impl Requests {
    fn under_way(&self) -> u64 {
        self.posted - self.completed
    }

    /// `count` requests are posted, the last of them signalled if `signal` or if it is time.
    fn post(&mut self, count: u32, done: u64, signal: bool) -> bool {
        self.posted += u64::from(count);
        self.unsignalled += count;
        let signal = signal || self.unsignalled >= SIGNAL_EVERY;
        if signal {
            self.signalled.push_back((self.posted, done));
            self.unsignalled = 0;
        }
        signal
    }

    /// The first one that is signalled has completed; what is done by that.
    fn complete(&mut self) -> Option<u64> {
        let (posted, done) = self.signalled.pop_front()?;
        self.completed = posted;
        Some(done)
    }
}

/// What a writer posts to publish what it committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Place and length; the second piece is empty unless the bytes go over the ring's end.
    pub(super) pieces: [(usize, usize); 2],
    /// The first byte, and how many there are, which the number of the last piece says.
    pub(super) message: (u64, usize),
    /// Whether the last piece is signalled.
    pub(super) signal: bool,
}

/// Counts of the writer of a ring. Bytes are counted from the start, which is the second round of the
/// ring so that a whole one can be counted back, and never wrap.
#[derive(Debug)]
pub(super) struct Writer {
    ring: u64,
    tail: u64,
    published: u64,
    /// Read by the other side.
    head: u64,
    /// Taken by the other side's device, so that ours will not read them again.
    acknowledged: u64,
    /// Last byte that a signalled request speaks for.
    spoken_for: u64,
    receives: u32,
    receives_most: u32,
    requests: Requests,
}

impl Writer {
    /// Of a ring of `ring` bytes, whose reader has posted `receives`.
    pub(super) fn new(ring: usize, receives: u32) -> Self {
        Self {
            ring: ring as u64,
            tail: ring as u64,
            published: ring as u64,
            head: ring as u64,
            acknowledged: ring as u64,
            spoken_for: ring as u64,
            receives,
            receives_most: receives,
            requests: Requests::default(),
        }
    }

    pub(super) fn tail(&self) -> u64 {
        self.tail
    }

    pub(super) fn room(&self) -> usize {
        (self.ring - (self.tail - self.head.min(self.acknowledged))) as usize
    }

    pub(super) fn commit(&mut self, len: usize) {
        self.tail += len.min(self.room()) as u64;
    }

    pub(super) fn pending(&self) -> usize {
        (self.tail - self.published) as usize
    }

    /// Whether a [`Plan`] may be posted now.
    pub(super) fn may_post(&self) -> bool {
        self.receives > 0 && self.requests.under_way() + 2 <= u64::from(SENDS)
    }

    /// Publishes what is pending and fits into a message, if there is something and it may be posted.
    pub(super) fn post(&mut self) -> Option<Plan> {
        let len = (self.tail - self.published).min(MESSAGE_MAX as u64);
        if len == 0 || !self.may_post() {
            return None;
        }
        let from = self.published;
        let at = from & (self.ring - 1);
        let first = len.min(self.ring - at);
        let count = if first < len { 2 } else { 1 };
        self.published += len;
        self.receives -= 1;
        let far = self.published - self.spoken_for >= self.ring / STEPS;
        let signal = self.requests.post(count, self.published, far);
        if signal {
            self.spoken_for = self.published;
        }
        Some(Plan {
            pieces: [(at as usize, first as usize), (0, (len - first) as usize)],
            message: (from, len as usize),
            signal,
        })
    }

    /// A request without bytes is posted, whose completion speaks for all before it.
    pub(super) fn post_last(&mut self) -> bool {
        let room = self.requests.under_way() < u64::from(SENDS);
        let needed = self.requests.unsignalled > 0 && room;
        if needed {
            self.requests.post(1, self.published, true);
        }
        needed
    }

    /// Given to the device.
    pub(super) fn published(&self) -> u64 {
        self.published
    }

    /// Read by the other side.
    pub(super) fn head(&self) -> u64 {
        self.head
    }

    /// The device is given up. Where and how many the published bytes behind `sent` are.
    pub(super) fn fail_over(&self, sent: u64) -> (u64, usize) {
        let sent = sent.clamp(self.head, self.published);
        (sent, (self.published - sent) as usize)
    }

    /// Where and how many the bytes are that were committed and not published.
    pub(super) fn unpublished(&self) -> (u64, usize) {
        (self.published, self.pending())
    }

    /// All that was published goes by the connection.
    pub(super) fn left(&mut self) {
        self.head = self.published;
        self.acknowledged = self.published;
    }

    /// All that was committed went by the connection.
    pub(super) fn sent(&mut self) {
        self.published = self.tail;
        self.left();
    }

    /// The device is used again, by new queue pairs. What is free of the other side's ring it still
    /// has to say.
    pub(super) fn restart(&mut self, receives: u32) {
        self.head = self.published - self.ring;
        self.acknowledged = self.published;
        self.spoken_for = self.published;
        (self.receives, self.receives_most) = (receives, receives);
        self.requests = Requests::default();
    }

    /// Requests that the device still has.
    pub(super) fn under_way(&self) -> u64 {
        self.requests.under_way()
    }

    /// A signalled request has completed.
    pub(super) fn completed(&mut self) {
        if let Some(done) = self.requests.complete() {
            self.acknowledged = done;
        }
    }

    /// The reader gives back.
    pub(super) fn acknowledged(&mut self, number: u32) -> Result<(), RingError> {
        let value = number & !ARE_RECEIVES;
        if number & ARE_RECEIVES != 0 {
            let used = self.receives_most - self.receives;
            check("receives given back", value.into(), 1, used.into())?;
            self.receives += value;
        } else {
            let unread = self.published - self.head;
            check("bytes given back", value.into(), 1, unread)?;
            self.head += u64::from(value);
        }
        Ok(())
    }
}

/// Counts of the reader of a ring.
#[derive(Debug)]
pub(super) struct Reader {
    ring: u64,
    tail: u64,
    head: u64,
    /// Bytes that are read and acknowledged to the writer.
    acknowledged: u64,
    /// Receives that were used and are posted again, not yet acknowledged to the writer.
    receives: u32,
    requests: Requests,
}

impl Reader {
    pub(super) fn new(ring: usize) -> Self {
        Self {
            ring: ring as u64,
            tail: ring as u64,
            head: ring as u64,
            acknowledged: ring as u64,
            receives: 0,
            requests: Requests::default(),
        }
    }

    pub(super) fn head(&self) -> u64 {
        self.head
    }

    pub(super) fn available(&self) -> usize {
        (self.tail - self.head) as usize
    }

    /// The writer says that it wrote `number` bytes; a receive was used.
    pub(super) fn arrived(&mut self, number: u32) -> Result<(), RingError> {
        let free = self.ring - (self.tail - self.acknowledged);
        check("bytes written", number.into(), 1, free)?;
        let used = u64::from(self.receives) + 1;
        check("writes", used, 1, RECEIVES.into())?;
        self.tail += u64::from(number);
        self.receives += 1;
        Ok(())
    }

    /// Where the next byte of the other side goes.
    pub(super) fn tail(&self) -> u64 {
        self.tail
    }

    /// Takes back what arrived beyond `tail`, as the other side sends it again.
    pub(super) fn roll_back(&mut self, tail: u64) {
        self.tail = self.tail.min(tail).max(self.head);
    }

    /// Room for bytes that come by the connection.
    pub(super) fn free(&self) -> usize {
        (self.ring - (self.tail - self.head)) as usize
    }

    /// So many came by the connection.
    pub(super) fn came(&mut self, len: usize) {
        self.tail += len.min(self.free()) as u64;
    }

    /// The device is used again, by new queue pairs, whose writer knows of no room.
    pub(super) fn restart(&mut self) {
        self.acknowledged = self.tail - self.ring;
        self.receives = 0;
        self.requests = Requests::default();
    }

    pub(super) fn consume(&mut self, len: usize) {
        self.head += len.min(self.available()) as u64;
    }

    /// The next acknowledgement for the writer, and whether it is signalled: when a quarter of
    /// the ring is free, or of the receives is posted again.
    pub(super) fn next_ack(&mut self) -> Option<(u32, bool)> {
        if self.requests.under_way() >= u64::from(ACK_EVERY) {
            return None;
        }
        let bytes = self.head - self.acknowledged;
        let number = if bytes >= self.ring / STEPS {
            self.acknowledged = self.head;
            bytes as u32
        } else if self.receives >= RECEIVES / 4 {
            std::mem::take(&mut self.receives) | ARE_RECEIVES
        } else {
            return None;
        };
        Some((number, self.requests.post(1, 0, false)))
    }

    /// A signalled request has completed.
    pub(super) fn completed(&mut self) {
        let _ = self.requests.complete();
    }
}

fn check(counter: &'static str, found: u64, least: u64, most: u64) -> Result<(), RingError> {
    if (least..=most).contains(&found) {
        return Ok(());
    }
    Err(RingError {
        counter,
        found,
        least,
        most,
    })
}

#[cfg(test)]
mod tests;
