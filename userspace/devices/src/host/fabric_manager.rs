//! What the fabric manager of NVSwitch systems writes to its log: faults that the kernel log does not have.
//!
//! Source: NVIDIA's fabric manager guide (LOG_FILE_NAME, /var/log/fabricmanager.log by default); the lines as leptonai/gpud matches them,
//! `[Jul 23 2024 07:53:55] [ERROR] [tid 841] detected NVSwitch fatal error 20034 on fid 0 on NVSwitch pci bus id ...`. They have the
//! host's local time.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, UNIX_EPOCH};

use gtrace_event::{Kind, Occurrence, Provenance, Severity};
use jiff::civil::DateTime;

use super::part::{HostNews, HostReading, HostRoots, Part, PartInfo, Unread};
use crate::fabric::{CONFIGURATION, DRIVER_ROOTS, setting};

pub(super) const INFO: PartInfo = PartInfo {
    name: "fabric_manager",
    gives: "what the fabric manager of NVSwitch systems writes to its log of faults",
    needs: "the log of nvidia-fabricmanager: LOG_FILE_NAME of its configuration, else /var/log/fabricmanager.log",
    remedy: "none on a host without NVSwitches; in a container, mount the host's root; LOG_USE_SYSLOG has to be 0",
    every: Duration::from_secs(30),
};

const LOG: &str = "/var/log/fabricmanager.log";
/// So many bytes before its end the first reading begins.
const TAIL: u64 = 64 * 1024;
/// A reading takes so many bytes, and the next one goes on.
const MOST: u64 = 256 * 1024;
/// Longest text that is taken over from a line.
const TEXT_MAX: usize = 300;

/// A line that says that something is wrong: it has all of these words.
struct Fault {
    words: &'static [&'static str],
    error: &'static str,
    /// `None` where the kernel log has it too: SXids.
    severity: Option<Severity>,
}

const FAULTS: &[Fault; 4] = &[
    Fault {
        words: &["detected NVSwitch fatal error "],
        error: "nvswitch_fatal",
        severity: None,
    },
    Fault {
        words: &["detected NVSwitch non-fatal error "],
        error: "nvswitch_non_fatal",
        severity: None,
    },
    Fault {
        words: &["failed to find the GPU handle ", " in the multicast team "],
        error: "multicast",
        severity: Some(Severity::Warning),
    },
    Fault {
        words: &["detected number of NVSwitches don't match with any supported system topology"],
        error: "topology",
        severity: Some(Severity::Critical),
    },
];

/// What it writes once it has set the NVSwitches up: what was wrong before is over.
const WORKS: &str = "Successfully configured all the available ";

/// The log, as far as it was read.
#[derive(Default)]
pub(super) struct FabricManager {
    /// Inode, and the bytes of it that were taken.
    taken: Option<(u64, u64)>,
    /// Lines of each fault that were written since the first reading.
    counts: [u64; FAULTS.len()],
}

impl Part for FabricManager {
    fn read(&mut self, roots: &HostRoots, _now: Instant) -> Result<HostReading, Unread> {
        let Some(path) = find(&roots.root) else {
            return Err(Unread::Absent("no log of a fabric manager".to_owned()));
        };
        let failed = |error: io::Error| Unread::Failed(format!("{}: {error}", path.display()));
        let mut file = File::open(&path).map_err(failed)?;
        let about = file.metadata().map_err(failed)?;
        let first = self.taken.is_none();
        let begin = match self.taken {
            None => about.len().saturating_sub(TAIL),
            Some((inode, taken)) if inode == about.ino() && taken <= about.len() => taken,
            // Another file, or begun anew.
            Some(_) => 0,
        };
        file.seek(SeekFrom::Start(begin)).map_err(failed)?;
        let mut bytes = Vec::new();
        file.take(MOST).read_to_end(&mut bytes).map_err(failed)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        // A line that is longer than all of it is none of those that count.
        let no_end = if bytes.len() as u64 == MOST {
            bytes.len()
        } else {
            0
        };
        bytes.truncate(whole.map_or(no_end, |at| at + 1));
        self.taken = Some((about.ino(), begin + bytes.len() as u64));
        let text = String::from_utf8_lossy(&bytes);
        let mut lines: Vec<&str> = text.lines().collect();
        if first {
            keep_of_this_boot(&mut lines, &about, &roots.proc);
        }
        let mut reading = HostReading::default();
        for (fault, count) in FAULTS.iter().zip(&mut self.counts) {
            let is_of = |line: &&str| fault.words.iter().all(|words| line.contains(words));
            let found: Vec<&str> = lines.iter().copied().filter(is_of).collect();
            if !first {
                *count += found.len() as u64;
            }
            reading.counter(
                ("gtrace_fabric_manager_errors", ""),
                "Lines of the fabric manager's log that say that something is wrong, since gtrace reads it",
                &[("error", fault.error)],
                *count as f64,
            );
            // The newest alone: each has numbers of its own, so that no event holds many of them.
            if let Some((line, severity)) = found.last().zip(fault.severity) {
                reading.news.push(HostNews {
                    occurrence: occurrence(fault.error, severity, line),
                    happened: !first,
                });
            }
        }
        Ok(reading)
    }
}

fn occurrence(error: &str, severity: Severity, line: &str) -> Occurrence {
    let text = message(line).chars().filter(|c| !c.is_control());
    let text: String = text.take(TEXT_MAX).collect();
    let text = format!("fabric manager: {text}");
    let mut occurrence = Occurrence::new(Kind::ServiceFailed, severity, text);
    occurrence.provenance = Provenance::Kernel;
    occurrence.detail.host.error = Some(error.to_owned());
    occurrence
}

/// Where the log is, of the first fabric manager that has one.
fn find(root: &Path) -> Option<PathBuf> {
    let below = |driver: &str| root.join(driver.trim_start_matches('/'));
    let mut logs = DRIVER_ROOTS.iter().map(|driver| {
        let driver = below(driver);
        let configuration = driver.join(CONFIGURATION.trim_start_matches('/'));
        let configuration = fs::read_to_string(configuration).unwrap_or_default();
        let name = setting(&configuration, "LOG_FILE_NAME").filter(|name| !name.is_empty());
        driver.join(name.unwrap_or(LOG).trim_start_matches('/'))
    });
    logs.find(|log| log.is_file())
}

/// A line without time, level and thread.
fn message(line: &str) -> &str {
    let mut text = line;
    while let Some((_, after)) = text
        .strip_prefix('[')
        .and_then(|text| text.split_once("] "))
    {
        text = after;
    }
    text
}

fn time_of(line: &str) -> Option<DateTime> {
    let (time, _) = line.strip_prefix('[')?.split_once(']')?;
    DateTime::strptime("%b %d %Y %H:%M:%S", time).ok()
}

/// Lines that are no older than the boot, and than the last time that the fabric manager began to work. Which time zone they are of is
/// not known: the newest is as old as the last change of the file.
fn keep_of_this_boot(lines: &mut Vec<&str>, about: &Metadata, proc: &Path) {
    let newest = lines.iter().rev().find_map(|line| time_of(line));
    let Some((newest, within)) = newest.zip(since_boot(about, proc)) else {
        lines.clear();
        return;
    };
    // A line without a time goes with the one before it.
    let mut at = None;
    lines.retain(|line| {
        at = time_of(line).or(at);
        at.is_some_and(|at| newest.duration_since(at).unsigned_abs() <= within)
    });
    if let Some(works) = lines.iter().rposition(|line| line.contains(WORKS)) {
        lines.drain(..=works);
    }
}

/// How long after the boot the file was last changed; `None` where that was before it.
fn since_boot(about: &Metadata, proc: &Path) -> Option<Duration> {
    let stat = fs::read_to_string(proc.join("stat")).ok()?;
    let boot = stat.lines().find_map(|line| line.strip_prefix("btime "))?;
    let boot = UNIX_EPOCH + Duration::from_secs(boot.trim().parse().ok()?);
    about.modified().ok()?.duration_since(boot).ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::time::SystemTime;

    use super::super::part::{HostState, value};
    use super::*;

    const SXID: &str = "[Feb 27 2025 15:10:02] [ERROR] [tid 12727] detected NVSwitch non-fatal error 12028 on fid 0 on NVSwitch pci bus id 00000000:86:00.0 physical id 3 port 61\n";
    const TEAM: &str = "[Feb 27 2025 15:10:00] [ERROR] [tid 1230079] failed to find the GPU handle 5410063385821516767 in the multicast team request setup 6130285411925746235.\n";
    const TOPOLOGY: &str = "[Feb 27 2025 15:09:10] [ERROR] [tid 9] detected number of NVSwitches don't match with any supported system topology, aborting fabric manager\n";
    const SET_UP: &str = "[Feb 27 2025 15:09:11] [INFO] [tid 9] Successfully configured all the available NVSwitches to route GPU NVLink traffic.\n";
    const HEALTHY: &str = "[Feb 27 2025 15:09:12] [INFO] [tid 1803] Received an inband message:  Message header details: magic Id:adbc\nMessage payload details:Team release request: Team Handle:7be4cbdfbc4d0a3b Flags:0\n\n[Feb 27 2025 15:09:52] [INFO] [tid 1808] multicast group 1 is freed.\n";

    struct Host {
        dir: tempfile::TempDir,
        part: FabricManager,
    }

    impl Host {
        /// One that was booted so many seconds ago.
        fn booted(ago_s: u64) -> Self {
            let dir = tempfile::tempdir().unwrap();
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            let boot = now.as_secs() - ago_s;
            fs::create_dir_all(dir.path().join("proc/1/root/var/log")).unwrap();
            let stat = format!("cpu 1 2 3\nbtime {boot}\nprocesses 7\n");
            fs::write(dir.path().join("proc/stat"), stat).unwrap();
            let part = FabricManager::default();
            Self { dir, part }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.dir.path().join("proc/1/root").join(name)
        }

        fn append(&self, text: &str) {
            let log = self.path("var/log/fabricmanager.log");
            let file = File::options().create(true).append(true).open(log);
            file.unwrap().write_all(text.as_bytes()).unwrap();
        }

        fn read(&mut self) -> Result<HostReading, Unread> {
            let (proc, sysfs) = (self.dir.path().join("proc"), self.dir.path().join("sys"));
            self.part.read(&HostRoots::new(proc, sysfs), Instant::now())
        }

        /// Errors of the events of a reading, and whether they happened just now.
        fn news(&mut self) -> Vec<(String, bool)> {
            let news = self.read().unwrap().news.into_iter();
            let error =
                |news: HostNews| (news.occurrence.detail.host.error.unwrap(), news.happened);
            news.map(error).collect()
        }
    }

    #[test]
    fn a_host_without_a_fabric_manager_has_no_log_and_a_healthy_one_has_no_fault_in_it() {
        let mut host = Host::booted(100);
        assert!(matches!(host.read(), Err(Unread::Absent(_))));
        for _ in 0..2 {
            host.append(HEALTHY);
            let reading = host.read().unwrap();
            assert!(reading.news.is_empty() && reading.state == HostState::Healthy);
            for fault in FAULTS {
                let labels = [("error", fault.error)];
                let count = value(&reading, "gtrace_fabric_manager_errors", &labels);
                assert_eq!(count, Some(0.0));
            }
        }
    }

    #[test]
    fn a_line_is_an_event_unless_it_is_an_sxid() {
        let mut host = Host::booted(100);
        host.append(HEALTHY);
        assert!(host.news().is_empty());
        host.append(SXID);
        host.append(&TEAM.replace("5410063385821516767", "7"));
        host.append(TEAM);
        host.append(&TEAM[..30]);
        let reading = host.read().unwrap();
        let [news] = &reading.news[..] else {
            panic!("{reading:?}");
        };
        assert_eq!(
            news.occurrence.message,
            "fabric manager: failed to find the GPU handle 5410063385821516767 in the multicast team request setup 6130285411925746235."
        );
        assert_eq!(news.occurrence.severity, Severity::Warning);
        let count = |error| {
            value(
                &reading,
                "gtrace_fabric_manager_errors",
                &[("error", error)],
            )
        };
        assert_eq!(
            (count("multicast"), count("nvswitch_non_fatal")),
            (Some(2.0), Some(1.0))
        );
        assert_eq!(reading.state, HostState::Healthy);
        // The rest of the line.
        host.append(&TEAM[30..]);
        assert_eq!(host.news(), [("multicast".to_owned(), true)]);
        assert!(host.news().is_empty());
    }

    #[test]
    fn the_first_reading_takes_lines_of_this_boot_as_how_things_are() {
        let topology = ("topology".to_owned(), false);
        let mut host = Host::booted(100);
        let before = TEAM.replace("15:10:00", "15:00:00");
        host.append(&format!("{before}{TOPOLOGY}{HEALTHY}"));
        assert_eq!(host.news(), [topology]);
        // It was started again, and works.
        let mut host = Host::booted(100);
        host.append(&format!("{TOPOLOGY}{SET_UP}{HEALTHY}"));
        assert!(host.news().is_empty());
        // The last line was written before the boot.
        let mut host = Host::booted(0);
        let stat = format!("btime {}\n", u64::from(u32::MAX));
        host.append(TOPOLOGY);
        fs::write(host.path("../../stat"), stat).unwrap();
        assert!(host.news().is_empty());
    }

    #[test]
    fn a_log_that_was_rotated_or_truncated_is_read_from_its_beginning() {
        let mut host = Host::booted(100);
        host.append(&HEALTHY.repeat(9));
        assert!(host.news().is_empty());
        let log = host.path("var/log/fabricmanager.log");
        fs::rename(&log, host.path("var/log/fabricmanager.log.1")).unwrap();
        host.append(TEAM);
        assert_eq!(host.news(), [("multicast".to_owned(), true)]);
        host.append(&HEALTHY.repeat(9));
        assert!(host.news().is_empty());
        fs::write(&log, TOPOLOGY).unwrap();
        assert_eq!(host.news(), [("topology".to_owned(), true)]);
    }

    #[test]
    fn the_configuration_and_the_container_of_the_driver_say_where_the_log_is() {
        let mut host = Host::booted(100);
        let inside = host.path("run/nvidia/driver");
        let folder = inside.join("usr/share/nvidia/nvswitch");
        for folder in [&folder, &inside.join("srv")] {
            fs::create_dir_all(folder).unwrap();
        }
        let configuration = "# LOG_FILE_NAME=/nowhere\nLOG_FILE_NAME=/srv/fm.log\n";
        fs::write(folder.join("fabricmanager.cfg"), configuration).unwrap();
        assert!(matches!(host.read(), Err(Unread::Absent(_))));
        fs::write(inside.join("srv/fm.log"), TOPOLOGY).unwrap();
        assert_eq!(host.news(), [("topology".to_owned(), false)]);
    }
}
