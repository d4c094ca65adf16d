//! A moment of the GPU and of the host at once, from which the GPU's times are reported.

use super::{Clock, Driver, Handle};

/// Readings of which the best counts.
const READINGS: u32 = 5;
/// An anchor is renewed after this time. Milliseconds are reported with 24 bits: after a second to 60 ns.
const LASTS_NS: u64 = 1_000_000_000;

/// When an event happened by the host's clock.
#[derive(Clone, Copy, Debug)]
struct Reading {
    event: Handle,
    at: u64,
    /// By how much that may be wrong, either way.
    off_ns: u64,
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

    /// Reads both clocks, unless that was done a moment ago. A GPU that is full does not answer at once: then what
    /// was read before counts on. The thread's context need not be this one's.
    pub fn renew(&mut self, driver: &impl Driver, clock: impl Clock, patience_ns: u64) {
        let begun = clock.now();
        let since = |at: u64| clock.nanos(begun.saturating_sub(at));
        if self
            .reading
            .is_some_and(|reading| since(reading.at) <= LASTS_NS)
        {
            return;
        }
        let mut best: Option<Reading> = None;
        for _ in 0..READINGS {
            let kept = [self.reading, best].map(|kept| kept.map(|kept| kept.event));
            let free = self
                .events
                .into_iter()
                .find(|event| !kept.contains(&Some(*event)));
            let Some(event) = free else { break };
            match self.read(driver, clock, event, patience_ns) {
                Some(new) if best.is_none_or(|best| new.off_ns < best.off_ns) => best = Some(new),
                Some(_) => {}
                None => break,
            }
            if clock.nanos(clock.now().saturating_sub(begun)) > patience_ns {
                break;
            }
        }
        self.reading = best.or(self.reading);
    }

    fn read(
        &self,
        driver: &impl Driver,
        clock: impl Clock,
        event: Handle,
        patience_ns: u64,
    ) -> Option<Reading> {
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
            if clock.nanos(took) > patience_ns {
                return None;
            }
            std::hint::spin_loop();
        }
    }

    /// Whether times can be reported.
    pub fn is_read(&self) -> bool {
        self.reading.is_some()
    }

    /// By how much times may be wrong, either way.
    pub fn off_ns(&self) -> u64 {
        self.reading.map_or(0, |reading| reading.off_ns)
    }

    /// When an event that has happened did so.
    pub fn when(&self, driver: &impl Driver, clock: impl Clock, event: Handle) -> Option<u64> {
        let reading = self.reading?;
        let since = driver.nanos(reading.event, event)?;
        let counts = clock.counts(since.abs() as u64);
        Some(match since < 0.0 {
            true => reading.at.saturating_sub(counts),
            false => reading.at.saturating_add(counts),
        })
    }
}
