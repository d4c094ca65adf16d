use gtrace_event::{Kind, Severity};

use super::{Findings, Reading, rise};
use crate::{EccErrors, GpuSample, RetiredPages};

/// ECC, row remapping, page retirement.
pub(super) fn observe(last: Option<&GpuSample>, now: &GpuSample, found: &mut Findings<'_>) {
    let uncorrected = (Kind::Ecc, Severity::Critical);
    ecc(
        last,
        now,
        uncorrected,
        "ECC counted uncorrected errors",
        |e| e.uncorrected,
        found,
    );
    let corrected = (Kind::Ecc, Severity::Info);
    ecc(
        last,
        now,
        corrected,
        "ECC counted corrected errors",
        |e| e.corrected,
        found,
    );
    remapped_rows(last, now, found);
    retired_pages(last, now, found);
}

fn ecc(
    last: Option<&GpuSample>,
    now: &GpuSample,
    what: (Kind, Severity),
    text: &str,
    pick: fn(&EccErrors) -> Option<u64>,
    found: &mut Findings<'_>,
) {
    let volatile = |s: &GpuSample| s.ecc.volatile.as_ref().and_then(pick);
    let aggregate = |s: &GpuSample| s.ecc.aggregate.as_ref().and_then(pick);
    let (old_volatile, old_aggregate) = (last.and_then(volatile), last.and_then(aggregate));
    // The aggregate is kept over a reload of the driver, so if it falls somebody cleared it.
    let kept = rise(
        old_aggregate,
        aggregate(now).filter(|&n| old_aggregate.is_none_or(|o| n >= o)),
    );
    let since_load = rise(old_volatile, volatile(now));
    let (count, old, new) = if since_load >= kept {
        (since_load, old_volatile, volatile(now))
    } else {
        (kept, old_aggregate, aggregate(now))
    };
    if let (true, Some(new)) = (count > 0, new) {
        found.add(
            what,
            text,
            Reading::counter("gtrace_gpu_ecc_errors", old, new),
            count,
        );
    }
}

fn remapped_rows(last: Option<&GpuSample>, now: &GpuSample, found: &mut Findings<'_>) {
    let old = last.map(|l| &l.remapped_rows);
    let rows = &now.remapped_rows;
    let mut counted = |old: Option<u64>, new: Option<u64>, severity, text| {
        if let (count @ 1.., Some(new)) = (rise(old, new), new) {
            let reading = Reading::counter("gtrace_gpu_remapped_rows", old, new);
            found.add((Kind::RowRemap, severity), text, reading, count);
        }
    };
    counted(
        old.and_then(|o| o.uncorrectable),
        rows.uncorrectable,
        Severity::Warning,
        "Rows of GPU memory were remapped for uncorrectable errors",
    );
    counted(
        old.and_then(|o| o.correctable),
        rows.correctable,
        Severity::Info,
        "Rows of GPU memory were remapped for correctable errors",
    );
}

/// What GPUs before Ampere have instead of remapped rows; the same kind of event.
fn retired_pages(last: Option<&GpuSample>, now: &GpuSample, found: &mut Findings<'_>) {
    let old = last.map(|l| &l.retired_pages);
    let pages = &now.retired_pages;
    let before = old.and_then(RetiredPages::total);
    let after = pages.total();
    if let (count @ 1.., Some(new)) = (rise(before, after), after) {
        let reading = Reading::counter("gtrace_gpu_retired_pages", before, new);
        let text = "Pages of GPU memory were retired";
        found.add((Kind::RowRemap, Severity::Warning), text, reading, count);
    }
}
