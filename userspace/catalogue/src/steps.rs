//! The steps that several codes share. Each follows one of the action buckets of NVIDIA's public
//! Xid documentation, in our own words.

/// Before whatever resets or restarts the GPU or its host, which destroys their state.
pub(crate) const EVIDENCE: &str = "Keep the evidence first, as a reset or restart destroys it: gtrace capture, gtrace report, nvidia-bug-report.sh.";
/// The same where no GPU is at fault.
pub(crate) const HOST_EVIDENCE: &str = "Keep the evidence first, as a reset or restart destroys it: gtrace capture, gtrace report, journalctl -k -b.";
pub(crate) const RESTART_APP: &str = "Restart the application; the GPU itself needs nothing.";
pub(crate) const IGNORE: &str = "Nothing has to be done at once.";
pub(crate) const FOLLOW_OTHER: &str =
    "Look for the Xid just before it on the same GPU and follow that one.";
pub(crate) const RESET_GPU: &str =
    "Stop everything that uses the GPU and reset it: nvidia-smi --gpu-reset -i <GPU>.";
pub(crate) const REBOOT: &str = "Restart the host.";
pub(crate) const RESTART_VM: &str = "Restart the virtual machine that owns the GPU.";
pub(crate) const CHECK_APP: &str =
    "Run the application under compute-sanitizer or cuda-gdb to find bad addresses or API use.";
pub(crate) const DIAG_IF_REPEAT: &str =
    "If it stays with one GPU over different programs, drain the GPU and run dcgmi diag -r 3.";
pub(crate) const SUPPORT: &str =
    "If it returns, run nvidia-bug-report.sh and open a case with the vendor.";
pub(crate) const SUPPORT_NOW: &str = "Run gtrace capture, gtrace report and nvidia-bug-report.sh before any reset, and open a case with the vendor.";
pub(crate) const INVESTIGATE_SW: &str =
    "If it returns, compare driver, firmware and CUDA versions with the vendor's release notes.";
pub(crate) const UPDATE: &str = "Bring driver, firmware and guest software to matching versions.";
pub(crate) const MECHANICALS: &str = "Check the seating of the card and its power cables.";
pub(crate) const LINK_SIGNAL: &str =
    "If it returns, check seating, cables and signal quality of the link.";
pub(crate) const PEER_FLOW: &str =
    "Check the application's peer-to-peer mappings with compute-sanitizer or cuda-gdb.";
pub(crate) const CHECK_UVM: &str =
    "Reset the GPU if unified memory or vGPU is in use; otherwise nothing has to be done.";
pub(crate) const SYMPATHETIC: &str = "It usually accompanies another error: resolve that first, and report it only if it stands alone.";
pub(crate) const NO_PUBLIC_ACTION: &str = "NVIDIA publishes no action for this code: keep the log, and open a case with the vendor if it returns.";
pub(crate) const FOLLOW_48: &str = "Follow the Xid 48 that it accompanies.";
pub(crate) const FIELD_DIAG: &str =
    "If the GPU fails again after a reset, run the field diagnostic and ask for a replacement.";
pub(crate) const SRAM_THRESHOLD: &str = "Read nvidia-smi -q -d ECC; where the SRAM error threshold is exceeded, run the field diagnostic.";
pub(crate) const DRAIN: &str = "Let no new work on the GPU and move or end what runs on it.";
pub(crate) const CHECK_REMAP: &str =
    "Read nvidia-smi -q -d ROW_REMAPPER: a pending remap takes effect at the next reset.";
