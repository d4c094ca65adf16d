//! What the other side may claim of its queue pairs and of its ring.
//!
//! Nothing here is an address or a key of this side: what this side's device is given is where the other
//! side's ring lies in the other side's memory, and that side's device refuses what its key does not
//! cover. So what is refused here is what cannot be true, before a device sees it.

use std::net::{IpAddr, Ipv6Addr};

use gtrace_protocol::QueuePairs;

use super::setup::{PSN, SetupError};

/// Rings that a client may ask for.
const RINGS: std::ops::RangeInclusive<u64> = 256 << 10..=4 << 20;
/// Fewest receives that the other side has to post.
const RECEIVES_LEAST: u32 = 16;
/// Where a ring can begin: at a page, and the smallest that CPUs have is this.
const PAGE: u64 = 4096;
/// Addresses below are no program's, and above they are the kernel's (x86-64 with five levels of page
/// tables, Linux Documentation/arch/x86/x86_64/mm.rst; arm64 has fewer bits).
const ADDRESSES: std::ops::Range<u64> = PAGE..1 << 56;
/// Queue pairs 0 and 1 of a port are for its management (InfiniBand specification, 3.5.2), and a number
/// has 24 bits.
const NUMBERS: std::ops::RangeInclusive<u32> = 2..=PSN;
/// Sizes of packets, as `enum ibv_mtu` numbers them.
const MTUS: std::ops::RangeInclusive<u8> = 1..=5;

/// That a ring of that size can be had.
pub(super) fn ring_of(theirs: &QueuePairs) -> Result<usize, SetupError> {
    match usize::try_from(theirs.ring) {
        Ok(ring) if RINGS.contains(&theirs.ring) && ring.is_power_of_two() => Ok(ring),
        _ => Err(SetupError::Peer(format!("a ring of {} bytes", theirs.ring))),
    }
}

/// That the other side's numbers can be, and name the host that the connection is to.
pub(super) fn check(theirs: &QueuePairs, ring: usize, ip: IpAddr) -> Result<(), SetupError> {
    let bad = |what: String| Err(SetupError::Peer(what));
    if theirs.ring != ring as u64 {
        return bad(format!("rings of {} bytes for {ring}", theirs.ring));
    }
    if theirs.receives < RECEIVES_LEAST {
        return bad(format!("only {} writes at a time", theirs.receives));
    }
    let end = theirs.address.checked_add(theirs.ring);
    let lies = ADDRESSES.contains(&theirs.address)
        && end.is_some_and(|end| end <= ADDRESSES.end)
        && theirs.address.is_multiple_of(PAGE);
    if !lies {
        return bad(format!(
            "a ring at {:#x}, where no program has one",
            theirs.address
        ));
    }
    if theirs.key == 0 {
        return bad("a ring with the key 0, which no device gives out".into());
    }
    for pair in [theirs.to_server, theirs.to_client] {
        if !NUMBERS.contains(&pair.number) {
            return bad(format!(
                "a queue pair with the number {:#x}; they have 24 bits, and 0 and 1 are no program's",
                pair.number
            ));
        }
        if pair.psn > PSN {
            return bad(format!(
                "packets from number {:#x} on; these have 24 bits",
                pair.psn
            ));
        }
    }
    if theirs.to_server.number == theirs.to_client.number {
        return bad(format!(
            "one queue pair, {:#x}, for both directions",
            theirs.to_server.number
        ));
    }
    if !MTUS.contains(&theirs.mtu) {
        return bad(format!("packets of the size {}, of 1 to 5", theirs.mtu));
    }
    let host = match ip.to_canonical() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    if theirs.gid != host.octets() {
        let gid = Ipv6Addr::from(theirs.gid);
        return bad(format!(
            "a device with the address {gid}, while the connection is with {ip}"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rdma::counts::RECEIVES;
    use crate::rdma::setup::RING;
    use gtrace_protocol::QueuePairEnd;
    use proptest::prelude::*;

    const IP: &str = "10.0.2.15";

    fn good() -> QueuePairs {
        let mut gid = [0; 16];
        gid[10..].copy_from_slice(&[255, 255, 10, 0, 2, 15]);
        let end = |number| QueuePairEnd {
            number,
            psn: 0xff_ffff,
        };
        QueuePairs {
            gid,
            mtu: 3,
            ring: RING as u64,
            address: 0x7fff_0000_0000,
            key: 0x1234,
            receives: RECEIVES,
            to_server: end(17),
            to_client: end(0xff_ffff),
            ..QueuePairs::default()
        }
    }

    fn checked(theirs: &QueuePairs) -> Result<(), SetupError> {
        check(theirs, RING, IP.parse().unwrap())
    }

    #[test]
    fn what_cannot_be_is_refused_and_named() {
        checked(&good()).unwrap();
        type Lie = fn(&mut QueuePairs);
        let lies: [(Lie, &str); 20] = [
            (|c| c.ring = 4096, "4096"),
            (|c| c.ring *= 2, "rings of"),
            (|c| c.ring = u64::MAX, "rings of"),
            (|c| c.receives = 1, "only 1 writes"),
            (|c| c.address = 0, "a ring at 0x0"),
            (|c| c.address = u64::MAX - 5, "a ring at"),
            (|c| c.address = !0xfff, "a ring at"),
            (|c| c.address = 1 << 63, "a ring at"),
            (|c| c.address = (1 << 56) - 4096, "a ring at"),
            (|c| c.address += 1, "a ring at"),
            (|c| c.address += 2048, "a ring at"),
            (|c| c.key = 0, "the key 0"),
            (|c| c.to_client.number = 1 << 24, "24 bits"),
            (|c| c.to_server.number = u32::MAX, "24 bits"),
            (|c| c.to_server.number = 1, "0 and 1"),
            (|c| c.to_client.psn = 1 << 24, "24 bits"),
            (
                |c| c.to_client.number = c.to_server.number,
                "both directions",
            ),
            (|c| c.mtu = 0, "packets of the size 0"),
            (|c| c.mtu = 6, "packets of the size 6"),
            (|c| c.gid[15] = 16, "10.0.2.16"),
        ];
        for (lie, what) in lies {
            let mut theirs = good();
            lie(&mut theirs);
            let error = checked(&theirs).unwrap_err().to_string();
            assert!(error.contains(what), "{error} instead of {what}");
        }
    }

    #[test]
    fn rings_that_cannot_be_had_are_refused() {
        for ring in [0, 4096, 3 << 18, 8 << 20, u64::MAX] {
            assert!(ring_of(&QueuePairs { ring, ..good() }).is_err(), "{ring}");
        }
        assert_eq!(ring_of(&good()).unwrap(), RING);
    }

    proptest! {
        /// What passes is within the bounds that what follows relies on, whatever is claimed.
        #[test]
        fn what_passes_is_within_bounds(
            address in prop_oneof![any::<u64>(), (0u64..1 << 45).prop_map(|page| page << 12)],
            key in prop_oneof![any::<u32>(), Just(0)],
            numbers in [prop_oneof![any::<u32>(), 0u32..1 << 25], prop_oneof![any::<u32>(), 0u32..4]],
            psn in prop_oneof![any::<u32>(), 0u32..1 << 25],
            ring in prop_oneof![Just(RING as u64), any::<u64>()],
            mtu in any::<u8>(),
        ) {
            let end = |number| QueuePairEnd { number, psn };
            let theirs = QueuePairs {
                address,
                key,
                ring,
                mtu,
                to_server: end(numbers[0]),
                to_client: end(numbers[1]),
                ..good()
            };
            if checked(&theirs).is_ok() {
                prop_assert!(key != 0 && address % PAGE == 0 && ring == RING as u64);
                prop_assert!(address.checked_add(ring).is_some_and(|end| end <= 1 << 56));
                prop_assert!(numbers.iter().all(|number| (2..1 << 24).contains(number)));
                prop_assert!(numbers[0] != numbers[1] && psn < 1 << 24 && (1..6).contains(&mtu));
            }
        }
    }
}
