use gtrace_event::{Occurrence, PortChange, Severity};

use super::Verdict;

/// Counters of connections that broke, as mlx5 and rxe name them.
const GAVE_UP: [&str; 4] = [
    "req_transport_retries_exceeded",
    "req_rnr_retries_exceeded",
    "retry_exceeded_err",
    "retry_rnr_exceeded_err",
];
/// Counters of packets that were sent again.
const AGAIN: [&str; 8] = [
    "local_ack_timeout_err",
    "packet_seq_err",
    "out_of_sequence",
    "implied_nak_seq_err",
    "roce_adp_retrans",
    "out_of_seq_request",
    "rcvd_seq_err",
    "completer_retry_err",
];
/// Counters of packets that were thrown away.
const DISCARDS: [&str; 5] = [
    "port_xmit_discards",
    "port_xmit_constraint_errors",
    "port_rcv_constraint_errors",
    "port_rcv_switch_relay_errors",
    "VL15_dropped",
];

pub(super) fn port(occ: &Occurrence, v: Verdict) -> Verdict {
    let rdma = &occ.detail.rdma;
    let Some(change) = rdma.port_change else {
        return v;
    };
    let disabled = rdma.physical_state.as_deref() == Some("Disabled");
    let rate = rdma.rate_gbps.zip(rdma.expected_rate_gbps);
    match change {
        PortChange::Down if disabled => v
            .refined("disabled", Severity::Warning)
            .and("It is disabled: somebody, or its driver, has switched the port or its network interface off. Connections through it end.")
            .first("If nobody did so on purpose: ip link set <interface> up, or ibportstate <lid> <port> enable."),
        PortChange::Down => v
            .refined("down", Severity::Critical)
            .and("It was active and is not any more: connections through it end, and jobs over several hosts fail or hang.")
            .first("Restart the jobs of this host on others until the port is back."),
        PortChange::Up => v
            .refined("up", Severity::Info)
            .and("It is active again. Jobs that had lost their connections have to be started anew."),
        PortChange::Bounced => v
            .refined("bounced", Severity::Warning)
            .and("Its link went down and came up again between two readings: connections may have ended."),
        PortChange::Flapping => v
            .refined("flapping", Severity::Critical)
            .and("Its link went down three times or more within ten minutes, so no job can rely on it.")
            .first("Take the host out of service until the cause is found: cable, module, or the switch's port."),
        PortChange::Slow => {
            let v = v.refined("slow", Severity::Warning);
            match rate {
                Some((rate, expected)) => v.and(&format!(
                    "It runs at {rate} of {expected} Gb/s; in a job over many hosts the slowest sets the pace."
                )),
                None => v.and("It is slower than it should be."),
            }
        }
        PortChange::FullSpeed => v
            .refined("full_speed", Severity::Info)
            .and("It is as fast as it should be again."),
        PortChange::TooFew => {
            let v = v.refined("too_few", Severity::Critical);
            match rdma.active_ports.zip(rdma.expected_ports) {
                Some((active, expected)) => v.and(&format!(
                    "{active} ports are active where the configuration (rdma_ports, rdma_rate_gbps) expects {expected}."
                )),
                None => v,
            }
        }
        PortChange::Enough => v
            .refined("enough", Severity::Info)
            .and("As many ports as the configuration expects are active again."),
    }
}

pub(super) fn errors(occ: &Occurrence, v: Verdict) -> Verdict {
    let Some(counter) = occ.detail.rdma.port_counter.as_deref() else {
        return v;
    };
    if GAVE_UP.contains(&counter) {
        v.refined("gave_up", Severity::Warning)
            .and("A queue pair has sent again as often as it may and gave up: a connection broke, and with it as a rule the job.")
            .first("Find the other end: NCCL_DEBUG=INFO names it; look whether its host and its port are well.")
    } else if AGAIN.contains(&counter) {
        v.refined("retransmissions", Severity::Warning)
            .and("Many packets had to be sent again: they were lost or came late, and every collective waits for them.")
            .first("On RoCE, check that the network is lossless on every hop: PFC and ECN, and drops of the switches.")
    } else if DISCARDS.contains(&counter) {
        v.refined("discards", Severity::Info)
            .and("The port threw packets away, as congested ports do.")
    } else {
        v.refined("link", Severity::Warning)
            .and("The link itself makes errors: a dirty or bent fibre, a bad module or connector. Such links get worse and go down.")
    }
}
