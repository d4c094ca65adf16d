//! `gtrace inject`: drills.
//!
//! The line goes through the real kernel log, by /dev/kmsg, so the whole way from the log to the
//! event is exercised. It begins with a mark, so that no reader of the log takes it for the
//! driver's, and the event's provenance is `injected`.

use std::io::ErrorKind;
use std::path::Path;
use std::process::ExitCode;

use clap::{Subcommand, ValueEnum};
use gtrace_catalogue::{Catalogue, Scope};
use gtrace_engine::host;
use gtrace_engine::sources::kmsg;
use gtrace_event::PciAddress;

use super::shared::{self, Failure};

/// What an injected line begins with.
pub const MARK: &str = "gtrace-inject: ";

/// Write a drill into the kernel log.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
pub(super) enum What {
    /// An Xid of the NVIDIA driver.
    Xid {
        /// Xid code.
        code: u32,
        /// PCI address of the GPU.
        #[arg(long)]
        gpu: PciAddress,
        /// Process that the line names.
        #[arg(long)]
        pid: Option<u32>,
        /// Name of that process.
        #[arg(long, requires = "pid")]
        comm: Option<String>,
        /// The driver's text after the code.
        #[arg(long)]
        message: Option<String>,
    },
    /// An SXid of an NVSwitch.
    Sxid {
        /// SXid code.
        code: u32,
        /// PCI address of the NVSwitch.
        #[arg(long, value_name = "ADDRESS", alias = "gpu")]
        switch: PciAddress,
        /// Number of the switch.
        #[arg(long, default_value_t = 0)]
        nvswitch: u32,
        /// Number of the link.
        #[arg(long, default_value_t = 0)]
        link: u32,
        /// The line calls it fatal; by default as the catalogue says of the code.
        #[arg(long, conflicts_with = "non_fatal")]
        fatal: bool,
        /// The line calls it non-fatal.
        #[arg(long)]
        non_fatal: bool,
        /// The driver's text after the link.
        #[arg(long)]
        message: Option<String>,
    },
    /// A PCIe error.
    Aer {
        /// How bad.
        severity: AerSeverity,
        /// PCI address of the device.
        #[arg(long)]
        gpu: PciAddress,
    },
    /// A process killed for lack of memory.
    OomKill {
        /// Process id.
        #[arg(long)]
        pid: u32,
        /// Its name.
        #[arg(long, default_value = "python")]
        comm: String,
    },
    /// Any line that the kernel could log: text without control characters.
    Line {
        /// The line, at most 961 bytes.
        text: String,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum AerSeverity {
    /// The hardware corrected it.
    #[value(alias = "corrected")]
    Correctable,
    /// A transaction was lost.
    Nonfatal,
    /// The link is no longer reliable.
    Fatal,
}

/// The longest text that one write to /dev/kmsg takes (kernel/printk/printk.c).
const MAX_LINE: usize = 976;

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let text = line(&args.what).map_err(Failure::usage)?;
    write(&text)?;
    shared::print(&format!("injected: {text}\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a line with its mark into the kernel log.
pub(super) fn write(text: &str) -> anyhow::Result<()> {
    kmsg::write_line(Path::new(kmsg::PATH), text).map_err(|error| unwritable(&error))
}

/// Why the kernel log would not take a line; writes none.
pub(super) fn check() -> anyhow::Result<()> {
    let opened = std::fs::OpenOptions::new().write(true).open(kmsg::PATH);
    opened.map(drop).map_err(|error| unwritable(&error))
}

fn unwritable(error: &std::io::Error) -> anyhow::Error {
    let mode = host::sysctl("/proc/sys/kernel/printk_devkmsg");
    let remedy = remedy(error.kind(), mode.as_deref(), host::is_root());
    anyhow::anyhow!("{} cannot be written: {error}; {remedy}", kmsg::PATH)
}

/// With `off` the kernel lets nobody open it, root neither (`devkmsg_open` of kernel/printk/printk.c).
fn remedy(kind: ErrorKind, printk_devkmsg: Option<&str>, is_root: bool) -> &'static str {
    match kind {
        _ if printk_devkmsg == Some("off") => {
            "kernel.printk_devkmsg is off: sysctl kernel.printk_devkmsg=on, or boot without \
             printk.devkmsg=off, which the sysctl cannot change"
        }
        ErrorKind::PermissionDenied if !is_root => "run as root",
        _ => "run it on the host itself, as a container needs the right to use this device",
    }
}

/// The line with its mark; why the kernel log would not show it as one line.
pub(super) fn line(what: &What) -> Result<String, String> {
    let text = text(what);
    if text.trim().is_empty() {
        return Err("the line is empty: say what the kernel would log".to_owned());
    }
    if let Some((at, control)) = text.char_indices().find(|(_, c)| c.is_control()) {
        return Err(format!(
            "the line has the control character U+{:04X} at byte {at}, which the kernel log would end the line at or \
             escape: leave it out",
            u32::from(control)
        ));
    }
    let line = format!("{MARK}{text}");
    match line.len() <= MAX_LINE {
        true => Ok(line),
        false => Err(format!(
            "the line is {} bytes long with its mark and the kernel log takes {MAX_LINE}: shorten it",
            line.len()
        )),
    }
}

fn text(what: &What) -> String {
    match what {
        What::Xid {
            code,
            gpu,
            pid,
            comm,
            message,
        } => {
            let process = pid.map_or(String::new(), |pid| {
                format!("pid={pid}, name={}, ", comm.as_deref().unwrap_or("drill"))
            });
            let message = message.as_deref().unwrap_or_else(|| xid_text(*code));
            format!(
                "NVRM: Xid (PCI:{}): {code}, {process}{message}",
                without_function(*gpu)
            )
        }
        What::Sxid {
            code,
            switch,
            nvswitch,
            link,
            fatal,
            non_fatal,
            message,
        } => {
            let message = message.as_deref().unwrap_or("drill");
            let is_fatal = *fatal || (!non_fatal && is_always_fatal(*code));
            let class = if is_fatal { "Fatal" } else { "Non-fatal" };
            format!(
                "nvidia-nvswitch{nvswitch}: SXid (PCI:{switch}): {code}, {class}, Link {link:02} {message}"
            )
        }
        What::Aer { severity, gpu } => {
            let (severity, layer, agent) = match severity {
                AerSeverity::Correctable => ("Corrected", "Data Link Layer", "Transmitter ID"),
                AerSeverity::Nonfatal => (
                    "Uncorrected (Non-Fatal)",
                    "Transaction Layer",
                    "Requester ID",
                ),
                AerSeverity::Fatal => ("Uncorrected (Fatal)", "Transaction Layer", "Receiver ID"),
            };
            format!("pcieport {gpu}: PCIe Bus Error: severity={severity}, type={layer}, ({agent})")
        }
        What::OomKill { pid, comm } => format!(
            "Out of memory: Killed process {pid} ({comm}) total-vm:1048576kB, anon-rss:524288kB, \
             file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:2048kB oom_score_adj:0"
        ),
        What::Line { text } => text.clone(),
    }
}

/// Whether the driver calls the SXid fatal as a rule.
fn is_always_fatal(code: u32) -> bool {
    let entry = Catalogue::builtin().sxid(code);
    entry.is_some_and(|entry| entry.scope == Scope::AlwaysFatal)
}

fn without_function(gpu: PciAddress) -> String {
    format!("{:04x}:{:02x}:{:02x}", gpu.domain, gpu.bus, gpu.device)
}

/// What the driver prints after these codes.
fn xid_text(code: u32) -> &'static str {
    match code {
        13 => "Graphics SM Warp Exception on (GPC 0, TPC 1, SM 0): Out Of Range Address",
        31 => {
            "Ch 00000010, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_3 faulted @ \
             0x7f_abcd1000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ"
        }
        48 => "DBE (double bit error) ECC Error",
        79 => "GPU has fallen off the bus.",
        94 => "Contained: CE User Channel (0x9). RST: No, D-RST: No",
        95 => "Uncontained: LTC TAG (0x2). RST: Yes, D-RST: No",
        119 => {
            "Timeout after 6s of waiting for RPC response from GPU0 GSP! Expected function 76 \
             (GSP_RM_CONTROL) (0x20801702 0x4)."
        }
        154 => "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
        _ => "drill",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pcie_errors_have_the_words_of_the_kernels_counters_and_of_its_log() {
        for (word, severity) in [
            ("correctable", "Corrected"),
            ("corrected", "Corrected"),
            ("nonfatal", "Uncorrected (Non-Fatal)"),
            ("fatal", "Uncorrected (Fatal)"),
        ] {
            let aer = What::Aer {
                severity: AerSeverity::from_str(word, false).unwrap(),
                gpu: "0000:3b:00.0".parse().unwrap(),
            };
            let text = line(&aer).unwrap();
            assert!(
                text.contains(&format!("severity={severity}, ")),
                "{word}: {text}"
            );
        }
    }

    #[test]
    fn an_sxid_is_as_fatal_as_the_catalogue_says() {
        let of = |code, fatal, non_fatal| {
            line(&What::Sxid {
                code,
                switch: "0000:c1:00.0".parse().unwrap(),
                nvswitch: 0,
                link: 3,
                fatal,
                non_fatal,
                message: None,
            })
            .unwrap()
        };
        assert!(of(20034, false, false).contains("): 20034, Fatal, Link 03"));
        assert!(of(12021, false, false).contains("): 12021, Non-fatal, "));
        assert!(of(12021, true, false).contains("): 12021, Fatal, "));
        assert!(of(20034, false, true).contains("): 20034, Non-fatal, "));
    }

    #[test]
    fn a_kernel_log_that_nobody_may_open_is_no_question_of_the_user() {
        let denied = ErrorKind::PermissionDenied;
        for is_root in [false, true] {
            assert!(remedy(denied, Some("off"), is_root).contains("printk_devkmsg=on"));
        }
        assert_eq!(remedy(denied, Some("ratelimit"), false), "run as root");
        for (kind, mode) in [
            (denied, Some("on")),
            (denied, None),
            (ErrorKind::NotFound, None),
        ] {
            let remedy_text = remedy(kind, mode, true);
            assert!(remedy_text.contains("container"), "{remedy_text}");
        }
    }

    #[test]
    fn the_longest_line_is_taken_and_no_longer_one() {
        let of = |bytes| {
            line(&What::Line {
                text: "x".repeat(bytes),
            })
        };
        assert_eq!(of(961).unwrap().len(), MAX_LINE);
        assert!(of(962).is_err());
    }
}
