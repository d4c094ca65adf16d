use gtrace_event::{Kind, Severity, Timestamp};

use super::{Findings, Reading, STATED_EVERY};
use crate::GpuSample;

/// What NVML says of a GPU by a flag that stays set until a reset, or for good.
struct Flag {
    read: fn(&GpuSample) -> Option<bool>,
    what: (Kind, Severity),
    metric: &'static str,
    text: &'static str,
}

/// GPUs before Ampere can retire 64 pages; at one less DCGM's health check fails.
const MAX_RETIRED_PAGES: u64 = 63;

macro_rules! flags {
    ($($kind:ident $severity:ident $metric:literal $text:literal => $read:expr;)*) => {
        [$(Flag { read: $read, what: (Kind::$kind, Severity::$severity), metric: $metric, text: $text }),*]
    };
}

const FLAGS: [Flag; 7] = flags! {
    RowRemap Critical "gtrace_gpu_remapped_rows_failure" "A row of GPU memory could not be remapped: no spare row is left" =>
        |s| s.remapped_rows.failure;
    Ecc Critical "gtrace_gpu_sram_threshold_exceeded" "On-chip memory (SRAM) had more uncorrected errors than a GPU may have" =>
        |s| s.ecc.sram.as_ref()?.threshold_exceeded;
    RowRemap Critical "gtrace_gpu_retired_pages" "Nearly all pages of GPU memory that can be retired are" =>
        |s| s.retired_pages.total().map(|n| n >= MAX_RETIRED_PAGES);
    RowRemap Warning "gtrace_gpu_remapped_rows_pending" "A row of GPU memory waits for a GPU reset to be remapped" =>
        |s| s.remapped_rows.pending;
    // What GPUs before Ampere have instead of remapped rows; the same kind of event.
    RowRemap Warning "gtrace_gpu_retired_pages_pending" "A page of GPU memory waits for the driver to be loaded anew to be retired" =>
        |s| s.retired_pages.pending;
    RowRemap Warning "gtrace_gpu_repair_pending" "A channel of GPU memory waits for a GPU reset to be repaired" =>
        |s| s.repair.channel_pending;
    RowRemap Warning "gtrace_gpu_repair_pending" "A group of multiprocessors (TPC) waits for a GPU reset to be repaired" =>
        |s| s.repair.tpc_pending;
};

/// What is known of each flag.
#[derive(Debug, Default)]
pub(super) struct Flags([Known; FLAGS.len()]);

#[derive(Debug, Default)]
struct Known {
    set: Option<bool>,
    stated: Option<Timestamp>,
}

impl Flags {
    /// Reports a flag that was not set before. One that is set at the beginning, and still is, is how the GPU stands. A reading
    /// that failed says nothing.
    pub(super) fn observe(&mut self, now: &GpuSample, found: &mut Findings<'_>) {
        for (flag, known) in FLAGS.iter().zip(&mut self.0) {
            let Some(set) = (flag.read)(now) else {
                continue;
            };
            let begins = known.set.replace(set) == Some(false);
            let age = |at: Timestamp| now.time.duration_since(at).unsigned_abs();
            let due = known.stated.is_none_or(|at| age(at) >= STATED_EVERY);
            let reported = set && (begins || due);
            if !reported {
                continue;
            }
            known.stated = Some(now.time);
            let event = Reading::of(flag.metric).occurrence(found.gpu, flag.what, flag.text);
            match begins {
                true => found.happened(event),
                false => found.stands(event),
            }
        }
    }
}
