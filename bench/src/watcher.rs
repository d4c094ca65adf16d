//! Who watches the kernel log, and when each line reached them.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

use gtrace_api::client::Stopper;

use crate::daemon::Daemon;
use crate::markers::Marker;
use crate::process::Process;

/// When each line was first seen, in nanoseconds since `epoch`; 0 for not yet.
#[derive(Debug)]
struct Times {
    epoch: Instant,
    first: Vec<AtomicU64>,
}

/// Reads the output of something that follows the kernel log.
#[derive(Debug)]
pub(crate) struct Watcher {
    pub(crate) name: &'static str,
    times: Arc<Times>,
    process: Option<Process>,
    stream: Option<Stopper>,
    thread: Option<JoinHandle<()>>,
}

/// What is watched for.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    pub(crate) marker: Marker,
    pub(crate) epoch: Instant,
    pub(crate) lines: usize,
}

impl Watcher {
    /// `gtrace events --follow --json`, at the far end of its pipe.
    pub(crate) fn follower(
        gtrace: &std::path::Path,
        daemon: &Daemon,
        watch: &Watch,
    ) -> anyhow::Result<Self> {
        let mut command = Command::new(gtrace);
        command
            .args(["events", "--follow", "--json", "--socket"])
            .arg(daemon.socket());
        Self::process("gtrace events --follow", &mut command, watch)
    }

    /// `dmesg --follow-new`, at the far end of its pipe.
    pub(crate) fn dmesg(watch: &Watch) -> anyhow::Result<Self> {
        Self::process(
            "dmesg --follow-new",
            Command::new("dmesg").arg("--follow-new"),
            watch,
        )
    }

    /// /api/v1/events/stream, at the socket.
    pub(crate) fn stream(daemon: &Daemon, watch: &Watch) -> anyhow::Result<Self> {
        let stream = daemon.client().stream("/api/v1/events/stream", None)?;
        let stopper = stream.stopper()?;
        let mut watcher = Self::read("raw event stream", stream.into_read(), watch)?;
        watcher.stream = Some(stopper);
        Ok(watcher)
    }

    /// /api/v1/incidents/stream, at the socket: incidents of losses.
    pub(crate) fn incidents(daemon: &Daemon, watch: &Watch) -> anyhow::Result<Self> {
        let stream = daemon.client().stream("/api/v1/incidents/stream", None)?;
        let stopper = stream.stopper()?;
        let marker = watch.marker.clone();
        let find = move |line: &[u8]| marker.find_loss(line);
        let mut watcher = Self::find("incident", stream.into_read(), watch, find)?;
        watcher.stream = Some(stopper);
        Ok(watcher)
    }

    fn process(name: &'static str, command: &mut Command, watch: &Watch) -> anyhow::Result<Self> {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut process = Process::start(command)?;
        let mut watcher = Self::read(name, process.stdout()?, watch)?;
        watcher.process = Some(process);
        Ok(watcher)
    }

    fn read(
        name: &'static str,
        from: impl Read + Send + 'static,
        watch: &Watch,
    ) -> anyhow::Result<Self> {
        let marker = watch.marker.clone();
        Self::find(name, from, watch, move |line| marker.find(line))
    }

    /// The same, of lines that `find` knows the number of.
    fn find(
        name: &'static str,
        from: impl Read + Send + 'static,
        watch: &Watch,
        find: impl Fn(&[u8]) -> Option<usize> + Send + 'static,
    ) -> anyhow::Result<Self> {
        let first = (0..watch.lines).map(|_| AtomicU64::new(0)).collect();
        let times = Arc::new(Times {
            epoch: watch.epoch,
            first,
        });
        let thread = {
            let times = Arc::clone(&times);
            std::thread::Builder::new()
                .name("watcher".to_owned())
                .spawn(move || take_lines(from, find, &times))?
        };
        Ok(Self {
            name,
            times,
            process: None,
            stream: None,
            thread: Some(thread),
        })
    }

    /// When line `n` was seen, in nanoseconds since the epoch.
    pub(crate) fn seen(&self, n: usize) -> Option<u64> {
        let at = self.times.first.get(n)?.load(Ordering::Relaxed);
        (at != 0).then_some(at)
    }
}

fn take_lines(mut from: impl Read, find: impl Fn(&[u8]) -> Option<usize>, times: &Times) {
    let mut buffer = vec![0; 256 << 10];
    let mut rest: Vec<u8> = Vec::new();
    loop {
        let len = match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(len) => len,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        // Before anything is read: searching costs time too.
        let now = u64::try_from(times.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX);
        rest.extend_from_slice(&buffer[..len]);
        let Some(end) = rest.iter().rposition(|b| *b == b'\n') else {
            continue;
        };
        for line in rest[..end].split(|b| *b == b'\n') {
            if let Some(time) = find(line).and_then(|n| times.first.get(n)) {
                // Later mentions are amendments.
                let _ = time.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
            }
        }
        rest.drain(..=end);
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        drop(self.process.take());
        if let Some(stream) = self.stream.take() {
            stream.stop();
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_mention_of_a_line_counts() {
        let watch = Watch {
            marker: Marker::new(),
            epoch: Instant::now(),
            lines: 3,
        };
        let text = format!(
            "a {}\nb {}\nc {}",
            watch.marker.xid(1),
            watch.marker.xid(1),
            watch.marker.xid(2)
        );
        let mut watcher = Watcher::read("text", std::io::Cursor::new(text), &watch).unwrap();
        watcher.thread.take().unwrap().join().unwrap();
        assert!(watcher.seen(1).is_some());
        assert_eq!(watcher.seen(2), None, "its line has not ended");
        assert_eq!((watcher.seen(0), watcher.seen(99)), (None, None));
    }
}
