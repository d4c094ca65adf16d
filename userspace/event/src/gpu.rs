use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a PCI device sits: domain, bus, device, function.
///
/// Written `dddd:bb:ss.f` in lower-case hex; the domain grows past four digits where the host
/// has more (Intel VMD numbers its domains from 0x10000).
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PciAddress {
    /// PCI domain (segment).
    pub domain: u32,
    /// Bus number.
    pub bus: u8,
    /// Device number on the bus, 0 to 31.
    pub device: u8,
    /// Function number, 0 to 7.
    pub function: u8,
}

/// A text that is no PCI address.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no PCI address: write it as dddd:bb:ss.f, for example 0000:3b:00.0")]
pub struct PciAddressError(pub String);

impl PciAddress {
    /// Reads `dddd:bb:ss.f`, `dddd:bb:ss` (function 0, as Xid lines write it), `bb:ss.f` and
    /// `bb:ss` (domain 0), in either case; an eight-digit domain, as NVML writes it, too.
    pub fn parse(text: &str) -> Option<Self> {
        let (rest, function) = match text.split_once('.') {
            Some((rest, f)) if f.len() == 1 => (rest, hex(f, 1)?),
            Some(_) => return None,
            None => (text, 0),
        };
        let mut parts = rest.rsplit(':');
        let device = hex(parts.next()?, 2)?;
        let bus = hex(parts.next()?, 2)?;
        let domain = match parts.next() {
            Some(d) => hex(d, 8)?,
            None => 0,
        };
        if parts.next().is_some() || device > 31 || function > 7 {
            return None;
        }
        Some(Self {
            domain,
            bus: u8::try_from(bus).ok()?,
            device: u8::try_from(device).ok()?,
            function: u8::try_from(function).ok()?,
        })
    }
}

fn hex(digits: &str, max_len: usize) -> Option<u32> {
    let ok = !digits.is_empty()
        && digits.len() <= max_len
        && digits.bytes().all(|b| b.is_ascii_hexdigit());
    ok.then(|| u32::from_str_radix(digits, 16).ok())?
}

impl fmt::Display for PciAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:04x}:{:02x}:{:02x}.{:x}",
            self.domain, self.bus, self.device, self.function
        )
    }
}

impl fmt::Debug for PciAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for PciAddress {
    type Err = PciAddressError;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Self::parse(s).ok_or_else(|| PciAddressError(s.to_owned()))
    }
}

text_in_json!(
    PciAddress,
    "PCI address, dddd:bb:ss.f in lower-case hex",
    "^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]$"
);

/// The device that an event is about: a GPU, for SXids an NVSwitch, for mlx5 events the adapter.
/// What PCIe events name is in [`crate::PcieDetail`].
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gpu {
    /// PCI address; function 0 where the text has none.
    pub pci: Option<PciAddress>,
    /// `GPU-…`, as NVML gives it.
    pub uuid: Option<String>,
    /// NVML's index.
    pub index: Option<u32>,
    /// MIG GPU instance (`GPU-I:05` in an Xid line).
    pub mig_gi: Option<u32>,
    /// MIG compute instance (`GPU-CI:01` in an Xid line).
    pub mig_ci: Option<u32>,
    /// Profile of that instance, `1g.10gb`, as NVML named it at that time.
    pub mig_profile: Option<String>,
    /// `MIG-…`: UUID of that compute instance, as NVML gave it at that time.
    pub mig_uuid: Option<String>,
}

impl Gpu {
    /// The device at `pci`, nothing else known.
    pub fn at(pci: PciAddress) -> Self {
        Self {
            pci: Some(pci),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_way_a_pci_address_is_written() {
        for (text, want) in [
            ("0000:3b:00.0", "0000:3b:00.0"),
            ("0000:3B:00", "0000:3b:00.0"),
            ("3b:00.1", "0000:3b:00.1"),
            ("00000000:3B:00.0", "0000:3b:00.0"),
            ("10000:e1:00.0", "10000:e1:00.0"),
            ("0008:01:1f.7", "0008:01:1f.7"),
        ] {
            assert_eq!(PciAddress::parse(text).unwrap().to_string(), want, "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_pci_address() {
        for text in [
            "",
            "3b",
            "0000:3b:20.0",
            "0000:3b:00.8",
            "0000:3b:00.",
            "0000:3b:00.00",
            "x:3b:00.0",
            "1:0000:3b:00.0",
            "0000::00.0",
            "0000:3b:00.0 ",
            "+000:3b:00.0",
            "000000000:3b:00.0",
        ] {
            assert!(PciAddress::parse(text).is_none(), "{text}");
        }
    }
}
