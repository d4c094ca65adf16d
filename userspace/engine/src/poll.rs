//! Polls the PCI devices out of turn: an error on the link of a GPU, or its loss, is seen in
//! sysfs within a second and not at the next poll.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gtrace_catalogue::failure_mode;
use gtrace_event::{Kind, Occurrence, Provenance, WitnessName};

use crate::lock::lock;

/// Two polls are at least this far apart.
const MIN_GAP: Duration = Duration::from_secs(1);
/// After a poll that was asked for, further ones come by themselves, each so long after the one
/// before: a device can take a second to leave the bus after the first sign of trouble, and a slot
/// that is to be switched off keeps its card for 5 s (drivers/pci/hotplug/pciehp_ctrl.c). The first
/// is what confirms that a device does not answer, for which two readings must be more than a
/// second apart, however long they take.
const FOLLOW_UPS: [Duration; 2] = [Duration::from_millis(1200), Duration::from_secs(6)];

/// Asks for a poll. Asking again before it was taken changes nothing.
#[derive(Clone, Debug)]
pub struct PollRequest(Arc<Mutex<SyncSender<()>>>);

impl PollRequest {
    /// Asks; never waits.
    pub fn ask(&self) {
        // Full: a poll is requested already. Closed: nobody polls any more.
        let _ = lock(&self.0).try_send(());
    }

    /// A new other end, for a thread that replaces the one that polled before.
    pub fn renew(&self) -> PollScheduler {
        let (sender, scheduler) = ends();
        *lock(&self.0) = sender;
        scheduler
    }

    /// Asks if the occurrence gives reason to poll. Its GPU must have been found already.
    pub fn ask_if_trouble(&self, witness: WitnessName, occurrence: &Occurrence) {
        if gives_reason(witness, occurrence) {
            self.ask();
        }
    }
}

/// Receives requests and decides when a poll is due.
#[derive(Debug)]
pub struct PollScheduler {
    asked: Receiver<()>,
    schedule: Schedule,
}

/// The two ends.
pub fn channel() -> (PollRequest, PollScheduler) {
    let (sender, scheduler) = ends();
    (PollRequest(Arc::new(Mutex::new(sender))), scheduler)
}

fn ends() -> (SyncSender<()>, PollScheduler) {
    let (sender, asked) = sync_channel(1);
    let schedule = Schedule::default();
    (sender, PollScheduler { asked, schedule })
}

impl PollScheduler {
    /// Waits until a poll is due or was asked for, at most for `time`.
    pub fn wait(&mut self, time: Duration) {
        let now = Instant::now();
        let due = self
            .schedule
            .due
            .map(|at| at.saturating_duration_since(now));
        let time = due.map_or(time, |due| due.min(time));
        match self.asked.recv_timeout(time) {
            Ok(()) => self.schedule.ask(Instant::now()),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(time),
        }
    }

    /// Whether a poll is due now.
    pub fn is_due(&self) -> bool {
        self.schedule.is_due(Instant::now())
    }

    /// A poll was just taken.
    pub fn taken(&mut self) {
        self.schedule.taken(Instant::now());
    }
}

/// When to poll: at once, and then the [`FOLLOW_UPS`].
#[derive(Debug, Default)]
struct Schedule {
    last: Option<Instant>,
    due: Option<Instant>,
    /// How many of the follow-ups have been taken or planned.
    followed: usize,
}

impl Schedule {
    fn ask(&mut self, now: Instant) {
        let at = self.last.map_or(now, |last| now.max(last + MIN_GAP));
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
        self.followed = 0;
    }

    fn is_due(&self, now: Instant) -> bool {
        self.due.is_some_and(|at| at <= now)
    }

    fn taken(&mut self, now: Instant) {
        self.last = Some(now);
        self.due = FOLLOW_UPS.get(self.followed).map(|after| now + *after);
        self.followed = (self.followed + 1).min(FOLLOW_UPS.len());
    }
}

/// Errors that the hardware did not correct, losses of GPUs and changes of slots give reason to
/// poll, unless a poll has found them, or no fault happened, or the device is named and no GPU's: a
/// network adapter in trouble must not have the registers of every GPU read again and again.
fn gives_reason(witness: WitnessName, occurrence: &Occurrence) -> bool {
    let found_by_poll = matches!(
        witness,
        WitnessName::SysfsPci | WitnessName::SysfsAer | WitnessName::SysfsRdma | WitnessName::File
    );
    let no_fault = matches!(
        occurrence.provenance,
        Provenance::Injected | Provenance::Userspace
    );
    if found_by_poll || no_fault || failure_mode(occurrence) != Some("F4") {
        return false;
    }
    let pcie = &occurrence.detail.pcie;
    let concerns_gpu =
        occurrence.gpu.is_some() || !pcie.gpus_below.is_empty() || pcie.pci_device.is_none();
    match occurrence.kind {
        // What comes into a slot may be a GPU that nobody knows of yet.
        Kind::PcieHotplug => true,
        _ if !concerns_gpu => false,
        Kind::Aer => !occurrence.detail.aer.is_corrected(),
        // Its lines are logged when a device is found.
        Kind::PcieLink => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtrace_event::{Gpu, PciAddress, Severity};
    use proptest::prelude::*;

    fn observation(kind: Kind) -> Occurrence {
        Occurrence::new(kind, Severity::Critical, "")
    }

    fn xid(code: u32) -> Occurrence {
        let mut xid = observation(Kind::Xid);
        xid.detail.xid.xid = Some(code);
        xid
    }

    fn aer(severity: &str) -> Occurrence {
        let mut aer = observation(Kind::Aer);
        aer.detail.aer.severity = Some(severity.to_owned());
        aer
    }

    #[test]
    fn trouble_on_the_bus_gives_reason_and_nothing_else_does() {
        let kmsg = WitnessName::Kmsg;
        for occurrence in [
            xid(79),
            observation(Kind::GpuLost),
            observation(Kind::PcieHotplug),
            aer("Uncorrected (Non-Fatal)"),
            aer("Uncorrectable (Fatal)"),
        ] {
            assert!(gives_reason(kmsg, &occurrence), "{occurrence:?}");
            assert!(!gives_reason(WitnessName::SysfsPci, &occurrence));
            let mut drill = occurrence;
            drill.provenance = Provenance::Injected;
            assert!(!gives_reason(kmsg, &drill), "a drill");
        }
        assert!(gives_reason(
            WitnessName::RasAer,
            &aer("Uncorrectable (Fatal)")
        ));
        assert!(gives_reason(WitnessName::Nvml, &observation(Kind::GpuLost)));
        for occurrence in [
            xid(13),
            aer("Corrected"),
            aer("Correctable"),
            observation(Kind::PcieLink),
            observation(Kind::OomKill),
        ] {
            assert!(!gives_reason(kmsg, &occurrence), "{occurrence:?}");
        }
    }

    #[test]
    fn an_error_of_a_device_that_is_no_gpus_gives_no_reason() {
        let kmsg = WitnessName::Kmsg;
        let adapter = PciAddress::parse("0000:5d:00.0");
        let gpu = PciAddress::parse("0000:3b:00.0").unwrap();
        let mut error = aer("Uncorrectable (Fatal)");
        error.detail.pcie.pci_device = adapter;
        assert!(!gives_reason(kmsg, &error));
        error.detail.pcie.gpus_below = vec![gpu];
        assert!(gives_reason(kmsg, &error), "a port above both");
        error.detail.pcie.gpus_below.clear();
        error.gpu = Some(Gpu::at(gpu));
        assert!(gives_reason(kmsg, &error));
        let mut slot = observation(Kind::PcieHotplug);
        slot.detail.pcie.pci_device = adapter;
        assert!(gives_reason(kmsg, &slot), "a GPU may have come");
    }

    #[test]
    fn the_first_follow_up_confirms_what_the_poll_has_found() {
        assert!(FOLLOW_UPS[0] > Duration::from_secs(1));
    }

    #[test]
    fn a_poll_comes_at_once_and_twice_more() {
        let mut schedule = Schedule::default();
        let mut now = Instant::now();
        assert!(!schedule.is_due(now));
        schedule.ask(now);
        schedule.ask(now);
        assert!(schedule.is_due(now));
        schedule.taken(now);
        for after in FOLLOW_UPS {
            assert!(!schedule.is_due(now + after - Duration::from_millis(1)));
            now += after;
            assert!(schedule.is_due(now));
            schedule.taken(now);
        }
        assert!(!schedule.is_due(now + 100 * MIN_GAP), "nobody asked again");
    }

    #[test]
    fn whoever_waits_is_woken_and_whoever_asks_never_waits() {
        let (soon, mut scheduler) = channel();
        assert!(!scheduler.is_due());
        for _ in 0..10_000 {
            soon.ask();
        }
        let start = Instant::now();
        scheduler.wait(Duration::from_secs(60));
        assert!(scheduler.is_due() && start.elapsed() < Duration::from_secs(30));
        scheduler.taken();
        drop(soon);
        scheduler.wait(Duration::from_millis(1));
        assert!(!scheduler.is_due(), "the ten thousand were one");
    }

    proptest! {
        /// However often somebody asks: two polls are never closer than the gap, and each request
        /// is followed by a poll within the gap.
        #[test]
        fn looks_keep_their_distance_and_miss_nothing(
            asks in prop::collection::vec(0..5_000u64, 1..200)
        ) {
            let start = Instant::now();
            let mut asks = asks;
            asks.sort_unstable();
            let mut schedule = Schedule::default();
            let mut polls: Vec<u64> = Vec::new();
            let mut next = asks.iter().copied().peekable();
            for ms in 0..15_000 {
                let now = start + Duration::from_millis(ms);
                while next.next_if(|at| *at <= ms).is_some() {
                    schedule.ask(now);
                }
                if schedule.is_due(now) {
                    schedule.taken(now);
                    polls.push(ms);
                }
            }
            prop_assert!(polls.windows(2).all(|pair| pair[1] - pair[0] >= 1000));
            for at in asks {
                prop_assert!(polls.iter().any(|poll| (at..=at + 1000).contains(poll)), "{at} {polls:?}");
            }
        }
    }
}
