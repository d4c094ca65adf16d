//! What ports count.

/// What a rise of a counter means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterClass {
    /// Traffic; no trouble.
    Traffic,
    /// How often the link went down.
    LinkDowned,
    /// The link itself: cable, connector, module.
    Link,
    /// Packets that a port threw away.
    Discards,
    /// Packets that had to be sent again.
    Retransmissions,
    /// A queue pair that has sent again for too long and gave up: a connection that broke.
    GaveUp,
}

/// A counter of a port.
#[derive(Clone, Copy, Debug)]
pub struct PortCounter {
    /// Name of its file, in `counters` or `hw_counters`.
    pub file: &'static str,
    /// What a rise means.
    pub class: CounterClass,
    /// Rises within an hour that are still in order; `None` where no number of them is trouble.
    pub an_hour: Option<u64>,
    /// The value at which it stops. Only a reset makes it count again.
    pub end: u64,
}

impl PortCounter {
    /// Whether errors of the link cannot be seen any more, as the counter stands at its end. A value above that is one
    /// of an adapter whose counters are wider.
    pub fn is_saturated(&self, value: u64) -> bool {
        matches!(self.class, CounterClass::Link | CounterClass::LinkDowned) && value == self.end
    }
}

const fn counter(file: &'static str, class: CounterClass, an_hour: Option<u64>) -> PortCounter {
    PortCounter {
        file,
        class,
        an_hour,
        end: u64::MAX,
    }
}

/// A counter of so many bits.
const fn narrow(
    file: &'static str,
    bits: u32,
    class: CounterClass,
    an_hour: Option<u64>,
) -> PortCounter {
    PortCounter {
        end: (1 << bits) - 1,
        ..counter(file, class, an_hour)
    }
}

/// Retransmissions within an hour that are in order: ten a second. RoCE without lossless Ethernet has some at any time.
const RETRANSMISSIONS: Option<u64> = Some(36_000);

use CounterClass::{Discards, GaveUp, Link, LinkDowned, Retransmissions, Traffic};

/// The counters that are read.
///
/// Limits of `Link` and `Discards` are the thresholds with which `ibqueryerrors` of rdma-core comes
/// (error_thresholds), taken within an hour. That of symbol errors is the specification's rate of bit errors, 10^-12, on
/// a link of 10 Gb/s rounded up: 10 in an hour and more want a check of the cable. The two counters of 4 bits would be at
/// their end soon after 10.
///
/// Widths are those of the InfiniBand specification's PortCounters (drivers/infiniband/core/sysfs.c).
pub const PORT_COUNTERS: [PortCounter; 29] = [
    counter("port_xmit_data", Traffic, None),
    counter("port_rcv_data", Traffic, None),
    counter("port_xmit_packets", Traffic, None),
    counter("port_rcv_packets", Traffic, None),
    narrow("link_downed", 8, LinkDowned, None),
    narrow("symbol_error", 16, Link, Some(10)),
    narrow("link_error_recovery", 8, Link, Some(10)),
    narrow("local_link_integrity_errors", 4, Link, Some(3)),
    narrow("excessive_buffer_overrun_errors", 4, Link, Some(3)),
    narrow("port_rcv_errors", 16, Link, Some(10)),
    narrow("port_rcv_remote_physical_errors", 16, Link, Some(100)),
    counter("rx_icrc_encapsulated", Link, Some(10)),
    narrow("port_xmit_discards", 16, Discards, Some(100)),
    narrow("port_xmit_constraint_errors", 8, Discards, Some(100)),
    narrow("port_rcv_constraint_errors", 8, Discards, Some(100)),
    narrow("port_rcv_switch_relay_errors", 16, Discards, Some(100)),
    narrow("VL15_dropped", 16, Discards, Some(100)),
    counter("local_ack_timeout_err", Retransmissions, RETRANSMISSIONS),
    counter("packet_seq_err", Retransmissions, RETRANSMISSIONS),
    counter("out_of_sequence", Retransmissions, RETRANSMISSIONS),
    counter("implied_nak_seq_err", Retransmissions, RETRANSMISSIONS),
    counter("roce_adp_retrans", Retransmissions, RETRANSMISSIONS),
    counter("out_of_seq_request", Retransmissions, RETRANSMISSIONS),
    counter("rcvd_seq_err", Retransmissions, RETRANSMISSIONS),
    counter("completer_retry_err", Retransmissions, RETRANSMISSIONS),
    counter("req_transport_retries_exceeded", GaveUp, Some(0)),
    counter("req_rnr_retries_exceeded", GaveUp, Some(0)),
    counter("retry_exceeded_err", GaveUp, Some(0)),
    counter("retry_rnr_exceeded_err", GaveUp, Some(0)),
];
