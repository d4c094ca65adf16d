//! NVMe disks: wear, spare blocks, errors, temperature, as the disk itself counts them.
//!
//! Source: NVM Express base specification 2.0, Get Log Page, SMART / Health Information (02h); linux/nvme_ioctl.h. The kernel gives the log
//! only to who has CAP_SYS_ADMIN.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::part::{HostReading, HostRoots, HostState, Part, PartInfo, Unread};
use crate::sysfs;

pub(super) const INFO: PartInfo = PartInfo {
    name: "nvme",
    gives: "wear, spare blocks, media errors and temperature of NVMe disks",
    needs: "NVMe disks, and CAP_SYS_ADMIN to ask them",
    remedy: "run `gtrace scan` as root: the daemon gives CAP_SYS_ADMIN up unless kernel.perf_event_paranoid is above 2",
    every: Duration::from_secs(300),
};

/// So many disks have series of their own.
const MAX_DISKS: usize = 32;
/// Bytes of the log.
const LOG: usize = 512;
/// Bytes of a data unit: 1000 blocks of 512.
const UNIT: f64 = 512_000.0;
/// Bits of the first byte, and whether the disk still does its work.
const WARNINGS: [(u8, &str, HostState); 5] = [
    (
        0x01,
        "spare blocks are below their threshold",
        HostState::Degraded,
    ),
    (
        0x02,
        "the temperature is out of its range",
        HostState::Degraded,
    ),
    (0x04, "the disk is no longer reliable", HostState::Unhealthy),
    (0x08, "the disk has become read-only", HostState::Unhealthy),
    (
        0x10,
        "the backup of its volatile memory has failed",
        HostState::Degraded,
    ),
];

type Ask = fn(&str) -> io::Result<[u8; LOG]>;

pub(super) struct Nvme(pub(super) Ask);

impl Default for Nvme {
    fn default() -> Self {
        Self(ask)
    }
}

impl Part for Nvme {
    fn read(&mut self, roots: &HostRoots, _now: Instant) -> Result<HostReading, Unread> {
        let folder = roots.sysfs.join("class/nvme");
        let entries = fs::read_dir(&folder).into_iter().flatten();
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut disks: Vec<String> = names.filter(|name| name.starts_with("nvme")).collect();
        disks.sort();
        disks.truncate(MAX_DISKS);
        if disks.is_empty() {
            return Err(Unread::Absent("there is no NVMe disk".to_owned()));
        }
        let mut reading = HostReading::default();
        let mut refused = None;
        for disk in &disks {
            match (self.0)(disk) {
                Ok(log) => of_disk(disk, &folder.join(disk), &log, &mut reading),
                Err(error) => refused = Some((error.kind(), format!("{disk}: {error}"))),
            }
        }
        match refused {
            Some((io::ErrorKind::PermissionDenied, why)) if reading.metrics.is_empty() => {
                Err(Unread::Absent(why))
            }
            Some((_, why)) if reading.metrics.is_empty() => Err(Unread::Failed(why)),
            refused => {
                reading.missing = refused.map(|(_, why)| why);
                Ok(reading)
            }
        }
    }
}

/// Little-endian numbers of 128 bits, of which no disk needs more than a float holds.
fn wide(log: &[u8; LOG], at: usize) -> f64 {
    let bytes = log.get(at..at + 16).and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0.0, |bytes| u128::from_le_bytes(bytes) as f64)
}

fn of_disk(disk: &str, folder: &Path, log: &[u8; LOG], reading: &mut HostReading) {
    let model = sysfs::text(&folder.join("model")).unwrap_or_default();
    let labels = [("disk", disk), ("model", model.trim())];
    let [warning, low, high, spare, threshold, used, ..] = *log;
    let kelvin = u16::from_le_bytes([low, high]);
    let percent = |value: u8| f64::from(value) / 100.0;
    let gauges = crate::metric_table! {
        gauge "gtrace_nvme_used_ratio" ["ratio"] "Wear: share of the life that the maker gives it; above 1 it goes on without a promise" =>
            percent(used);
        gauge "gtrace_nvme_spare_ratio" ["ratio"] "Spare blocks that are left" => percent(spare);
        gauge "gtrace_nvme_spare_threshold_ratio" ["ratio"] "Spare blocks below which the disk warns" =>
            percent(threshold);
        gauge "gtrace_nvme_critical_warning" [""] "The disk's own warnings, as bits" => f64::from(warning);
    };
    for metric in gauges {
        reading.add(metric, &labels);
    }
    // Disks of clouds report none.
    if kelvin != 0 {
        let name = ("gtrace_nvme_temperature_celsius", "celsius");
        let celsius = f64::from(kelvin) - 273.0;
        reading.gauge(name, "Temperature of a disk", &labels, celsius);
    }
    let counters = crate::metric_table! {
        counter "gtrace_nvme_read_bytes" ["bytes"] "Bytes read from a disk in its life" => wide(log, 32) * UNIT;
        counter "gtrace_nvme_written_bytes" ["bytes"] "Bytes written to a disk in its life" => wide(log, 48) * UNIT;
        counter "gtrace_nvme_power_on_seconds" ["seconds"] "Time that a disk was on in its life" =>
            wide(log, 128) * 3600.0;
        counter "gtrace_nvme_unsafe_shutdowns" [""] "Losses of power without a shutdown" => wide(log, 144);
        counter "gtrace_nvme_media_errors" [""] "Errors of data that the disk could not correct" => wide(log, 160);
    };
    for metric in counters {
        reading.add(metric, &labels);
    }
    for (bit, what, state) in WARNINGS {
        if warning & bit != 0 {
            reading.find(state, format!("{disk}: {what}"));
        }
    }
    if used >= 100 {
        let reason = format!("{disk}: {used} % of its life is used: plan its replacement");
        reading.find(HostState::Degraded, reason);
    }
}

/// struct nvme_passthru_cmd of linux/nvme_ioctl.h.
#[repr(C)]
#[derive(Default)]
struct Command {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    cdw2: u32,
    cdw3: u32,
    metadata: u64,
    address: u64,
    metadata_bytes: u32,
    bytes: u32,
    cdw10: u32,
    cdw11: u32,
    cdw12: u32,
    cdw13: u32,
    cdw14: u32,
    cdw15: u32,
    timeout_ms: u32,
    result: u32,
}

const _: () = assert!(size_of::<Command>() == 72);

#[allow(unsafe_code, reason = "no crate has the ioctl")]
fn ask(disk: &str) -> io::Result<[u8; LOG]> {
    use std::os::fd::AsRawFd as _;
    /// _IOWR('N', 0x41, struct nvme_passthru_cmd).
    const ADMIN: u32 = 0xc048_4e41;
    const GET_LOG_PAGE: u8 = 0x02;
    const SMART: u32 = 0x02;
    let device = fs::File::open(Path::new("/dev").join(disk))?;
    let mut log = [0_u8; LOG];
    let words = (LOG / 4 - 1) as u32;
    let mut command = Command {
        opcode: GET_LOG_PAGE,
        namespace: u32::MAX,
        address: log.as_mut_ptr() as u64,
        bytes: LOG as u32,
        cdw10: words << 16 | SMART,
        timeout_ms: 2000,
        ..Command::default()
    };
    // SAFETY: the command is as the kernel declares it, and its address and length are those of `log`, into which the kernel writes before it
    // returns.
    let result = unsafe { libc::ioctl(device.as_raw_fd(), ADMIN.into(), &raw mut command) };
    match result {
        0 => Ok(log),
        ..0 => Err(io::Error::last_os_error()),
        status => Err(io::Error::other(format!("NVMe status {status:#x}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::part::value;
    use super::*;

    fn log(warning: u8, used: u8) -> [u8; LOG] {
        let mut log = [0; LOG];
        log[..6].copy_from_slice(&[warning, 0x3b, 0x01, 90, 10, used]);
        log[48] = 2;
        log[160] = 3;
        log
    }

    fn read(dir: &Path, ask: Ask) -> Result<HostReading, Unread> {
        let roots = HostRoots::new(dir.join("proc"), dir.join("sys"));
        Nvme(ask).read(&roots, Instant::now())
    }

    #[test]
    fn wear_and_warnings_are_judged_and_what_may_not_be_asked_is_absent() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(
            read(dir.path(), |_| Ok(log(0, 0))),
            Err(Unread::Absent(_))
        ));
        for disk in ["nvme0", "nvme1"] {
            let at = dir.path().join("sys/class/nvme").join(disk);
            fs::create_dir_all(&at).unwrap();
            fs::write(at.join("model"), "Maker X 3.84TB  \n").unwrap();
        }
        let good = read(dir.path(), |_| Ok(log(0, 12))).unwrap();
        assert_eq!((good.state, good.metrics.len()), (HostState::Healthy, 20));
        let labels = [("disk", "nvme1"), ("model", "Maker X 3.84TB")];
        assert_eq!(value(&good, "gtrace_nvme_used_ratio", &labels), Some(0.12));
        assert_eq!(
            value(&good, "gtrace_nvme_temperature_celsius", &labels),
            Some(42.0)
        );
        assert_eq!(
            value(&good, "gtrace_nvme_written_bytes", &labels),
            Some(1_024_000.0)
        );
        assert_eq!(value(&good, "gtrace_nvme_media_errors", &labels), Some(3.0));
        let without = read(dir.path(), |_| Ok([0; LOG])).unwrap();
        let temperature = "gtrace_nvme_temperature_celsius";
        assert_eq!(value(&without, temperature, &labels), None);
        assert_eq!(without.metrics.len(), 18);
        let worn = read(dir.path(), |disk| match disk {
            "nvme0" => Ok(log(0x01, 104)),
            _ => Err(io::Error::other("gone")),
        });
        let worn = worn.unwrap();
        assert_eq!(worn.state, HostState::Degraded);
        assert_eq!(worn.reasons.len(), 2, "{:?}", worn.reasons);
        assert!(worn.missing.unwrap().contains("nvme1"));
        let broken = read(dir.path(), |_| Ok(log(0x08, 1))).unwrap();
        assert_eq!(broken.state, HostState::Unhealthy);
        let denied = read(dir.path(), |_| Err(io::ErrorKind::PermissionDenied.into()));
        assert!(matches!(denied, Err(Unread::Absent(_))));
        let failed = read(dir.path(), |_| Err(io::Error::other("x")));
        assert!(matches!(failed, Err(Unread::Failed(_))));
    }
}
