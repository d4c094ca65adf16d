//! Where the probes find operation and status in the parameters of the driver's calls.

use gtrace_abi::{Decode, PLACES, Place, UNKNOWN, UVM_CALLS, uvm_slot};
use gtrace_decoder::DriverVersion;

/// The table for a driver of that version; offsets that depend on it are left out where it is not
/// known.
pub fn decode(driver: Option<DriverVersion>) -> Decode {
    let mut decode = Decode::NOTHING;
    let major = driver.map(|version| version.major);
    for nr in 0..=u8::MAX {
        decode.code[usize::from(nr)] = offset(gtrace_nvrm::code_offset(u32::from(nr)));
        decode.status[usize::from(nr)] = places(u32::from(nr), major);
    }
    let plain = (0..UVM_CALLS - 2).filter_map(|n| u32::try_from(n).ok());
    for cmd in plain.chain([0x3000_0001, 0x3000_0002]) {
        if let Some(slot) = uvm_slot(cmd) {
            decode.uvm_status[slot] = offset(match driver {
                Some(v) => gtrace_nvrm::uvm_status_offset_in(cmd, v.major, v.minor),
                None => gtrace_nvrm::uvm_status_offset(cmd),
            });
        }
    }
    decode
}

fn offset(at: Option<u32>) -> u16 {
    at.and_then(|at| u16::try_from(at).ok()).unwrap_or(UNKNOWN)
}

/// Where the status of escape `nr` stands, by size of its parameters.
fn places(nr: u32, major: Option<u32>) -> [Place; PLACES] {
    let mut places = [Place::NONE; PLACES];
    let known = gtrace_nvrm::status_offsets(nr, major);
    for (place, (sizes, at)) in places.iter_mut().zip(known) {
        let size = if sizes.start() == sizes.end() {
            u16::try_from(*sizes.start()).unwrap_or(Place::NONE.size)
        } else {
            Place::ANY_SIZE
        };
        *place = Place {
            size,
            at: offset(Some(at)),
        };
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(size: u16, at: u16) -> Place {
        Place { size, at }
    }

    fn version(major: u32) -> Option<DriverVersion> {
        Some(DriverVersion {
            major,
            minor: 0,
            patch: 0,
        })
    }

    #[test]
    fn the_table_has_what_the_drivers_headers_say() {
        let decode = decode(version(580));
        assert_eq!(
            (decode.code[0x2a], decode.status[0x2a][0]),
            (8, place(32, 28))
        );
        assert_eq!(decode.code[0x2b], 12);
        assert_eq!(decode.status[0x29][0], place(16, 12));
        assert!(decode.status[0x2b].contains(&place(32, 28)));
        assert!(decode.status[0x2b].contains(&place(48, 40)));
        assert_eq!(decode.status[0x4a][0], place(Place::ANY_SIZE, 20));
        // UVM_INITIALIZE_PARAMS is {u64 flags, NV_STATUS}.
        assert_eq!(decode.uvm_status[UVM_CALLS - 2], 8);
    }

    #[test]
    fn old_drivers_have_the_status_elsewhere() {
        let alloc = |major| decode(version(major)).status[0x2b];
        assert!(alloc(515).contains(&place(32, 24)) && alloc(515).contains(&place(40, 32)));
        assert!(alloc(525).contains(&place(32, 24)) && alloc(525).contains(&place(40, 36)));
        assert!(decode(None).status[0x2b].iter().all(|p| p.size != 32));
    }

    #[test]
    fn no_escape_has_more_sizes_than_there_are_places() {
        for major in [None, Some(515), Some(525), Some(535), Some(580)] {
            for nr in 0..=u32::from(u8::MAX) {
                let count = gtrace_nvrm::status_offsets(nr, major).count();
                assert!(count <= PLACES, "escape {nr:#x} of {major:?}: {count}");
            }
        }
    }
}
