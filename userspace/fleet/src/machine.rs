//! Which machine a host is, whatever it is called.

use sha2::{Digest as _, Sha256};

/// gtrace's own id, which machine ids are hashed with; random, made once.
const MACHINE_APP: [u8; 16] = 0x7c1f_0a8e_5d0b_4c64_9b1e_3a0d_6f52_c8e7_u128.to_be_bytes();

/// What gtrace says of a machine whose /etc/machine-id has this text: a UUID, the same after each boot. machine-id(5) asks not to show
/// the id itself, so this is what `systemd-id128 machine-id --app-specific=` gives for gtrace's id: HMAC-SHA256 (RFC 2104) of it
/// with the machine's as the key, the first 16 bytes as a UUID of version 4 (sd_id128_get_machine_app_specific(3)). `None` where the text
/// is no machine id.
pub fn machine_id(text: &str) -> Option<String> {
    let text = text.trim();
    // Also not before the first boot is done: `uninitialized`.
    let id = u128::from_str_radix(text, 16).ok();
    let id = id.filter(|_| text.len() == 32)?.to_be_bytes();
    let padded = |pad: u8| {
        let mut block = [pad; 64];
        block.iter_mut().zip(id).for_each(|(b, key)| *b ^= key);
        Sha256::new().chain_update(block)
    };
    let inner = padded(0x36).chain_update(MACHINE_APP).finalize();
    let outer = padded(0x5c).chain_update(inner).finalize();
    let mut uuid = [0; 16];
    uuid.copy_from_slice(&outer[..16]);
    uuid[6] = (uuid[6] & 0x0f) | 0x40;
    uuid[8] = (uuid[8] & 0x3f) | 0x80;
    Some(format!("{:032x}", u128::from_be_bytes(uuid)))
}

#[cfg(test)]
mod tests {
    use super::machine_id;

    #[test]
    fn the_machine_is_known_by_what_systemd_derives_and_a_container_without_id_has_none() {
        // systemd-id128 machine-id --app-specific=7c1f0a8e5d0b4c649b1e3a0d6f52c8e7
        let derived = machine_id("3d1219c7c4c5404aaa1f6d2a48adfda4\n");
        assert_eq!(derived.as_deref(), Some("4376a659d96544b4b35c9fcd1551730b"));
        for none in ["", "uninitialized\n", "3d12"] {
            assert_eq!(machine_id(none), None);
        }
    }
}
