//! What the client learns once, to answer by itself from then on.

use gtrace_protocol::{DecodeError, Reader, Writer};

use super::{Payload, get_text, put_text};

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

impl Payload<'_> for SnapshotRequest {
    fn write(&self, w: &mut Writer) {
        put_text(w, self.visible_devices.as_deref());
        put_text(w, self.device_order.as_deref());
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            visible_devices: get_text(r, TEXT_MAX)?,
            device_order: get_text(r, TEXT_MAX)?,
        })
    }
}

impl Payload<'_> for DeviceSnapshot {
    fn write(&self, w: &mut Writer) {
        w.str(&self.name);
        w.raw(&self.uuid);
        w.raw(&self.uuid_v2);
        w.str(&self.pci_bus_id);
        w.u64(self.total_memory);
        self.attributes.write(w);
        w.u32(self.primary_flags);
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            name: r.str(TEXT_MAX)?.to_owned(),
            uuid: r.array()?,
            uuid_v2: r.array()?,
            pci_bus_id: r.str(TEXT_MAX)?.to_owned(),
            total_memory: r.u64()?,
            attributes: Payload::read(r)?,
            primary_flags: r.u32()?,
        })
    }
}

impl Payload<'_> for Snapshot {
    fn write(&self, w: &mut Writer) {
        w.i32(self.driver_version);
        self.devices.write(w);
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let driver_version = r.i32()?;
        let mut devices = Vec::new();
        for _ in 0..r.len(DEVICES_MAX)? {
            devices.push(DeviceSnapshot::read(r)?);
        }
        Ok(Self {
            driver_version,
            devices,
        })
    }
}

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
