//! An NVLink of a GPU, and what it counts; a link of the GPU to the CPU on its module (NVLink-C2C).
//!
//! Source: nvml.h, `NVML_FI_DEV_NVLINK_COUNT_*`, which NVLink 5 alone has (effective errors and their ratio since driver 570), and dcgm_fields.h
//! for what they count.

use nvml_wrapper::sys_exports::field_id as field;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! link {
    (
        known { $($(#[$known_doc:meta])* $known:ident: $type:ty,)* }
        counters { $($(#[$doc:meta])* $place:ident = $name:literal, $field:expr;)* }
    ) => {
        /// One NVLink of a GPU.
        #[serde_with::skip_serializing_none]
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub struct NvLinkSample {
            /// Number of the link.
            pub link: u32,
            $(
                $(#[$known_doc])*
                pub $known: Option<$type>,
            )*
            $(
                $(#[$doc])*
                pub $place: Option<u64>,
            )*
        }

        /// Every counter of a link.
        pub(crate) const COUNTERS: &[Counter] = &[
            $(Counter {
                name: $name,
                field: $field,
                read: |link| link.$place,
                set: |link, count| link.$place = count,
            },)*
        ];
    };
}

/// A counter of a link.
pub(crate) struct Counter {
    /// What it counts, as the label `type` in /metrics.
    pub(crate) name: &'static str,
    /// The field that NVLink 5 has in its place, where that is read with the others.
    pub(crate) field: Option<u32>,
    pub(crate) read: fn(&NvLinkSample) -> Option<u64>,
    pub(crate) set: fn(&mut NvLinkSample, Option<u64>),
}

link! {
    known {
        /// Whether it is up.
        active: bool,
        /// NVLink version, as NVML numbers it.
        version: u32,
        /// Effective errors, of all bits that were received. NVLink 5.
        effective_ber: f64,
        /// Symbol errors, of all bits that were received. NVLink 5.
        symbol_ber: f64,
    }
    counters {
        /// Data link recoveries. A counter.
        recovery = "recovery", None;
        /// Data link replays. A counter.
        replay = "replay", None;
        /// CRC errors in flow control digits. A counter.
        crc_flit = "crc_flit", None;
        /// CRC errors in data. A counter.
        crc_data = "crc_data", None;
        /// Recoveries that failed: the link went down. A counter of NVLink 5.
        failed_recoveries = "failed_recovery", Some(field::NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_FAILED_EVENTS);
        /// Packets of a wrong form. A counter of NVLink 5.
        malformed_packets = "malformed_packet", Some(field::NVML_FI_DEV_NVLINK_COUNT_MALFORMED_PACKET_ERRORS);
        /// Packets that found no room in the buffer. A counter of NVLink 5.
        buffer_overruns = "buffer_overrun", Some(field::NVML_FI_DEV_NVLINK_COUNT_BUFFER_OVERRUN_ERRORS);
        /// Packets with an error. A counter of NVLink 5.
        receive_errors = "receive", Some(field::NVML_FI_DEV_NVLINK_COUNT_RCV_ERRORS);
        /// Packets that the sender had marked as bad. A counter of NVLink 5.
        remote_errors = "remote", Some(field::NVML_FI_DEV_NVLINK_COUNT_RCV_REMOTE_ERRORS);
        /// Packets whose header does not fit. A counter of NVLink 5.
        general_errors = "general", Some(field::NVML_FI_DEV_NVLINK_COUNT_RCV_GENERAL_ERRORS);
        /// How often the number of local errors passed a threshold. A counter of NVLink 5.
        integrity_errors = "link_integrity", Some(field::NVML_FI_DEV_NVLINK_COUNT_LOCAL_LINK_INTEGRITY_ERRORS);
        /// Packets with an error that were not sent. A counter of NVLink 5.
        discards = "transmit_discard", Some(field::NVML_FI_DEV_NVLINK_COUNT_XMIT_DISCARDS);
        /// Errors in packets, after correction. A counter of NVLink 5.
        effective_errors = "effective", Some(field::NVML_FI_DEV_NVLINK_COUNT_EFFECTIVE_ERRORS);
        /// Errors in received symbols. A counter of NVLink 5.
        symbol_errors = "symbol", Some(field::NVML_FI_DEV_NVLINK_COUNT_SYMBOL_ERRORS);
    }
}

/// One link to the CPU on the same module, as of GH200 and GB200 (NVLink-C2C).
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct C2cLinkSample {
    /// Number of the link.
    pub link: u32,
    /// Whether it is up.
    pub active: Option<bool>,
    /// What it can carry while it is up, bytes a second.
    pub max_bandwidth: Option<u64>,
    /// CRC errors. A counter.
    pub crc_errors: Option<u64>,
    /// Replays. A counter.
    pub replays: Option<u64>,
    /// Replays that followed another at once. A counter.
    pub repeated_replays: Option<u64>,
}
