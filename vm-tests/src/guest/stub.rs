//! The stub of the NVIDIA driver: loading it, controlling it, reading its counts.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use gtrace_vm_tests::layout::{STUB_CURRENT, STUB_FRONTEND};

use super::{Guest, modules};

/// Takes commands, one a line.
const CONTROL: &str = "/proc/nvidia-stub/control";

/// Has a line for each device node, call, code and status.
const COUNTERS: &str = "/proc/nvidia-stub/counters";

/// The parameter by which the stub adopts the machine's card.
pub(crate) const GPUS: &str = "gpus=0000:01:00.0";

/// Which drivers the stub has the symbols of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Generation {
    /// 545 and later: `nvidia_unlocked_ioctl`.
    Current,
    /// 515 to 535: `nvidia_frontend_unlocked_ioctl`.
    Frontend,
}

impl Generation {
    fn dir(self) -> &'static Path {
        Path::new(match self {
            Self::Current => STUB_CURRENT,
            Self::Frontend => STUB_FRONTEND,
        })
    }
}

/// Has a line a GPU: `nvidia0 USED TOTAL`.
const MEMORY: &str = "/proc/nvidia-stub/memory";

/// What RM_ALLOC took of a GPU's memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    /// Taken.
    pub(crate) used: u64,
    /// All that there is.
    pub(crate) total: u64,
}

/// How often the stub answered one kind of call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counter {
    /// `nvidia0`, `nvidiactl`, `nvidia-uvm`.
    pub(crate) device: String,
    /// `RM_CONTROL`, `RM_ALLOC`, …
    pub(crate) call: String,
    /// Control command, class or UVM number.
    pub(crate) code: u32,
    /// The NV_STATUS answered.
    pub(crate) status: u32,
    /// How often.
    pub(crate) count: u64,
}

impl Guest {
    /// Loads both modules, `nvidia` with `parameters`.
    pub(crate) fn load_stub(&self, generation: Generation, parameters: &str) -> Result<()> {
        let dir = generation.dir();
        self.insmod(dir.join("nvidia.ko"), parameters)?;
        self.insmod(dir.join("nvidia-uvm.ko"), "")
    }

    /// Unloads both modules.
    ///
    /// # Errors
    ///
    /// The kernel's errno: something uses one of them.
    pub(crate) fn unload_stub(&self) -> std::io::Result<()> {
        modules::remove("nvidia_uvm")?;
        modules::remove("nvidia")
    }

    /// Sends the stub one line: `xid 0 79 …`, `delay 0x2a 500`, `hang 5 1`.
    pub(crate) fn stub(&self, line: &str) -> Result<()> {
        fs::write(CONTROL, format!("{line}\n"))
            .with_context(|| format!("the stub does not take `{line}`; its log says why"))
    }

    /// What the stub counted since it was loaded or reset.
    pub(crate) fn stub_counters(&self) -> Result<Vec<Counter>> {
        let text =
            fs::read_to_string(COUNTERS).with_context(|| format!("cannot read {COUNTERS}"))?;
        text.lines().map(parse).collect()
    }

    /// The memory of a GPU, by its index.
    pub(crate) fn stub_memory(&self, gpu: u32) -> Result<Memory> {
        let text = fs::read_to_string(MEMORY).with_context(|| format!("cannot read {MEMORY}"))?;
        let name = format!("nvidia{gpu}");
        let line = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>())
            .find(|words| words.first() == Some(&name.as_str()));
        let Some([_, used, total]) = line.as_deref() else {
            bail!("{MEMORY} has no line of {name}: {text:?}");
        };
        Ok(Memory {
            used: used.parse()?,
            total: total.parse()?,
        })
    }

    /// How often the stub answered this call on any device, with whatever status.
    pub(crate) fn stub_count(&self, call: &str, code: u32) -> Result<u64> {
        let counters = self.stub_counters()?;
        let ours = counters.iter().filter(|c| c.call == call && c.code == code);
        Ok(ours.map(|c| c.count).sum())
    }
}

/// `nvidia0 RM_CONTROL 0x20800a01 0x0 25000`.
fn parse(line: &str) -> Result<Counter> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [device, call, code, status, count] = words[..] else {
        bail!("{COUNTERS} has a line that is no counter: {line:?}");
    };
    Ok(Counter {
        device: device.to_owned(),
        call: call.to_owned(),
        code: number(code)?,
        status: number(status)?,
        count: count.parse()?,
    })
}

fn number(text: &str) -> Result<u32> {
    match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => text.parse(),
    }
    .with_context(|| format!("{text:?} is no number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_read() {
        let counter = parse("nvidia0 RM_CONTROL 0x20800a01 0x51 25000").unwrap();
        assert_eq!(counter.code, 0x2080_0a01);
        assert_eq!((counter.status, counter.count), (0x51, 25_000));
        assert!(parse("nvidia0 RM_CONTROL 0x20800a01").is_err());
    }
}
