use std::time::Duration;

use gtrace_event::{Gpu, Kind, Occurrence, Severity, Timestamp};

use super::{Findings, Reading};
use crate::{GpuSample, VgpuLicense};

/// Samples in a row that must say the same.
const STEADY: u32 = 3;
/// For so long there must be no licence at all: after a boot nvidia-gridd fetches it first.
const FETCHED: Duration = Duration::from_secs(180);

/// Whether a vGPU has been without its licence, and what was reported of that.
#[derive(Debug, Default)]
pub(super) struct License {
    /// Samples in a row that lack it, and the first of them.
    lacks: Option<(u32, Timestamp)>,
    /// Samples in a row that need none.
    needless: u32,
    /// Whether all was well when that was last reported.
    well: Option<bool>,
}

impl License {
    /// Reports once that it is missing, and once that it is there again, or needed no more. How that is at the beginning is how
    /// the GPU stands.
    pub(super) fn observe(&mut self, now: &GpuSample, found: &mut Findings<'_>) {
        let Some(license) = &now.vgpu_license else {
            self.without(now, found);
            return;
        };
        self.needless = 0;
        let Some(fault) = license.fault(now.time) else {
            self.lacks = None;
            let text = "the vGPU has its licence again".to_owned();
            self.report(found, (Severity::Info, text), Some(license));
            return;
        };
        let (times, first) = self.lacks.unwrap_or((0, now.time));
        let times = times.saturating_add(1);
        self.lacks = Some((times, first));
        // One that has ended was fetched before.
        let fetching = !license.licensed && now.time.duration_since(first).unsigned_abs() < FETCHED;
        if times >= STEADY && !fetching {
            self.report(found, (Severity::Warning, fault), Some(license));
        }
    }

    fn without(&mut self, now: &GpuSample, found: &mut Findings<'_>) {
        if now.vgpu_license_unread {
            return;
        }
        self.needless = self.needless.saturating_add(1);
        if self.needless < STEADY {
            return;
        }
        self.lacks = None;
        let text = "the GPU needs no licence any more".to_owned();
        self.report(found, (Severity::Info, text), None);
    }

    fn report(
        &mut self,
        found: &mut Findings<'_>,
        what: (Severity, String),
        license: Option<&VgpuLicense>,
    ) {
        let well = what.0 == Severity::Info;
        let before = self.well.replace(well);
        if before == Some(well) {
            return;
        }
        let event = occurrence(found.gpu, what, license);
        match before {
            Some(_) => found.happened(event),
            None => found.stands(event),
        }
    }
}

fn occurrence(
    gpu: &Gpu,
    (severity, text): (Severity, String),
    license: Option<&VgpuLicense>,
) -> Occurrence {
    let reading = Reading {
        value: license.map(|_| f64::from(u8::from(severity == Severity::Info))),
        ..Reading::of("gtrace_gpu_vgpu_licensed")
    };
    let mut event = reading.occurrence(gpu, (Kind::VgpuLicense, severity), text);
    let detail = &mut event.detail.mig;
    detail.license_product = license.and_then(|l| l.product.clone());
    detail.license_expiry = license.and_then(|l| l.expiry);
    event
}
