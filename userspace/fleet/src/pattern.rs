//! Patterns by which people choose hosts.

use std::collections::BTreeMap;

/// Whether a host is meant by its name, a pattern (`gpu-*`) or a label (`rack=r7`).
pub fn fits_host(wanted: &str, name: &str, labels: &BTreeMap<String, String>) -> bool {
    match wanted.split_once('=') {
        Some((label, value)) => labels.get(label).is_some_and(|found| fits(value, found)),
        None => fits(wanted, name),
    }
}

/// Whether `text` fits a pattern, in which `*` stands for anything.
fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text) in [
            ("a", "a"),
            ("*", ""),
            ("gpu-*", "gpu-7"),
            ("*-7", "gpu-7"),
            ("g*-*7", "gpu-17"),
        ] {
            assert!(fits(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("a", "ab"),
            ("gpu-*", "cpu-7"),
            ("*-7", "gpu-71"),
            ("g*x*7", "gpu-7"),
            ("a*a", "a"),
        ] {
            assert!(!fits(pattern, text), "{pattern} {text}");
        }
    }
}
