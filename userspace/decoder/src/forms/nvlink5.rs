//! Xid 144 to 150, NVLink 5: `UNIT Nonfatal XC0 i0 Link 13 (0x… 0x…)`.

use gtrace_event::Detail;

use crate::DriverVersion;
use crate::scan;

/// From this branch on, the unit stands in bits 0 to 6 of the first word; before, in bits 5 to 9.
/// Source: NVIDIA's Xid catalogue, "XID 144-150 Decode".
const NEW_LAYOUT: u32 = 575;

/// Reads the message of an Xid 144 to 150.
pub(crate) fn read(message: &str, version: Option<DriverVersion>, detail: &mut Detail) {
    let Some((head, tail)) = split_at_link(message) else {
        return;
    };
    let mut words = head.split(' ').filter(|w| !w.is_empty());
    detail.xid.sub_unit = words.next().map(str::to_owned);
    detail.xid.sub_severity = words.next().map(str::to_owned);
    let Some((link, rest)) = scan::signed(tail) else {
        return;
    };
    detail.fabric.link = Some(link);
    let inner = rest
        .split_once(['(', '['])
        .and_then(|(_, rest)| rest.split_once([')', ']']))
        .map_or("", |(inner, _)| inner);
    detail.xid.words = scan::hex_words(inner);
    let first = detail
        .xid
        .words
        .first()
        .and_then(|w| u32::from_str_radix(w.get(2..)?, 16).ok());
    if let Some(first) = first {
        detail.xid.sub_code = Some((first >> 20) & 0x3f);
        detail.xid.sub_name = version.and_then(|v| unit_name(first, v)).map(str::to_owned);
    }
}

/// The text before and after `Link `.
fn split_at_link(message: &str) -> Option<(&str, &str)> {
    message.split_once(" Link ")
}

/// Unit that reported, from the first word, as the driver branch `version` numbers units.
fn unit_name(word: u32, version: DriverVersion) -> Option<&'static str> {
    if version.major >= NEW_LAYOUT {
        Some(match word & 0x7f {
            1 => "SAW_MVB",
            3 => "RLW_CTRL",
            4 => "RLW_REMAP",
            5 => "RLW_RSPCOL",
            6 => "RLW_RXPIPE",
            7 => "RLW_SRC_TRACK",
            8 => "RLW_TAGSTATE",
            9 => "TLW_CTRL",
            10 => "TLW_RX_PIPE0",
            11 => "TLW_RX_PIPE1",
            12 => "TLW_TX_PIPE0",
            13 => "TLW_TX_PIPE1",
            14 => "TREX",
            15 => "NVLPW",
            17 => "NETIR_LINK_DOWN",
            19 => "NETIR_BER_EVENT",
            20 => "NETIR_MFDE_EVENT",
            24 => "NETIR_INT",
            _ => return None,
        })
    } else {
        // Bits 0 to 4 number the block, bits 5 to 9 the unit in it.
        Some(match (word & 0x1f, (word >> 5) & 0x1f) {
            (1, 1) => "SAW_MVB",
            (2, 3) => "RLW_CTRL",
            (2, 4) => "RLW_REMAP",
            (2, 5) => "RLW_RSPCOL",
            (2, 6) => "RLW_RXPIPE",
            (2, 7) => "RLW_SRC_TRACK",
            (2, 8) => "RLW_TAGSTATE",
            (3, 9) => "TLW_CTRL",
            (3, 10) => "TLW_RX",
            (3, 11) => "TLW_TX",
            (4, 12) => "TREX",
            (5, 0) => "NVLPW_CTRL",
            (6, 0) => "NETIR",
            (6, 14) => "NETIR_LINK_EVT",
            (6, 17) => "NETIR_BER_EVENT",
            (6, 18) => "NETIR_MFDE_EVENT",
            _ => return None,
        })
    }
}
