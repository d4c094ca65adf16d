//! What the CPU emulator says of itself: `CU_DEVICE_ATTRIBUTE_*`.
//!
//! Compute capability 9.0 with the limits that NVIDIA documents for it, so that programs take the
//! paths they take on such a GPU; what the CPU emulator does not have (tensor maps,
//! IPC, clusters unless launches are skipped) is 0. Attributes that CUDA 13 has and this table has not are 0 as well.

use std::sync::OnceLock;

use crate::abi::Answer;
use crate::cluster;
use crate::config::warn;
use crate::device::{Device, PCI_DOMAIN};
use crate::error::{INVALID_VALUE, NOT_SUPPORTED, fail_if};

/// `CUDA_VERSION` that the CPU emulator speaks.
const DRIVER_VERSION: i32 = 13_000;

/// What `cuDriverGetVersion` says: [`DRIVER_VERSION`], or an older one that the environment asks for.
pub(crate) fn driver_version() -> i32 {
    static VERSION: OnceLock<i32> = OnceLock::new();
    *VERSION.get_or_init(|| {
        let Ok(text) = std::env::var("GTRACE_SOFTGPU_DRIVER_VERSION") else {
            return DRIVER_VERSION;
        };
        match text.parse() {
            Ok(version) if (11_000..=DRIVER_VERSION).contains(&version) => version,
            _ => {
                warn(&format!(
                    "GTRACE_SOFTGPU_DRIVER_VERSION={text} is not in 11000..={DRIVER_VERSION}; using the latter"
                ));
                DRIVER_VERSION
            }
        }
    })
}

/// For functions that `version` brought: an older driver does not have them. Their symbols are here
/// all the same, so that a call is what can fail.
///
/// # Errors
/// `CUDA_ERROR_NOT_SUPPORTED`.
pub(crate) fn since(version: i32) -> Answer {
    fail_if(driver_version() < version, NOT_SUPPORTED)
}
/// Compute capability.
pub(crate) const MAJOR: i32 = 9;
/// Compute capability.
pub(crate) const MINOR: i32 = 0;
/// Compute capability as in `sm_90`.
pub(crate) const ARCH: u32 = 90;
/// `CU_DEVICE_ATTRIBUTE_MAX` of CUDA 13: from here on attributes are invalid.
const ATTRIBUTE_END: u32 = 200;

/// Threads of a block.
pub(crate) const MAX_THREADS: u32 = 1024;
/// Largest block, by dimension.
pub(crate) const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
/// Largest grid, by dimension.
pub(crate) const MAX_GRID: [u32; 3] = [2_147_483_647, 65_535, 65_535];
/// Shared memory of a block, bytes, without asking for more.
pub(crate) const SHARED_PER_BLOCK: u32 = 48 << 10;
/// Shared memory of a block, bytes, for a function that asked for it.
pub(crate) const SHARED_OPTIN: u32 = 227 << 10;
/// Shared memory of a multiprocessor, bytes.
pub(crate) const SHARED_PER_SM: u32 = 228 << 10;
/// Shared memory that the system takes of each block, bytes.
pub(crate) const SHARED_RESERVED: u32 = 1 << 10;
/// Registers of a block and of a multiprocessor.
pub(crate) const REGISTERS: u32 = 65_536;
/// Threads of a multiprocessor.
pub(crate) const THREADS_PER_SM: u32 = 2048;
/// Blocks of a multiprocessor.
pub(crate) const BLOCKS_PER_SM: u32 = 32;
/// Multiprocessors: few, so that grids that fill the device stay small. Where launches are skipped, as
/// many as an H100 SXM has, so that clusters of any size find their place.
pub(crate) fn multiprocessors() -> u32 {
    if cluster::offered() { 132 } else { 4 }
}
/// Threads of a warp.
pub(crate) const WARP: u32 = 32;
/// Constant memory, bytes.
pub(crate) const CONSTANT: u32 = 64 << 10;
/// Step of rows in bytes that `cuMemAllocPitch` keeps.
pub(crate) const PITCH_STEP: u64 = 512;
/// Where textures of plain memory begin, bytes.
pub(crate) const TEXTURE_ALIGN: u64 = 512;
/// Clock reported for the multiprocessors and for memory, kHz.
pub(crate) const CLOCK_KHZ: u32 = 1_000_000;

/// `cuDeviceGetAttribute`.
pub(crate) fn attribute(device: &Device, id: u32) -> Answer<i32> {
    let value: u32 = match id {
        1 => MAX_THREADS,
        2 => MAX_BLOCK[0],
        3 => MAX_BLOCK[1],
        4 => MAX_BLOCK[2],
        5 => MAX_GRID[0],
        6 => MAX_GRID[1],
        7 => MAX_GRID[2],
        8 => SHARED_PER_BLOCK,
        9 => CONSTANT,
        10 => WARP,
        11 => i32::MAX as u32, // longest pitch
        12 => REGISTERS,
        13 | 36 => CLOCK_KHZ,
        14 | 30 => TEXTURE_ALIGN as u32, // of textures and surfaces
        // Largest textures and surfaces, as NVIDIA documents them for compute capability 9.0.
        21 | 22 | 56 | 70 => 131_072,
        23 | 57 => 65_536,
        24..=26 | 58..=60 => 16_384,
        27 | 28 | 42 | 45 | 46 | 55 | 61 | 63 | 64 | 73 | 74 | 77 => 32_768,
        29 | 43 | 62 | 65 => 2048,
        44 => 1, // texture gather
        69 => 1 << 28,
        71 => 65_000,
        72 => 2_097_120,
        15 | 19 | 31 | 41 | 78 | 79 | 80 | 90 | 95 => 1,
        16 => multiprocessors(),
        32 => 1, // ECC
        33 => device.bus(),
        34 => 0, // PCI device
        37 => 128,
        38 => 4 << 20,
        39 => THREADS_PER_SM,
        40 => 2, // copy engines
        50 => PCI_DOMAIN,
        51 => 32,
        75 => MAJOR as u32,
        76 => MINOR as u32,
        81 => SHARED_PER_SM,
        82 => REGISTERS,
        // Managed memory, which the host may touch at any time as all memory here.
        83 | 89 | 101 => 1,
        85 => device.index as u32,
        86 => 1, // atomics of host and device see each other
        87 => 2,
        91 => 1, // registered host memory has one address
        92..=94 | 122 | 123 => 1,
        97 => SHARED_OPTIN,
        99 => 1,
        102 => 1, // addresses and pages managed apart
        103 => 1, // whose handles for others are file descriptors
        106 => BLOCKS_PER_SM,
        111 => SHARED_RESERVED,
        113 => 1,
        115 => 1, // memory pools
        120 => cluster::offered().into(),
        125 => 1, // events between processes
        126 => 1,
        131 | 134 => return Ok(-1), // no NUMA node
        0 => return Err(INVALID_VALUE),
        id if id < ATTRIBUTE_END => 0,
        _ => return Err(INVALID_VALUE),
    };
    Ok(value as i32)
}
