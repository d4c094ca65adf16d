//! Settings of the CPU emulator, from the environment, read once. README.md says what each means.

use std::path::PathBuf;
use std::sync::OnceLock;

/// Memory of a device unless the environment says otherwise, bytes.
const DEFAULT_MEMORY: u64 = 4 << 30;
const MAX_DEVICES: usize = 16;

/// See the module.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) devices: usize,
    pub(crate) memory: u64,
    pub(crate) skip_launches: bool,
    pub(crate) threads: usize,
    pub(crate) fault: Option<String>,
    pub(crate) control: Option<PathBuf>,
    pub(crate) kmsg: Option<PathBuf>,
    pub(crate) visible: Option<String>,
    pub(crate) launch_blocking: bool,
}

impl Config {
    /// Reads the environment. What cannot be understood is reported on stderr and left at its default,
    /// as a library has no other place to say so.
    pub(crate) fn from_env() -> Self {
        Self::read(|name| std::env::var(name).ok())
    }

    fn read(get: impl Fn(&str) -> Option<String>) -> Self {
        let parsed = |name: &str, default: u64, range: std::ops::RangeInclusive<u64>| {
            let Some(text) = get(name) else {
                return default;
            };
            match parse_bytes(&text).filter(|value| range.contains(value)) {
                Some(value) => value,
                None => {
                    warn(&format!(
                        "{name}={text} is not in {range:?}; using {default}"
                    ));
                    default
                }
            }
        };
        let cpus = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        let skip = match get("GTRACE_SOFTGPU_LAUNCH").as_deref() {
            None | Some("" | "run") => false,
            Some("skip") => true,
            Some(other) => {
                warn(&format!(
                    "GTRACE_SOFTGPU_LAUNCH={other} is neither run nor skip; using run"
                ));
                false
            }
        };
        Self {
            devices: parsed("GTRACE_SOFTGPU_DEVICES", 1, 1..=MAX_DEVICES as u64) as usize,
            memory: parsed("GTRACE_SOFTGPU_MEMORY", DEFAULT_MEMORY, 1 << 20..=1 << 40),
            skip_launches: skip,
            threads: parsed("GTRACE_SOFTGPU_THREADS", cpus, 1..=1024) as usize,
            fault: get("GTRACE_SOFTGPU_FAULT").filter(|text| !text.is_empty()),
            control: get("GTRACE_SOFTGPU_CONTROL")
                .filter(|text| !text.is_empty())
                .map(Into::into),
            kmsg: get("GTRACE_SOFTGPU_KMSG")
                .filter(|text| !text.is_empty())
                .map(Into::into),
            visible: get("CUDA_VISIBLE_DEVICES"),
            launch_blocking: get("CUDA_LAUNCH_BLOCKING").is_some_and(|text| text == "1"),
        }
    }
}

/// Whether asynchronous copies read pageable memory when their stream comes to them, as where a GPU reaches it itself.
pub(crate) fn pageable_is_read_late() -> bool {
    static LATE: OnceLock<bool> = OnceLock::new();
    *LATE.get_or_init(|| std::env::var_os("GTRACE_SOFTGPU_PAGEABLE").is_some_and(|it| it == "late"))
}

/// Whether causes are reported that CUDA's error codes do not have room for.
pub(crate) fn verbose() -> bool {
    static VERBOSE: OnceLock<bool> = OnceLock::new();
    *VERBOSE.get_or_init(|| std::env::var_os("GTRACE_SOFTGPU_VERBOSE").is_some_and(|it| it == "1"))
}

/// One line on stderr, so that it is clear who speaks.
pub(crate) fn warn(text: &str) {
    eprintln!("gtrace softgpu (CPU emulator): {text}");
}

/// `64`, `512MiB`, `4G`: a number of bytes; the suffixes are powers of 1024.
fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let shift = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return None,
    };
    number.checked_mul(1 << shift)
}

/// Devices that a program sees, by index, in its order: `CUDA_VISIBLE_DEVICES` is a list of
/// ordinals or of beginnings of UUIDs; the list ends before the first entry that names no device,
/// and is empty when a device is named twice.
pub(crate) fn visible_devices(list: Option<&str>, uuids: &[String]) -> Vec<usize> {
    let Some(list) = list else {
        return (0..uuids.len()).collect();
    };
    let mut chosen = Vec::new();
    for entry in list.split(',') {
        let entry = entry.trim();
        let index = if entry.starts_with("GPU-") {
            let mut matching = (0..uuids.len()).filter(|&index| uuids[index].starts_with(entry));
            match (matching.next(), matching.next()) {
                (Some(index), None) => Some(index),
                _ => None,
            }
        } else {
            entry
                .parse()
                .ok()
                .filter(|&index: &usize| index < uuids.len())
        };
        match index {
            Some(index) if chosen.contains(&index) => return Vec::new(),
            Some(index) => chosen.push(index),
            None => break,
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_suffixes() {
        assert_eq!(parse_bytes("64"), Some(64));
        assert_eq!(parse_bytes("512MiB"), Some(512 << 20));
        assert_eq!(parse_bytes("4G"), Some(4 << 30));
        assert_eq!(parse_bytes("four"), None);
        assert_eq!(parse_bytes("99999999999T"), None);
    }

    #[test]
    fn visible_devices_follow_cuda() {
        let uuids: Vec<String> = (0..3).map(|n| format!("GPU-abc{n}")).collect();
        let see = |list| visible_devices(list, &uuids);
        assert_eq!(see(None), [0, 1, 2]);
        assert_eq!(see(Some("2,0")), [2, 0]);
        assert_eq!(see(Some("GPU-abc1")), [1]);
        assert_eq!(see(Some("GPU-abc")), [] as [usize; 0], "ambiguous");
        assert_eq!(see(Some("0,7,1")), [0], "ends before the unknown one");
        assert_eq!(see(Some("1,1")), [] as [usize; 0]);
        assert_eq!(see(Some("")), [] as [usize; 0]);
        assert_eq!(see(Some("-1")), [] as [usize; 0]);
    }

    #[test]
    fn nonsense_leaves_the_default() {
        let config = Config::read(|name| match name {
            "GTRACE_SOFTGPU_DEVICES" => Some("99".into()),
            "GTRACE_SOFTGPU_LAUNCH" => Some("skip".into()),
            _ => None,
        });
        assert_eq!(config.devices, 1);
        assert!(config.skip_launches);
    }
}
