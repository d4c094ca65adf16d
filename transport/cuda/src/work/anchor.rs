//! A moment of the GPU and of the host at once, from which the GPU's times are reported.

use super::{Clock, Driver, Handle, Pending};

/// Readings of which the best counts.
const READINGS: u32 = 5;
/// How long they may take: a GPU that is full does not answer at once, nor does one on a host with too much to do.
const PATIENCE_NS: u64 = 2_000_000;
/// An anchor is renewed after this time. Milliseconds are reported with 24 bits: after a second to 60 ns.
const LASTS_NS: u64 = 1_000_000_000;

/// When an event happened by the host's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    event: Handle,
    at: u64,
    /// By how much that may be wrong, either way.
    pub(super) off_ns: u64,
}

impl Reading {
    /// By `work` that had ended at `now`: none of it began before it was given, and all of it was over by then. What began at
    /// once when it was given has its times to some microseconds, and the others have theirs with it.
    pub(super) fn of_work<T>(
        driver: &impl Driver,
        clock: impl Clock,
        work: &[Pending<T>],
        now: u64,
    ) -> Option<Self> {
        let event = work.first()?.begun;
        let earliest = work.iter().filter_map(|one| {
            let after = driver.nanos(one.begun, event)?;
            Some(moved(clock, one.given, after))
        });
        let mut reading = Self {
            event,
            at: earliest.max()?,
            off_ns: 0,
        };
        let ends = work
            .iter()
            .filter_map(|one| reading.when(driver, clock, one.ended));
        let over = ends.max()?;
        reading.off_ns = clock.nanos(now.saturating_sub(over)) + 1;
        Some(reading)
    }

    /// When an event that has happened did so.
    pub(super) fn when(
        &self,
        driver: &impl Driver,
        clock: impl Clock,
        event: Handle,
    ) -> Option<u64> {
        let since = driver.nanos(self.event, event)?;
        Some(moved(clock, self.at, since))
    }
}

/// So many nanoseconds after `at`, or before it.
fn moved(clock: impl Clock, at: u64, nanos: f64) -> u64 {
    let counts = clock.counts(nanos.abs() as u64);
    match nanos < 0.0 {
        true => at.saturating_sub(counts),
        false => at.saturating_add(counts),
    }
}

/// A stream of its own, that waits for no other, and what was read there last.
#[derive(Clone, Copy, Debug)]
pub struct Anchor {
    stream: Handle,
    /// One is that of the reading that counts, one that of the best so far, one is to be recorded next.
    events: [Handle; 3],
    reading: Option<Reading>,
}

impl Anchor {
    /// Of the current context; none if the driver has no room for its stream and events.
    pub fn new(driver: &impl Driver) -> Option<Self> {
        let stream = driver.create_stream()?;
        let events = [(); 3].map(|()| driver.create_event());
        if let [Some(first), Some(second), Some(third)] = events {
            return Some(Self {
                stream,
                events: [first, second, third],
                reading: None,
            });
        }
        for event in events.into_iter().flatten() {
            driver.destroy_event(event);
        }
        driver.destroy_stream(stream);
        None
    }

    /// Leaves nothing behind.
    pub fn end(self, driver: &impl Driver) {
        for event in self.events {
            driver.destroy_event(event);
        }
        driver.destroy_stream(self.stream);
    }

    /// What both clocks read, once they were read: now, unless that was a moment ago. If the GPU does not answer at once, what was
    /// read before counts on. The thread's context need not be this one's.
    pub(super) fn renew(&mut self, driver: &impl Driver, clock: impl Clock) -> Option<Reading> {
        let begun = clock.now();
        let since = |at: u64| clock.nanos(begun.saturating_sub(at));
        if self
            .reading
            .is_some_and(|reading| since(reading.at) <= LASTS_NS)
        {
            return self.reading;
        }
        let mut best: Option<Reading> = None;
        for _ in 0..READINGS {
            let kept = [self.reading, best].map(|kept| kept.map(|kept| kept.event));
            let free = self
                .events
                .into_iter()
                .find(|event| !kept.contains(&Some(*event)));
            let Some(event) = free else { break };
            match self.read(driver, clock, event) {
                Some(new) if best.is_none_or(|best| new.off_ns < best.off_ns) => best = Some(new),
                Some(_) => {}
                None => break,
            }
            if clock.nanos(clock.now().saturating_sub(begun)) > PATIENCE_NS {
                break;
            }
        }
        self.reading = best.or(self.reading);
        self.reading
    }

    fn read(&self, driver: &impl Driver, clock: impl Clock, event: Handle) -> Option<Reading> {
        let before = clock.now();
        if !driver.record(event, self.stream) {
            return None;
        }
        loop {
            let done = driver.is_done(event)?;
            let took = clock.now().saturating_sub(before);
            if done {
                return Some(Reading {
                    event,
                    at: before + took / 2,
                    off_ns: clock.nanos(took) / 2 + 1,
                });
            }
            if clock.nanos(took) > PATIENCE_NS {
                return None;
            }
            std::hint::spin_loop();
        }
    }
}
