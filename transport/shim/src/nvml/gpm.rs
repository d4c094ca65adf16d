//! Metrics of what a device did between two samples (GPM).

// Reads and writes a structure of the program.
#![allow(unsafe_code)]

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_char};
use std::mem::offset_of;
use std::ptr;
use std::sync::Mutex;

use gtrace_cuda::payload::{METRICS_MAX, Metrics, MetricsRequest, Payload as _};
use gtrace_cuda::types::nvml::{
    self, nvmlGpmMetric_t, nvmlGpmMetric_t__bindgen_ty_1, nvmlGpmMetricsGet_t, nvmlReturn_t,
};
use gtrace_protocol::{DecodeError, OpId, op_id};

use crate::entry;
use crate::state::lock;
use crate::status::fail_if;

/// Names and units stay for the life of the program, as NVML's own do: those of all metrics there are, and some more.
const TEXTS_MAX: usize = 4 * METRICS_MAX;

/// A text that stays; null if there is none, or if a server has too many.
fn kept(text: Option<&str>) -> *mut c_char {
    static TEXTS: Mutex<BTreeSet<&'static CStr>> = Mutex::new(BTreeSet::new());
    let Some(text) = text.and_then(|text| CString::new(text).ok()) else {
        return ptr::null_mut();
    };
    let mut texts = lock(&TEXTS);
    if let Some(known) = texts.get(text.as_c_str()) {
        return known.as_ptr().cast_mut();
    }
    if texts.len() >= TEXTS_MAX {
        return ptr::null_mut();
    }
    let text: &'static CStr = Box::leak(text.into_boxed_c_str());
    texts.insert(text);
    text.as_ptr().cast_mut()
}

pub(crate) unsafe fn nvmlGpmMetricsGet(metricsGet: *mut nvmlGpmMetricsGet_t) -> nvmlReturn_t {
    const OP: OpId = op_id("nvmlGpmMetricsGet");
    let null = fail_if(metricsGet.is_null(), nvml::NVML_ERROR_INVALID_ARGUMENT);
    if let Err(code) = super::ready().and(null) {
        return code;
    }
    // How many metrics there is room for depends on the header that the program was made with, so it is never taken as a whole.
    // SAFETY: a structure of the program, whose beginning is the same in all versions.
    let (version, count, samples) = unsafe {
        let samples = [(*metricsGet).sample1, (*metricsGet).sample2];
        ((*metricsGet).version, (*metricsGet).numMetrics, samples)
    };
    if count as usize > METRICS_MAX {
        return nvml::NVML_ERROR_INVALID_ARGUMENT;
    }
    let metrics = metricsGet.cast::<u8>();
    let metrics = metrics.wrapping_add(offset_of!(nvmlGpmMetricsGet_t, metrics));
    let metrics = metrics.cast::<nvmlGpmMetric_t>();
    let places = 0..count as usize;
    let places: Vec<_> = places.map(|place| metrics.wrapping_add(place)).collect();
    // SAFETY: the program says that it has as many.
    let ids = places.iter().map(|metric| unsafe { (**metric).metricId });
    let request = MetricsRequest {
        version,
        samples: samples.map(|sample| sample.addr() as u64),
        ids: ids.collect(),
    };
    entry::nvml(
        OP,
        &mut |w| {
            request.write(w);
            Ok(())
        },
        &mut |r| {
            let Metrics(found) = Metrics::read(r)?;
            if found.len() != places.len() {
                return Err(DecodeError::BadValue {
                    what: "the number of metrics",
                    value: found.len() as u64,
                });
            }
            for (place, metric) in places.iter().zip(found) {
                let [short, long, unit] = metric.texts.each_ref().map(|text| kept(text.as_deref()));
                // SAFETY: as above.
                unsafe {
                    (**place).nvmlReturn = metric.status;
                    (**place).value = metric.value;
                    (**place).metricInfo = nvmlGpmMetric_t__bindgen_ty_1 {
                        shortName: short,
                        longName: long,
                        unit,
                    };
                }
            }
            Ok(())
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_kept_once() {
        let first = kept(Some("SM utilisation"));
        assert!(!first.is_null());
        assert_eq!(kept(Some(&String::from("SM utilisation"))), first);
        assert_ne!(kept(Some("%")), first);
        assert!(kept(None).is_null());
        assert!(kept(Some("not\0one text")).is_null());
    }
}
