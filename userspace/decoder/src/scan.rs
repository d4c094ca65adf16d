//! Small parsers: each takes its pattern from the front and returns the rest.

use std::str::FromStr;

use gtrace_event::PciAddress;

/// Decimal digits at the front, as a number.
pub(crate) fn number<T: FromStr>(text: &str) -> Option<(T, &str)> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}

/// Decimal digits at the front, with an optional minus sign.
pub(crate) fn signed(text: &str) -> Option<(i64, &str)> {
    match text.strip_prefix('-') {
        Some(rest) => number::<i64>(rest).map(|(n, rest)| (-n, rest)),
        None => number(text),
    }
}

/// A hex number at the front, with or without `0x`, underscores allowed between digits; given as
/// `0x…` in lower case without leading zeros, as long as it may be.
pub(crate) fn hex(text: &str) -> Option<(String, &str)> {
    let body = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))
        .unwrap_or(text);
    let end = body
        .bytes()
        .take_while(|b| b.is_ascii_hexdigit() || *b == b'_')
        .count();
    let (digits, rest) = body.split_at(end);
    let mut out = String::with_capacity(end + 2);
    out.push_str("0x");
    let mut any = false;
    for c in digits.chars().filter(|c| *c != '_') {
        any = true;
        if c != '0' || out.len() > 2 {
            out.push(c.to_ascii_lowercase());
        }
    }
    if !any {
        return None;
    }
    if out.len() == 2 {
        out.push('0');
    }
    Some((out, rest))
}

/// The text after the first `needle`.
pub(crate) fn after<'a>(text: &'a str, needle: &str) -> Option<&'a str> {
    text.split_once(needle).map(|(_, rest)| rest)
}

/// The decimal number after the first `needle` that has one.
pub(crate) fn number_after<T: FromStr>(text: &str, needle: &str) -> Option<T> {
    let mut rest = text;
    while let Some(next) = after(rest, needle) {
        if let Some((n, _)) = number(next) {
            return Some(n);
        }
        rest = next;
    }
    None
}

/// The text in brackets at the front: `(…)`.
pub(crate) fn bracketed(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('(')?.split_once(')')
}

/// Hex words separated by blanks or commas.
pub(crate) fn hex_words(text: &str) -> Vec<String> {
    text.split([' ', ',', '\t'])
        .filter(|w| !w.is_empty())
        .map_while(|w| hex(w).filter(|(_, rest)| rest.is_empty()).map(|(w, _)| w))
        .take(32)
        .collect()
}

/// `driver dddd:bb:ss.f rest` as the kernel's `dev_printk` begins a line: driver, address and the
/// text after the address.
pub(crate) fn device_line(text: &str) -> Option<(&str, PciAddress, &str)> {
    let bytes = text.as_bytes();
    let window = bytes.get(..bytes.len().min(48))?;
    let space = memchr::memchr(b' ', window)?;
    // Cheap refusal first: a domain of four to eight digits and the second colon in place.
    let address = bytes.get(space + 1..)?;
    let is = |at: usize, byte: u8| address.get(at) == Some(&byte);
    let colon = (4..=8).find(|at| is(*at, b':'))?;
    if !is(colon + 3, b':') || !is(colon + 6, b'.') {
        return None;
    }
    let rest = text.get(space + 1..)?;
    let (address, rest) = rest.split_at_checked(colon + 8)?;
    Some((text.get(..space)?, PciAddress::parse(address)?, rest))
}

/// The device of a PCIe requester id: bus, device and function in sixteen bits.
pub(crate) fn requester(id: u16, domain: u32) -> PciAddress {
    let [bus, devfn] = id.to_be_bytes();
    PciAddress {
        domain,
        bus,
        device: devfn >> 3,
        function: devfn & 7,
    }
}

/// What the text begins with, or the empty text.
pub(crate) fn word(text: &str) -> &str {
    let end = memchr::memchr2(b' ', b'\t', text.as_bytes());
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// What the text ends with.
pub(crate) fn last_word(text: &str) -> &str {
    text.rsplit([' ', '\t']).next().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_is_normalised() {
        for (text, want) in [
            ("0x7f_abcd1000. Fault", "0x7fabcd1000"),
            ("00000010, intr", "0x10"),
            ("0", "0x0"),
            ("0x00000000", "0x0"),
            ("ABCDEF", "0xabcdef"),
            ("0x0_00000000", "0x0"),
        ] {
            assert_eq!(hex(text).unwrap().0, want, "{text}");
        }
        for text in ["", "xyz", "0x", "_", "-1"] {
            assert!(hex(text).is_none(), "{text}");
        }
    }

    #[test]
    fn device_lines() {
        let (driver, address, rest) = device_line("pcieport 0000:00:1c.0: AER: x").unwrap();
        assert_eq!((driver, rest), ("pcieport", ": AER: x"));
        assert_eq!(address.to_string(), "0000:00:1c.0");
        let (_, address, _) = device_line("nvme 10000:e1:00.0: x").unwrap();
        assert_eq!(address.to_string(), "10000:e1:00.0");
        for text in [
            "",
            "a b",
            "usb 1-1: x",
            "x 0000:00:1c",
            "x 0000:00:zz.0: y",
            "é 0000:00:1c.é",
        ] {
            assert!(device_line(text).is_none(), "{text}");
        }
    }
}
