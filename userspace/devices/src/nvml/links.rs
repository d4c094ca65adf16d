//! What NVLink 5 counts, and its bit error ratios: fields of each link, in place of the counters of a link before it.
//!
//! Source: nvml.h, `NVML_NVLINK_BER_*`: the exponent of ten is in the lowest eight bits, the mantissa in the four above. DCGM takes 15e-255,
//! the lowest value, for a link without errors.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use gtrace_event::PciAddress;
use nvml_wrapper::sys_exports::field_id as field;

use super::fields::Fields;
use super::protocol::NvmlGpu;
use super::reader::Reader;
use crate::NvLinkSample;
use crate::nvlink::COUNTERS;

/// They are read again after so long: firmware has them, twelve of each of 18 links.
const AGE: Duration = Duration::from_secs(60);

const EFFECTIVE_BER: u32 = field::NVML_FI_DEV_NVLINK_COUNT_EFFECTIVE_BER;
const SYMBOL_BER: u32 = field::NVML_FI_DEV_NVLINK_COUNT_SYMBOL_BER;
/// The lowest exponent.
const NO_ERRORS: u64 = 255;

/// What the links of each GPU counted when that was last read.
#[derive(Default)]
pub(super) struct LinkErrors(BTreeMap<PciAddress, Known>);

struct Known {
    uuid: Option<String>,
    read: Instant,
    /// None where the GPU has no such fields: it is not asked again.
    links: Vec<NvLinkSample>,
}

impl LinkErrors {
    /// Adds to the links of a GPU that are up what they counted.
    pub(super) fn read(&mut self, reader: &mut Reader<'_, '_>, gpu: &mut NvmlGpu) {
        let uncounted = |l: &&mut NvLinkSample| l.active == Some(true) && l.replay.is_none();
        let all = gpu.sample.nvlinks.iter_mut();
        let mut links: Vec<&mut NvLinkSample> = all.filter(uncounted).collect();
        if links.is_empty() {
            return;
        }
        let holds = |known: &Known| {
            known.uuid == gpu.uuid && (known.links.is_empty() || known.read.elapsed() < AGE)
        };
        if !self.0.get(&gpu.pci).is_some_and(holds) {
            let errors = reader.errors.len();
            let asked = links.iter().filter_map(|link| counted(reader, link.link));
            let known = Known {
                uuid: gpu.uuid.clone(),
                read: Instant::now(),
                links: asked.collect(),
            };
            if reader.lost || reader.errors.len() > errors {
                return;
            }
            self.0.insert(gpu.pci, known);
        }
        let known = self.0.get(&gpu.pci).map(|known| &known.links);
        for link in &mut links {
            let mut known = known.into_iter().flatten();
            if let Some(from) = known.find(|from| from.link == link.link) {
                for counter in COUNTERS.iter().filter(|counter| counter.field.is_some()) {
                    (counter.set)(link, (counter.read)(from));
                }
                (link.effective_ber, link.symbol_ber) = (from.effective_ber, from.symbol_ber);
            }
        }
    }
}

/// What NVML says of a link; `None` where it has nothing of it.
fn counted(reader: &mut Reader<'_, '_>, link: u32) -> Option<NvLinkSample> {
    let of_counters = COUNTERS.iter().filter_map(|counter| counter.field);
    let wanted = of_counters.chain([EFFECTIVE_BER, SYMBOL_BER]);
    let wanted: Vec<(u32, u32)> = wanted.map(|field| (field, link)).collect();
    let fields = Fields::of(reader, &wanted);
    let nothing = NvLinkSample {
        link,
        ..NvLinkSample::default()
    };
    let mut found = nothing.clone();
    for counter in COUNTERS {
        let count = counter.field.and_then(|field| fields.of_link(field, link));
        (counter.set)(&mut found, count);
    }
    let ratio = |field| fields.of_link(field, link).map(bit_error_ratio);
    found.effective_ber = ratio(EFFECTIVE_BER);
    found.symbol_ber = ratio(SYMBOL_BER);
    (found != nothing).then_some(found)
}

/// Zero of a link without errors.
fn bit_error_ratio(raw: u64) -> f64 {
    let (mantissa, exponent) = (raw >> 8 & 0xf, raw & 0xff);
    if exponent == NO_ERRORS {
        return 0.0;
    }
    // Division is exact where a power of ten below one is not: 1e-12 is a limit.
    mantissa as f64 / 10_f64.powi(exponent as i32)
}

#[cfg(test)]
mod tests {
    use super::bit_error_ratio;

    #[test]
    fn a_ratio_is_a_mantissa_and_an_exponent() {
        let of = |mantissa: u64, exponent: u64| bit_error_ratio(mantissa << 8 | exponent);
        // Those that DCGM's tests call healthy and not.
        assert!(of(1, 12) <= 1e-12 && of(10, 13) <= 1e-12 && of(9, 13) <= 1e-12);
        assert!(of(2, 12) > 1e-12 && of(11, 13) > 1e-12);
        assert_eq!((of(4, 1), of(3, 5)), (0.4, 3e-5));
        assert_eq!((of(15, 255), of(0, 5), bit_error_ratio(0)), (0.0, 0.0, 0.0));
        // Of more bits than the two parts have, none counts.
        assert_eq!(bit_error_ratio(0xffff_f000 | 2 << 8 | 3), 2e-3);
    }
}
