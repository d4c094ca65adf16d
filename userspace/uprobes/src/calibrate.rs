//! What a probe costs here: measured on functions of this process that do nothing.
//!
//! The larger part is the trap, which the kernel's run statistics of BPF programs do not contain, and
//! which differs by a factor between machines, most of all between bare metal and virtual machines.

use std::hint::black_box;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use gtrace_abi::{ApiConfig, ApiFunction, ApiHist, ApiKey, BUCKETS, CALIBRATION, quantile};
use libbpf_rs::{MapCore as _, MapFlags, Object};

use crate::instruction::Class;
use crate::load::{self, Target, TraceError, bpf, map_of};
use crate::own_code;
use crate::pod::{bytes_of, read};
use crate::run_stats::{self, Statistics};
use crate::way::Way;

/// Calls in a part of a measurement, and parts; the fastest counts, so that an interruption does not.
const CALLS: u32 = 500;
const PARTS: u32 = 8;

/// Two that measured at once would measure each other's probes.
static MEASURING: Mutex<()> = Mutex::new(());

/// Nanoseconds that a probe adds to a call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TrapCost {
    /// Of a function whose first instruction is emulated, its call timed.
    pub emulated_ns: f64,
    /// The same, single-stepped.
    pub single_stepped_ns: f64,
    /// Of the two, when the call is only counted.
    pub counted_emulated_ns: f64,
    /// The same, single-stepped.
    pub counted_single_stepped_ns: f64,
    /// How much of a timed call is the BPF programs' own time, 0 where the kernel does not report it.
    pub program_ns: f64,
    /// How much longer a call seems to its probes than it is, emulated: what passes between their clocks.
    pub seen_emulated_ns: f64,
    /// The same, single-stepped.
    pub seen_single_stepped_ns: f64,
}

impl TrapCost {
    /// What a timed call pays.
    pub fn timed(&self, class: Class) -> f64 {
        match class {
            Class::Emulated => self.emulated_ns,
            Class::SingleStepped => self.single_stepped_ns,
        }
    }

    /// What a call pays that is only counted.
    pub fn counted(&self, class: Class) -> f64 {
        match class {
            Class::Emulated => self.counted_emulated_ns,
            Class::SingleStepped => self.counted_single_stepped_ns,
        }
    }
}

/// Measures, with the programs of `object` on functions of this process; also shows whether they can
/// be attached at all.
pub(crate) fn calibrate(object: &Object, way: Way) -> Result<TrapCost, TraceError> {
    let _alone = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    let bare = [own_code::emulated, own_code::single_stepped].map(time);
    let offsets = own_code::offsets().map_err(|source| TraceError::Bpf {
        what: "gtrace's own program file".to_owned(),
        source: source.into(),
    })?;
    let cookie = ApiConfig::cookie(CALIBRATION, 0, 0, false);
    let target = Target {
        path: "/proc/self/exe".into(),
        name: "gtrace's own code".to_owned(),
        pid: match way {
            Way::Single => -1,
            _ => i32::try_from(std::process::id()).unwrap_or(-1),
        },
        probes: offsets.iter().map(|offset| (*offset, cookie)).collect(),
    };
    let links = load::attach(object, way, &target)?;
    let [emulated_ns, single_stepped_ns] = [
        (own_code::emulated as fn(), bare[0]),
        (own_code::single_stepped, bare[1]),
    ]
    .map(|(call, bare)| (time(call) - bare).max(0.0));
    let program_ns = program_ns(object, way);
    let seen = |call, bare: f64| seen_ns(object, call).map(|seen| (seen - bare).max(0.0));
    let seen_emulated_ns = seen(own_code::emulated as fn(), bare[0])?.min(emulated_ns);
    let seen_single_stepped_ns = seen(own_code::single_stepped, bare[1])?.min(single_stepped_ns);
    only_count(object, u32::MAX)?;
    let [counted_emulated_ns, counted_single_stepped_ns] = [
        (own_code::emulated as fn(), bare[0]),
        (own_code::single_stepped, bare[1]),
    ]
    .map(|(call, bare)| (time(call) - bare).max(0.0));
    only_count(object, 1)?;
    drop(links);
    forget(object)?;
    Ok(TrapCost {
        emulated_ns,
        single_stepped_ns,
        counted_emulated_ns,
        counted_single_stepped_ns,
        program_ns,
        seen_emulated_ns,
        seen_single_stepped_ns,
    })
}

/// Nanoseconds that a call takes by its probes: nine of ten took longer, so that nothing is taken off
/// that was an interruption.
fn seen_ns(object: &Object, call: fn()) -> Result<f64, TraceError> {
    const SHARE: f64 = 0.1;
    let mut buckets = counted(object)?;
    for _ in 0..CALLS * PARTS {
        black_box(call)();
    }
    for (before, now) in buckets.iter_mut().zip(counted(object)?) {
        *before = now.saturating_sub(*before);
    }
    let calls = buckets.iter().sum();
    Ok(quantile(buckets.into_iter().enumerate(), calls, SHARE, u64::MAX) as f64)
}

/// The calls that were counted so far, by their latency.
fn counted(object: &Object) -> Result<Vec<u64>, TraceError> {
    let map = map_of(object, "API_HISTS")?;
    let mut buckets = vec![0; BUCKETS];
    for key in map
        .keys()
        .filter(|key| key.ends_with(&CALIBRATION.to_ne_bytes()))
    {
        let hist = map
            .lookup(&key, MapFlags::ANY)
            .map_err(bpf("BPF map API_HISTS"))?;
        let Some(hist) = hist.as_deref().and_then(read::<ApiHist>) else {
            continue;
        };
        for (sum, calls) in buckets.iter_mut().zip(hist.buckets) {
            *sum += calls;
        }
    }
    Ok(buckets)
}

/// Nanoseconds that the programs take for a call, as the kernel counts them. Of several parts the
/// fastest: an interruption within a program counts as its time.
fn program_ns(object: &Object, way: Way) -> f64 {
    let Ok(on) = Statistics::switch_on() else {
        return 0.0;
    };
    let part = |_| {
        let before = run_stats::of_programs(object, way);
        for _ in 0..CALLS {
            own_code::emulated();
        }
        let after = run_stats::of_programs(object, way);
        after.ns.saturating_sub(before.ns) as f64 / f64::from(CALLS)
    };
    let fastest = (0..PARTS).map(part).fold(f64::INFINITY, f64::min);
    drop(on);
    fastest
}

fn only_count(object: &Object, every: u32) -> Result<(), TraceError> {
    let described = ApiFunction {
        time_every: every,
        ..ApiFunction::default()
    };
    map_of(object, "API_TABLE")?
        .update(bytes_of(&CALIBRATION), bytes_of(&described), MapFlags::ANY)
        .map_err(bpf("BPF map API_TABLE"))
}

/// What was counted of this process is nobody's business.
fn forget(object: &Object) -> Result<(), TraceError> {
    let key = ApiKey {
        tgid: std::process::id(),
        function: CALIBRATION,
    };
    let map = map_of(object, "API_HISTS")?;
    // In a pid namespace of its own, this process is not known by its number.
    let own: Vec<Vec<u8>> = map
        .keys()
        .filter(|bytes| bytes.ends_with(&CALIBRATION.to_ne_bytes()))
        .collect();
    for bytes in own.into_iter().chain([bytes_of(&key).to_vec()]) {
        let _ = map.delete(&bytes);
    }
    Ok(())
}

/// Nanoseconds of a call.
fn time(call: fn()) -> f64 {
    let part = |_| {
        let start = Instant::now();
        for _ in 0..CALLS {
            black_box(call)();
        }
        start.elapsed().as_nanos() as f64 / f64::from(CALLS)
    };
    (0..PARTS).map(part).fold(f64::INFINITY, f64::min)
}
