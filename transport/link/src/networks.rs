//! Networks that an operator names.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use crate::link::LinkError;

/// Some networks, as `10.1.0.0/16,fd00::/8`; none at all unless they are named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Networks(Vec<Network>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Network {
    address: IpAddr,
    /// Leading bits that its members have in common.
    bits: u8,
}

impl Networks {
    /// Whether none is named.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `ip` belongs to one of them. An IPv4 address that is written as IPv6 counts as IPv4.
    pub fn contain(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        self.0.iter().any(|network| {
            let (bits, same_family) = match (network.address, ip) {
                (IpAddr::V4(_), IpAddr::V4(_)) => (network.bits + 96, true),
                (IpAddr::V6(_), IpAddr::V6(_)) => (network.bits, true),
                _ => (0, false),
            };
            same_family && prefix(network.address, bits) == prefix(ip, bits)
        })
    }
}

/// The first `bits` bits, of 128.
fn prefix(ip: IpAddr, bits: u8) -> u128 {
    let all = match ip {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    let all = u128::from(Ipv6Addr::from(all.octets()));
    all.checked_shr(128 - u32::from(bits)).unwrap_or(0)
}

impl FromStr for Networks {
    type Err = LinkError;

    /// Reads networks with commas between them; an address alone is a network of one host.
    fn from_str(text: &str) -> Result<Self, LinkError> {
        let read = |text: &str| {
            let (address, bits) = match text.split_once('/') {
                Some((address, bits)) => (address, Some(bits)),
                None => (text, None),
            };
            let address: IpAddr = address.parse().ok()?;
            let most = if address.is_ipv4() { 32 } else { 128 };
            let bits = bits.map_or(Some(most), |bits| bits.parse().ok())?;
            (bits <= most).then_some(Network { address, bits })
        };
        let networks: Option<Vec<_>> = text
            .split(',')
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .map(read)
            .collect();
        networks.map(Self).ok_or_else(|| {
            LinkError::Usage(format!(
                "`{text}` names no networks: write ADDRESS/BITS, as in 10.1.0.0/16, with commas \
                 between several"
            ))
        })
    }
}

impl fmt::Display for Networks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, network) in self.0.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{}/{}", network.address, network.bits)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_distinguished_from_others() {
        let networks: Networks = "10.1.0.0/16, 192.168.7.3,fd00:1::/32".parse().unwrap();
        for inside in ["10.1.255.1", "::ffff:10.1.0.9", "192.168.7.3", "fd00:1::9"] {
            assert!(networks.contain(inside.parse().unwrap()), "{inside}");
        }
        for outside in ["10.2.0.1", "192.168.7.4", "fd00:2::9", "::1"] {
            assert!(!networks.contain(outside.parse().unwrap()), "{outside}");
        }
        assert_eq!(networks.to_string().parse::<Networks>().unwrap(), networks);
        let all: Networks = "0.0.0.0/0".parse().unwrap();
        assert!(all.contain("8.8.8.8".parse().unwrap()));
        assert!(!all.contain("2001:db8::1".parse().unwrap()));
        assert!(!Networks::default().contain("127.0.0.1".parse().unwrap()));
    }

    #[test]
    fn what_is_none_comes_with_the_remedy() {
        for text in [
            "10.0.0.0/33",
            "host/8",
            "10.0.0.0/",
            "fd00::/129",
            "10.0.0.0/-1",
        ] {
            let error = text.parse::<Networks>().unwrap_err().to_string();
            assert!(error.contains("10.1.0.0/16"), "{error}");
        }
        assert!("".parse::<Networks>().unwrap().is_empty());
    }
}
