//! A channel as CUDA makes one, by the driver's own calls. Nothing is ever written to it, as no engine would read it.
//!
//! Classes and layouts: `cl0041.h`, `cl0080.h`, `alloc_channel.h` and `nvos.h` of NVIDIA's open kernel modules, 535 and 550.

use anyhow::Result;

use super::nvrm::{AllocHead, NV01_MEMORY_LOCAL_USER, NvDevice};

/// `NV01_ROOT_CLIENT`, `NV01_DEVICE_0`, `NV20_SUBDEVICE_0`, `FERMI_VASPACE_A`, `HOPPER_CHANNEL_GPFIFO_A`, `HOPPER_COMPUTE_A`.
const CLIENT: u32 = 0x41;
const DEVICE: u32 = 0x80;
const SUBDEVICE: u32 = 0x2080;
const ADDRESS_SPACE: u32 = 0x90f1;
const CHANNEL: u32 = 0xc86f;
const COMPUTE: u32 = 0xcbc0;

/// `NV2080_ENGINE_TYPE_GR0`.
const GRAPHICS: u32 = 1;

/// Handles, which a client chooses. Those from 0xcaf00000 are the driver's own.
const A_DEVICE: u32 = 0x5c00_0080;
const A_SUBDEVICE: u32 = 0x5c00_2080;
const AN_ADDRESS_SPACE: u32 = 0x5c00_90f1;
const A_CHANNEL: u32 = 0x5c00_c86f;
const AN_OBJECT: u32 = 0x5c00_0001;
const A_MEMORY: u32 = 0x5c00_0040;

/// `NV0080_CTRL_CMD_FIFO_GET_CHANNELLIST`.
const GET_CHANNELLIST: u32 = 0x0080_170d;

/// Longer than the parameters of any class here.
const ROOM: usize = 512;

/// A channel, which lives until its descriptors are closed.
#[derive(Debug)]
pub(crate) struct Channel {
    _control: NvDevice,
    _gpu: NvDevice,
    /// Its number, by which Xids name it.
    pub(crate) number: u32,
}

impl Channel {
    /// Makes one for compute on the first GPU, and allocates so many bytes of video memory.
    pub(crate) fn make(bytes: u32) -> Result<Self> {
        let control = NvDevice::open("/dev/nvidiactl")?;
        let gpu = NvDevice::open("/dev/nvidia0")?;
        let mut room = [0; ROOM];
        let new = AllocHead {
            class: CLIENT,
            ..AllocHead::default()
        };
        let client = control.alloc_below(new, &mut room)?;
        let below = |parent, object, class, words: &[(usize, u32)]| {
            let mut params = [0; ROOM];
            for (at, value) in words {
                params[*at..*at + 4].copy_from_slice(&value.to_ne_bytes());
            }
            let new = AllocHead {
                root: client,
                parent,
                object,
                class,
                ..AllocHead::default()
            };
            control.alloc_below(new, &mut params)
        };
        // hClientShare is itself: the address space is not the driver's own.
        below(client, A_DEVICE, DEVICE, &[(4, client)])?;
        below(A_DEVICE, A_SUBDEVICE, SUBDEVICE, &[])?;
        below(A_DEVICE, AN_ADDRESS_SPACE, ADDRESS_SPACE, &[])?;
        if bytes != 0 {
            // Owner at 0, size at 64.
            let words = [(0, client), (64, bytes)];
            below(A_DEVICE, A_MEMORY, NV01_MEMORY_LOCAL_USER, &words)?;
        }
        // gpFifoEntries, hVASpace, engineType.
        let words = [(16, 512), (28, AN_ADDRESS_SPACE), (128, GRAPHICS)];
        below(A_DEVICE, A_CHANNEL, CHANNEL, &words)?;
        let numbers = [A_CHANNEL];
        let mut found = [u32::MAX];
        // NV0080_CTRL_FIFO_GET_CHANNELLIST_PARAMS: how many, a pointer to handles, a pointer to numbers.
        let mut list = [0; 24];
        list[..4].copy_from_slice(&1u32.to_ne_bytes());
        list[8..16].copy_from_slice(&(numbers.as_ptr() as u64).to_ne_bytes());
        list[16..].copy_from_slice(&(found.as_mut_ptr() as u64).to_ne_bytes());
        control.control_of(client, A_DEVICE, GET_CHANNELLIST, &mut list)?;
        let number = found[0];
        below(A_CHANNEL, AN_OBJECT, COMPUTE, &[])?;
        Ok(Self {
            _control: control,
            _gpu: gpu,
            number,
        })
    }
}
