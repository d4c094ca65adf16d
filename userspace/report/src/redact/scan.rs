//! Names within texts of the kernel and of people: paths, addresses, container ids, and process names where the kernel
//! says that something is one.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::Category;

/// Directories that every host has alike: what lies there names a device or a counter, not a place of the site.
const COMMON: [&str; 3] = ["/dev/", "/sys/", "/proc/driver/"];
/// What stands before a process's name: `comm %s` and `Comm: %s` (kernel), `name=%s` (NVIDIA's driver).
const BEFORE_PROCESS: [&str; 4] = ["Comm: ", "comm: ", "comm=", "name="];

/// Finds names in `text`.
pub(super) fn names(text: &str, found: &mut dyn FnMut(&str, Category)) {
    words(text, found);
    addresses(text, found);
    for marker in BEFORE_PROCESS {
        for (at, _) in text.match_indices(marker) {
            let rest = &text[at + marker.len()..];
            let end = rest
                .find([',', ' ', ')', ';', '"', '\n'])
                .unwrap_or(rest.len());
            let name = rest[..end].trim_matches('"');
            if !name.starts_with('/') {
                found(name, Category::Process);
            }
        }
    }
    // `Killed process 4711 (python3)`, `python3[4711]: segfault at`.
    for (at, _) in text.match_indices("process ") {
        let rest = text[at..]
            .split_once(" (")
            .filter(|(number, _)| number.len() < 24);
        if let Some((name, _)) = rest.and_then(|(_, rest)| rest.split_once(')')) {
            found(name, Category::Process);
        }
    }
    if let Some((name, _)) = text
        .split_once("]: ")
        .and_then(|(head, _)| head.split_once('['))
        && !name.contains(' ')
    {
        found(name, Category::Process);
    }
}

/// Whatever ends a path or an address in running text.
fn ends_word(c: char) -> bool {
    c.is_whitespace() || "\"'`<>(){}[],;=|".contains(c)
}

fn words(text: &str, found: &mut dyn FnMut(&str, Category)) {
    for word in text.split(ends_word) {
        let word = word.trim_end_matches(['.', ':', '!', '?']);
        if word.contains("://") {
            found(word, Category::Path);
        } else if is_container(word) {
            found(word, Category::Container);
        } else if let Some(at) = word.find('/') {
            let path = &word[at..];
            // A word before it belongs to a name such as `GPCCLIENT/T1`, unless it ends in a colon.
            let alone = at == 0 || word[..at].ends_with(':');
            let common = COMMON.iter().any(|common| path.starts_with(common));
            if alone && !common && path.chars().any(char::is_alphanumeric) {
                found(path, Category::Path);
            }
        }
    }
}

/// Finds addresses, whatever stands around them: a port, a length of a prefix, a path, a label with a colon.
fn addresses(text: &str, found: &mut dyn FnMut(&str, Category)) {
    for word in text.split(|c: char| !(c.is_alphanumeric() || ":.".contains(c))) {
        for part in word.split(':').map(|part| part.trim_matches('.')) {
            if part.parse::<Ipv4Addr>().is_ok() {
                found(part, Category::Address);
            }
        }
        let word = without_colon(word.trim_matches('.'));
        let is_label = |text: &str| text.contains(|c: char| !c.is_ascii_hexdigit());
        let labelled = word.split_once(':').filter(|(label, _)| is_label(label));
        let word = labelled.map_or(word, |(_, rest)| rest);
        if is_ipv6(word) || is_ethernet(word) {
            found(word, Category::Address);
        }
    }
}

/// Without one colon at either end: two belong to an address.
fn without_colon(word: &str) -> &str {
    let word = match word.strip_suffix(':') {
        Some(rest) if !rest.ends_with(':') => rest,
        _ => word,
    };
    match word.strip_prefix(':') {
        Some(rest) if !rest.starts_with(':') => rest,
        _ => word,
    }
}

/// An IPv6 address. One without a digit may be a name in C++.
fn is_ipv6(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit()) && word.parse::<Ipv6Addr>().is_ok()
}

/// An address of Ethernet: six times two hexadecimal digits.
fn is_ethernet(word: &str) -> bool {
    let is_byte = |part: &str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_hexdigit());
    word.split(':').count() == 6 && word.split(':').all(is_byte)
}

/// A container's id: 64 hexadecimal digits, at least one of them a letter.
fn is_container(word: &str) -> bool {
    word.len() == 64
        && word.bytes().all(|b| b.is_ascii_hexdigit())
        && word.bytes().any(|b| b.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<(String, Category)> {
        let mut all = Vec::new();
        names(text, &mut |name, category| {
            all.push((name.to_owned(), category))
        });
        all
    }

    #[test]
    fn names_are_found_where_the_kernel_says_that_they_are_some() {
        use Category::{Address, Path, Process};
        for (text, name, category) in [
            ("pid=1234, name=train.py, Ch 10", "train.py", Process),
            (
                "Killed process 4711 (python3) total-vm:1kB",
                "python3",
                Process,
            ),
            ("python3[4711]: segfault at 0", "python3", Process),
            (
                "open /home/ann/model.bin: denied",
                "/home/ann/model.bin",
                Path,
            ),
            ("peer 10.1.2.3:7471 left", "10.1.2.3", Address),
        ] {
            assert_eq!(of(text), [(name.to_owned(), category)], "{text}");
        }
        assert_eq!(of("/dev/nvidia0 of 0000:3b:00.0 GPC 1/2"), []);
        assert_eq!(of("at 12:34:56 std::be of 570.86.15, d::be"), []);
    }

    #[test]
    fn an_address_is_found_whatever_stands_around_it() {
        for (text, address) in [
            ("nfs: 10.1.2.3:/export/home is gone", "10.1.2.3"),
            ("route 10.8.0.0/16.", "10.8.0.0"),
            ("ann@10.1.2.3: refused", "10.1.2.3"),
            ("addr:10.1.2.3", "10.1.2.3"),
            ("peer [fe80::a1]:7471 left", "fe80::a1"),
            ("from 2001:db8::7: refused", "2001:db8::7"),
            ("addr:2001:db8::/64", "2001:db8::"),
            ("link fe80::a1%eth0", "fe80::a1"),
            ("lladdr 02:42:ac:11:00:02", "02:42:ac:11:00:02"),
        ] {
            let mut found = of(text);
            found.retain(|(_, category)| *category == Category::Address);
            assert_eq!(found, [(address.to_owned(), Category::Address)], "{text}");
        }
    }
}
