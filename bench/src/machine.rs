//! Where a run was made, and how busy the host was meanwhile.

use std::fmt;
use std::fs;
use std::process::Command;
use std::time::Instant;

use gtrace_event::Timestamp;
use serde_json::{Value, json};

use crate::bench::Context;
use crate::stats::number;

#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) date: String,
    cpu: String,
    cores: usize,
    memory_gib: f64,
    virtual_machine: bool,
    kernel: String,
    load: String,
    gtrace: String,
    file_system: String,
}

impl Machine {
    pub(crate) fn read(context: &Context) -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let cpuinfo = read("/proc/cpuinfo");
        let mounts = read("/proc/self/mounts");
        let date = Timestamp::now().to_string();
        Self {
            date: date.split('.').next().unwrap_or(&date).to_owned() + "Z",
            cpu: field(&cpuinfo, "model name")
                .unwrap_or("unknown")
                .to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_gib: kib(&read("/proc/meminfo"), "MemTotal") as f64 / f64::from(1 << 20),
            virtual_machine: field(&cpuinfo, "flags")
                .is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor")),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            load: load(),
            gtrace: gtrace_version(context),
            file_system: file_system(&mounts, &context.scratch.to_string_lossy()).to_owned(),
        }
    }

    pub(crate) fn text(&self) -> String {
        let kind = if self.virtual_machine {
            "virtual machine"
        } else {
            "no hypervisor seen"
        };
        format!(
            "machine: {}, {} CPUs, {} GiB, {kind}\nkernel: Linux {}\ndate: {}\ngtrace: {}\n\
             scratch: {}\nload at start: {}\n",
            self.cpu,
            self.cores,
            number(self.memory_gib),
            self.kernel,
            self.date,
            self.gtrace,
            self.file_system,
            self.load
        )
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "cpu": self.cpu,
            "cores": self.cores,
            "memory_gib": self.memory_gib,
            "virtual": self.virtual_machine,
            "kernel": self.kernel,
            "date": self.date,
            "gtrace": self.gtrace,
            "scratch": self.file_system,
            "load": self.load,
        })
    }
}

fn gtrace_version(context: &Context) -> String {
    let output = Command::new(&context.gtrace).arg("--version").output();
    let version = output.map_or_else(
        |error| format!("cannot be run: {error}"),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    );
    // Cargo's folder is the only thing that shows it.
    let folder = context.gtrace.parent().and_then(|p| p.file_name());
    let build = match folder.and_then(|f| f.to_str()) {
        Some("release") => "release build",
        Some("debug") => "DEBUG BUILD: the figures mean nothing",
        _ => "unknown build",
    };
    format!("{version}, {build}")
}

/// The value of `name : value` lines.
pub(crate) fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim())
    })
}

/// The value of a `name: 123 kB` line; 0 without one.
pub(crate) fn kib(text: &str, name: &str) -> u64 {
    let value = field(text, name).and_then(|v| v.strip_suffix(" kB"));
    value.and_then(|v| v.trim().parse().ok()).unwrap_or(0)
}

/// The type of the file system that `path` lies on.
fn file_system<'a>(mounts: &'a str, path: &str) -> &'a str {
    let parts = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        Some((words.next()?, words.next()?))
    });
    let below = |mount: &str| {
        path.strip_prefix(mount)
            .is_some_and(|r| mount == "/" || r.is_empty() || r.starts_with('/'))
    };
    // The last of the longest: later mounts cover earlier ones.
    parts
        .filter(|(mount, _)| below(mount))
        .max_by_key(|(m, _)| m.len())
        .map_or("unknown", |p| p.1)
}

fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}

/// How busy all CPUs are between two moments.
#[derive(Debug)]
pub(crate) struct Busy {
    before: Option<(u64, u64)>,
    load: String,
    since: Instant,
}

/// What [`Busy`] saw.
#[derive(Debug)]
pub(crate) struct WasBusy {
    share: f64,
    load: [String; 2],
    seconds: f64,
}

impl Busy {
    pub(crate) fn begin() -> Self {
        Self {
            before: jiffies(),
            load: load(),
            since: Instant::now(),
        }
    }

    pub(crate) fn end(self) -> WasBusy {
        let share = match (self.before, jiffies()) {
            (Some((busy, all)), Some((busy_now, all_now))) => {
                busy_now.saturating_sub(busy) as f64 / all_now.saturating_sub(all).max(1) as f64
            }
            _ => f64::NAN,
        };
        let seconds = self.since.elapsed().as_secs_f64();
        WasBusy {
            share,
            load: [self.load, load()],
            seconds,
        }
    }
}

impl fmt::Display for WasBusy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [before, after] = &self.load;
        write!(
            f,
            "took {} s; all CPUs together were {} % busy, this benchmark included; load average \
             {before} before, {after} after",
            number(self.seconds),
            number(self.share * 100.0)
        )
    }
}

fn jiffies() -> Option<(u64, u64)> {
    parse_stat(&fs::read_to_string("/proc/stat").ok()?)
}

/// Busy and all time of all CPUs; time stolen by the hypervisor counts as busy.
fn parse_stat(text: &str) -> Option<(u64, u64)> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let times: Vec<u64> = line
        .split_whitespace()
        .take(8)
        .map_while(|w| w.parse().ok())
        .collect();
    let all: u64 = times.iter().sum();
    let idle = times.get(3)? + times.get(4)?;
    Some((all - idle, all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_proc_files() {
        let stat = "cpu  10 1 5 70 10 1 2 1 0 0\ncpu0 1 2 3 4\n";
        assert_eq!(parse_stat(stat), Some((20, 100)));
        assert_eq!(parse_stat(""), None);
        assert_eq!(kib("Name:\tx\nRssAnon:\t    1234 kB\n", "RssAnon"), 1234);
        assert_eq!(kib("Pss:  17 kB\nPss_Anon: 3 kB\n", "Pss"), 17);
        assert_eq!(kib("", "RssAnon"), 0);
        assert_eq!(
            field("model name\t: A CPU\nflags : a b\n", "model name"),
            Some("A CPU")
        );
    }

    #[test]
    fn finds_the_innermost_mount() {
        let mounts =
            "/dev/a / ext4 rw 0 0\ntmpfs /var/tm tmpfs rw 0 0\n/dev/b /var/tmp xfs rw 0 0\n";
        assert_eq!(file_system(mounts, "/var/tmp/x"), "xfs");
        assert_eq!(file_system(mounts, "/var/tmp"), "xfs");
        assert_eq!(file_system(mounts, "/home"), "ext4");
        assert_eq!(file_system("", "/home"), "unknown");
    }
}
