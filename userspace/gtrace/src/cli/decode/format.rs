//! What a file is that is no text, and what to do about it.

/// So much of the beginning is looked at.
const SAMPLE: usize = 8 * 1024;
/// A run of so many zero bytes is a hole that a crash left in a log.
const HOLE: usize = 64;
/// One odd byte in so many is too many for a text.
const RARE: usize = 64;

/// Why `bytes`, the beginning of a file, cannot be read as text, and what makes a text of it: `FILE` stands for the file.
pub(super) fn refusal(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    [
        (
            b"\x1f\x8b".as_slice(),
            "compressed by gzip, not text",
            "try `zcat FILE | gtrace decode`",
        ),
        (
            b"\x28\xb5\x2f\xfd",
            "compressed by zstd, not text",
            "try `zstdcat FILE | gtrace decode`",
        ),
        (
            b"\xfd7zXZ",
            "compressed by xz, not text",
            "try `xzcat FILE | gtrace decode`",
        ),
        (
            b"BZh",
            "compressed by bzip2, not text",
            "try `bzcat FILE | gtrace decode`",
        ),
        (
            b"LPKSHHRH",
            "a file of the systemd journal, not text",
            "try `journalctl -k --file FILE | gtrace decode`",
        ),
        (b"\x7fELF", "a program (ELF), not text", BINARY),
        (b"\xff\xfe", "text in UTF-16, not UTF-8", UTF16),
        (b"\xfe\xff", "text in UTF-16, not UTF-8", UTF16),
    ]
    .into_iter()
    .find(|(magic, ..)| bytes.starts_with(magic))
    .map(|(_, what, remedy)| (what, remedy))
    .or_else(|| of_bytes(bytes.get(..SAMPLE).unwrap_or(bytes)))
}

const UTF16: &str = "try `iconv -f UTF-16 -t UTF-8 FILE | gtrace decode`";
const BINARY: &str = "save the log as text: `dmesg`, `journalctl -k`, or `strings FILE` where \
                      it is a dump that holds one";

fn of_bytes(sample: &[u8]) -> Option<(&'static str, &'static str)> {
    let zeros = sample.iter().filter(|b| **b == 0).count();
    // Latin letters in UTF-16 without a mark: every second byte is zero.
    let half = |parity: usize| {
        let bytes = sample.iter().skip(parity).step_by(2);
        bytes.filter(|b| **b == 0).count() * 10 > sample.len() * 4
    };
    if sample.len() >= 4 && half(0) != half(1) {
        return Some((
            "text in UTF-16 as it seems, not UTF-8",
            match half(1) {
                true => "try `iconv -f UTF-16LE -t UTF-8 FILE | gtrace decode`",
                false => "try `iconv -f UTF-16BE -t UTF-8 FILE | gtrace decode`",
            },
        ));
    }
    let odd = sample
        .chunk_by(|a, b| a == b)
        .scan(0, |at, run| {
            *at += run.len();
            Some((*at, run))
        })
        .filter(|(end, run)| match run.first() {
            // printk texts and some loggers end a line with zeros.
            Some(0) => run.len() < HOLE && !matches!(sample.get(*end), None | Some(b'\n' | b'\r')),
            // Bell, backspace, tab, line ends, form feed, escape.
            Some(b) => *b < 0x20 && !matches!(b, 0x07..=0x0d | 0x1b),
            None => false,
        })
        .map(|(_, run)| run.len())
        .sum::<usize>();
    let binary = odd * RARE > sample.len() || (zeros == sample.len() && zeros > 0);
    binary.then_some(("binary data, not text", BINARY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_refused_with_a_remedy() {
        let utf16 = |mark: &[u8], text: &str| {
            let units = text.encode_utf16().flat_map(u16::to_le_bytes);
            mark.iter().copied().chain(units).collect::<Vec<u8>>()
        };
        let line = "[    1.000000] NVRM: Xid (PCI:0000:3b:00): 79, x\n";
        let noise: Vec<u8> = (0..4096u32)
            .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect();
        for (bytes, what) in [
            (b"\x1f\x8b\x08rest".to_vec(), "zcat"),
            (b"\x7fELF\x02\x01\x01\0\0\0".to_vec(), "ELF"),
            (utf16(b"\xff\xfe", line), "iconv -f UTF-16 "),
            (utf16(b"", line), "iconv -f UTF-16LE"),
            (noise, "binary"),
            (vec![0; 512], "binary"),
            (b"\x03\0\x01\0\x02\0\0\0abc\0\x05".to_vec(), "binary"),
        ] {
            let (cause, remedy) = refusal(&bytes).unwrap_or_else(|| panic!("{what}"));
            assert!(
                format!("{cause}; {remedy}").contains(what),
                "{cause}; {remedy}"
            );
        }
    }

    #[test]
    fn texts_with_some_odd_bytes_are_read() {
        let line = b"[    1.000000] NVRM: Xid (PCI:0000:3b:00): 79, caf\xe9\n".as_slice();
        let with = |odd: &[u8]| [line, odd, line].concat();
        for text in [
            Vec::new(),
            line.to_vec(),
            with(b"x\0\0\n"),
            with(&[0; 4096]),
            with(b"\x1b[32mgreen\x1b[0m\t\x07\r\n"),
            with(b"\xef\xbb\xbf"),
            with(b"one \0 zero\n"),
        ] {
            assert_eq!(refusal(&text), None, "{}", String::from_utf8_lossy(&text));
        }
    }
}
