//! Lines that can be distinguished wherever they turn up.

use std::time::{SystemTime, UNIX_EPOCH};

/// Makes lines with a running number, and finds the number in whatever quotes them.
#[derive(Clone, Debug)]
pub(crate) struct Marker {
    token: String,
    /// Lines of one channel would be one event.
    first_channel: u32,
}

impl Marker {
    /// A marker that no other run of this host has used.
    pub(crate) fn new() -> Self {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let token = format!("run {:x}.{:x} line ", std::process::id(), now.as_micros());
        Self {
            token,
            // Another marker's channels are far from these.
            first_channel: now.as_micros() as u32,
        }
    }

    /// The mark of line `n`.
    pub(crate) fn mark(&self, n: usize) -> String {
        format!("{}{n};", self.token)
    }

    /// A driver's Xid with the mark of line `n`.
    pub(crate) fn xid(&self, n: usize) -> String {
        let channel = self.first_channel.wrapping_add(n as u32);
        format!(
            "gtrace-inject: NVRM: Xid (PCI:0000:3b:00): 31, pid={}, name=bench, Ch {channel:08x}, intr 00000000. \
             MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_3 faulted @ 0x7f_abcd1000. Fault is of type FAULT_PDE \
             ACCESS_TYPE_VIRT_READ {}",
            std::process::id(),
            self.mark(n)
        )
    }

    /// The number of the line that `text` quotes.
    pub(crate) fn find(&self, text: &[u8]) -> Option<usize> {
        let token = self.token.as_bytes();
        let at = text.windows(token.len()).position(|w| w == token)?;
        let rest = &text[at + token.len()..];
        let end = rest.iter().position(|b| !b.is_ascii_digit())?;
        // Cut in the number, the line would be taken for another.
        (rest[end] == b';').then(|| std::str::from_utf8(&rest[..end]).ok()?.parse().ok())?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_in_what_quotes_it_and_only_whole() {
        let marker = Marker::new();
        let quoted = format!("data: {{\"message\":\"{}\"}}", marker.xid(417));
        assert_eq!(marker.find(quoted.as_bytes()), Some(417));
        assert_eq!(
            marker.find(marker.mark(3).trim_end_matches(';').as_bytes()),
            None
        );
        assert_eq!(marker.find(b"run 1.2 line 3;"), None);
        assert_eq!(
            Marker {
                token: "run x line ".to_owned(),
                ..marker
            }
            .find(quoted.as_bytes()),
            None
        );
    }
}
