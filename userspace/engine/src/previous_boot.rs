//! How the boot before this one ended: in order, by a failure that the kernel left a record of, or in no known way.
//!
//! Two witnesses. A file beside the store names the boot in which gtrace ran last, and whether gtrace was asked to stop: a
//! shutdown tells it to. And pstore has the kernel log's end of a boot that panicked, where firmware or memory keep it
//! (Documentation/admin-guide/pstore-blk.rst); systemd moves its files to /var/lib/systemd/pstore (systemd-pstore(8)). They stay
//! there, so that the file also has a mark of each that was there before: by their times alone an old one would be news to a
//! host that starts with its clock in 1970.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use gtrace_event::{Kind, Occurrence, Provenance, Severity, WitnessName};

use crate::clock::boottime_ns;
use crate::input::Input;

/// Name of the file, beside the store.
const FILE: &str = "boot";
/// So many records of pstore are read, and so much of each.
const MAX_RECORDS: usize = 64;
const MAX_RECORD: u64 = 256 * 1024;
const PANIC: &str = "Kernel panic - not syncing: ";

/// Where to look.
#[derive(Clone, Debug)]
pub struct Places {
    /// The folder of the store.
    pub state: PathBuf,
    /// sysfs.
    pub sysfs: PathBuf,
    /// /var.
    pub var: PathBuf,
}

/// Keeps the file.
#[derive(Debug)]
pub struct PreviousBoot {
    path: PathBuf,
    boot_id: String,
    /// Marks of the records of pstore.
    marks: BTreeSet<String>,
}

impl PreviousBoot {
    /// Notes that gtrace runs in the boot `boot_id`, and reports the boot before if gtrace ran in it and it did not end in
    /// order. Once a boot.
    pub fn begin(places: &Places, boot_id: &str) -> (Self, Option<Input>) {
        let path = places.state.join(FILE);
        let text = fs::read_to_string(&path).unwrap_or_default();
        let (line, known) = text.split_once('\n').unwrap_or((text.as_str(), ""));
        let written = fs::metadata(&path).and_then(|meta| meta.modified());
        let before = match (line.split_once(' '), written) {
            (Some((id, state)), Ok(written)) if id != boot_id && !boot_id.is_empty() => {
                Some((id, state.trim(), written))
            }
            _ => None,
        };
        let known: BTreeSet<&str> = known.split_whitespace().collect();
        let (marks, panic) = look_through(places, |written, mark| {
            before.is_some_and(|(.., since)| written >= since) && !known.contains(mark)
        });
        let this = Self {
            path,
            boot_id: boot_id.to_owned(),
            marks,
        };
        let found = before.and_then(|(id, state, _)| judge(id, state, panic));
        this.note("running", File::sync_all);
        let input = found.map(|occurrence| Input::once(WitnessName::Gtrace, occurrence));
        (this, input)
    }

    /// Notes that gtrace was asked to stop. A shutdown in order puts that on disk; what is left to do does not wait for it.
    pub fn stopped(&self) {
        self.note("stopped", |_| Ok(()));
    }

    fn note(&self, state: &str, sync: impl FnOnce(&File) -> io::Result<()>) {
        let marks: Vec<&str> = self.marks.iter().map(String::as_str).collect();
        let text = format!("{} {state}\n{}\n", self.boot_id, marks.join(" "));
        // Over the state before, in the block that it has: a full disk has room for that, and a power failure leaves one of the two.
        let mut options = File::options();
        options.write(true).create(true).truncate(false);
        let written = options.open(&self.path).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.set_len(text.len() as u64)?;
            sync(&file)
        });
        if let Err(error) = written {
            let path = self.path.display();
            tracing::warn!(
                "{path} cannot be written: how this boot ends will not be known: {error}"
            );
        }
    }
}

/// `panic`: its reason, and the file that has it.
fn judge(id: &str, state: &str, panic: Option<(String, String)>) -> Option<Occurrence> {
    let (error, severity, text) = match panic {
        Some((reason, file)) => {
            let text = format!("the boot before ended with a kernel panic: {reason} ({file})");
            (reason, Severity::Critical, text)
        }
        None if state == "running" => {
            let text =
                "the boot before ended without a shutdown: power, reset, or a kernel that hung"
                    .to_owned();
            ("no shutdown".to_owned(), Severity::Warning, text)
        }
        None => return None,
    };
    let mut occurrence = Occurrence::new(Kind::HostRestart, severity, text);
    occurrence.provenance = Provenance::Kernel;
    occurrence.boottime_ns = Some(boottime_ns());
    occurrence.detail.host.error = Some(error);
    occurrence.detail.host.previous_boot_id = Some(id.to_owned());
    Some(occurrence)
}

/// Marks of all records of pstore, and the reason of the newest panic that `is_new` by when its record was written and its mark,
/// with the file that has it.
fn look_through(
    places: &Places,
    is_new: impl Fn(SystemTime, &str) -> bool,
) -> (BTreeSet<String>, Option<(String, String)>) {
    let archive = places.var.join("lib/systemd/pstore");
    let mut folders = vec![places.sysfs.join("fs/pstore"), archive.clone()];
    let archived = fs::read_dir(&archive).into_iter().flatten();
    folders.extend(archived.filter_map(|entry| Some(entry.ok()?.path()).filter(|p| p.is_dir())));
    let mut records: Vec<(SystemTime, PathBuf)> = folders
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let of_log = entry.file_name().to_str()?.starts_with("dmesg");
            let written = entry
                .metadata()
                .ok()
                .filter(std::fs::Metadata::is_file)?
                .modified()
                .ok()?;
            of_log.then(|| (written, entry.path()))
        })
        .collect();
    records.sort_unstable_by(|a, b| b.cmp(a));
    records.truncate(MAX_RECORDS);
    let (mut marks, mut panic) = (BTreeSet::new(), None);
    for (written, path) in records {
        let Ok(text) = read(&path) else { continue };
        // By what it says: it is moved from one folder to the other.
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let mark = format!("{:016x}", hasher.finish());
        if panic.is_none() && is_new(written, &mark) {
            let mut lines = text.lines();
            panic = lines
                .find_map(|line| line.split_once(PANIC))
                .map(|(_, reason)| {
                    let reason = reason.trim().chars().take(200).collect();
                    (reason, path.display().to_string())
                });
        }
        marks.insert(mark);
    }
    (marks, panic)
}

fn read(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_RECORD).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Host(tempfile::TempDir);

    impl Host {
        fn new() -> Self {
            let host = Self(tempfile::tempdir().unwrap());
            fs::create_dir_all(host.places().state).unwrap();
            host
        }

        fn places(&self) -> Places {
            Places {
                state: self.0.path().join("state"),
                sysfs: self.0.path().join("sys"),
                var: self.0.path().join("var"),
            }
        }

        fn begin(&self, boot: &str) -> (PreviousBoot, Option<Occurrence>) {
            let (this, input) = PreviousBoot::begin(&self.places(), boot);
            let occurrence = input.map(|input| match input {
                Input::Observation(seen) => seen.occurrence,
                other => panic!("{other:?}"),
            });
            (this, occurrence)
        }

        fn record(&self, folder: &str, text: &str) {
            let folder = self.0.path().join(folder);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("dmesg-efi_pstore-1"), text).unwrap();
        }
    }

    const DUMP: &str = "Panic#1 Part1\n<6>[ 9.1] usb 1-1: x\n<0>[ 9.2] Kernel panic - not syncing: Fatal exception\n";

    #[test]
    fn the_first_boot_and_a_restart_of_the_daemon_report_nothing() {
        let host = Host::new();
        assert!(host.begin("a").1.is_none());
        assert!(host.begin("a").1.is_none());
        // A record that was there before gtrace is of nobody knows when, and not of this boot in any case.
        host.record("sys/fs/pstore", DUMP);
        assert!(host.begin("a").1.is_none());
    }

    #[test]
    fn a_boot_that_ended_without_a_shutdown_is_reported_once() {
        let host = Host::new();
        host.begin("a");
        let (this, found) = host.begin("b");
        let found = found.unwrap();
        assert_eq!(
            (found.kind, found.severity),
            (Kind::HostRestart, Severity::Warning)
        );
        assert_eq!(found.detail.host.previous_boot_id.as_deref(), Some("a"));
        assert!(host.begin("b").1.is_none());
        this.stopped();
        assert!(host.begin("c").1.is_none(), "it was asked to stop");
    }

    #[test]
    fn a_panic_is_reported_wherever_its_record_lies_and_only_if_it_is_newer() {
        for folder in [
            "sys/fs/pstore",
            "var/lib/systemd/pstore",
            "var/lib/systemd/pstore/17",
        ] {
            let host = Host::new();
            let (this, _) = host.begin("a");
            this.stopped();
            host.record(folder, DUMP);
            let found = host.begin("b").1.unwrap();
            assert_eq!(found.severity, Severity::Critical, "{folder}");
            assert_eq!(found.detail.host.error.as_deref(), Some("Fatal exception"));
            assert!(
                found.message.contains("dmesg-efi_pstore-1"),
                "{}",
                found.message
            );
            // The record stays, the next boot ends well.
            std::thread::sleep(std::time::Duration::from_millis(20));
            let (this, _) = host.begin("b");
            this.stopped();
            assert!(host.begin("c").1.is_none(), "{folder}");
        }
    }

    #[test]
    fn a_panic_that_was_reported_is_not_again_though_the_clock_is_in_1970() {
        let host = Host::new();
        let file = host.places().state.join(FILE);
        let clock_in_1970 = || {
            let file = File::options().write(true).open(&file).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        };
        host.begin("a");
        host.record("sys/fs/pstore", DUMP);
        clock_in_1970();
        let (this, found) = host.begin("b");
        assert_eq!(found.unwrap().severity, Severity::Critical);
        this.stopped();
        clock_in_1970();
        assert!(host.begin("c").1.is_none(), "it was asked to stop");
        // systemd moves it to its archive.
        host.record("var/lib/systemd/pstore", DUMP);
        fs::remove_dir_all(host.places().sysfs).unwrap();
        clock_in_1970();
        let found = host.begin("d").1.unwrap();
        assert_eq!(found.detail.host.error.as_deref(), Some("no shutdown"));
        host.record("sys/fs/pstore", &DUMP.replace("Fatal", "Another"));
        let found = host.begin("e").1.unwrap();
        let error = found.detail.host.error.as_deref();
        assert_eq!(error, Some("Another exception"));
    }

    #[test]
    fn records_without_a_panic_and_broken_files_are_left_out() {
        let host = Host::new();
        let (this, _) = host.begin("a");
        this.stopped();
        host.record("sys/fs/pstore", "Oops#1 Part1\nnothing of note\n\u{0}\u{1}");
        assert!(host.begin("b").1.is_none());
        let file = host.places().state.join(FILE);
        fs::write(&file, "\u{0}".repeat(99)).unwrap();
        assert!(host.begin("c").1.is_none());
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("c running\n"), "{text}");
        // A folder that cannot be written keeps nobody from starting.
        let nowhere = Places {
            state: "/nonexistent".into(),
            ..host.places()
        };
        assert!(PreviousBoot::begin(&nowhere, "d").1.is_none());
    }
}
