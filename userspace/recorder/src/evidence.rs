//! What is kept of an incident: a directory of files, called as the incident.
//!
//! | file | what |
//! |---|---|
//! | `recording.jsonl.zst` | [`Entry`](crate::Entry)s from before the incident opened until after it; `recording.jsonl` while it is written |
//! | `host.json` | a [`Snapshot`] of the host |
//! | `samples/` | samples of that time, as a history of their own |
//! | `calls-PID.pftrace.zst` | the last calls of a program, by a `gtrace trace --ring` that was recording it |
//! | `plan.json` | what was planned; it goes once the incident's record names the other files |
//!
//! A process that is killed leaves `plan.json` behind, by which the next one finds the recording and finishes it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use gtrace_event::{Evidence, IncidentId, MissingEvidence, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::disk::Lines;
use crate::{FileError, Snapshot};

/// Name of the directory beside the store that has one for each incident.
pub const DIRECTORY: &str = "evidence";
/// Name of the directory with samples.
pub const SAMPLES: &str = "samples";
/// Name of the entries.
pub const RECORDING: &str = "recording.jsonl.zst";
const OPEN_RECORDING: &str = "recording.jsonl";
const SNAPSHOT: &str = "host.json";
const PLAN: &str = "plan.json";
/// Most bytes that a file is read to: several times what a recording may have.
const READ_MAX: u64 = 64 << 20;
/// How files that others add to a recording begin and end.
const ATTACHED: (&str, &str) = ("calls-", ".pftrace.zst");
/// Most bytes of such a file.
pub const ATTACHED_MAX: usize = 16 << 20;
/// Most such files of an incident.
const ATTACHED_FILES: usize = 8;

/// Whether a file of this name may be added to a recording.
pub fn is_attachable(name: &str) -> bool {
    let number = name
        .strip_prefix(ATTACHED.0)
        .and_then(|rest| rest.strip_suffix(ATTACHED.1));
    number.is_some_and(|number| {
        (1..=10).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// What is to be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Of which incident.
    pub incident: IncidentId,
    /// From when on.
    pub from: Timestamp,
    /// When it opened.
    pub opened: Timestamp,
    /// Until when.
    pub until: Timestamp,
}

/// The recording of an incident while it is written.
#[derive(Debug)]
pub struct Recording {
    dir: PathBuf,
    plan: Plan,
    /// `None` once it is compressed.
    file: Option<File>,
    written: u64,
    limit: u64,
    /// Bytes that it had no room for.
    refused: u64,
    /// Bytes that were gone before they could be copied.
    missed: u64,
    missing: Vec<MissingEvidence>,
}

impl Recording {
    /// Begins one below `root`, with the lines `before`, of at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// If a file cannot be written. Nothing is left behind that would have to be finished.
    pub fn begin(root: &Path, plan: Plan, before: &[u8], limit: u64) -> Result<Self, FileError> {
        let dir = root.join(plan.incident.to_string());
        make_directory(&dir)?;
        let begun = Self::begin_in(&dir, plan, before, limit);
        if begun.is_err() {
            // As far as it is there; the error says what is wrong.
            let _ = fs::remove_dir_all(&dir);
        }
        begun
    }

    fn begin_in(dir: &Path, plan: Plan, before: &[u8], limit: u64) -> Result<Self, FileError> {
        let path = dir.join(OPEN_RECORDING);
        let file = create(&path).map_err(FileError::at(&path))?;
        let mut recording = Self {
            dir: dir.to_owned(),
            plan,
            file: Some(file),
            written: 0,
            limit,
            refused: 0,
            missed: 0,
            missing: Vec::new(),
        };
        recording.append(before, 0)?;
        if let Some(file) = &recording.file {
            file.sync_data().map_err(FileError::at(&path))?;
        }
        // Last: without it nobody goes on with this directory.
        write_json(&dir.join(PLAN), &plan)?;
        Ok(recording)
    }

    /// What is recorded.
    pub fn plan(&self) -> Plan {
        self.plan
    }

    /// Whether it was finished before, so that nothing is to be added: only its plan is left.
    pub fn is_finished(&self) -> bool {
        self.file.is_none()
            && self.dir.join(RECORDING).exists()
            && !self.dir.join(OPEN_RECORDING).exists()
    }

    /// Where samples of this time are to be put.
    pub fn samples(&self) -> PathBuf {
        self.dir.join(SAMPLES)
    }

    /// Appends whole lines, before which `missed` bytes could not be had. The first of what there is no room for are
    /// kept: those of the beginning of a storm.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn append(&mut self, lines: &[u8], missed: u64) -> Result<(), FileError> {
        self.missed += missed;
        let room = usize::try_from(self.limit.saturating_sub(self.written)).unwrap_or(usize::MAX);
        let fitting = match lines.get(..room) {
            Some(fitting) if self.refused == 0 => {
                let end = fitting.iter().rposition(|byte| *byte == b'\n');
                &fitting[..end.map_or(0, |end| end + 1)]
            }
            None if self.refused == 0 => lines,
            _ => &[],
        };
        self.refused += (lines.len() - fitting.len()) as u64;
        let Some(file) = self.file.as_mut().filter(|_| !fitting.is_empty()) else {
            return Ok(());
        };
        if let Err(cause) = file.write_all(fitting) {
            // A part may have been written: what comes next is to begin a line of its own.
            let _ = file.set_len(self.written);
            let _ = file.seek(SeekFrom::Start(self.written));
            return Err(FileError::at(&self.dir.join(OPEN_RECORDING))(cause));
        }
        self.written += fitting.len() as u64;
        Ok(())
    }

    /// Keeps the state of the host.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn keep(&mut self, snapshot: &Snapshot) -> Result<(), FileError> {
        write_json(&self.dir.join(SNAPSHOT), snapshot)
    }

    /// Adds a file that another process has made. One of the same name is replaced.
    ///
    /// # Errors
    ///
    /// A name or a size that is not taken, one file too many, or the system's.
    pub fn attach(&mut self, name: &str, bytes: &[u8]) -> Result<(), String> {
        if !is_attachable(name) {
            let (begin, end) = ATTACHED;
            return Err(format!("its name has to be {begin}NUMBER{end}"));
        }
        if bytes.len() > ATTACHED_MAX {
            return Err(format!("it has more than {ATTACHED_MAX} bytes"));
        }
        let there = files(&self.dir).map_err(|error| error.to_string())?;
        let others = there
            .iter()
            .filter(|file| is_attachable(file) && *file != name);
        if others.count() >= ATTACHED_FILES {
            return Err(format!("an incident has at most {ATTACHED_FILES} of them"));
        }
        write_file(&self.dir.join(name), bytes).map_err(|error| error.to_string())
    }

    /// Notes what is not there, and why.
    pub fn miss(&mut self, what: &str, why: impl Into<String>) {
        self.missing.push(MissingEvidence::new(what, why));
    }

    /// Ends it: what is there, with hashes, and what is not. The directory's plan stays until [`settle`].
    ///
    /// # Errors
    ///
    /// If a file cannot be written or read.
    pub fn finish(mut self) -> Result<(Vec<Evidence>, Vec<MissingEvidence>), FileError> {
        if self.refused > 0 {
            let why = format!(
                "a recording has at most {} bytes; {} came later and were left out",
                self.limit, self.refused
            );
            self.miss("end of the recording", why);
        }
        if self.missed > 0 {
            let why = format!("{} bytes went before they could be copied", self.missed);
            self.miss("part of the recording", why);
        }
        if self.file.take().is_some() {
            compress(&self.dir)?;
        }
        let mut evidence = Vec::new();
        for name in files(&self.dir)? {
            let path = self.dir.join(&name);
            let of_recording = name == RECORDING;
            let (sha256, bytes) = hash(&path).map_err(FileError::at(&path))?;
            evidence.push(Evidence {
                name,
                sha256,
                bytes,
                from: of_recording.then_some(self.plan.from),
                to: of_recording.then_some(self.plan.until),
            });
        }
        Ok((evidence, self.missing))
    }
}

/// The recordings below `root` that nobody has finished. They end where they are.
///
/// # Errors
///
/// If `root` cannot be read; that it is not there is none.
pub fn interrupted(root: &Path) -> Result<Vec<Recording>, FileError> {
    let mut found = Vec::new();
    for (dir, _) in directories(root)? {
        let Ok(plan) = fs::read(dir.join(PLAN)) else {
            continue;
        };
        let Ok(plan) = serde_json::from_slice::<Plan>(&plan) else {
            // It was torn as it was written, before anything had promised it.
            let _ = fs::remove_dir_all(&dir);
            continue;
        };
        let path = dir.join(OPEN_RECORDING);
        let file = OpenOptions::new().append(true).open(&path).ok();
        found.push(Recording {
            written: fs::metadata(&path).map_or(0, |metadata| metadata.len()),
            dir,
            plan,
            file,
            limit: u64::MAX,
            refused: 0,
            missed: 0,
            missing: Vec::new(),
        });
    }
    Ok(found)
}

/// Whether the recording of `incident` has not come to its end, so that no record names its files yet.
pub fn is_under_way(root: &Path, incident: IncidentId) -> bool {
    root.join(incident.to_string()).join(PLAN).exists()
}

/// The store has the record that names the files, or no record will ever name them. From here on they go with their age.
///
/// # Errors
///
/// The system's.
pub fn settle(root: &Path, incident: IncidentId) -> Result<(), FileError> {
    let path = root.join(incident.to_string()).join(PLAN);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(FileError::at(&path)(error)),
        _ => Ok(()),
    }
}

/// What is on disk, and what was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Incidents that have files.
    pub incidents: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Incidents whose files were removed.
    pub removed: u64,
    /// Bytes of those.
    pub removed_bytes: u64,
}

/// Removes what is older than `age`, then the oldest, until all has at most `bytes`. Recordings that are not finished
/// stay. With an `age` the clock is right: what was made at a time that has not come yet counts as made now.
///
/// # Errors
///
/// The system's.
pub fn retain(root: &Path, bytes: u64, age: Option<Duration>) -> Result<Usage, FileError> {
    let mut all = Vec::new();
    let mut usage = Usage::default();
    let now = SystemTime::now();
    for (dir, mut made) in directories(root)? {
        let size = files(&dir)?
            .iter()
            .map(|name| fs::metadata(dir.join(name)).map_or(0, |metadata| metadata.len()))
            .sum::<u64>();
        usage.incidents += 1;
        usage.bytes += size;
        if !dir.join(PLAN).exists() {
            if age.is_some() && made > now {
                let set = File::open(&dir).and_then(|file| file.set_modified(now));
                set.map_err(FileError::at(&dir))?;
                made = now;
            }
            all.push((made, dir, size));
        }
    }
    all.sort();
    for (made, dir, size) in all {
        let is_old = |age| now.duration_since(made).is_ok_and(|since| since > age);
        if usage.bytes <= bytes && !age.is_some_and(is_old) {
            break;
        }
        fs::remove_dir_all(&dir).map_err(FileError::at(&dir))?;
        usage.incidents -= 1;
        usage.bytes -= size;
        usage.removed += 1;
        usage.removed_bytes += size;
    }
    Ok(usage)
}

/// What was kept of an incident, read back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// Its entries.
    pub lines: Lines,
    /// The state of the host.
    pub snapshot: Option<Snapshot>,
    /// The directory of samples, where all its files are as they were.
    pub samples: Option<PathBuf>,
    /// Traces of calls of programs, for ui.perfetto.dev: the number in the file's name, and the trace.
    pub calls: Vec<(u32, Vec<u8>)>,
    /// Files that are gone or not as they were.
    pub missing: Vec<MissingEvidence>,
}

/// Reads what the record of `incident` says was kept. Each file is compared with its hash.
pub fn read(root: &Path, incident: IncidentId, evidence: &[Evidence]) -> Kept {
    let dir = root.join(incident.to_string());
    let mut kept = Kept::default();
    let mut samples = false;
    let mut samples_whole = true;
    for file in evidence {
        let of_samples = file.name.strip_prefix(SAMPLES).is_some();
        samples |= of_samples;
        if let Err(why) = read_one(&dir, file, &mut kept) {
            samples_whole &= !of_samples;
            kept.missing
                .push(MissingEvidence::new(file.name.clone(), why));
        }
    }
    kept.samples = (samples && samples_whole).then(|| dir.join(SAMPLES));
    kept
}

fn read_one(dir: &Path, file: &Evidence, kept: &mut Kept) -> Result<(), String> {
    let relative = Path::new(&file.name);
    let is_inside = relative
        .components()
        .all(|component| matches!(component, Component::Normal(_)));
    if !is_inside {
        return Err("its name leads out of the incident's directory".to_owned());
    }
    let path = dir.join(relative);
    let explain = |error: io::Error| {
        match error.kind() {
        io::ErrorKind::NotFound => {
            "the file is gone: removed for want of room or for its age, or not copied with the store".to_owned()
        }
        _ => format!("{}: {error}", path.display()),
    }
    };
    let (sha256, _) = hash(&path).map_err(explain)?;
    if sha256 != file.sha256 {
        return Err("the file is not as it was when the incident was recorded".to_owned());
    }
    match file.name.as_str() {
        RECORDING => {
            let file = File::open(&path).map_err(explain)?;
            let reader = zstd::Decoder::new(file).map_err(explain)?;
            let reader = BufReader::new(reader.take(READ_MAX));
            kept.lines
                .take(reader, Timestamp::MIN, Timestamp::MAX)
                .map_err(explain)?;
        }
        name if is_attachable(name) => {
            let file = File::open(&path).map_err(explain)?;
            let reader = zstd::Decoder::new(file).map_err(explain)?;
            let mut trace = Vec::new();
            reader
                .take(READ_MAX + 1)
                .read_to_end(&mut trace)
                .map_err(explain)?;
            if trace.len() as u64 > READ_MAX {
                return Err(format!("it unpacks to more than {READ_MAX} bytes"));
            }
            let number = name.bytes().filter(u8::is_ascii_digit);
            let number = number.fold(0u32, |n, digit| {
                n.wrapping_mul(10).wrapping_add(u32::from(digit - b'0'))
            });
            kept.calls.push((number, trace));
        }
        SNAPSHOT => {
            let bytes = fs::read(&path).map_err(explain)?;
            let snapshot = serde_json::from_slice(&bytes);
            kept.snapshot = Some(snapshot.map_err(|error| error.to_string())?);
        }
        _ => {}
    }
    Ok(())
}

fn make_directory(dir: &Path) -> Result<(), FileError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o750);
    builder.create(dir).map_err(FileError::at(dir))
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o640)
        .open(path)
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), FileError> {
    let bytes = serde_json::to_vec_pretty(value).map_err(io::Error::other);
    let mut bytes = bytes.map_err(FileError::at(path))?;
    bytes.push(b'\n');
    write_file(path, &bytes)
}

/// Writes a file. One that cannot be written whole is removed: it would count as evidence.
fn write_file(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let write = || {
        let mut file = create(path)?;
        file.write_all(bytes)?;
        file.sync_data()
    };
    write().map_err(|cause| {
        let _ = fs::remove_file(path);
        FileError::at(path)(cause)
    })
}

/// Makes the compressed recording of the plain one.
fn compress(dir: &Path) -> Result<(), FileError> {
    let (plain, path) = (dir.join(OPEN_RECORDING), dir.join(RECORDING));
    let write = || {
        let mut from = File::open(&plain)?;
        let mut out = zstd::Encoder::new(create(&path)?, 3)?;
        out.include_checksum(true)?;
        io::copy(&mut from, &mut out)?;
        out.finish()?.sync_data()
    };
    write().map_err(FileError::at(&path))?;
    fs::remove_file(&plain).map_err(FileError::at(&plain))
}

/// Directories below `root`, with the time of their last change.
fn directories(root: &Path) -> Result<Vec<(PathBuf, SystemTime)>, FileError> {
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(FileError::at(root)(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(FileError::at(root))?;
        let is_incident = entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.parse::<IncidentId>().is_ok());
        if let Ok(metadata) = entry.metadata()
            && metadata.is_dir()
            && is_incident
        {
            let made = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            found.push((entry.path(), made));
        }
    }
    found.sort();
    Ok(found)
}

/// Names of the files that are evidence, those of samples with their directory.
fn files(dir: &Path) -> Result<Vec<String>, FileError> {
    let mut names = Vec::new();
    for sub in ["", SAMPLES] {
        let dir = dir.join(sub);
        let entries = match fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(FileError::at(&dir)(error)),
        };
        for entry in entries.flatten() {
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if let Some(name) = entry.file_name().to_str().filter(|_| is_file)
                && !matches!(name, PLAN | "lock")
            {
                names.push(match sub {
                    "" => name.to_owned(),
                    sub => format!("{sub}/{name}"),
                });
            }
        }
    }
    names.sort();
    Ok(names)
}

/// SHA-256 of a file, hex, and its size.
fn hash(path: &Path) -> io::Result<(String, u64)> {
    let (mut file, mut hasher) = (File::open(path)?, Sha256::new());
    let (mut buffer, mut bytes) = (vec![0; 64 << 10], 0);
    loop {
        let length = file.read(&mut buffer)?;
        if length == 0 {
            break;
        }
        hasher.update(&buffer[..length]);
        bytes += length as u64;
    }
    let digest = hasher.finalize();
    let hex = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((hex, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entry, KernelLine, Part, What, line};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_772_500_000 + second).unwrap()
    }

    fn entry(second: i64) -> Entry {
        Entry {
            time: at(second),
            what: What::Kernel(KernelLine {
                level: 3,
                facility: 0,
                seq: u64::try_from(second).unwrap(),
                text: format!("line {second}"),
            }),
        }
    }

    fn plan() -> Plan {
        Plan {
            incident: "01KJSX0000000000000000000A".parse().unwrap(),
            from: at(0),
            opened: at(10),
            until: at(40),
        }
    }

    fn snapshot() -> Snapshot {
        Snapshot {
            time: at(10),
            parts: vec![Part {
                name: "pressure".to_owned(),
                text: "some avg10=0.00".to_owned(),
                error: None,
            }],
        }
    }

    #[test]
    fn what_was_kept_reads_back_and_a_changed_file_is_named() {
        let root = tempfile::tempdir().unwrap();
        let before = [line(&entry(1)), line(&entry(2))].concat();
        let mut recording = Recording::begin(root.path(), plan(), &before, 1 << 20).unwrap();
        recording.append(&line(&entry(11)), 0).unwrap();
        recording.keep(&snapshot()).unwrap();
        fs::create_dir(recording.samples()).unwrap();
        fs::write(recording.samples().join("1000-1.seg"), "x").unwrap();
        let calls = "calls-4711.pftrace.zst";
        recording.attach(calls, b"early").unwrap();
        let trace = zstd::encode_all(&b"a trace"[..], 3).unwrap();
        recording.attach(calls, &trace).unwrap();
        let (evidence, missing) = recording.finish().unwrap();
        assert_eq!(missing, []);
        let names: Vec<_> = evidence.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, [calls, SNAPSHOT, RECORDING, "samples/1000-1.seg"]);
        let id = plan().incident;
        settle(root.path(), id).unwrap();
        assert_eq!(interrupted(root.path()).unwrap().len(), 0);
        let kept = read(root.path(), id, &evidence);
        assert_eq!(kept.lines.entries, [entry(1), entry(2), entry(11)]);
        assert_eq!(kept.snapshot, Some(snapshot()));
        assert!(kept.samples.is_some() && kept.missing.is_empty());
        assert_eq!(kept.calls, [(4711, b"a trace".to_vec())]);

        let dir = root.path().join(id.to_string());
        fs::write(dir.join("samples/1000-1.seg"), "y").unwrap();
        fs::remove_file(dir.join(RECORDING)).unwrap();
        let kept = read(root.path(), id, &evidence);
        let missing: Vec<_> = kept.missing.iter().map(|m| m.what.as_str()).collect();
        assert_eq!(missing, [RECORDING, "samples/1000-1.seg"]);
        assert_eq!(kept.samples, None);
        let mut outside = evidence[1].clone();
        outside.name = "../../etc/passwd".to_owned();
        assert_eq!(read(root.path(), id, &[outside]).missing.len(), 1);
    }

    #[test]
    fn the_beginning_of_a_storm_is_kept_and_the_rest_counted() {
        let root = tempfile::tempdir().unwrap();
        let mut recording = Recording::begin(root.path(), plan(), b"", 1000).unwrap();
        let many: Vec<u8> = (0..100).flat_map(|second| line(&entry(second))).collect();
        recording.append(&many, 0).unwrap();
        recording.append(&line(&entry(200)), 7).unwrap();
        let (evidence, missing) = recording.finish().unwrap();
        assert_eq!(missing.len(), 2, "{missing:?}");
        let kept = read(root.path(), plan().incident, &evidence);
        let entries = &kept.lines.entries;
        assert!(entries.len() > 3 && kept.lines.unreadable == 0);
        assert_eq!(entries[0], entry(0));
        assert!(!entries.contains(&entry(200)));
    }

    const DIR_ENV: &str = "GTRACE_RECORDER_TEST_DIR";

    /// In a child process whose files may have 1024 bytes: the second batch does not fit, and the third does.
    #[test]
    fn child_hits_its_limit() {
        let Some(root) = std::env::var_os(DIR_ENV) else {
            return;
        };
        let lines = |seconds: std::ops::Range<i64>| -> Vec<u8> {
            seconds.flat_map(|second| line(&entry(second))).collect()
        };
        let mut recording =
            Recording::begin(Path::new(&root), plan(), &lines(0..4), 1 << 20).unwrap();
        assert!(lines(0..4).len() + lines(10..20).len() > 1024);
        recording.append(&lines(10..20), 0).unwrap_err();
        recording.append(&lines(30..31), 0).unwrap();
    }

    #[test]
    fn a_batch_that_a_full_disk_cuts_takes_no_other_line_with_it() {
        let root = tempfile::tempdir().unwrap();
        let script =
            "trap '' XFSZ; ulimit -f 2; exec \"$0\" --exact evidence::tests::child_hits_its_limit";
        let child = std::process::Command::new("sh")
            .args(["-c", script])
            .arg(std::env::current_exe().unwrap())
            .env(DIR_ENV, root.path())
            .output()
            .unwrap();
        assert!(child.status.success(), "{child:?}");
        let dir = root.path().join(plan().incident.to_string());
        let mut read = Lines::default();
        let file = BufReader::new(File::open(dir.join(OPEN_RECORDING)).unwrap());
        read.take(file, at(0), at(99)).unwrap();
        let whole: Vec<_> = (0..4).chain(30..31).map(entry).collect();
        assert_eq!((read.entries, read.unreadable), (whole, 0));
    }

    #[test]
    fn what_others_add_is_there_whole_or_not_at_all() {
        let root = tempfile::tempdir().unwrap();
        let mut recording = Recording::begin(root.path(), plan(), b"", 1000).unwrap();
        let dir = root.path().join(plan().incident.to_string());
        let [small, large] = ["calls-1.pftrace.zst", "calls-2.pftrace.zst"];
        // It can be opened, and has no room for a byte.
        std::os::unix::fs::symlink("/dev/full", dir.join(small)).unwrap();
        recording.attach(small, b"x").unwrap_err();
        assert!(fs::symlink_metadata(dir.join(small)).is_err());
        let zeros = vec![0_u8; READ_MAX as usize + 1];
        let bomb = zstd::encode_all(&zeros[..], 1).unwrap();
        recording.attach(large, &bomb).unwrap();
        let (evidence, _) = recording.finish().unwrap();
        let kept = read(root.path(), plan().incident, &evidence);
        assert!(kept.calls.is_empty());
        assert_eq!(kept.missing.len(), 1);
        assert_eq!(kept.missing[0].what, large);
        assert!(kept.missing[0].why.contains("more than"));
    }

    #[test]
    fn what_others_add_has_a_bound_and_no_name_of_the_recorders_own() {
        let root = tempfile::tempdir().unwrap();
        let mut recording = Recording::begin(root.path(), plan(), b"", 1000).unwrap();
        for name in [
            "host.json",
            "../calls-1.pftrace.zst",
            "calls-.pftrace.zst",
            "calls-x.pftrace.zst",
            "calls-12345678901.pftrace.zst",
            "calls-1.pftrace.zst/../../x",
        ] {
            let refused = recording.attach(name, b"x").unwrap_err();
            assert!(refused.contains("calls-NUMBER"), "{refused}");
        }
        for number in 0..ATTACHED_FILES {
            let name = format!("calls-{number}.pftrace.zst");
            recording.attach(&name, b"x").unwrap();
        }
        let refused = recording.attach("calls-99.pftrace.zst", b"x");
        assert!(refused.unwrap_err().contains("at most"));
        recording.attach("calls-1.pftrace.zst", b"y").unwrap();
        let large = vec![0; ATTACHED_MAX + 1];
        assert!(recording.attach("calls-1.pftrace.zst", &large).is_err());
    }

    #[test]
    fn one_that_was_interrupted_is_found_with_what_was_on_disk_and_finished_once() {
        let root = tempfile::tempdir().unwrap();
        let mut recording =
            Recording::begin(root.path(), plan(), &line(&entry(1)), 1 << 20).unwrap();
        recording.append(&line(&entry(11))[..20], 0).unwrap();
        drop(recording);
        // The power went between compressing and removing, too.
        let dir = root.path().join(plan().incident.to_string());
        fs::write(dir.join(RECORDING), "half").unwrap();
        for _ in 0..2 {
            let mut found = interrupted(root.path()).unwrap();
            let mut recording = found.pop().unwrap();
            recording.miss("the time after it", "gtrace ended");
            let (evidence, missing) = recording.finish().unwrap();
            assert_eq!(missing.len(), 1);
            let kept = read(root.path(), plan().incident, &evidence);
            assert_eq!(kept.lines.entries, [entry(1)]);
        }
        settle(root.path(), plan().incident).unwrap();
        settle(root.path(), plan().incident).unwrap();
        fs::write(dir.join(PLAN), "{").unwrap();
        assert!(interrupted(root.path()).unwrap().is_empty());
        assert!(!dir.exists());
        assert!(interrupted(&root.path().join("none")).unwrap().is_empty());
    }

    #[test]
    fn the_oldest_goes_first_and_one_under_way_stays() {
        let root = tempfile::tempdir().unwrap();
        let mut ids = Vec::new();
        for n in 0..4u64 {
            let mut plan = plan();
            plan.incident = IncidentId::new(1_772_500_000_000 + n);
            let noise: String = (0..40_000u64)
                .map(|x| char::from(33 + (x * x * (n + 7) % 89) as u8))
                .collect();
            let recording = Recording::begin(root.path(), plan, noise.as_bytes(), 1 << 20);
            recording.unwrap().finish().unwrap();
            // The first is still under way.
            if n > 0 {
                settle(root.path(), plan.incident).unwrap();
            }
            let made = SystemTime::UNIX_EPOCH + Duration::from_secs(1_772_500_000 + n);
            let dir = File::open(root.path().join(plan.incident.to_string())).unwrap();
            dir.set_modified(made).unwrap();
            ids.push(plan.incident);
        }
        let all = retain(root.path(), u64::MAX, None).unwrap();
        assert_eq!((all.incidents, all.removed), (4, 0));
        let half = retain(root.path(), all.bytes / 2, None).unwrap();
        assert_eq!((half.incidents, half.removed), (2, 2));
        let left = |id: IncidentId| root.path().join(id.to_string()).exists();
        assert_eq!(
            ids.iter().map(|id| left(*id)).collect::<Vec<_>>(),
            [true, false, false, true]
        );
        let old = retain(root.path(), u64::MAX, Some(Duration::from_secs(3600))).unwrap();
        assert_eq!((old.incidents, old.removed), (1, 1));
        assert!(left(ids[0]));
    }

    #[test]
    fn what_was_made_while_the_clock_was_ahead_grows_old_too() {
        let root = tempfile::tempdir().unwrap();
        let recording = Recording::begin(root.path(), plan(), b"", 1000).unwrap();
        recording.finish().unwrap();
        settle(root.path(), plan().incident).unwrap();
        let dir = File::open(root.path().join(plan().incident.to_string())).unwrap();
        let ahead = SystemTime::now() + Duration::from_secs(86_400);
        dir.set_modified(ahead).unwrap();
        let made = || dir.metadata().unwrap().modified().unwrap();
        // Of a clock that may be wrong nothing follows.
        retain(root.path(), u64::MAX, None).unwrap();
        assert!(made() > SystemTime::now());
        let kept = retain(root.path(), u64::MAX, Some(Duration::from_secs(3600))).unwrap();
        assert_eq!((kept.incidents, kept.removed), (1, 0));
        assert!(made() <= SystemTime::now());
        std::thread::sleep(Duration::from_millis(5));
        let old = retain(root.path(), u64::MAX, Some(Duration::from_millis(1))).unwrap();
        assert_eq!((old.incidents, old.removed), (0, 1));
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_an_error_and_leaves_nothing() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        fs::write(&file, "").unwrap();
        let error = Recording::begin(&file, plan(), b"", 1).unwrap_err();
        assert!(error.to_string().contains("file"), "{error}");
    }
}
