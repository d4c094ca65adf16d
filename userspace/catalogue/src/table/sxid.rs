//! Every SXid code: driver text, part of the switch, scope, meaning.
//!
//! Sources of the facts, said in our own words: codes, texts and scopes from NVIDIA's NVSwitch
//! and Fabric Manager guide. Severity follows the scope; the few exceptions stand here.

use super::sxids;
use crate::entry::SxidEntry;

/// Sorted by code.
pub(crate) const SXIDS: &[SxidEntry] = sxids! {
    10001 "Host_priv_error": "host", PotentiallyFatal, Nvlink, Critical,
        "A register access from the host was refused.";
    10002 "Host_priv_timeout": "host", PotentiallyFatal, Nvlink, Critical,
        "A register access from the host got no answer in time.";
    10003 "Host_unhandled_interrupt": "host", AlwaysFatal, Nvlink, Fatal,
        "The switch raised an interrupt that the driver has no handler for.";
    10004 "Host_thermal_event_start": "host", PotentiallyFatal, ThermalPower, Critical,
        "The switch is too hot and has begun to protect itself: links may slow down or drop.";
    10005 "Host_thermal_event_end": "host", PotentiallyFatal, ThermalPower, Info,
        "The switch has cooled down again.";
    11001 "ingress invalid command": "ingress", AlwaysFatal, Nvlink, Fatal,
        "The ingress unit got a command that does not exist.";
    11004 "Ingress invalid ACL": "ingress", NonFatal, Nvlink, Warning,
        "A packet was refused by an access list: as a rule the routing set-up does not fit.";
    11009 "ingress invalid VCSet": "ingress", AlwaysFatal, Nvlink, Fatal,
        "The ingress unit got a packet on a virtual channel set that does not exist.";
    11012 "Single bit ECC errors": "ingress", NonFatal, Nvlink, Info,
        "ECC corrected a single-bit error in the ingress unit. Nothing is lost; watch the rate.";
    11013 "ingress header DBE": "ingress", AlwaysFatal, Nvlink, Fatal,
        "A buffer of the ingress unit holds data that ECC could not correct.";
    11018 "ingress RID DBE": "ingress", AlwaysFatal, Nvlink, Fatal,
        "A buffer of the ingress unit holds data that ECC could not correct.";
    11019 "ingress RLAN DBE": "ingress", AlwaysFatal, Nvlink, Fatal,
        "A buffer of the ingress unit holds data that ECC could not correct.";
    11020 "ingress control parity": "ingress", AlwaysFatal, Nvlink, Fatal,
        "A parity check in the ingress unit failed.";
    11021 "Single bit ECC errors": "ingress", NonFatal, Nvlink, Info,
        "ECC corrected a single-bit error in the ingress unit. Nothing is lost; watch the rate.";
    11022 "Single bit ECC errors": "ingress", NonFatal, Nvlink, Info,
        "ECC corrected a single-bit error in the ingress unit. Nothing is lost; watch the rate.";
    11023 "Single bit ECC errors": "ingress", NonFatal, Nvlink, Info,
        "ECC corrected a single-bit error in the ingress unit. Nothing is lost; watch the rate.";
    12001 "egress crossbar overflow": "egress", AlwaysFatal, Nvlink, Fatal,
        "The count of buffers or credits in the egress unit is wrong, so that data can be lost.";
    12002 "egress packet route": "egress", AlwaysFatal, Nvlink, Fatal,
        "The egress unit got a packet that its routing does not allow.";
    12020 "egress sequence ID error": "egress", AlwaysFatal, Nvlink, Fatal,
        "Packets left in the wrong order.";
    12021 "Single bit ECC errors": "egress", NonFatal, Nvlink, Info,
        "ECC corrected a single-bit error in the egress unit. Nothing is lost; watch the rate.";
    12022 "egress input ECC DBE error": "egress", AlwaysFatal, Nvlink, Fatal,
        "A buffer of the egress unit holds data that ECC could not correct.";
    12023 "Single bit ECC errors": "egress", NonFatal, Nvlink, Info,
        "ECC corrected a single-bit error in the egress unit. Nothing is lost; watch the rate.";
    12024 "egress output ECC DBE error": "egress", AlwaysFatal, Nvlink, Fatal,
        "A buffer of the egress unit holds data that ECC could not correct.";
    12025 "egress credit overflow": "egress", AlwaysFatal, Nvlink, Fatal,
        "The count of buffers or credits in the egress unit is wrong, so that data can be lost.";
    12026 "egress destination request ID error": "egress", AlwaysFatal, Nvlink, Fatal,
        "A request left for a destination that does not exist.";
    12027 "egress destination response ID error": "egress", AlwaysFatal, Nvlink, Fatal,
        "A response left for a destination that does not exist.";
    12028 "egress nonposted PRIV error": "egress", NonFatal, Nvlink, Warning,
        "A privileged access was refused on its way out: a peer GPU may be down or not yet reset.";
    12030 "egress control parity error": "egress", AlwaysFatal, Nvlink, Fatal,
        "A parity check in the egress unit failed.";
    12031 "egress credit parity error": "egress", AlwaysFatal, Nvlink, Fatal,
        "A parity check in the egress unit failed.";
    12032 "egress flit type mismatch": "egress", AlwaysFatal, Nvlink, Fatal,
        "The egress unit got parts of packets of the wrong type.";
    14017 "TS ATO timeout": "tracking store", AlwaysFatal, Nvlink, Fatal,
        "An entry of the tracking store was not answered before its time-out.";
    15001 "route buffer over/underflow": "route", AlwaysFatal, Nvlink, Fatal,
        "The count of buffers or credits in the routing unit is wrong, so that data can be lost.";
    15006 "route transdone over/underflow": "route", AlwaysFatal, Nvlink, Fatal,
        "The count of buffers or credits in the routing unit is wrong, so that data can be lost.";
    15008 "Single bit ECC errors": "route", NonFatal, Nvlink, Info,
        "ECC corrected a single-bit error in the routing unit. Nothing is lost; watch the rate.";
    15009 "route GLT DBE": "route", AlwaysFatal, Nvlink, Fatal,
        "A buffer of the routing unit holds data that ECC could not correct.";
    15010 "route parity": "route", AlwaysFatal, Nvlink, Fatal,
        "A parity check in the routing unit failed.";
    15011 "Single bit ECC errors": "route", NonFatal, Nvlink, Info,
        "ECC corrected a single-bit error in the routing unit. Nothing is lost; watch the rate.";
    15012 "route incoming DBE": "route", AlwaysFatal, Nvlink, Fatal,
        "A buffer of the routing unit holds data that ECC could not correct.";
    15013 "route credit parity": "route", AlwaysFatal, Nvlink, Fatal,
        "A parity check in the routing unit failed.";
    19047 "NCISOC HDR ECC DBE Error": "multicast/reduction", AlwaysFatal, Nvlink, Fatal,
        "A buffer of the multicast and reduction unit holds data that ECC could not correct.";
    19048 "NCISOC DAT ECC DBE Error": "multicast/reduction", AlwaysFatal, Nvlink, Fatal,
        "A buffer of the multicast and reduction unit holds data that ECC could not correct.";
    19049 "Single bit ECC errors": "multicast/reduction", NonFatal, Nvlink, Info,
        "ECC corrected a single-bit error in the multicast and reduction unit. Nothing is lost; watch the rate.";
    19054 "HDR RAM ECC DBE Error": "multicast/reduction", AlwaysFatal, Nvlink, Fatal,
        "A buffer of the multicast and reduction unit holds data that ECC could not correct.";
    19055 "Single bit ECC errors": "multicast/reduction", NonFatal, Nvlink, Info,
        "ECC corrected a single-bit error in the multicast and reduction unit. Nothing is lost; watch the rate.";
    19056 "DAT0 RAM ECC DBE Error": "multicast/reduction", AlwaysFatal, Nvlink, Fatal,
        "A buffer of the multicast and reduction unit holds data that ECC could not correct.";
    19057 "Single bit ECC errors": "multicast/reduction", NonFatal, Nvlink, Info,
        "ECC corrected a single-bit error in the multicast and reduction unit. Nothing is lost; watch the rate.";
    19058 "DAT1 RAM ECC DBE Error": "multicast/reduction", AlwaysFatal, Nvlink, Fatal,
        "A buffer of the multicast and reduction unit holds data that ECC could not correct.";
    19059 "Single bit ECC errors": "multicast/reduction", NonFatal, Nvlink, Info,
        "ECC corrected a single-bit error in the multicast and reduction unit. Nothing is lost; watch the rate.";
    19060 "CREQ RAM HDR ECC DBE Error": "multicast/reduction", AlwaysFatal, Nvlink, Fatal,
        "A buffer of the multicast and reduction unit holds data that ECC could not correct.";
    19061 "CREQ RAM DAT ECC DBE Error": "multicast/reduction", AlwaysFatal, Nvlink, Fatal,
        "A buffer of the multicast and reduction unit holds data that ECC could not correct.";
    19062 "Single bit ECC errors": "multicast/reduction", NonFatal, Nvlink, Info,
        "ECC corrected a single-bit error in the multicast and reduction unit. Nothing is lost; watch the rate.";
    19063 "Response RAM HDR ECC DBE Error": "multicast/reduction", AlwaysFatal, Nvlink, Fatal,
        "A buffer of the multicast and reduction unit holds data that ECC could not correct.";
    19064 "Response RAM DAT ECC DBE Error": "multicast/reduction", AlwaysFatal, Nvlink, Fatal,
        "A buffer of the multicast and reduction unit holds data that ECC could not correct.";
    19065 "Single bit ECC errors": "multicast/reduction", NonFatal, Nvlink, Info,
        "ECC corrected a single-bit error in the multicast and reduction unit. Nothing is lost; watch the rate.";
    19066 "COM RAM HDR ECC DBE Error": "multicast/reduction", AlwaysFatal, Nvlink, Fatal,
        "A buffer of the multicast and reduction unit holds data that ECC could not correct.";
    19067 "COM RAM DAT ECC DBE Error": "multicast/reduction", AlwaysFatal, Nvlink, Fatal,
        "A buffer of the multicast and reduction unit holds data that ECC could not correct.";
    19068 "Single bit ECC errors": "multicast/reduction", NonFatal, Nvlink, Info,
        "ECC corrected a single-bit error in the multicast and reduction unit. Nothing is lost; watch the rate.";
    19069 "RSP1 RAM HDR ECC DBE Error": "multicast/reduction", AlwaysFatal, Nvlink, Fatal,
        "A buffer of the multicast and reduction unit holds data that ECC could not correct.";
    19070 "RSP1 RAM DAT ECC DBE Error": "multicast/reduction", AlwaysFatal, Nvlink, Fatal,
        "A buffer of the multicast and reduction unit holds data that ECC could not correct.";
    19071 "Single bit ECC errors": "multicast/reduction", NonFatal, Nvlink, Info,
        "ECC corrected a single-bit error in the multicast and reduction unit. Nothing is lost; watch the rate.";
    19084 "AN1 Heartbeat Timeout Error": "multicast/reduction", NonFatal, Nvlink, Warning,
        "The heartbeat of a link was lost.";
    20001 "TX Replay Error": "link", NonFatal, Nvlink, Info,
        "A link transmitter had to send data again. Single ones are normal; a rising rate means a bad cable or connector.";
    20009 "RX Short Error Rate": "link", NonFatal, Nvlink, Warning,
        "A link receives errors faster than its short-term limit allows.";
    20012 "Broken/inconsistent connection": "link", NonFatal, Nvlink, Warning,
        "A cable or the partner of a link does not fit what the switch expects.";
    20034 "LTSSM Fault Up": "link", AlwaysFatal, Nvlink, Fatal,
        "A link went down after its training state machine faulted.";
    22003 "Minion Halt": "link microcontroller", AlwaysFatal, Nvlink, Fatal,
        "The microcontroller of the links halted.";
    22011 "Minion exterror": "link microcontroller", AlwaysFatal, Nvlink, Fatal,
        "The microcontroller of the links reported an outside error.";
    22013 "Minion Link DLREQ interrupt": "link microcontroller", NonFatal, Nvlink, Warning,
        "The microcontroller of the links asked for attention, as it often does while a link goes down.";
    23001 "ingress SRC-VC buffer overflow": "virtual channel", AlwaysFatal, Nvlink, Fatal,
        "The count of buffers or credits in a virtual channel is wrong, so that data can be lost.";
    23002 "ingress SRC-VC buffer underflow": "virtual channel", AlwaysFatal, Nvlink, Fatal,
        "The count of buffers or credits in a virtual channel is wrong, so that data can be lost.";
    23003 "egress DST-VC credit overflow": "virtual channel", AlwaysFatal, Nvlink, Fatal,
        "The count of buffers or credits in a virtual channel is wrong, so that data can be lost.";
    23004 "egress DST-VC credit underflow": "virtual channel", AlwaysFatal, Nvlink, Fatal,
        "The count of buffers or credits in a virtual channel is wrong, so that data can be lost.";
    23005 "ingress packet burst error": "virtual channel", AlwaysFatal, Nvlink, Fatal,
        "A virtual channel got packets without the pause that must lie between them.";
    23006 "ingress packet sticky error": "virtual channel", AlwaysFatal, Nvlink, Fatal,
        "A virtual channel keeps an error that does not clear.";
    23007 "possible bubbles at ingress": "virtual channel", AlwaysFatal, Nvlink, Fatal,
        "The flow of packets into a virtual channel has gaps that must not be.";
    23008 "ingress packet invalid dst error": "virtual channel", AlwaysFatal, Nvlink, Fatal,
        "A packet on a virtual channel names a destination that does not exist.";
    23009 "ingress packet parity error": "virtual channel", AlwaysFatal, Nvlink, Fatal,
        "A parity check in a virtual channel failed.";
    23010 "ingress SRC-VC buffer overflow": "virtual channel", AlwaysFatal, Nvlink, Fatal,
        "The count of buffers or credits in a virtual channel is wrong, so that data can be lost.";
    23011 "ingress SRC-VC buffer underflow": "virtual channel", AlwaysFatal, Nvlink, Fatal,
        "The count of buffers or credits in a virtual channel is wrong, so that data can be lost.";
    23012 "egress DST-VC credit overflow": "virtual channel", AlwaysFatal, Nvlink, Fatal,
        "The count of buffers or credits in a virtual channel is wrong, so that data can be lost.";
    23013 "egress DST-VC credit underflow": "virtual channel", AlwaysFatal, Nvlink, Fatal,
        "The count of buffers or credits in a virtual channel is wrong, so that data can be lost.";
    23014 "ingress packet burst error": "virtual channel", AlwaysFatal, Nvlink, Fatal,
        "A virtual channel got packets without the pause that must lie between them.";
    23015 "ingress packet sticky error": "virtual channel", AlwaysFatal, Nvlink, Fatal,
        "A virtual channel keeps an error that does not clear.";
    23016 "possible bubbles at ingress": "virtual channel", AlwaysFatal, Nvlink, Fatal,
        "The flow of packets into a virtual channel has gaps that must not be.";
    23017 "ingress credit parity error": "virtual channel", AlwaysFatal, Nvlink, Fatal,
        "A parity check in a virtual channel failed.";
    24001 "Single bit ECC errors": "source tracking", NonFatal, Nvlink, Info,
        "ECC corrected a single-bit error in the source-tracking unit. Nothing is lost; watch the rate.";
    24002 "Single bit ECC errors": "source tracking", NonFatal, Nvlink, Info,
        "ECC corrected a single-bit error in the source-tracking unit. Nothing is lost; watch the rate.";
    24003 "Single bit ECC errors": "source tracking", NonFatal, Nvlink, Info,
        "ECC corrected a single-bit error in the source-tracking unit. Nothing is lost; watch the rate.";
    24004 "sourcetrack TCEN0 crubmstore DBE": "source tracking", AlwaysFatal, Nvlink, Fatal,
        "A buffer of the source-tracking unit holds data that ECC could not correct.";
    24005 "sourcetrack TCEN0 TD crubmstore DBE": "source tracking", AlwaysFatal, Nvlink, Fatal,
        "A buffer of the source-tracking unit holds data that ECC could not correct.";
    24006 "sourcetrack TCEN1 crubmstore DBE": "source tracking", AlwaysFatal, Nvlink, Fatal,
        "A buffer of the source-tracking unit holds data that ECC could not correct.";
    24007 "sourcetrack timeout error": "source tracking", AlwaysFatal, Nvlink, Fatal,
        "A request never got its response.";
};
