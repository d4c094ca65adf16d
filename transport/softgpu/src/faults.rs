//! Faults to inject, from `GTRACE_SOFTGPU_FAULT` and from the control file. README.md has the
//! entries.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crate::calls::Delay;
use crate::config::warn;
use crate::error::CuError;
use crate::mig::{self, Instance, License};
use crate::reported::Reported;
use crate::sync::lock;

/// How often the control file is read, at most.
const POLL: Duration = Duration::from_millis(10);

/// What is reported for one device.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct DeviceFaults {
    /// Launches until failure and its code, in any order.
    pub(crate) failing: Vec<(u64, u32)>,
    pub(crate) lost_at: Option<u64>,
    pub(crate) delay: Duration,
    pub(crate) xids: Vec<u32>,
    pub(crate) ecc_corrected: u64,
    pub(crate) ecc_uncorrected: u64,
    pub(crate) throttle: u64,
    pub(crate) temperature: Option<u32>,
    /// What NVML reports of sensors and repairs.
    pub(crate) reported: Reported,
    /// The instances in MIG mode; `None` where it is off.
    pub(crate) mig: Option<Vec<Instance>>,
    /// The licence of the vGPU that it is said to be.
    pub(crate) license: Option<License>,
}

/// What befalls one launch.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LaunchFate {
    pub(crate) delay: Duration,
    pub(crate) fails: Option<CuError>,
    pub(crate) lost: bool,
}

/// The faults of one device, and the control file that may change them.
pub(crate) struct Faults {
    device: usize,
    /// False while no launch can be befallen, which saves the lock at every launch.
    armed: AtomicBool,
    launches: AtomicU64,
    now: Mutex<Now>,
}

struct Now {
    injected: DeviceFaults,
    /// Launch count when `injected` was read; its numbers count from there.
    since: u64,
    looked: Option<Instant>,
    stamp: Option<(SystemTime, u64)>,
}

impl Faults {
    pub(crate) fn new(device: usize, text: Option<&str>) -> Self {
        let injected = text.map(|text| parse(text, device)).unwrap_or_default();
        let faults = Self {
            device,
            armed: AtomicBool::new(false),
            launches: AtomicU64::new(0),
            now: Mutex::new(Now {
                injected,
                since: 0,
                looked: None,
                stamp: None,
            }),
        };
        faults.arm(&lock(&faults.now));
        faults
    }

    fn arm(&self, now: &Now) {
        let injected = &now.injected;
        let armed =
            !injected.failing.is_empty() || injected.lost_at.is_some() || !injected.delay.is_zero();
        self.armed.store(armed, Ordering::Relaxed);
    }

    /// What is reported now.
    pub(crate) fn injected(&self) -> DeviceFaults {
        lock(&self.now).injected.clone()
    }

    /// Reads the control file again if it changed; true if it did.
    pub(crate) fn refresh(&self, control: Option<&Path>) -> bool {
        let Some(path) = control else { return false };
        let mut now = lock(&self.now);
        if now.looked.is_some_and(|looked| looked.elapsed() < POLL) {
            return false;
        }
        now.looked = Some(Instant::now());
        let stamp = std::fs::metadata(path)
            .ok()
            .and_then(|meta| Some((meta.modified().ok()?, meta.len())));
        if stamp == now.stamp {
            return false;
        }
        now.stamp = stamp;
        // A file that is gone means no faults, as an emptied one does.
        now.injected = parse(
            &std::fs::read_to_string(path).unwrap_or_default(),
            self.device,
        );
        now.since = self.launches.load(Ordering::Relaxed);
        self.arm(&now);
        true
    }

    /// Counts a launch and says what befalls it.
    pub(crate) fn on_launch(&self) -> LaunchFate {
        let number = self.launches.fetch_add(1, Ordering::Relaxed) + 1;
        if !self.armed.load(Ordering::Relaxed) {
            return LaunchFate::default();
        }
        let now = lock(&self.now);
        let number = number.saturating_sub(now.since);
        LaunchFate {
            delay: now.injected.delay,
            fails: now
                .injected
                .failing
                .iter()
                .find(|(at, _)| *at == number)
                .and_then(|(_, code)| CuError::from_code(*code)),
            lost: now
                .injected
                .lost_at
                .is_some_and(|at| at > 0 && number >= at),
        }
    }
}

/// Reads the entries for `device`; what cannot be understood is reported on stderr and skipped.
fn parse(text: &str, device: usize) -> DeviceFaults {
    let mut injected = DeviceFaults::default();
    for line in text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
    {
        for entry in line
            .split(',')
            .map(str::trim)
            .filter(|entry| !entry.is_empty())
        {
            let (whose, what) = match entry.split_once('/') {
                Some((number, what)) => (number.trim().parse().ok(), what.trim()),
                None => (Some(0), entry),
            };
            let understood = match whose {
                Some(number) if number == device => parse_entry(what, &mut injected),
                Some(_) => parse_entry(what, &mut DeviceFaults::default()),
                None => None,
            };
            // Reported once, by the first device, not once a device.
            if understood.is_none() && device == 0 {
                warn(&format!("fault `{entry}` is not understood and is ignored"));
            }
        }
    }
    injected
}

fn parse_entry(entry: &str, injected: &mut DeviceFaults) -> Option<()> {
    if let Some(rest) = entry.strip_prefix("launch:") {
        let (code, at) = rest.split_once('@').unwrap_or((rest, "1"));
        let code: u32 = code
            .parse()
            .ok()
            .filter(|code| gtrace_tables::results::driver(*code).is_some())?;
        injected.failing.push((at.parse().ok()?, code));
    } else if entry == "lost" {
        injected.lost_at = Some(0);
    } else if let Some(at) = entry.strip_prefix("lost@") {
        injected.lost_at = Some(at.parse().ok()?);
    } else if let Some(time) = entry.strip_prefix("delay:launch=") {
        injected.delay = parse_time(time)?;
    } else if let Some(call) = entry.strip_prefix("delay:") {
        // Kept by `calls`, as it is for all devices.
        Delay::parse(call)?;
    } else if let Some(code) = entry.strip_prefix("xid:") {
        injected.xids.push(code.parse().ok()?);
    } else if let Some(count) = entry.strip_prefix("ecc:corrected=") {
        injected.ecc_corrected = count.parse().ok()?;
    } else if let Some(count) = entry.strip_prefix("ecc:uncorrected=") {
        injected.ecc_uncorrected = count.parse().ok()?;
    } else if let Some(reason) = entry.strip_prefix("throttle:") {
        injected.throttle |= parse_reason(reason)?;
    } else if let Some(degrees) = entry.strip_prefix("temperature=") {
        injected.temperature = Some(degrees.parse().ok()?);
    } else if injected.reported.parse(entry).is_some() {
    } else if entry == "mig" {
        injected.mig.get_or_insert_default();
    } else if let Some(profiles) = entry.strip_prefix("mig:") {
        mig::add(injected.mig.get_or_insert_default(), profiles)?;
    } else if let Some(license) = entry.strip_prefix("license=") {
        injected.license = Some(License::parse(license)?);
    } else {
        return None;
    }
    Some(())
}

/// Bits of NVML's `nvmlClocksEventReason*`.
fn parse_reason(reason: &str) -> Option<u64> {
    Some(match reason {
        "power" => 0x4,
        "slowdown" => 0x8,
        "thermal" => 0x20,
        "hw_thermal" => 0x40,
        "power_brake" => 0x80,
        other => match other.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).ok()?,
            None => other.parse().ok()?,
        },
    })
}

pub(crate) fn parse_time(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let number: u64 = text[..digits].parse().ok()?;
    Some(match &text[digits..] {
        "ns" => Duration::from_nanos(number),
        "us" => Duration::from_micros(number),
        "ms" => Duration::from_millis(number),
        "s" => Duration::from_secs(number),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_for_their_device() {
        let text = "launch:700@3, delay:launch=2ms\n# a remark, lost\n1/lost@9,throttle:thermal";
        let first = parse(text, 0);
        assert_eq!(first.failing, [(3, 700)]);
        assert_eq!(first.delay, Duration::from_millis(2));
        assert_eq!((first.lost_at, first.throttle), (None, 0x20));
        let second = parse(text, 1);
        assert_eq!(
            second,
            DeviceFaults {
                lost_at: Some(9),
                ..DeviceFaults::default()
            }
        );
        assert_eq!(
            parse("launch:7000@1,launch,delay:launch=5", 0),
            DeviceFaults::default()
        );
    }

    #[test]
    fn the_nth_launch_is_befallen_and_no_other() {
        let faults = Faults::new(0, Some("launch:719@2"));
        assert!(faults.on_launch().fails.is_none());
        assert_eq!(faults.on_launch().fails.map(CuError::code), Some(719));
        assert!(faults.on_launch().fails.is_none());
    }

    #[test]
    fn the_control_file_counts_from_its_reading() {
        let file = tempfile::NamedTempFile::new().expect("file");
        let faults = Faults::new(0, None);
        faults.on_launch();
        std::fs::write(file.path(), "launch:700@1").expect("write");
        assert!(faults.refresh(Some(file.path())));
        assert_eq!(faults.on_launch().fails.map(CuError::code), Some(700));
    }
}
