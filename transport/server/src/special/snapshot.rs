//! The driver's start, and what the client learns of it once.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

use gtrace_cuda::payload::{
    ATTRIBUTES, DEVICES_MAX, DeviceSnapshot, Payload as _, Permitted, Snapshot, SnapshotRequest,
    visible,
};
use gtrace_cuda::types::driver::{CUdevice, CUuuid};
use gtrace_protocol::{Reader, Writer};

use super::{NOT_SUPPORTED, SUCCESS, checked};
use crate::exec::{Called, Code, Exec};
use crate::generated::driver::Driver;
use crate::supervisor::{Device, DriverInfo};

/// Starts the driver; it finds the devices that its environment shows it.
pub(crate) fn init(driver: &Driver) -> Result<(), Code> {
    let call = driver.cuInit.ok_or(NOT_SUPPORTED)?;
    // SAFETY: a call with a number.
    checked(unsafe { call(0) })
}

/// Makes a context of the driver current in this thread; the driver's status.
pub(crate) fn set_current(driver: &Driver, context: *mut c_void) -> Code {
    match driver.cuCtxSetCurrent {
        // SAFETY: null, or a context that the driver made.
        Some(call) => unsafe { call(context.cast()) }.cast_signed(),
        None => NOT_SUPPORTED,
    }
}

/// Frees memory that the client does not know of.
pub(crate) fn free(driver: &Driver, address: u64) {
    // SAFETY: an address that the driver has just given, and that nobody else knows.
    let freed = driver.cuMemFree_v2.map(|call| unsafe { call(address) });
    if freed != Some(0) {
        tracing::warn!("memory beyond the limit is not free again: {freed:?}");
    }
}

/// Whether the device's primary context exists.
pub(crate) fn primary_is_active(driver: &Driver, device: CUdevice) -> bool {
    let (mut flags, mut active) = (0, 0);
    let asked = driver
        .cuDevicePrimaryCtxGetState
        // SAFETY: two ints to write to.
        .map(|call| unsafe { call(device, &raw mut flags, &raw mut active) });
    asked != Some(0) || active != 0
}

/// What the driver and its devices are.
pub(crate) fn devices(driver: &Driver) -> Result<DriverInfo, Code> {
    let snapshot = take(driver)?;
    let devices = snapshot.devices.iter().map(|device| Device {
        name: device.name.clone(),
        uuid: uuid_text(device.uuid),
        pci: device.pci_bus_id.clone(),
        memory: device.total_memory,
    });
    Ok(DriverInfo {
        version: snapshot.driver_version,
        devices: devices.collect(),
        ..DriverInfo::default()
    })
}

/// As CUDA_VISIBLE_DEVICES and nvidia-smi write it.
fn uuid_text(uuid: [u8; 16]) -> String {
    let hex: String = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "GPU-{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    )
}

/// A text of the driver.
fn text(call: impl FnOnce(*mut c_char, c_int) -> u32) -> Result<String, Code> {
    let mut room: [c_char; 256] = [0; 256];
    checked(call(room.as_mut_ptr(), 255))?;
    // SAFETY: the last byte is zero whatever the driver wrote, as it was given a length of 255.
    let text = unsafe { CStr::from_ptr(room.as_ptr()) };
    Ok(text.to_string_lossy().into_owned())
}

fn take(driver: &Driver) -> Result<Snapshot, Code> {
    let (mut version, mut count) = (0, 0);
    let get_version = driver.cuDriverGetVersion.ok_or(NOT_SUPPORTED)?;
    let get_count = driver.cuDeviceGetCount.ok_or(NOT_SUPPORTED)?;
    // SAFETY: ints to write to.
    checked(unsafe { get_version(&raw mut version) })?;
    // SAFETY: as above.
    checked(unsafe { get_count(&raw mut count) })?;
    let count = usize::try_from(count).unwrap_or(0).min(DEVICES_MAX);
    let mut devices = Vec::with_capacity(count);
    for ordinal in 0..count as c_int {
        devices.push(device(driver, ordinal)?);
    }
    Ok(Snapshot {
        driver_version: version,
        devices,
    })
}

fn device(driver: &Driver, ordinal: c_int) -> Result<DeviceSnapshot, Code> {
    let mut device: CUdevice = 0;
    let get = driver.cuDeviceGet.ok_or(NOT_SUPPORTED)?;
    // SAFETY: an int to write to.
    checked(unsafe { get(&raw mut device, ordinal) })?;
    let mut snapshot = DeviceSnapshot::default();
    if let Some(call) = driver.cuDeviceGetName {
        // SAFETY: room of the size that is reported.
        snapshot.name = text(|to, len| unsafe { call(to, len, device) })?;
    }
    if let Some(call) = driver.cuDeviceGetPCIBusId {
        // SAFETY: room of the size that is reported.
        snapshot.pci_bus_id = text(|to, len| unsafe { call(to, len, device) })?;
    }
    let uuid = |call: Option<unsafe extern "C" fn(*mut CUuuid, CUdevice) -> u32>| {
        // SAFETY: zeros are a UUID.
        let mut uuid: CUuuid = unsafe { std::mem::zeroed() };
        // SAFETY: a UUID to write to.
        let status = call.map(|call| unsafe { call(&raw mut uuid, device) });
        (status == Some(0)).then(|| uuid.bytes.map(|byte| byte as u8))
    };
    snapshot.uuid = uuid(driver.cuDeviceGetUuid).unwrap_or_default();
    snapshot.uuid_v2 = uuid(driver.cuDeviceGetUuid_v2).unwrap_or(snapshot.uuid);
    let mut bytes = 0usize;
    if let Some(call) = driver.cuDeviceTotalMem_v2 {
        // SAFETY: a size to write to.
        checked(unsafe { call(&raw mut bytes, device) })?;
    }
    snapshot.total_memory = bytes as u64;
    if let Some(call) = driver.cuDeviceGetAttribute {
        for attribute in ATTRIBUTES {
            let mut value: c_int = 0;
            // SAFETY: an int to write to; the driver refuses attributes that it does not know.
            let status = unsafe { call(&raw mut value, attribute.cast_unsigned(), device) };
            if status == 0 {
                snapshot.attributes.push((attribute, value));
            }
        }
    }
    if let Some(call) = driver.cuDevicePrimaryCtxGetState {
        let (mut flags, mut active) = (0, 0);
        // SAFETY: two ints to write to.
        if unsafe { call(device, &raw mut flags, &raw mut active) } == 0 {
            snapshot.primary_flags = flags;
        }
    }
    Ok(snapshot)
}

/// Sets what the driver reads when it starts, as the client's own driver would have read it.
fn set_environment(exec: &Exec, request: &SnapshotRequest) {
    let start = &exec.session.start;
    let mut permitted: Vec<&Device> = start.permitted.iter().collect();
    if request.device_order.as_deref() == Some("PCI_BUS_ID") {
        permitted.sort_by(|a, b| a.pci.cmp(&b.pci));
    }
    let permitted: Vec<Permitted> = permitted
        .into_iter()
        .map(|device| Permitted {
            uuid: device.uuid.clone(),
        })
        .collect();
    let wanted = request.visible_devices.as_deref();
    let value = visible(&permitted, wanted);
    let restricted = wanted.is_some() || start.limits.gpus.is_some();
    let order = request.device_order.clone();
    // SAFETY: the worker's own threads read no variables from here on, and the driver reads its own
    // in the call of cuInit that follows in this thread.
    unsafe {
        if restricted {
            std::env::set_var("CUDA_VISIBLE_DEVICES", value);
        }
        if let Some(order) = order {
            std::env::set_var("CUDA_DEVICE_ORDER", order);
        }
    }
}

/// Starts the driver, once a session, and says what it found.
pub(crate) fn snapshot(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    static STARTED: OnceLock<Result<(), Code>> = OnceLock::new();
    let request = SnapshotRequest::whole(r)?;
    let driver = exec.driver;
    (*STARTED.get_or_init(|| {
        set_environment(exec, &request);
        init(driver)
    }))?;
    let mut snapshot = take(driver)?;
    if let Some(max) = exec.session.memory.max() {
        for device in &mut snapshot.devices {
            device.total_memory = device.total_memory.min(max);
        }
    }
    snapshot.write(w);
    Ok(SUCCESS)
}
