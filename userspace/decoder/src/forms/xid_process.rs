//! `pid=…, name=…, ` at the front of an Xid's message.

/// Process of an Xid line and the message after it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ProcessPart<'a> {
    pub(crate) pid: Option<u32>,
    pub(crate) comm: Option<&'a str>,
    pub(crate) message: &'a str,
}

/// How the driver's Xid messages begin. A process name is free text that may hold `, `: it ends
/// where one of these begins. Source: callers of `nvErrorLog_va` in the open kernel modules, and
/// lines of older drivers.
const BEGINNINGS: &[&str] = &[
    "An uncorrectable ",
    "CE User Channel ",
    "ChID ",
    "ChId ",
    "Channel ID ",
    "Channel 0",
    "Class Error: ",
    "Contained: ",
    "DBE (",
    "Dynamic Page Retirement: ",
    "GPU has ",
    "GPU initialization ",
    "GPU recovery action ",
    "GSP task exception",
    "Graphics Exception",
    "Graphics SM ",
    "MMU Fault",
    "NETIR",
    "NVLPW",
    "NVLink: ",
    "RLW_",
    "Row Remapper: ",
    "SAW_",
    "TLW_",
    "TREX",
    "Timeout after ",
    "Uncontained: ",
    "channel 0x",
    "errorString ",
];

/// Words that begin a message less surely: a name may hold them too.
const WEAK_BEGINNINGS: &[&str] = &[
    "A GPU ",
    "An ",
    "C2C ",
    "Channel ",
    "Contained",
    "DRAM",
    "Double Bit",
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
    "LTC",
    "MMU ",
    "MSE",
    "MVB",
    "Marking ",
    "NVDEC",
    "NVENC",
    "NVJPG",
    "NVLink",
    "PBDMA",
    "PCIe",
    "PMU",
    "Page ",
    "Physical ",
    "Poison",
    "SEC2",
    "SM ",
    "Single Bit",
    "Timeout ",
    "Unable ",
    "Uncontained",
    "Uncorrectable",
    "Unrecovera",
    "Unrecovered",
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
    let splits = || {
        memchr::memmem::find_iter(text.as_bytes(), b", ")
            .take_while(|at| *at <= MAX_NAME)
            .filter_map(|at| Some((text.get(..at)?, text.get(at + 2..)?)))
    };
    let begun_by = |beginnings: &[&str]| {
        splits().find(|(_, message)| beginnings.iter().any(|b| message.starts_with(b)))
    };
    splits()
        .find(|(_, message)| is_channel(message))
        .or_else(|| begun_by(BEGINNINGS))
        .or_else(|| begun_by(WEAK_BEGINNINGS))
        .or_else(|| splits().next())
        .unwrap_or_else(|| (text.trim_end_matches([',', ' ']), ""))
}

/// `Ch 00000010`
fn is_channel(message: &str) -> bool {
    message.strip_prefix("Ch ").is_some_and(|rest| {
        let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        digits >= 2
            && !rest
                .as_bytes()
                .get(digits)
                .is_some_and(u8::is_ascii_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_whole() {
        // The text, and what is found in it: process, name, message.
        let rows = "\
pid=1234, name=python3, Ch 00000010|1234|python3|Ch 00000010
pid=1234, name=my, odd proc, Ch 00000010, intr 00000000|1234|my, odd proc|Ch 00000010, intr 00000000
pid=7, name=nvc:[driver], Timeout after 6s of waiting|7|nvc:[driver]|Timeout after 6s of waiting
pid=7, name=ray::WorkerDict, GPU has|7|ray::WorkerDict|GPU has
pid=7, name=a (b), something new, x|7|a (b)|something new, x
pid='<unknown>', name=<unknown>, GPU has|||GPU has
pid=1122, GPU has|1122||GPU has
pid=1122|1122||
pid=1122, name=solo|1122|solo|
GPU has|||GPU has
pid=99999999999, name=x, y||x|y";
        for row in rows.lines() {
            let [text, pid, comm, message] = row.split('|').collect::<Vec<_>>()[..] else {
                panic!("{row}");
            };
            let comm = Some(comm).filter(|comm| !comm.is_empty());
            let pid = pid.parse().ok();
            assert_eq!(split(text), ProcessPart { pid, comm, message }, "{text}");
        }
    }
}
