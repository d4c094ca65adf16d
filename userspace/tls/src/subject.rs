//! What a certificate says: its fingerprint, its subject, its end.

use std::fmt::Write as _;

use jiff::Timestamp;
use rustls::pki_types::CertificateDer;
use sha2::{Digest as _, Sha256};
use x509_parser::objects::{oid_registry, oid2abbrev};
use x509_parser::parse_x509_certificate;

/// SHA-256 of a certificate, as `openssl x509 -fingerprint -sha256` and browsers show it.
pub fn fingerprint(certificate: &CertificateDer<'_>) -> [u8; 32] {
    Sha256::digest(certificate.as_ref()).into()
}

/// The subject of a certificate (`CN=prometheus, O=Example`), commas within values with a backslash before them; `None`
/// where it cannot be read or is empty.
pub fn subject(certificate: &CertificateDer<'_>) -> Option<String> {
    let attributes = attributes(certificate)?;
    let mut text = String::new();
    for (name, value) in attributes {
        let comma = if text.is_empty() { "" } else { ", " };
        let value = value.replace('\\', "\\\\").replace(',', "\\,");
        let _ = write!(text, "{comma}{name}={value}");
    }
    (!text.is_empty()).then_some(text)
}

/// The end of a certificate's time; `None` where it cannot be read.
pub fn expiry(certificate: &CertificateDer<'_>) -> Option<Timestamp> {
    let (_, certificate) = parse_x509_certificate(certificate.as_ref()).ok()?;
    Timestamp::from_second(certificate.validity().not_after.timestamp()).ok()
}

/// Attributes of the subject and their values. Never compared as one text: a value may contain `, O=Example`.
pub(super) fn attributes(certificate: &CertificateDer<'_>) -> Option<Vec<(String, String)>> {
    let (_, certificate) = parse_x509_certificate(certificate.as_ref()).ok()?;
    let attributes = certificate.subject().iter_attributes().map(|attribute| {
        let name = oid2abbrev(attribute.attr_type(), oid_registry())
            .map_or_else(|_| attribute.attr_type().to_id_string(), str::to_owned);
        let value = attribute.as_str().ok()?;
        Some((name.to_ascii_uppercase(), value.to_owned()))
    });
    attributes.collect()
}

/// Reads a subject as [`subject`] and `openssl x509 -subject` write it, sorted: openssl has two orders.
pub(super) fn parse(text: &str) -> Result<Vec<(String, String)>, String> {
    let text = text.strip_prefix("subject=").unwrap_or(text);
    let mut parts = vec![String::new()];
    let mut escaped = false;
    for letter in text.chars() {
        match letter {
            _ if std::mem::take(&mut escaped) => last(&mut parts).push(letter),
            '\\' => escaped = true,
            ',' => parts.push(String::new()),
            _ => last(&mut parts).push(letter),
        }
    }
    let pair = |part: String| {
        let (name, value) = part.split_once('=')?;
        let (name, value) = (name.trim(), value.trim());
        (!name.is_empty() && !value.is_empty())
            .then(|| (name.to_ascii_uppercase(), value.to_owned()))
    };
    let mut pairs = parts
        .into_iter()
        .map(pair)
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| format!("`{text}` is no subject; write it as `CN=prometheus, O=Example`"))?;
    pairs.sort();
    Ok(pairs)
}

/// `parts` is never empty.
fn last(parts: &mut Vec<String>) -> &mut String {
    if parts.is_empty() {
        parts.push(String::new());
    }
    let end = parts.len() - 1;
    &mut parts[end]
}

/// 32 bytes as hexadecimal digits, with or without colons.
pub(super) fn parse_hash(text: &str) -> Option<[u8; 32]> {
    let digits: Vec<u8> = text.bytes().filter(|b| *b != b':').collect();
    if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let mut hash = [0; 32];
    for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
        let pair = std::str::from_utf8(pair).ok()?;
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_read_in_both_forms_of_openssl_and_values_are_never_taken_for_attributes() {
        let wanted = parse("CN=prometheus, O=Example").unwrap();
        for text in [
            "O = Example, CN = prometheus",
            "subject=CN=prometheus,O=Example",
        ] {
            assert_eq!(parse(text).unwrap(), wanted, "{text}");
        }
        assert_ne!(parse(r"CN=prometheus\, O=Example").unwrap(), wanted);
        for text in ["", "prometheus", "CN=", "CN=a,"] {
            assert!(parse(text).unwrap_err().contains("is no subject"), "{text}");
        }
    }

    #[test]
    fn hashes_are_read_as_openssl_writes_them() {
        let plain = "00ff".repeat(16);
        let colons = vec!["00:FF"; 16].join(":");
        assert_eq!(parse_hash(&plain), parse_hash(&colons));
        assert_eq!(parse_hash(&plain).unwrap()[1], 0xff);
        for bad in ["", "00", &"0g".repeat(32), &"é".repeat(32)] {
            assert_eq!(parse_hash(bad), None, "{bad}");
        }
    }
}
