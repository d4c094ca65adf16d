//! NVML: what devices did between two samples (GPM), and structures that point to lists of the program.

use core::ffi::c_uint;

use gtrace_protocol::{Bounded, DecodeError, Reader, Writer, members};

use super::Payload;
use crate::types::nvml::{
    nvmlActiveVgpuInstanceInfo_v1_t, nvmlEccSramUniqueUncorrectedErrorCounts_v1_t,
    nvmlEccSramUniqueUncorrectedErrorEntry_v1_t, nvmlProcessDetail_v1_t,
    nvmlProcessDetailList_v1_t, nvmlProcessUtilizationInfo_v1_t, nvmlProcessesUtilizationInfo_v1_t,
    nvmlVgpuCreatablePlacementInfo_v1_t, nvmlVgpuInstance_t, nvmlVgpuInstanceUtilizationInfo_v1_t,
    nvmlVgpuInstancesUtilizationInfo_v1_t, nvmlVgpuProcessUtilizationInfo_v1_t,
    nvmlVgpuProcessesUtilizationInfo_v1_t, nvmlVgpuTypeId_t, nvmlVgpuTypeIdInfo_v1_t,
};

/// Metrics of one call at most. NVML of CUDA 13 knows 333.
pub const METRICS_MAX: usize = 1024;
/// Bytes of a name or unit of a metric at most.
pub const METRIC_TEXT_MAX: usize = 256;

/// `nvmlGpmMetricsGet`: which metrics of what was between two samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricsRequest {
    /// Version of the structure.
    pub version: u32,
    /// Handles of the samples, the older one first.
    pub samples: [u64; 2],
    /// Numbers of the metrics.
    pub ids: Vec<u32>,
}

/// A metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// nvmlReturn_t of this metric.
    pub status: u32,
    /// Its value, in its unit.
    pub value: f64,
    /// Short name, long name and unit, where NVML has them.
    pub texts: [Option<String>; 3],
}

/// What `nvmlGpmMetricsGet` answers, in the order of the request.
#[derive(Clone, Debug, PartialEq)]
pub struct Metrics(pub Vec<Metric>);

members!(MetricsRequest: version, samples, ids[METRICS_MAX]);

impl Payload<'_> for Metric {
    /// Status, value, and three texts that are not there.
    const LEAST: usize = 4 + 8 + 3;

    fn write(&self, w: &mut Writer) {
        w.u32(self.status);
        w.f64(self.value);
        self.texts.iter().for_each(|text| text.write(w));
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let (status, value) = (r.u32()?, r.f64()?);
        let mut text = || Bounded::at_most(r, METRIC_TEXT_MAX);
        Ok(Self {
            status,
            value,
            texts: [text()?, text()?, text()?],
        })
    }
}

members!(Metrics: 0);

/// What a structure of NVML says in its first version: its size and 1 (NVML_STRUCT_VERSION).
pub const fn first_version<S>() -> u32 {
    size_of::<S>() as u32 | 1 << 24
}

/// A structure of NVML that points to a list of the program, and says how many elements that has room for; NVML puts there how
/// many there are. It travels in the layout of C, in both directions: from the client its pointer is null or not, from the
/// server it is null, and the elements follow.
pub trait Listed: Copy {
    /// An element of the list.
    type Element: Copy;
    /// The one version that is known.
    const VERSION: u32 = first_version::<Self>();

    /// Its version.
    fn version(&self) -> u32;
    /// How many elements there are, or room for them.
    fn count(&mut self) -> &mut c_uint;
    /// The list.
    fn list(&mut self) -> &mut *mut Self::Element;
}

macro_rules! listed {
    ($($structure:ty: $count:ident, $list:ident of $element:ty;)*) => {$(
        impl Listed for $structure {
            type Element = $element;

            fn version(&self) -> u32 {
                self.version
            }

            fn count(&mut self) -> &mut c_uint {
                &mut self.$count
            }

            fn list(&mut self) -> &mut *mut Self::Element {
                &mut self.$list
            }
        }
    )*};
}

listed! {
    nvmlActiveVgpuInstanceInfo_v1_t: vgpuCount, vgpuInstances of nvmlVgpuInstance_t;
    nvmlEccSramUniqueUncorrectedErrorCounts_v1_t:
        entryCount, entries of nvmlEccSramUniqueUncorrectedErrorEntry_v1_t;
    nvmlProcessDetailList_v1_t: numProcArrayEntries, procArray of nvmlProcessDetail_v1_t;
    nvmlProcessesUtilizationInfo_v1_t:
        processSamplesCount, procUtilArray of nvmlProcessUtilizationInfo_v1_t;
    nvmlVgpuCreatablePlacementInfo_v1_t: count, placementIds of c_uint;
    nvmlVgpuInstancesUtilizationInfo_v1_t:
        vgpuInstanceCount, vgpuUtilArray of nvmlVgpuInstanceUtilizationInfo_v1_t;
    nvmlVgpuProcessesUtilizationInfo_v1_t:
        vgpuProcessCount, vgpuProcUtilArray of nvmlVgpuProcessUtilizationInfo_v1_t;
    nvmlVgpuTypeIdInfo_v1_t: vgpuCount, vgpuTypeIds of nvmlVgpuTypeId_t;
}

#[cfg(test)]
mod tests {
    use super::super::tests::comes_back;
    use super::*;
    use crate::types::nvml::{
        nvmlSystemEventSetCreateRequest_v1_t, nvmlSystemEventSetFreeRequest_v1_t,
        nvmlSystemEventSetWaitRequest_v1_t, nvmlSystemRegisterEventRequest_v1_t,
    };

    #[test]
    fn metrics_come_back() {
        let asked = MetricsRequest {
            version: 1,
            samples: [37 << 56 | 16, 37 << 56 | 32],
            ids: vec![2, 11],
        };
        comes_back(&asked, &mut Vec::new());
        let metric = Metric {
            status: 0,
            value: 12.5,
            texts: [Some("sm_util".to_owned()), None, Some("%".to_owned())],
        };
        let refused = Metric {
            status: 3,
            value: 0.0,
            texts: [None, None, None],
        };
        comes_back(&Metrics(vec![metric, refused]), &mut Vec::new());
    }

    #[test]
    fn no_more_metrics_are_asked_for_than_there_can_be() {
        let mut bytes = Vec::new();
        let mut asked = MetricsRequest {
            version: 1,
            samples: [0, 0],
            ids: vec![1; METRICS_MAX],
        };
        comes_back(&asked, &mut bytes);
        asked.ids.push(1);
        assert!(MetricsRequest::read(&mut Reader::new(&asked.to_bytes())).is_err());
    }

    #[test]
    fn versions_are_those_of_the_header() {
        // NVML_STRUCT_VERSION(ProcessesUtilizationInfo, 1) and others: size and number of the structure.
        assert_eq!(nvmlProcessesUtilizationInfo_v1_t::VERSION, 0x0100_0018);
        assert_eq!(nvmlProcessDetailList_v1_t::VERSION, 0x0100_0018);
        assert_eq!(
            nvmlEccSramUniqueUncorrectedErrorCounts_v1_t::VERSION,
            0x0100_0010
        );
        assert_eq!(nvmlActiveVgpuInstanceInfo_v1_t::VERSION, 0x0100_0010);
        assert_eq!(nvmlVgpuCreatablePlacementInfo_v1_t::VERSION, 0x0100_0020);
        assert_eq!(nvmlVgpuInstancesUtilizationInfo_v1_t::VERSION, 0x0100_0020);
        assert_eq!(nvmlVgpuProcessesUtilizationInfo_v1_t::VERSION, 0x0100_0018);
        assert_eq!(nvmlVgpuTypeIdInfo_v1_t::VERSION, 0x0100_0010);
        assert_eq!(
            [
                first_version::<nvmlSystemEventSetCreateRequest_v1_t>(),
                first_version::<nvmlSystemEventSetFreeRequest_v1_t>(),
                first_version::<nvmlSystemRegisterEventRequest_v1_t>(),
                first_version::<nvmlSystemEventSetWaitRequest_v1_t>(),
            ],
            [0x0100_0010, 0x0100_0010, 0x0100_0018, 0x0100_0020]
        );
    }
}
