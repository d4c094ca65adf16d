//! Writing to the kernel log.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;

use anyhow::{Context as _, bail};

use crate::cleanup::{self, Deferred};

const PATH: &str = "/dev/kmsg";
/// kernel.printk_devkmsg: `ratelimit` lets ten lines pass in five seconds.
const RATE_LIMIT: &str = "/proc/sys/kernel/printk_devkmsg";

/// A kernel setting that is put back when this is dropped, or when a signal ends the program.
#[derive(Debug)]
struct Setting {
    /// `None` if it had the value already.
    _restore: Option<Deferred>,
}

impl Setting {
    fn set(path: &str, value: &str) -> anyhow::Result<Self> {
        let before = fs::read_to_string(path).with_context(|| path.to_owned())?;
        let before = before.trim().to_owned();
        if before == value {
            return Ok(Self { _restore: None });
        }
        let restore = {
            let (path, before) = (path.to_owned(), before.clone());
            cleanup::defer(move || {
                if let Err(error) = write(&path, &before) {
                    eprintln!("gtrace-bench: {path} is not put back to `{before}`: {error}");
                }
            })
        };
        write(path, value).with_context(|| {
            format!(
                "{path} is `{before}` and cannot be set to `{value}`: it is fixed on the \
                 kernel's command line, or this is no root"
            )
        })?;
        Ok(Self {
            _restore: Some(restore),
        })
    }
}

/// Writes a value as a line: kernel.printk_devkmsg refuses one without its end (`devkmsg_sysctl_set_loglvl`).
fn write(path: &str, value: &str) -> std::io::Result<()> {
    fs::write(path, format!("{value}\n"))
}

/// The kernel log, open for writing without a limit on the rate for as long as this lives.
#[derive(Debug)]
pub(crate) struct KernelLog {
    file: File,
    _no_limit: Setting,
}

impl KernelLog {
    pub(crate) fn open() -> anyhow::Result<Self> {
        let no_limit = Setting::set(RATE_LIMIT, "on")?;
        let file = OpenOptions::new()
            .write(true)
            .open(PATH)
            .with_context(|| PATH)?;
        Ok(Self {
            file,
            _no_limit: no_limit,
        })
    }

    /// Writes one record: user facility, level debug, so that a slow console is not written to.
    pub(crate) fn write(&mut self, text: &str) -> anyhow::Result<()> {
        // Without the newline the kernel keeps the record open for a continuation, and readers of
        // /dev/kmsg do not see it before the next one.
        let line = format!("<15>{text}\n");
        // One write(2) is one record.
        let written = self.file.write(line.as_bytes()).with_context(|| PATH)?;
        if written != line.len() {
            bail!("{PATH} took {written} of {} bytes", line.len());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_put_back_after_a_panic_too() {
        let path = std::env::temp_dir().join(format!("gtrace-bench-test-{}", std::process::id()));
        let text = path.to_str().unwrap().to_owned();
        fs::write(&path, "ratelimit\n").unwrap();
        let _ = std::panic::catch_unwind(|| {
            let _setting = Setting::set(&text, "on").unwrap();
            assert_eq!(fs::read_to_string(&text).unwrap(), "on\n");
            panic!("as a benchmark might");
        });
        assert_eq!(fs::read_to_string(&path).unwrap(), "ratelimit\n");
        fs::write(&path, "on\n").unwrap();
        drop(Setting::set(&text, "on").unwrap());
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "on\n",
            "it was so before"
        );
        fs::remove_file(&path).unwrap();
        assert!(Setting::set(&text, "on").is_err());
    }
}
