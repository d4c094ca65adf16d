//! `pid=…, name=…, ` at the front of an Xid's message.

use crate::scan;

/// Process of an Xid line and the message after it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ProcessPart<'a> {
    pub(crate) pid: Option<u32>,
    pub(crate) comm: Option<&'a str>,
    pub(crate) message: &'a str,
}

/// How the driver's Xid messages begin. A process name is free text that may hold `, `: it ends
/// where the first of these begins. Source: callers of `nvErrorLog_va` in the open kernel
/// modules, and lines of older drivers.
const BEGINNINGS: &[&str] = &[
    "A GPU ",
    "An uncorrectable",
    "An ECC",
    "C2C ",
    "CE User Channel",
    "Ch 0",
    "Ch 1",
    "Ch 2",
    "Ch 3",
    "Ch 4",
    "Ch 5",
    "Ch 6",
    "Ch 7",
    "Ch 8",
    "Ch 9",
    "Ch a",
    "Ch b",
    "Ch c",
    "Ch d",
    "Ch e",
    "Ch f",
    "ChID ",
    "ChId ",
    "Channel ",
    "Class Error",
    "Contained",
    "DBE ",
    "DRAM",
    "Display",
    "Double Bit",
    "Dynamic Page",
    "ECC ",
    "ESR ",
    "Engine ",
    "Error ",
    "FBHUB",
    "Failed ",
    "Fatal ",
    "GPC",
    "GPU ",
    "GSP",
    "Graphics ",
    "Head ",
    "Illegal ",
    "Internal ",
    "Invalid ",
    "Kernel ",
    "LTC",
    "MMU ",
    "MSE",
    "MVB",
    "Marking ",
    "NETIR",
    "NVDEC",
    "NVENC",
    "NVJPG",
    "NVLPW",
    "NVLink",
    "Out Of Range",
    "PBDMA",
    "PCIe",
    "PMU",
    "Page ",
    "Physical ",
    "Poison",
    "RLW_",
    "Reset ",
    "Row Remap",
    "SAW_",
    "SEC2",
    "SM ",
    "Single Bit",
    "TLW_",
    "TREX",
    "Timeout ",
    "Unable ",
    "Uncontained",
    "Uncorrectable",
    "Unrecovered",
    "Unrecoverable",
    "channel 0x",
    "errorString",
    "intr ",
    "nvlink",
    "uncorrectable",
];

/// The longest name that RM keeps (`NV_PROC_NAME_MAX_LENGTH`).
const MAX_NAME: usize = 100;

/// Splits the text after an Xid's code.
pub(crate) fn split(text: &str) -> ProcessPart<'_> {
    let Some(rest) = text.strip_prefix("pid=") else {
        return ProcessPart {
            message: text,
            ..ProcessPart::default()
        };
    };
    let (value, rest) = match rest.split_once(',') {
        Some((value, rest)) => (value, rest.trim_start()),
        None => (rest, ""),
    };
    let pid = value.trim().trim_matches('\'').parse().ok();
    let Some(rest) = rest.strip_prefix("name=") else {
        return ProcessPart {
            pid,
            comm: None,
            message: rest,
        };
    };
    let (name, message) = split_name(rest);
    let comm = Some(name).filter(|n| !n.is_empty() && *n != "<unknown>" && *n != "'<unknown>'");
    ProcessPart { pid, comm, message }
}

fn split_name(text: &str) -> (&str, &str) {
    let mut first = None;
    for at in memchr::memmem::find_iter(text.as_bytes(), b", ") {
        if at > MAX_NAME {
            break;
        }
        let (Some(name), Some(message)) = (text.get(..at), text.get(at + 2..)) else {
            break;
        };
        first.get_or_insert((name, message));
        if BEGINNINGS.iter().any(|b| message.starts_with(b)) || scan::bracketed(message).is_some() {
            return (name, message);
        }
    }
    first.unwrap_or_else(|| (text.trim_end_matches([',', ' ']), ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_whole() {
        for (text, pid, comm, message) in [
            (
                "pid=1234, name=python3, Ch 00000010",
                Some(1234),
                Some("python3"),
                "Ch 00000010",
            ),
            (
                "pid=1234, name=my, odd proc, Ch 00000010, intr 00000000",
                Some(1234),
                Some("my, odd proc"),
                "Ch 00000010, intr 00000000",
            ),
            (
                "pid=7, name=nvc:[driver], Timeout after 6s of waiting",
                Some(7),
                Some("nvc:[driver]"),
                "Timeout after 6s of waiting",
            ),
            (
                "pid=7, name=ray::WorkerDict, GPU has",
                Some(7),
                Some("ray::WorkerDict"),
                "GPU has",
            ),
            (
                "pid=7, name=a (b), something new, x",
                Some(7),
                Some("a (b)"),
                "something new, x",
            ),
            (
                "pid='<unknown>', name=<unknown>, GPU has",
                None,
                None,
                "GPU has",
            ),
            ("pid=1122, GPU has", Some(1122), None, "GPU has"),
            ("pid=1122", Some(1122), None, ""),
            ("pid=1122, name=solo", Some(1122), Some("solo"), ""),
            ("GPU has", None, None, "GPU has"),
            ("pid=99999999999, name=x, y", None, Some("x"), "y"),
        ] {
            assert_eq!(split(text), ProcessPart { pid, comm, message }, "{text}");
        }
    }
}
