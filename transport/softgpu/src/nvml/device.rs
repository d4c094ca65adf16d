//! Devices: finding them and what does not change.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong};

use super::mig::Subject;
use super::system::put_text;
use super::{
    DeviceHandle, INVALID_ARGUMENT, NOT_FOUND, Reply, VERSION_MISMATCH, any_device, device,
    handle_of, nvml, state,
};
use crate::abi::{Name, Out, layouts};
use crate::attributes::{MAJOR, MINOR, multiprocessors};
use crate::device::{Device, PCI_DOMAIN};
use crate::error::fail_if;

layouts! {
    /// `nvmlPciInfo_t`.
    PciInfo {
        bus_id_legacy: [u8; 16],
        domain: c_uint,
        bus: c_uint,
        device: c_uint,
        pci_device_id: c_uint,
        pci_subsystem_id: c_uint,
        bus_id: [u8; 32],
    }

    /// `nvmlPciInfo_t` of NVML 1.
    PciInfo1 {
        bus_id: [u8; 16],
        domain: c_uint,
        bus: c_uint,
        device: c_uint,
        pci_device_id: c_uint,
    }

    /// `nvmlPciInfo_t` of NVML 2, without what is reserved.
    PciInfo2 {
        first: PciInfo1,
        pci_subsystem_id: c_uint,
    }
}

impl PciInfo {
    /// What NVML 1 has of it.
    fn first(&self) -> PciInfo1 {
        PciInfo1 {
            bus_id: self.bus_id_legacy,
            domain: self.domain,
            bus: self.bus,
            device: self.device,
            pci_device_id: self.pci_device_id,
        }
    }
}

layouts! {
    /// `nvmlPciInfoExt_v1_t`.
    PciInfoExt {
        version: c_uint,
        domain: c_uint,
        bus: c_uint,
        device: c_uint,
        pci_device_id: c_uint,
        pci_subsystem_id: c_uint,
        base_class: c_uint,
        sub_class: c_uint,
        bus_id: [u8; 32],
    }
}

/// Vendor and device as PCI has them. The stand-in is no PCI device: NVIDIA's vendor number, for
/// programs that look for it, with a device number that no GPU has.
const PCI_ID: u32 = 0xffff_10de;

/// `text` in an array, filled with NUL.
pub(super) fn fixed<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = [0; N];
    let length = text.len().min(N - 1);
    bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
    bytes
}

/// PCI address as NVML prints it.
fn bus_id(device: &Device) -> String {
    format!("{PCI_DOMAIN:08X}:{:02X}:00.0", device.bus())
}

fn pci_info(device: &Device) -> PciInfo {
    PciInfo {
        bus_id_legacy: fixed(&format!("{PCI_DOMAIN:04X}:{:02X}:00.0", device.bus())),
        domain: PCI_DOMAIN,
        bus: device.bus(),
        device: 0,
        pci_device_id: PCI_ID,
        pci_subsystem_id: 0,
        bus_id: fixed(&bus_id(device)),
    }
}

/// Whether `text` is the PCI address of `device`, with a domain of 4 or 8 digits or none.
fn is_at(device: &Device, text: &str) -> bool {
    let text = text.trim_start_matches("0000").to_ascii_uppercase();
    let full = bus_id(device);
    let full = full.trim_start_matches("0000");
    text == full || format!("{text}.0") == full
}

fn find(out: Out<DeviceHandle>, which: impl Fn(&Device) -> bool) -> Reply {
    let found = state()?
        .devices
        .iter()
        .find(|device| which(device))
        .ok_or(NOT_FOUND)?;
    let handle = handle_of(found);
    // A lost device is reported when it is looked up, as NVML does.
    device(handle)?;
    Ok(out.put(handle)?)
}

nvml! {
    /// Number of devices.
    fn nvmlDeviceGetCount, nvmlDeviceGetCount_v2(count: Out<c_uint>) {
        Ok(count.put(state()?.devices.len() as c_uint)?)
    }

    /// The device of an index.
    fn nvmlDeviceGetHandleByIndex, nvmlDeviceGetHandleByIndex_v2(
        index: c_uint, out: Out<DeviceHandle>,
    ) {
        fail_if(index as usize >= state()?.devices.len(), INVALID_ARGUMENT)?;
        find(out, |device| device.index == index as usize)
    }

    /// The device of a UUID.
    fn nvmlDeviceGetHandleByUUID(uuid: Name, out: Out<DeviceHandle>) {
        let uuid = uuid.text()?;
        if uuid.starts_with("MIG-") {
            let found = super::mig::by_uuid(&uuid, &state()?.devices).ok_or(NOT_FOUND)?;
            return Ok(out.put(found)?);
        }
        let uuid = uuid.strip_prefix("GPU-").unwrap_or(&uuid);
        find(out, |device| device.uuid_text().strip_prefix("GPU-") == Some(uuid))
    }

    /// The device at a PCI address.
    fn nvmlDeviceGetHandleByPciBusId, nvmlDeviceGetHandleByPciBusId_v2(
        address: Name, out: Out<DeviceHandle>,
    ) {
        let address = address.text()?;
        find(out, |device| is_at(device, &address))
    }

    /// Name of a device.
    fn nvmlDeviceGetName(handle: DeviceHandle, name: Out<c_char>, length: c_uint) {
        put_text(name, length, &Subject::of(handle)?.name())
    }

    /// Index of a device.
    fn nvmlDeviceGetIndex(handle: DeviceHandle, index: Out<c_uint>) {
        Ok(index.put(any_device(handle)?.index as c_uint)?)
    }

    /// Number in the name of the device file that a real GPU would have.
    fn nvmlDeviceGetMinorNumber(handle: DeviceHandle, minor: Out<c_uint>) {
        Ok(minor.put(device(handle)?.index as c_uint)?)
    }

    /// UUID of a device.
    fn nvmlDeviceGetUUID(handle: DeviceHandle, uuid: Out<c_char>, length: c_uint) {
        put_text(uuid, length, &Subject::of(handle)?.uuid())
    }

    /// PCI address of a device.
    fn nvmlDeviceGetPciInfo_v3(handle: DeviceHandle, info: Out<PciInfo>) {
        Ok(info.put(pci_info(device(handle)?))?)
    }

    /// The same in the structure of NVML 1.
    fn nvmlDeviceGetPciInfo(handle: DeviceHandle, info: Out<PciInfo1>) {
        Ok(info.put(pci_info(device(handle)?).first())?)
    }

    /// The same in the structure of NVML 2, whose 16 reserved bytes behind it are left as they are.
    fn nvmlDeviceGetPciInfo_v2(handle: DeviceHandle, info: Out<PciInfo2>) {
        let whole = pci_info(device(handle)?);
        Ok(info.put(PciInfo2 {
            first: whole.first(),
            pci_subsystem_id: whole.pci_subsystem_id,
        })?)
    }

    /// PCI address and class of a device.
    fn nvmlDeviceGetPciInfoExt(handle: DeviceHandle, info: Out<PciInfoExt>) {
        let device = device(handle)?;
        let version = info.get()?.version;
        fail_if(version != 1 << 24 | size_of::<PciInfoExt>() as u32, VERSION_MISMATCH)?;
        let plain = pci_info(device);
        Ok(info.put(PciInfoExt {
            version,
            domain: plain.domain,
            bus: plain.bus,
            device: 0,
            pci_device_id: plain.pci_device_id,
            pci_subsystem_id: 0,
            base_class: 3,
            sub_class: 2,
            bus_id: plain.bus_id,
        })?)
    }

    /// Compute capability.
    fn nvmlDeviceGetCudaComputeCapability(
        handle: DeviceHandle, major: Out<c_int>, minor: Out<c_int>,
    ) {
        device(handle)?;
        major.put(MAJOR)?;
        Ok(minor.put(MINOR)?)
    }

    /// Architecture: unknown, as it is none of NVIDIA's.
    fn nvmlDeviceGetArchitecture(handle: DeviceHandle, architecture: Out<c_uint>) {
        device(handle)?;
        Ok(architecture.put(c_uint::MAX)?)
    }

    /// Multiprocessors times one core each.
    fn nvmlDeviceGetNumGpuCores(handle: DeviceHandle, cores: Out<c_uint>) {
        device(handle)?;
        Ok(cores.put(multiprocessors())?)
    }

    /// Width of the memory bus, bits.
    fn nvmlDeviceGetMemoryBusWidth(handle: DeviceHandle, bits: Out<c_uint>) {
        device(handle)?;
        Ok(bits.put(128)?)
    }

    /// A number that the devices of one board share.
    fn nvmlDeviceGetBoardId(handle: DeviceHandle, board: Out<c_uint>) {
        Ok(board.put(device(handle)?.bus() << 8)?)
    }

    /// Whether two devices are on one board.
    fn nvmlDeviceOnSameBoard(first: DeviceHandle, second: DeviceHandle, same: Out<c_int>) {
        Ok(same.put(c_int::from(device(first)?.index == device(second)?.index))?)
    }

    /// What two devices have in common on the way: the CPU.
    fn nvmlDeviceGetTopologyCommonAncestor(
        first: DeviceHandle, second: DeviceHandle, level: Out<c_uint>,
    ) {
        let same = device(first)?.index == device(second)?.index;
        Ok(level.put(if same { 0 } else { 30 })?)
    }

    /// What of each other's memory two devices reach, by the kind of access (`NVML_P2P_CAPS_INDEX_*`): all
    /// but what needs NVLink.
    fn nvmlDeviceGetP2PStatus(
        first: DeviceHandle, second: DeviceHandle, index: c_uint, status: Out<c_uint>,
    ) {
        /// `NVML_P2P_STATUS_OK` and `NVML_P2P_STATUS_NOT_SUPPORTED`.
        const REACHED: c_uint = 0;
        const ABSENT: c_uint = 5;
        device(first)?;
        device(second)?;
        let found = match index {
            0 | 1 | 3 | 4 => REACHED, // read, write, atomics, PCI
            2 => ABSENT,              // NVLink
            _ => return Err(INVALID_ARGUMENT),
        };
        Ok(status.put(found)?)
    }

    /// Kinds of events that a device reports: Xids.
    fn nvmlDeviceGetSupportedEventTypes(handle: DeviceHandle, types: Out<c_ulonglong>) {
        device(handle)?;
        Ok(types.put(super::events::XID)?)
    }
}

// As nvml.h lays them out.
const _: () = {
    assert!(size_of::<PciInfo>() == 68);
    assert!(size_of::<PciInfoExt>() == 64);
};
