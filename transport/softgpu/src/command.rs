//! The commands of a stream and how each is carried out.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use crate::abi::{Answer, copy_bytes};
use crate::event::{Event, Record};
use crate::exported;
use crate::graph::exec::Run;
use crate::health::Health;
use crate::launch::Launch;
use crate::memory;
use crate::progress::Progress;
use crate::state::shared;
use crate::types::Handle;

/// Equal stretches of bytes at equal distances: a copy of a rectangle, or of `height` 1 a plain
/// one. Addresses were checked when the command was issued.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Copy {
    pub(crate) to: u64,
    pub(crate) from: u64,
    /// Bytes of a row.
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) to_pitch: usize,
    pub(crate) from_pitch: usize,
}

impl Copy {
    /// A plain copy.
    pub(crate) fn plain(to: u64, from: u64, length: usize) -> Self {
        Self {
            to,
            from,
            width: length,
            height: 1,
            to_pitch: 0,
            from_pitch: 0,
        }
    }

    /// Carries it out in the calling thread.
    pub(crate) fn run(&self) {
        let _writing = exported::writing();
        for row in 0..self.height as u64 {
            let to = self.to + row * self.to_pitch as u64;
            let from = self.from + row * self.from_pitch as u64;
            // SAFETY: device ranges were looked up in the allocation map when the copy was issued;
            // host ranges are valid by the contract of the copy functions. A program that frees
            // device memory under a running copy gets old bytes, as the range stays mapped.
            unsafe { copy_bytes(to, from, self.width) };
        }
    }
}

/// A value of 1, 2 or 4 bytes, repeated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fill {
    pub(crate) to: u64,
    pub(crate) value: u32,
    /// Bytes of the value: 1, 2 or 4.
    pub(crate) size: usize,
    /// Values in a row.
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Bytes from row to row.
    pub(crate) pitch: usize,
}

impl Fill {
    /// Carries it out in the calling thread.
    pub(crate) fn run(&self) {
        let _writing = exported::writing();
        for row in 0..self.height {
            let to = self.to + (row * self.pitch) as u64;
            // SAFETY: the rectangle was looked up in the allocation map when the fill was issued,
            // and `to` and `pitch` are multiples of the size of the value.
            unsafe {
                match self.size {
                    1 => std::ptr::write_bytes(to as *mut u8, self.value as u8, self.width),
                    2 => std::slice::from_raw_parts_mut(to as *mut u16, self.width)
                        .fill(self.value as u16),
                    _ => {
                        std::slice::from_raw_parts_mut(to as *mut u32, self.width).fill(self.value)
                    }
                }
            }
        }
    }
}

/// `cuStreamWaitValue32` and `64`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaitValue {
    pub(crate) address: u64,
    pub(crate) value: u64,
    pub(crate) wide: bool,
    /// `CU_STREAM_WAIT_VALUE_*`: 0 greater or equal (cyclic), 1 equal, 2 and, 3 nor.
    pub(crate) flags: u32,
}

impl WaitValue {
    fn is_met(&self) -> bool {
        let value = load(self.address, self.wide);
        let mask = if self.wide {
            u64::MAX
        } else {
            u64::from(u32::MAX)
        };
        match self.flags & 7 {
            0 if self.wide => (value.wrapping_sub(self.value) as i64) >= 0,
            0 => ((value as u32).wrapping_sub(self.value as u32) as i32) >= 0,
            1 => value == self.value & mask,
            2 => value & self.value != 0,
            _ => !(value | self.value) & mask != 0,
        }
    }
}

/// A wait for a word of memory, or a store to one.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MemOp {
    Wait(WaitValue),
    Write {
        address: u64,
        value: u64,
        wide: bool,
    },
}

fn load(address: u64, wide: bool) -> u64 {
    // SAFETY: an aligned word of an allocation, looked up when the command was issued.
    unsafe {
        if wide {
            AtomicU64::from_ptr(address as *mut u64).load(Ordering::Acquire)
        } else {
            u64::from(AtomicU32::from_ptr(address as *mut u32).load(Ordering::Acquire))
        }
    }
}

fn store(address: u64, value: u64, wide: bool) {
    let _writing = exported::writing();
    // SAFETY: an aligned word of an allocation, looked up when the command was issued.
    unsafe {
        if wide {
            AtomicU64::from_ptr(address as *mut u64).store(value, Ordering::Release);
        } else {
            AtomicU32::from_ptr(address as *mut u32).store(value as u32, Ordering::Release);
        }
    }
}

/// A pointer that only the program's own function gets to see.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UserData(pub(crate) *mut c_void);

// SAFETY: the pointer is handed to the program's function and not used otherwise; that it may be
// used on another thread is the contract of cuLaunchHostFunc and cuStreamAddCallback.
unsafe impl Send for UserData {}
// SAFETY: as above; nothing is read through it here.
unsafe impl Sync for UserData {}

/// See the module.
pub(crate) enum Command {
    /// Runs a kernel.
    Launch(Box<Launch>),
    /// Copies.
    Copy(Copy),
    /// Copies bytes that were staged to an address.
    CopyIn(u64, Vec<u8>),
    /// Fills.
    Fill(Fill),
    /// `cuLaunchHostFunc`.
    HostFn(unsafe extern "C" fn(*mut c_void), UserData),
    /// `cuStreamAddCallback`, with the handle of the stream.
    Callback(
        unsafe extern "C" fn(Handle, u32, *mut c_void),
        Handle,
        UserData,
    ),
    /// Completes a record of an event.
    Record(Arc<Event>, Record),
    /// Waits for another stream or an event.
    Await(Arc<Progress>, u64),
    /// `cuMemFreeAsync`.
    Free(u64),
    /// `cuGraphLaunch`.
    Graph(Box<Run>),
    /// Waits until a word of memory has a value, or writes one.
    MemOp(MemOp),
}

impl Command {
    /// Carries the command out. In a context that has failed, only what others wait for is done.
    pub(crate) fn run(self, health: &Health) -> Answer {
        match self {
            Self::Record(event, record) => event.complete(&record),
            Self::Await(progress, number) => progress.wait(number),
            Self::Free(base) => {
                // Freed by another way meanwhile: there is nobody left to notify.
                if memory::find(base).is_some_and(|found| found.kind == memory::Kind::Graph) {
                    let _ = crate::graph::memory::free(base);
                } else if let Some(state) = shared() {
                    let _ = memory::free(&state.devices, base, |found| found.kind.is_allocated());
                }
            }
            Self::Graph(run) => return run.run(health),
            Self::Callback(function, stream, data) => {
                let status = health.check().err().map_or(0, |error| error.code());
                // SAFETY: the program gave the function for this purpose, with its data.
                unsafe { function(stream, status, data.0) };
            }
            _ if !health.is_good() => {}
            Self::Launch(launch) => return launch.run(health),
            Self::Copy(copy) => copy.run(),
            Self::CopyIn(to, bytes) => {
                Copy::plain(to, bytes.as_ptr() as u64, bytes.len()).run();
            }
            Self::Fill(fill) => fill.run(),
            // SAFETY: the program gave the function for this purpose, with its data.
            Self::HostFn(function, data) => unsafe { function(data.0) },
            Self::MemOp(MemOp::Wait(wait)) => {
                while !wait.is_met() && health.is_good() {
                    std::thread::sleep(Duration::from_micros(20));
                }
            }
            Self::MemOp(MemOp::Write {
                address,
                value,
                wide,
            }) => store(address, value, wide),
        }
        Ok(())
    }
}
