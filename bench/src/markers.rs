//! Lines that can be distinguished wherever they turn up.

use std::time::{SystemTime, UNIX_EPOCH};

/// No host has so many PCI domains.
const FIRST_DOMAIN: usize = 0x1000;

/// PCI domains of one marker: room for 4,096 lines.
const DOMAINS: usize = 16;

/// So many markers, one for each second, have domains that no other has.
const MARKERS: usize = 0xe00;

/// Of a PCI domain.
const BUSES: usize = 256;

/// Makes lines with a running number, and finds the number in whatever quotes them.
#[derive(Clone, Debug)]
pub(crate) struct Marker {
    token: String,
    /// Lines of one channel would be one event.
    first_channel: u32,
    /// Losses of one GPU would be one incident, also those that the kernel's log has of a run before.
    first_domain: usize,
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
            first_domain: FIRST_DOMAIN + now.as_secs() as usize % MARKERS * DOMAINS,
        }
    }

    /// The mark of line `n`.
    pub(crate) fn mark(&self, n: usize) -> String {
        format!("{}{n};", self.token)
    }

    /// A driver's Xid with the mark of line `n`, as a drill.
    pub(crate) fn xid(&self, n: usize) -> String {
        format!("gtrace-inject: {}", self.plain_xid(n))
    }

    /// The same as the driver itself writes it: only /dev/kmsg says that a process wrote it.
    pub(crate) fn plain_xid(&self, n: usize) -> String {
        let channel = self.first_channel.wrapping_add(n as u32);
        format!(
            "NVRM: Xid (PCI:0000:3b:00): 31, pid={}, name=bench, Ch {channel:08x}, intr 00000000. \
             MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_3 faulted @ 0x7f_abcd1000. Fault is of type FAULT_PDE \
             ACCESS_TYPE_VIRT_READ {}",
            std::process::id(),
            self.mark(n)
        )
    }

    /// A loss of a GPU that no other line names: its address has the number.
    pub(crate) fn loss(&self, n: usize) -> String {
        format!(
            "gtrace-inject: NVRM: Xid (PCI:{:04x}:{:02x}:00): 79, GPU has fallen off the bus.",
            self.first_domain + n / BUSES,
            n % BUSES
        )
    }

    /// The number of the line of a loss, in what names the GPU.
    pub(crate) fn find_loss(&self, text: &[u8]) -> Option<usize> {
        const BEFORE: &[u8] = b"\"pci\":\"";
        let at = text.windows(BEFORE.len()).position(|w| w == BEFORE)? + BEFORE.len();
        let address = std::str::from_utf8(text.get(at..at + 7)?).ok()?;
        let (domain, bus) = address.split_once(':')?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        Some(number(domain)?.checked_sub(self.first_domain)? * BUSES + number(bus)?)
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
    fn a_loss_is_found_by_the_address_of_its_gpu() {
        let marker = Marker {
            first_domain: 0xeff0,
            ..Marker::new()
        };
        assert!(marker.loss(700).contains("(PCI:eff2:bc:00): 79"));
        let incident = br#"data: {"gpus":[{"pci":"eff2:bc:00.0"}]}"#;
        assert_eq!(marker.find_loss(incident), Some(700));
        assert_eq!(marker.find_loss(br#"{"pci":"0000:3b:00.0"}"#), None);
    }

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
