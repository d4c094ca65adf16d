//! Counters that the daemon's parts raise; `/metrics` shows them beside the shared
//! state. An Xid is a counter per device and code, never a gauge that sticks at the last one.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gtrace_event::{
    Event, Incident, IncidentState, Kind, PciAddress, Provenance, RemovalCause, Severity,
    Timestamp, WitnessName,
};
use gtrace_store::Size;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;

use crate::lock::lock;

/// Labels of `gtrace_events`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct EventLabels {
    /// [`Kind`] name.
    pub kind: &'static str,
    /// Severity name.
    pub severity: &'static str,
    /// PCI address, or empty.
    pub gpu: String,
    /// [`Provenance`] name.
    pub provenance: &'static str,
}

/// Labels of `gtrace_xid` and `gtrace_sxid`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct XidLabels {
    /// PCI address, or empty.
    pub gpu: String,
    /// The code.
    pub xid: String,
    /// [`Provenance`] name.
    pub provenance: &'static str,
}

/// Name and value of a label.
pub type Label = (&'static str, &'static str);

/// How long people took, in buckets from a minute to a week.
#[derive(Clone, Debug)]
pub struct ResponseTime(pub Histogram);

impl Default for ResponseTime {
    fn default() -> Self {
        const MINUTE: f64 = 60.0;
        const HOUR: f64 = 3600.0;
        const DAY: f64 = 86_400.0;
        Self(Histogram::new([
            MINUTE,
            5.0 * MINUTE,
            15.0 * MINUTE,
            30.0 * MINUTE,
            HOUR,
            4.0 * HOUR,
            12.0 * HOUR,
            DAY,
            7.0 * DAY,
        ]))
    }
}

/// Most devices that have labels of their own though the host does not show them: the kernel named them, as it does
/// a GPU that fell off the bus before gtrace started.
const DEVICES: usize = 256;
/// Most pairs of a device and a code, of what the kernel wrote and of all else. Programs may write any code.
const CODES: usize = 1024;
const UNCONFIRMED_CODES: usize = 256;
/// A place where nothing was counted for so long is free for another.
const FREE_AFTER: Duration = Duration::from_secs(3600);
/// The label of all others.
const OTHER: &str = "other";

/// What the counters distinguish of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    kind: Kind,
    severity: Severity,
    gpu: Option<PciAddress>,
    /// Of an Xid or SXid.
    code: Option<u32>,
}

impl From<&Event> for Counted {
    fn from(event: &Event) -> Self {
        Self {
            kind: event.kind,
            severity: event.severity,
            gpu: event.gpu.as_ref().and_then(|gpu| gpu.pci),
            code: event.code(),
        }
    }
}

impl Counted {
    /// The device.
    pub fn gpu(&self) -> Option<PciAddress> {
        self.gpu
    }
}

/// A bounded table of labels. Who has a place keeps it while it is counted.
#[derive(Debug)]
struct Places<K> {
    counted_at: BTreeMap<K, Instant>,
    limit: usize,
}

impl<K: Ord + Clone> Places<K> {
    fn new(limit: usize) -> Self {
        Self {
            counted_at: BTreeMap::new(),
            limit,
        }
    }

    fn has(&self, key: &K) -> bool {
        self.counted_at.contains_key(key)
    }

    /// Whether `key` has a place now, and who lost it for that.
    fn take(&mut self, key: &K, now: Instant) -> (bool, Option<K>) {
        let mut freed = None;
        if !self.has(key) && self.counted_at.len() >= self.limit {
            let oldest = self.counted_at.iter().min_by_key(|(_, at)| **at);
            let idle = oldest.filter(|(_, at)| now.duration_since(**at) >= FREE_AFTER);
            let Some(idle) = idle.map(|(key, _)| key.clone()) else {
                return (false, None);
            };
            self.counted_at.remove(&idle);
            freed = Some(idle);
        }
        self.counted_at.insert(key.clone(), now);
        (true, freed)
    }
}

/// Kind, label of the device, code.
type Code = (Kind, String, u32);

/// Labels that there are.
#[derive(Debug)]
struct Labels {
    /// Devices that the host shows or has shown: as many as it has.
    present: BTreeSet<PciAddress>,
    /// Further ones that the kernel named.
    named: Places<PciAddress>,
    codes: Places<Code>,
    unconfirmed_codes: Places<Code>,
    /// The series, to end those of who loses its place.
    events: HashSet<EventLabels>,
    by_code: HashSet<(Kind, XidLabels)>,
    /// The newest Xid of a device, drills and forged lines aside.
    last_xid: BTreeMap<String, u32>,
}

impl Default for Labels {
    fn default() -> Self {
        Self {
            present: BTreeSet::new(),
            named: Places::new(DEVICES),
            codes: Places::new(CODES),
            unconfirmed_codes: Places::new(UNCONFIRMED_CODES),
            events: HashSet::new(),
            by_code: HashSet::new(),
            last_xid: BTreeMap::new(),
        }
    }
}

impl Labels {
    /// The label of a device, and the device that lost its place for it.
    fn device(
        &mut self,
        pci: PciAddress,
        exists: bool,
        provenance: Provenance,
        now: Instant,
    ) -> (String, Option<PciAddress>) {
        if exists {
            self.present.insert(pci);
        }
        let (known, freed) = match provenance {
            _ if self.present.contains(&pci) => (true, None),
            Provenance::Kernel => self.named.take(&pci, now),
            _ => (self.named.has(&pci), None),
        };
        let label = match known {
            true => pci.to_string(),
            false => OTHER.to_owned(),
        };
        (label, freed)
    }

    /// The label of a code, and the code that lost its place for it.
    fn code(
        &mut self,
        code: &Code,
        provenance: Provenance,
        now: Instant,
    ) -> (String, Option<Code>) {
        let places = match provenance {
            Provenance::Kernel => &mut self.codes,
            _ => &mut self.unconfirmed_codes,
        };
        let (known, freed) = places.take(code, now);
        let label = match known {
            true => code.2.to_string(),
            false => OTHER.to_owned(),
        };
        (label, freed)
    }
}

/// The counters.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    /// Occurrences by kind, severity and device, repeats included.
    pub events: Family<EventLabels, Counter>,
    /// Xids by device and code, repeats included.
    pub xid: Family<XidLabels, Counter>,
    /// SXids by device and code, repeats included.
    pub sxid: Family<XidLabels, Counter>,
    /// Records read by `source`, events or not.
    pub records: Family<[Label; 1], Counter>,
    /// Losses by `source`, which may be a part of gtrace, and `what` was lost, or why: every place that can drop.
    pub lost: Family<[Label; 2], Counter>,
    /// Records that left the store, by `cause`, a [`RemovalCause`].
    pub removed: Family<[Label; 1], Counter>,
    /// What the store takes on disk, in bytes, by `part`: `used` or `free` pages of the database, or its write-ahead `log`.
    pub store_size: Family<[Label; 1], Gauge>,
    /// Damaged stores that were moved aside.
    pub store_moved_aside: Counter,
    /// Ends of processes that had a GPU device open, by `outcome`: `success` (status 0), `failure` or `signal`.
    pub process_exits: Family<[Label; 1], Counter>,
    /// Clients of the API that were refused or cut off, by `listener` (`unix`, `tcp` or `https`) and `reason`.
    pub refused: Family<[Label; 2], Counter>,
    /// Requests over https without a valid credential, by `reason`.
    pub failed_logins: Family<[Label; 1], Counter>,
    /// Whether the files of a `listener`, `https`, could be read when they changed last.
    pub listener_files_good: Family<[Label; 1], Gauge>,
    /// The end of the certificate of a `listener`, `https`, seconds since 1970.
    pub listener_certificate_expiry: Family<[Label; 1], Gauge>,
    /// Incidents that were opened, by `class`, a [`gtrace_event::FailureClass`] as it was then, and whether all of it was a `drill`.
    pub incidents_opened: Family<[Label; 2], Counter>,
    /// From the first event of an incident to its acknowledgement, in seconds; without drills.
    pub time_to_acknowledge: ResponseTime,
    /// From the first event of an incident to its resolution, in seconds; without drills.
    pub time_to_resolve: ResponseTime,
    labels: Arc<Mutex<Labels>>,
    /// Losses by source, for the status, and when the last one was counted.
    lost_by_source: Arc<Mutex<BTreeMap<&'static str, (u64, Instant)>>>,
    /// When each witness last delivered something, in the order of [`WitnessName::ALL`]: milliseconds of
    /// Unix time, 0 for never.
    seen: Arc<[AtomicI64; WitnessName::ALL.len()]>,
}

impl Metrics {
    /// All counters at zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts `n` occurrences of an event that `provenance` wrote. `exists` says whether the host shows its device: an
    /// address that does not exist gets a label only from the kernel.
    pub fn count_event(&self, event: &Counted, provenance: Provenance, exists: bool, n: u64) {
        let now = Instant::now();
        let mut labels = lock(&self.labels);
        let (gpu, freed) = match event.gpu {
            Some(pci) => labels.device(pci, exists, provenance, now),
            None => (String::new(), None),
        };
        if let Some(pci) = freed {
            self.end_device(&mut labels, &pci.to_string());
        }
        if let Some(code) = event.code {
            let real = matches!(provenance, Provenance::Kernel | Provenance::Unknown);
            // Only of devices that have a label of their own: there are no more of them than that.
            if event.kind == Kind::Xid && real && !gpu.is_empty() && gpu != OTHER {
                labels.last_xid.insert(gpu.clone(), code);
            }
            let code = (event.kind, gpu.clone(), code);
            let (xid, freed) = labels.code(&code, provenance, now);
            if let Some(freed) = freed {
                self.end_code(&mut labels, &freed, provenance == Provenance::Kernel);
            }
            let of_code = XidLabels {
                gpu: gpu.clone(),
                xid,
                provenance: provenance.name(),
            };
            self.family(event.kind).get_or_create(&of_code).inc_by(n);
            labels.by_code.insert((event.kind, of_code));
        }
        let of_event = EventLabels {
            kind: event.kind.name(),
            severity: event.severity.name(),
            gpu,
            provenance: provenance.name(),
        };
        self.events.get_or_create(&of_event).inc_by(n);
        labels.events.insert(of_event);
    }

    /// The newest Xid of a GPU; drills and lines that a user has written do not count.
    pub fn last_xid(&self, pci: PciAddress) -> Option<u32> {
        let labels = lock(&self.labels);
        labels.last_xid.get(&pci.to_string()).copied()
    }

    fn family(&self, kind: Kind) -> &Family<XidLabels, Counter> {
        match kind {
            Kind::Sxid => &self.sxid,
            _ => &self.xid,
        }
    }

    /// Ends the series of a device: a counter that goes on for another would fall.
    fn end_device(&self, labels: &mut Labels, gpu: &str) {
        labels.events.retain(|of_event| {
            let ends = of_event.gpu == gpu;
            if ends {
                self.events.remove(of_event);
            }
            !ends
        });
        labels.by_code.retain(|(kind, of_code)| {
            let ends = of_code.gpu == gpu;
            if ends {
                self.family(*kind).remove(of_code);
            }
            !ends
        });
        labels.last_xid.remove(gpu);
        for places in [&mut labels.codes, &mut labels.unconfirmed_codes] {
            places.counted_at.retain(|(_, of, _), _| of != gpu);
        }
    }

    /// Ends the series of a code, those that the kernel wrote or the others.
    fn end_code(&self, labels: &mut Labels, (kind, gpu, code): &Code, confirmed: bool) {
        let code = code.to_string();
        labels.by_code.retain(|(of_kind, of_code)| {
            let ends = of_kind == kind
                && of_code.gpu == *gpu
                && of_code.xid == code
                && (of_code.provenance == Provenance::Kernel.name()) == confirmed;
            if ends {
                self.family(*kind).remove(of_code);
            }
            !ends
        });
    }

    /// Counts `n` records read from `source`.
    pub fn count_records(&self, source: WitnessName, n: u64) {
        self.records
            .get_or_create(&[("source", source.name())])
            .inc_by(n);
        self.saw(source);
    }

    /// `source` has delivered something now, if only that there is nothing new.
    pub fn saw(&self, source: WitnessName) {
        let now = Timestamp::now().as_millisecond();
        self.seen[source as usize].store(now, Ordering::Relaxed);
    }

    /// When `source` last delivered something.
    pub fn last_seen(&self, source: WitnessName) -> Option<Timestamp> {
        match self.seen[source as usize].load(Ordering::Relaxed) {
            0 => None,
            ms => Timestamp::from_millisecond(ms).ok(),
        }
    }

    /// Counts `n` records that left the store.
    pub fn count_removed(&self, cause: RemovalCause, n: u64) {
        self.removed
            .get_or_create(&[("cause", cause.name())])
            .inc_by(n);
    }

    /// Shows what the store takes on disk.
    pub fn set_store_size(&self, size: &Size) {
        let parts = [
            ("used", size.used_bytes),
            ("free", size.free_bytes),
            ("log", size.wal_bytes),
        ];
        for (part, bytes) in parts {
            let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
            self.store_size.get_or_create(&[("part", part)]).set(bytes);
        }
    }

    /// Counts that `incident` was opened.
    pub fn count_incident(&self, incident: &Incident) {
        let drill = if incident.drill { "true" } else { "false" };
        let labels = [("class", incident.class.name()), ("drill", drill)];
        self.incidents_opened.get_or_create(&labels).inc();
    }

    /// Observes how long it took from the opening of `incident` to its newest change of state, the first of its kind.
    pub fn observe_response(&self, incident: &Incident) {
        let Some((newest, before)) = incident.history.split_last() else {
            return;
        };
        if incident.drill || before.iter().any(|change| change.state >= newest.state) {
            return;
        }
        let seconds = newest.time.duration_since(incident.opened).as_secs_f64();
        let times = match newest.state {
            IncidentState::Acknowledged => &self.time_to_acknowledge,
            IncidentState::Resolved => &self.time_to_resolve,
            IncidentState::Open | IncidentState::Mitigated => return,
        };
        times.0.observe(seconds.max(0.0));
    }

    /// Counts the end of a process that had a GPU device open.
    pub fn count_process_exit(&self, outcome: &'static str) {
        self.process_exits
            .get_or_create(&[("outcome", outcome)])
            .inc();
    }

    /// Counts `n` losses.
    pub fn count_lost(&self, source: &'static str, what: &'static str, n: u64) {
        self.lost
            .get_or_create(&[("source", source), ("what", what)])
            .inc_by(n);
        let mut by_source = lock(&self.lost_by_source);
        let (count, at) = by_source.entry(source).or_insert((0, Instant::now()));
        *count += n;
        *at = Instant::now();
    }

    /// Counts a client of the API that was refused or cut off.
    pub fn count_refused(&self, listener: &'static str, reason: &'static str) {
        self.refused
            .get_or_create(&[("listener", listener), ("reason", reason)])
            .inc();
    }

    /// Counts a request over https without a valid credential.
    pub fn count_failed_login(&self, reason: &'static str) {
        self.failed_logins
            .get_or_create(&[("reason", reason)])
            .inc();
    }

    /// Sets what there is to know of the files of the https listener.
    pub fn set_listener_files(&self, good: bool, expiry: Option<i64>) {
        let labels = [("listener", "https")];
        self.listener_files_good
            .get_or_create(&labels)
            .set(good.into());
        if let Some(expiry) = expiry {
            self.listener_certificate_expiry
                .get_or_create(&labels)
                .set(expiry);
        }
    }

    /// How many records were read from `source`.
    pub fn records_of(&self, source: WitnessName) -> u64 {
        self.records
            .get_or_create(&[("source", source.name())])
            .get()
    }

    /// How many records of `source` are lost.
    pub fn lost_of(&self, source: &str) -> u64 {
        let by_source = lock(&self.lost_by_source);
        by_source.get(source).map_or(0, |(count, _)| *count)
    }

    /// How long ago a record of `source` was last lost.
    pub fn last_loss(&self, source: &str) -> Option<Duration> {
        let by_source = lock(&self.lost_by_source);
        by_source.get(source).map(|(_, at)| at.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_witness_has_a_place_of_its_own_for_when_it_was_seen() {
        let metrics = Metrics::new();
        for (place, witness) in WitnessName::ALL.into_iter().enumerate() {
            assert_eq!(witness as usize, place);
            assert_eq!(metrics.last_seen(witness), None);
            metrics.count_records(witness, 1);
            assert!(metrics.last_seen(witness).is_some());
        }
        assert_eq!(metrics.last_loss("/dev/kmsg"), None);
        metrics.count_lost("/dev/kmsg", "overwritten", 3);
        assert!(metrics.last_loss("/dev/kmsg").is_some());
    }

    fn xid(gpu: &str, code: u32) -> Counted {
        Counted {
            kind: Kind::Xid,
            severity: Severity::Fatal,
            gpu: Some(gpu.parse().unwrap()),
            code: Some(code),
        }
    }

    /// What the series of an Xid counts; asking for it would create it.
    fn value(metrics: &Metrics, gpu: &str, xid: &str, provenance: Provenance) -> Option<u64> {
        let labels = XidLabels {
            gpu: gpu.to_owned(),
            xid: xid.to_owned(),
            provenance: provenance.name(),
        };
        metrics.xid.get(&labels).map(|counter| counter.get())
    }

    fn phantom(n: usize) -> String {
        format!("{:04x}:{:02x}:00.0", 0x1000 + n / 256, n % 256)
    }

    #[test]
    fn addresses_that_nobody_confirmed_take_no_place_from_a_real_gpu() {
        let metrics = Metrics::new();
        for provenance in [
            Provenance::Injected,
            Provenance::Userspace,
            Provenance::Unknown,
        ] {
            for n in 0..2 * DEVICES {
                metrics.count_event(&xid(&phantom(n), 79), provenance, false, 1);
            }
            assert_eq!(
                value(&metrics, OTHER, "79", provenance),
                Some(2 * DEVICES as u64)
            );
        }
        let (lost, present) = ("0000:ab:00.0", "0000:3b:00.0");
        metrics.count_event(&xid(lost, 79), Provenance::Kernel, false, 1000);
        metrics.count_event(&xid(present, 79), Provenance::Injected, true, 1);
        assert_eq!(
            value(&metrics, lost, "79", Provenance::Kernel),
            Some(1000),
            "the kernel named it"
        );
        assert_eq!(
            value(&metrics, present, "79", Provenance::Injected),
            Some(1)
        );
        let last = |gpu: &str| metrics.last_xid(gpu.parse().unwrap());
        assert_eq!(last(lost), Some(79));
        assert_eq!(last(present), None, "a drill");
        metrics.count_event(&xid(lost, 13), Provenance::Kernel, false, 1);
        assert_eq!(last(lost), Some(13));
    }

    #[test]
    fn a_gpu_that_exists_has_a_label_however_many_others_were_named() {
        let metrics = Metrics::new();
        for n in 0..DEVICES + 10 {
            metrics.count_event(&xid(&phantom(n), 79), Provenance::Kernel, false, 1);
        }
        assert_eq!(value(&metrics, OTHER, "79", Provenance::Kernel), Some(10));
        let gpu = "0000:3b:00.0";
        metrics.count_event(&xid(gpu, 79), Provenance::Kernel, true, 1);
        // It has fallen off the bus since.
        metrics.count_event(&xid(gpu, 79), Provenance::Kernel, false, 1);
        assert_eq!(value(&metrics, gpu, "79", Provenance::Kernel), Some(2));
    }

    #[test]
    fn a_place_where_nothing_was_counted_for_long_is_free_and_its_series_end() {
        let mut places = Places::new(2);
        let begin = Instant::now();
        let later = begin + FREE_AFTER;
        assert_eq!(places.take(&1, begin), (true, None));
        assert_eq!(places.take(&2, begin), (true, None));
        assert_eq!(places.take(&3, begin), (false, None));
        assert_eq!(places.take(&2, later), (true, None));
        assert_eq!(places.take(&3, later), (true, Some(1)));
        assert_eq!(places.take(&1, later), (false, None));

        let metrics = Metrics::new();
        let gone = "0000:ab:00.0";
        metrics.count_event(&xid(gone, 79), Provenance::Kernel, false, 5);
        let mut labels = metrics.labels.lock().unwrap();
        metrics.end_device(&mut labels, gone);
        assert!(labels.events.is_empty() && labels.by_code.is_empty());
        assert!(labels.codes.counted_at.is_empty() && labels.last_xid.is_empty());
        assert_eq!(value(&metrics, gone, "79", Provenance::Kernel), None);
    }

    #[test]
    fn forged_codes_end_in_one_label_and_leave_the_kernels_alone() {
        let metrics = Metrics::new();
        let gpu = "0000:3b:00.0";
        for code in 0..2 * UNCONFIRMED_CODES as u32 {
            metrics.count_event(&xid(gpu, code), Provenance::Userspace, true, 1);
        }
        let others = value(&metrics, gpu, OTHER, Provenance::Userspace);
        assert_eq!(others, Some(UNCONFIRMED_CODES as u64));
        metrics.count_event(&xid(gpu, 100_000), Provenance::Kernel, true, 1);
        assert_eq!(value(&metrics, gpu, "100000", Provenance::Kernel), Some(1));
        let labels = &mut metrics.labels.lock().unwrap();
        let first = (Kind::Xid, gpu.to_owned(), 1);
        metrics.end_code(labels, &first, false);
        assert_eq!(value(&metrics, gpu, "1", Provenance::Userspace), None);
    }
}
