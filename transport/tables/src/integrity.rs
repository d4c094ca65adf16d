//! What the runtime asks a driver for, so as to see that it is one: a digest over what both know.
//!
//! It is computed in the client's process, as process, thread and addresses are among what is
//! digested; what it says of driver and devices is what the server's driver said.

use std::ffi::c_int;

use hmac::{KeyInit as _, Mac as _, SimpleHmac};
use md2::Md2;

/// Key of the digest.
const KEY: [u8; 16] = [
    0x14, 0x6a, 0xdd, 0xae, 0x53, 0xa9, 0xa7, 0x52, 0xaa, 0x08, 0x41, 0x36, 0x0b, 0xf5, 0x5a, 0x9f,
];
/// First words of the answers that are the same for everybody, by the version's last digit.
const FIXED: [u64; 2] = [0x3341_181c_03cb_675c, 0x1841_181c_03cb_675c];
/// Their second word.
const FIXED_SECOND: u64 = 0x8ed3_83aa_1f4c_d1e8;

/// A device, as the digest has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// `cuDeviceGetUuid_v2`.
    pub uuid: [u8; 16],
    /// CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID
    pub pci_domain: c_int,
    /// CU_DEVICE_ATTRIBUTE_PCI_BUS_ID
    pub pci_bus: c_int,
    /// CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID
    pub pci_device: c_int,
}

/// What is digested beside the devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// `cuDriverGetVersion`.
    pub driver_version: u32,
    /// Version of the runtime, whose last digit counts the questions.
    pub version: u32,
    /// Process that asks.
    pub pid: u32,
    /// Low half of `pthread_self()`.
    pub thread: u32,
    /// Address of the runtime's table.
    pub runtime_table: u64,
    /// Address of the table with the question.
    pub integrity_table: u64,
    /// Address of the function that is asked.
    pub function: u64,
    /// What the runtime gives as the time, in seconds since 1970.
    pub unix_seconds: u64,
}

/// The answer.
pub fn answer(asked: &Asked, devices: &[Device]) -> [u8; 16] {
    if let Some(first) = FIXED.get(asked.version as usize % 10) {
        let mut fixed = [0; 16];
        fixed[..8].copy_from_slice(&first.to_le_bytes());
        fixed[8..].copy_from_slice(&FIXED_SECOND.to_le_bytes());
        return fixed;
    }
    let mut mac = SimpleHmac::<Md2>::new(&KEY.into());
    for word in [asked.driver_version, asked.version, asked.pid, asked.thread] {
        mac.update(&word.to_le_bytes());
    }
    for word in [
        asked.runtime_table,
        asked.integrity_table,
        asked.function,
        asked.unix_seconds,
    ] {
        mac.update(&word.to_le_bytes());
    }
    for device in devices {
        mac.update(&device.uuid);
        for number in [device.pci_domain, device.pci_bus, device.pci_device] {
            mac.update(&number.to_le_bytes());
        }
    }
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_two_questions_have_fixed_answers() {
        let asked = |version| Asked {
            version,
            ..Asked::default()
        };
        for version in [12_060, 13_020] {
            let first = answer(&asked(version), &[]);
            assert_eq!(first[..2], [0x5c, 0x67]);
            let second = answer(&asked(version + 1), &[Device::default()]);
            assert_eq!((first[7], second[7]), (0x33, 0x18));
            assert_eq!(first[8..], second[8..]);
        }
    }

    #[test]
    fn every_field_counts() {
        let asked = Asked {
            driver_version: 12_040,
            version: 12_042,
            pid: 1,
            thread: 2,
            runtime_table: 3,
            integrity_table: 4,
            function: 5,
            unix_seconds: 6,
        };
        let one = [Device::default()];
        let all = [
            answer(&asked, &one),
            answer(&asked, &[]),
            answer(
                &asked,
                &[Device {
                    uuid: [1; 16],
                    ..one[0]
                }],
            ),
            answer(
                &asked,
                &[Device {
                    pci_bus: 1,
                    ..one[0]
                }],
            ),
            answer(
                &asked,
                &[Device {
                    pci_device: 1,
                    ..one[0]
                }],
            ),
            answer(&Asked { pid: 7, ..asked }, &one),
            answer(&Asked { thread: 7, ..asked }, &one),
            answer(
                &Asked {
                    function: 7,
                    ..asked
                },
                &one,
            ),
            answer(
                &Asked {
                    unix_seconds: 7,
                    ..asked
                },
                &one,
            ),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(!all[..at].contains(one), "{at}");
        }
    }
}
