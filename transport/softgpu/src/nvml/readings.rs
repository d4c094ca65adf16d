//! What changes: memory, utilisation, clocks, temperature, errors.

use std::ffi::{c_int, c_longlong, c_uint, c_ulonglong};
use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use super::mig::{self, Subject};
use super::{DeviceHandle, INVALID_ARGUMENT, NOT_SUPPORTED, Reply, VERSION_MISMATCH, device, nvml};
use crate::abi::{Out, layouts};
use crate::attributes::CLOCK_KHZ;
use crate::device::Device;
use crate::error::fail_if;

layouts! {
    /// `nvmlMemory_t`, bytes.
    #[derive(Default)]
    Memory {
        total: c_ulonglong,
        free: c_ulonglong,
        used: c_ulonglong,
    }

    /// `nvmlMemory_v2_t`, bytes.
    #[derive(Default)]
    MemoryV2 {
        version: c_uint,
        total: c_ulonglong,
        reserved: c_ulonglong,
        free: c_ulonglong,
        used: c_ulonglong,
    }

    /// `nvmlUtilization_t`, per cent.
    #[derive(Default)]
    Utilization {
        gpu: c_uint,
        memory: c_uint,
    }

    /// `nvmlFieldValue_t`.
    FieldValue {
        field: c_uint,
        scope: c_uint,
        timestamp: c_longlong,
        latency_us: c_longlong,
        value_type: c_uint,
        result: c_uint,
        value: u64,
    }

    /// `nvmlTemperature_v1_t`.
    Temperature {
        version: c_uint,
        sensor: c_uint,
        degrees: c_int,
    }
}

/// `nvmlValueType_t`: unsigned long long.
const VALUE_U64: c_uint = 3;
/// Fields of totals of ECC errors: corrected and uncorrected, since start and ever.
const FIELD_ECC_MODE: c_uint = 1;
const FIELD_ECC: [(c_uint, bool); 4] = [(3, false), (4, true), (5, false), (6, true)];

/// Of an instance in MIG mode that of its GPU instance: programs compute in the first.
fn memory(subject: &Subject) -> Memory {
    let device = subject.device();
    let (total, used) = match subject {
        Subject::Whole(_) => (device.memory, device.used()),
        Subject::Part(_, instance, _) => {
            let first = mig::instances(device).first().map(|first| first.gi);
            let used = if first == Some(instance.gi) {
                device.used()
            } else {
                0
            };
            (instance.memory(device.memory), used)
        }
    };
    Memory {
        total,
        free: total.saturating_sub(used),
        used,
    }
}

/// Errors injected, or of failed launches, by kind (1: uncorrected).
fn ecc(device: &Device, kind: c_uint) -> Reply<u64> {
    let injected = device.faults.injected();
    match kind {
        0 => Ok(injected.ecc_corrected),
        1 => Ok(injected.ecc_uncorrected + device.ecc_uncorrected.load(Ordering::Relaxed)),
        _ => Err(INVALID_ARGUMENT),
    }
}

/// Graphics, multiprocessors, memory, video.
fn clock(kind: c_uint) -> Reply<c_uint> {
    if kind < 4 {
        Ok(CLOCK_KHZ / 1000)
    } else {
        Err(INVALID_ARGUMENT)
    }
}

/// Reasons why clocks are low: those that were reported, else that nothing runs.
fn reasons(device: &Device) -> c_ulonglong {
    let injected = device.faults.injected().throttle;
    let idle = u64::from(device.busy().utilisation() == 0);
    if injected != 0 { injected } else { idle }
}

fn temperature(device: &Device) -> Reply<c_uint> {
    device.faults.injected().temperature.ok_or(NOT_SUPPORTED)
}

/// Temperature of the memory; power, mean of a second, by scope (2: the memory), milliwatts; what the driver asks for.
const FIELD_MEMORY_TEMPERATURE: c_uint = 82;
const FIELD_POWER_AVERAGE: c_uint = 185;
const SCOPE_MEMORY: c_uint = 2;
const FIELD_RECOVERY_ACTION: c_uint = 230;

fn field(device: &Device, id: c_uint, scope: c_uint) -> Reply<u64> {
    if id == FIELD_ECC_MODE {
        return Ok(1);
    }
    let reported = device.faults.injected().reported;
    let found = match (id, scope) {
        (FIELD_MEMORY_TEMPERATURE, _) => reported.memory_temperature.map(u64::from),
        (FIELD_POWER_AVERAGE, SCOPE_MEMORY) => reported.memory_power.map(|w| u64::from(w) * 1000),
        (FIELD_RECOVERY_ACTION, _) => reported.recovery.map(u64::from),
        _ => None,
    };
    if let Some(value) = found {
        return Ok(value);
    }
    let ecc_field = FIELD_ECC.iter().find(|(field, _)| *field == id);
    let (_, uncorrected) = ecc_field.ok_or(NOT_SUPPORTED)?;
    ecc(device, c_uint::from(*uncorrected))
}

nvml! {
    /// Memory of a device.
    fn nvmlDeviceGetMemoryInfo(handle: DeviceHandle, out: Out<Memory>) {
        Ok(out.put(memory(&Subject::of(handle)?))?)
    }

    /// Memory of a device.
    fn nvmlDeviceGetMemoryInfo_v2(handle: DeviceHandle, out: Out<MemoryV2>) {
        let version = out.get()?.version;
        fail_if(version != 2 << 24 | size_of::<MemoryV2>() as u32, VERSION_MISMATCH)?;
        let Memory { total, free, used } = memory(&Subject::of(handle)?);
        Ok(out.put(MemoryV2 { version, total, reserved: 0, free, used })?)
    }

    /// Memory that the host can address directly: all.
    fn nvmlDeviceGetBAR1MemoryInfo(handle: DeviceHandle, out: Out<Memory>) {
        Ok(out.put(memory(&Subject::of(handle)?))?)
    }

    /// Share of time in which kernels ran; memory accesses are not measured. There is none in MIG mode.
    fn nvmlDeviceGetUtilizationRates(handle: DeviceHandle, out: Out<Utilization>) {
        let device = Subject::of(handle)?.device();
        fail_if(mig::is_divided(device), NOT_SUPPORTED)?;
        let gpu = device.busy().utilisation();
        Ok(out.put(Utilization { gpu, memory: 0 })?)
    }

    /// Clock, MHz.
    fn nvmlDeviceGetClockInfo, nvmlDeviceGetMaxClockInfo, nvmlDeviceGetApplicationsClock,
        nvmlDeviceGetDefaultApplicationsClock(
        handle: DeviceHandle, kind: c_uint, mhz: Out<c_uint>,
    ) {
        device(handle)?;
        Ok(mhz.put(clock(kind)?)?)
    }

    /// Clock, MHz.
    fn nvmlDeviceGetClock(handle: DeviceHandle, kind: c_uint, id: c_uint, mhz: Out<c_uint>) {
        let _ = id;
        device(handle)?;
        Ok(mhz.put(clock(kind)?)?)
    }

    /// Why clocks are low (bits).
    fn nvmlDeviceGetCurrentClocksEventReasons, nvmlDeviceGetCurrentClocksThrottleReasons(
        handle: DeviceHandle, out: Out<c_ulonglong>,
    ) {
        Ok(out.put(reasons(device(handle)?))?)
    }

    /// Reasons that can be injected (bits).
    fn nvmlDeviceGetSupportedClocksEventReasons, nvmlDeviceGetSupportedClocksThrottleReasons(
        handle: DeviceHandle, out: Out<c_ulonglong>,
    ) {
        device(handle)?;
        Ok(out.put(0x1ed)?)
    }

    /// Temperature in degrees Celsius, if one was injected.
    fn nvmlDeviceGetTemperature(handle: DeviceHandle, sensor: c_uint, degrees: Out<c_uint>) {
        let device = device(handle)?;
        fail_if(sensor != 0, INVALID_ARGUMENT)?;
        Ok(degrees.put(temperature(device)?)?)
    }

    /// Temperature in degrees Celsius, if one was injected.
    fn nvmlDeviceGetTemperatureV(handle: DeviceHandle, out: Out<Temperature>) {
        let device = device(handle)?;
        let asked = out.get()?;
        let degrees = temperature(device)? as c_int;
        Ok(out.put(Temperature { degrees, ..asked })?)
    }

    /// Whether memory is checked: as errors can be reported, yes.
    fn nvmlDeviceGetEccMode(handle: DeviceHandle, current: Out<c_uint>, pending: Out<c_uint>) {
        device(handle)?;
        current.put(1)?;
        Ok(pending.put(1)?)
    }

    /// Errors of all memories, that were reported.
    fn nvmlDeviceGetTotalEccErrors(
        handle: DeviceHandle, kind: c_uint, period: c_uint, count: Out<c_ulonglong>,
    ) {
        let device = device(handle)?;
        fail_if(period > 1, INVALID_ARGUMENT)?;
        Ok(count.put(ecc(device, kind)?)?)
    }

    /// Errors of one memory: those that were injected are the device memory's.
    fn nvmlDeviceGetMemoryErrorCounter(
        handle: DeviceHandle, kind: c_uint, period: c_uint, place: c_uint,
        count: Out<c_ulonglong>,
    ) {
        let device = device(handle)?;
        fail_if(period > 1, INVALID_ARGUMENT)?;
        let all = ecc(device, kind)?;
        Ok(count.put(if place == 2 { all } else { 0 })?)
    }

    /// Several values by number.
    fn nvmlDeviceGetFieldValues(handle: DeviceHandle, count: c_int, values: Out<FieldValue>) {
        let device = device(handle)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        for index in 0..usize::try_from(count).map_err(|_| INVALID_ARGUMENT)? {
            let asked = values.at(index)?;
            let (result, value) = match field(device, asked.field, asked.scope) {
                Ok(value) => (0, value),
                Err(error) => (error.0, 0),
            };
            let timestamp = now.as_micros() as c_longlong;
            values.put_at(
                index,
                FieldValue { timestamp, latency_us: 0, value_type: VALUE_U64, result, value, ..asked },
            )?;
        }
        Ok(())
    }

    /// 0: there is no display, no memory that cannot be repaired, and one device a board; the brand is unknown, all may make
    /// contexts, and the performance state is the highest.
    fn nvmlDeviceGetBrand, nvmlDeviceGetComputeMode, nvmlDeviceGetDisplayActive, nvmlDeviceGetDisplayMode,
        nvmlDeviceGetMultiGpuBoard, nvmlDeviceGetPerformanceState, nvmlDeviceGetPowerState,
        nvmlDeviceGetUnrepairableMemoryFlag_v1(handle: DeviceHandle, out: Out<c_uint>) {
        device(handle)?;
        Ok(out.put(0)?)
    }

    /// Whether the driver stays loaded without users: there is nothing to load.
    fn nvmlDeviceGetPersistenceMode(handle: DeviceHandle, out: Out<c_uint>) {
        device(handle)?;
        Ok(out.put(1)?)
    }
}

// As nvml.h lays them out.
const _: () = {
    assert!(size_of::<MemoryV2>() == 40);
    assert!(size_of::<FieldValue>() == 40);
    assert!(size_of::<Temperature>() == 12);
};
