//! GPM: what a device did between two samples. Of a CPU emulator that is the share of time in which kernels ran.

use std::ffi::{CStr, c_char, c_uint};
use std::ptr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::{
    DeviceHandle, INVALID_ARGUMENT, NOT_SUPPORTED, Reply, VERSION_MISMATCH, device, mig, nvml,
    state,
};
use crate::abi::{Out, layouts};
use crate::device::Device;
use crate::error::fail_if;
use crate::registry::{Registry, mint};
use crate::sync::lock;

/// Version of the structures here.
const VERSION: c_uint = 1;
const KIND: u8 = 0x22;

layouts! {
    /// `nvmlGpmSupport_t`.
    #[derive(Default)]
    Support {
        version: c_uint,
        supported: c_uint,
    }

    /// `nvmlGpmMetric_t`.
    Metric {
        id: c_uint,
        result: c_uint,
        value: f64,
        short_name: *const c_char,
        long_name: *const c_char,
        unit: *const c_char,
    }

    /// The beginning of `nvmlGpmMetricsGet_t`, which metrics follow.
    MetricsGet {
        version: c_uint,
        count: c_uint,
        samples: [u64; 2],
    }
}

/// The metrics that there are: number, short name, long name.
const METRICS: [(c_uint, &CStr, &CStr); 2] = [
    (1, c"graphics_util", c"Share of time in which kernels ran"),
    (2, c"sm_util", c"Share of time in which kernels ran"),
];

/// What a sample of a device, or of a GPU instance of it, says.
#[derive(Clone, Copy)]
struct Taken {
    of: (usize, Option<c_uint>),
    at: Instant,
    busy: Duration,
}

#[derive(Default)]
struct Sample(Mutex<Option<Taken>>);

impl Sample {
    fn take(&self, device: &Device, instance: Option<c_uint>) {
        let (at, mut busy) = device.busy().total();
        // Programs run in the first instance.
        let first = mig::instances(device).first().map(|one| one.gi);
        if instance != first {
            busy = Duration::ZERO;
        }
        let of = (device.index, instance);
        *lock(&self.0) = Some(Taken { of, at, busy });
    }
}

static SAMPLES: Registry<Sample> = Registry::new();

fn find(sample: u64) -> Reply<Arc<Sample>> {
    state()?;
    SAMPLES.get(sample).ok_or(INVALID_ARGUMENT)
}

/// The share of time between two samples in which kernels ran, per cent.
fn share([first, second]: [u64; 2]) -> Reply<f64> {
    let taken = |sample| lock(&find(sample)?.0).ok_or(INVALID_ARGUMENT);
    let (first, second) = (taken(first)?, taken(second)?);
    fail_if(
        first.of != second.of || first.at >= second.at,
        INVALID_ARGUMENT,
    )?;
    let (busy, time) = (second.busy - first.busy, second.at - first.at);
    Ok((busy.as_secs_f64() / time.as_secs_f64() * 100.0).clamp(0.0, 100.0))
}

nvml! {
    /// Every device has samples.
    fn nvmlGpmQueryDeviceSupport(handle: DeviceHandle, out: Out<Support>) {
        device(handle)?;
        let version = out.get()?.version;
        fail_if(version != VERSION, VERSION_MISMATCH)?;
        Ok(out.put(Support { version, supported: 1 })?)
    }

    /// A sample, of nothing yet.
    fn nvmlGpmSampleAlloc(out: Out<u64>) {
        state()?;
        let handle = mint(KIND);
        out.put(handle)?;
        SAMPLES.insert(handle, Arc::default());
        Ok(())
    }

    /// Ends a sample.
    fn nvmlGpmSampleFree(sample: u64) {
        find(sample)?;
        SAMPLES.remove(sample);
        Ok(())
    }

    /// Takes a sample of a device that is not in MIG mode.
    fn nvmlGpmSampleGet(handle: DeviceHandle, sample: u64) {
        let (device, sample) = (device(handle)?, find(sample)?);
        fail_if(mig::is_divided(device), NOT_SUPPORTED)?;
        sample.take(device, None);
        Ok(())
    }

    /// Takes a sample of a GPU instance.
    fn nvmlGpmMigSampleGet(handle: DeviceHandle, instance: c_uint, sample: u64) {
        let (device, sample) = (device(handle)?, find(sample)?);
        fail_if(!mig::instances(device).iter().any(|one| one.gi == instance), INVALID_ARGUMENT)?;
        sample.take(device, Some(instance));
        Ok(())
    }

    /// What was between two samples of the same device or instance.
    fn nvmlGpmMetricsGet(out: Out<MetricsGet>) {
        let get = out.get()?;
        fail_if(get.version != VERSION, VERSION_MISMATCH)?;
        let share = share(get.samples)?;
        let metrics = out.behind::<Metric>();
        for index in 0..get.count as usize {
            let id = metrics.at(index)?.id;
            let found = METRICS.iter().find(|(known, ..)| *known == id);
            metrics.put_at(index, match found {
                Some((_, short, long)) => Metric {
                    id,
                    result: 0,
                    value: share,
                    short_name: short.as_ptr(),
                    long_name: long.as_ptr(),
                    unit: c"%".as_ptr(),
                },
                None => Metric {
                    id,
                    result: NOT_SUPPORTED.0,
                    value: 0.0,
                    short_name: ptr::null(),
                    long_name: ptr::null(),
                    unit: ptr::null(),
                },
            })?;
        }
        Ok(())
    }
}
