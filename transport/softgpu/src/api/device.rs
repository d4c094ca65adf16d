//! Devices and their primary contexts.

use std::ffi::{c_char, c_int, c_uint};

use crate::abi::{Name, Out, api};
use crate::attributes::{
    self, CLOCK_KHZ, CONSTANT, MAX_BLOCK, MAX_GRID, MAX_THREADS, REGISTERS, SHARED_PER_BLOCK, WARP,
};
use crate::context;
use crate::device::PCI_DOMAIN;
use crate::error::{INVALID_DEVICE, INVALID_VALUE, fail_if};
use crate::state::state;
use crate::types::{Device, DeviceProperties, Handle, Uuid};

api! { TABLE:
    /// The device of an ordinal.
    fn cuDeviceGet(device: Out<Device>, ordinal: c_int) {
        state()?.device(ordinal)?;
        device.put(ordinal)
    }

    /// Number of devices.
    fn cuDeviceGetCount(count: Out<c_int>) {
        count.put(state()?.visible.len() as c_int)
    }

    /// Name of a device.
    fn cuDeviceGetName(name: Out<c_char>, length: c_int, device: Device) {
        let device = state()?.device(device)?;
        name.put_text(usize::try_from(length).map_err(|_| INVALID_VALUE)?, &device.name)
    }

    /// UUID of a device.
    fn cuDeviceGetUuid = cuDeviceGetUuid_v2(uuid: Out<Uuid>, device: Device) {
        uuid.put(Uuid { bytes: state()?.device(device)?.uuid })
    }

    /// Memory of a device, bytes.
    fn cuDeviceTotalMem_v2(bytes: Out<usize>, device: Device) {
        bytes.put(state()?.device(device)?.memory as usize)
    }

    /// An attribute of a device, of those in src/attributes.rs.
    fn cuDeviceGetAttribute(value: Out<c_int>, attribute: u32, device: Device) {
        value.put(attributes::attribute(state()?.device(device)?, attribute)?)
    }

    /// Compute capability.
    fn cuDeviceComputeCapability(major: Out<c_int>, minor: Out<c_int>, device: Device) {
        state()?.device(device)?;
        major.put(attributes::MAJOR)?;
        minor.put(attributes::MINOR)
    }

    /// The properties that the first versions of CUDA had.
    fn cuDeviceGetProperties(properties: Out<DeviceProperties>, device: Device) {
        state()?.device(device)?;
        properties.put(DeviceProperties {
            max_threads_per_block: MAX_THREADS as c_int,
            max_threads_dim: MAX_BLOCK.map(|size| size as c_int),
            max_grid_size: MAX_GRID.map(|size| size as c_int),
            shared_mem_per_block: SHARED_PER_BLOCK as c_int,
            total_constant_memory: CONSTANT as c_int,
            simd_width: WARP as c_int,
            mem_pitch: c_int::MAX,
            regs_per_block: REGISTERS as c_int,
            clock_rate: CLOCK_KHZ as c_int,
            texture_align: 512,
        })
    }

    /// PCI address as `domain:bus:device.function`.
    fn cuDeviceGetPCIBusId(text: Out<c_char>, length: c_int, device: Device) {
        let device = state()?.device(device)?;
        let length = usize::try_from(length).map_err(|_| INVALID_VALUE)?;
        text.put_text(length, &format!("{PCI_DOMAIN:04X}:{:02X}:00.0", device.bus()))
    }

    /// The device at a PCI address.
    fn cuDeviceGetByPCIBusId(device: Out<Device>, address: Name) {
        let (state, address) = (state()?, address.text()?.to_ascii_uppercase());
        let ordinal = state.visible.iter().position(|index| {
            let bus = state.devices[*index].bus();
            let full = format!("{PCI_DOMAIN:04X}:{bus:02X}:00");
            address == full || address == format!("{full}.0")
        });
        device.put(ordinal.ok_or(INVALID_DEVICE)? as Device)
    }

    /// Whether one device may use the memory of another: all may.
    fn cuDeviceCanAccessPeer(can: Out<c_int>, device: Device, peer: Device) {
        let state = state()?;
        state.device(device)?;
        state.device(peer)?;
        can.put(c_int::from(device != peer))
    }

    /// How two devices are connected (`CU_DEVICE_P2P_ATTRIBUTE_*`).
    fn cuDeviceGetP2PAttribute(value: Out<c_int>, attribute: u32, device: Device, peer: Device) {
        let state = state()?;
        fail_if(value.is_null(), INVALID_VALUE)?;
        state.device(device)?;
        state.device(peer)?;
        fail_if(device == peer, INVALID_DEVICE)?;
        value.put(match attribute {
            1 => 0,     // performance rank
            2 | 3 => 1, // access, native atomics
            4 => 0,     // access of arrays
            _ => return Err(INVALID_VALUE),
        })
    }

    /// Whether contexts can be bound to some multiprocessors: no.
    fn cuDeviceGetExecAffinitySupport(supported: Out<c_int>, kind: u32, device: Device) {
        let _ = kind;
        state()?.device(device)?;
        supported.put(0)
    }

    /// Retains the primary context.
    fn cuDevicePrimaryCtxRetain(context: Out<Handle>, device: Device) {
        let state = state()?;
        fail_if(context.is_null(), INVALID_VALUE)?;
        context.put(context::retain_primary(state, state.device(device)?)?)
    }

    /// Releases the primary context; the last release destroys it.
    fn cuDevicePrimaryCtxRelease = cuDevicePrimaryCtxRelease_v2(device: Device) {
        let state = state()?;
        context::release_primary(state, state.device(device)?, false)
    }

    /// Destroys the primary context, and with it an error that it keeps.
    fn cuDevicePrimaryCtxReset = cuDevicePrimaryCtxReset_v2(device: Device) {
        let state = state()?;
        context::release_primary(state, state.device(device)?, true)
    }

    /// Flags of the primary context and whether it is active.
    fn cuDevicePrimaryCtxGetState(device: Device, flags: Out<c_uint>, active: Out<c_int>) {
        let (set, is_active) = context::primary_state(state()?.device(device)?);
        flags.put(set)?;
        active.put(c_int::from(is_active))
    }

    /// Sets the flags of the primary context.
    fn cuDevicePrimaryCtxSetFlags = cuDevicePrimaryCtxSetFlags_v2(device: Device, flags: c_uint) {
        let device = state()?.device(device)?;
        crate::api::context::check_flags(flags)?;
        context::set_primary_flags(device, flags);
        Ok(())
    }
}
