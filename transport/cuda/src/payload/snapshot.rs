//! What the client learns once, to answer by itself from then on.

use gtrace_protocol::members;

/// `CUdevice_attribute` values that are asked for. CUDA 13 defines some 150; those that the driver
/// does not know are left out of the snapshot, and the client answers INVALID_VALUE for them.
pub const ATTRIBUTES: std::ops::RangeInclusive<i32> = 1..=200;
/// Most devices of a snapshot.
pub const DEVICES_MAX: usize = 256;
const TEXT_MAX: usize = 4096;

/// Asks for the snapshot. The first one of a session initialises the driver: the server's process
/// calls `cuInit` only then, with these variables (and its own limits) in its environment, so that
/// ordinals are the same on both sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnapshotRequest {
    /// The client's CUDA_VISIBLE_DEVICES, if set: indexes count among what the server permits.
    pub visible_devices: Option<String>,
    /// The client's CUDA_DEVICE_ORDER, if set.
    pub device_order: Option<String>,
}

/// One device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceSnapshot {
    /// `cuDeviceGetName`.
    pub name: String,
    /// `cuDeviceGetUuid`.
    pub uuid: [u8; 16],
    /// `cuDeviceGetUuid_v2`: that of the MIG instance where there is one.
    pub uuid_v2: [u8; 16],
    /// `cuDeviceGetPCIBusId`.
    pub pci_bus_id: String,
    /// `cuDeviceTotalMem_v2`, bytes.
    pub total_memory: u64,
    /// `cuDeviceGetAttribute`: (attribute, value), those of [`ATTRIBUTES`] that the driver knows.
    pub attributes: Vec<(i32, i32)>,
    /// Flags of the primary context (`cuDevicePrimaryCtxGetState`).
    pub primary_flags: u32,
}

/// Driver and devices of a server, as this session sees them. Absent if `cuInit` failed, whose
/// result is the reply's status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// `cuDriverGetVersion`.
    pub driver_version: i32,
    /// By ordinal.
    pub devices: Vec<DeviceSnapshot>,
}

members!(SnapshotRequest: visible_devices[TEXT_MAX], device_order[TEXT_MAX]);
members!(DeviceSnapshot:
    name[TEXT_MAX], uuid, uuid_v2, pci_bus_id[TEXT_MAX], total_memory, attributes, primary_flags
);
members!(Snapshot: driver_version, devices[DEVICES_MAX]);

#[cfg(test)]
mod tests {
    use super::super::tests::comes_back;
    use super::*;

    #[test]
    fn snapshots_come_back() {
        let request = SnapshotRequest {
            visible_devices: Some("1,0".into()),
            device_order: None,
        };
        comes_back(&request, &mut Vec::new());
        let device = DeviceSnapshot {
            name: "gtrace softgpu (CPU emulator) 0".into(),
            uuid: [3; 16],
            pci_bus_id: "0000:01:00.0".into(),
            total_memory: 4 << 30,
            attributes: vec![(1, 1024), (16, -1)],
            primary_flags: 4,
            ..DeviceSnapshot::default()
        };
        let snapshot = Snapshot {
            driver_version: 13_000,
            devices: vec![device; 2],
        };
        comes_back(&snapshot, &mut Vec::new());
    }
}
