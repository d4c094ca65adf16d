//! Options of the JIT compiler, and the logs that it writes to the program's buffers.

// Reads options and writes logs through pointers of the program.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_uint, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::{fs, slice};

use gtrace_cuda::payload::{JitOptions, Logs};
use gtrace_cuda::types::driver::{self as cuda, CUjit_option};

use crate::entry::Answer;
use crate::log;
use crate::status::fail_if;

/// A buffer of the program for a log.
#[derive(Clone, Copy, Default)]
struct Buffer {
    /// Address; 0 for none.
    to: usize,
    /// Bytes.
    size: u32,
    /// Address of the option's value, which is to say how many bytes the log has; 0 for none.
    size_at: usize,
}

/// Where the program wants to have what the compiler says.
#[derive(Clone, Copy, Default)]
pub(crate) struct Wanted {
    info: Buffer,
    error: Buffer,
    /// Address of the value of WALL_TIME; 0 for none.
    wall_at: usize,
}

/// The program's options: for the server, and what comes back.
///
/// # Errors
///
/// INVALID_VALUE, or NOT_SUPPORTED for options whose values are addresses of the program.
///
/// # Safety
///
/// Two arrays of `count` elements, whose values are what the options say.
pub(crate) unsafe fn options(
    count: c_uint,
    names: *const CUjit_option,
    values: *const *mut c_void,
) -> Answer<(JitOptions, Wanted)> {
    let mut options = JitOptions::default();
    let mut wanted = Wanted::default();
    if count == 0 {
        return Ok((options, wanted));
    }
    fail_if(
        names.is_null() || values.is_null(),
        cuda::CUDA_ERROR_INVALID_VALUE,
    )?;
    // SAFETY: the caller's promise.
    let (names, values) = unsafe {
        (
            slice::from_raw_parts(names, count as usize),
            slice::from_raw_parts(values, count as usize),
        )
    };
    for (name, value) in names.iter().zip(values) {
        let at = std::ptr::from_ref(value).expose_provenance();
        let number = value.expose_provenance();
        match *name {
            cuda::CU_JIT_INFO_LOG_BUFFER => wanted.info.to = number,
            cuda::CU_JIT_ERROR_LOG_BUFFER => wanted.error.to = number,
            cuda::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES => {
                (wanted.info.size, wanted.info.size_at) = (number as u32, at);
            }
            cuda::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES => {
                (wanted.error.size, wanted.error.size_at) = (number as u32, at);
            }
            cuda::CU_JIT_WALL_TIME => {
                wanted.wall_at = at;
                // The server's driver is to measure it.
                options.plain.push((cuda::CU_JIT_WALL_TIME, 0));
            }
            cuda::CU_JIT_GLOBAL_SYMBOL_NAMES
            | cuda::CU_JIT_GLOBAL_SYMBOL_ADDRESSES
            | cuda::CU_JIT_GLOBAL_SYMBOL_COUNT
            | cuda::CU_JIT_REFERENCED_KERNEL_NAMES
            | cuda::CU_JIT_REFERENCED_KERNEL_COUNT
            | cuda::CU_JIT_REFERENCED_VARIABLE_NAMES
            | cuda::CU_JIT_REFERENCED_VARIABLE_COUNT => {
                log::once(
                    "jit option",
                    "options of the JIT compiler that name symbols are not supported",
                );
                return Err(cuda::CUDA_ERROR_NOT_SUPPORTED);
            }
            plain => options.plain.push((plain, number as u64)),
        }
    }
    let len = |buffer: Buffer| if buffer.to == 0 { 0 } else { buffer.size };
    (options.info_log, options.error_log) = (len(wanted.info), len(wanted.error));
    Ok((options, wanted))
}

impl Wanted {
    /// Gives the program the compiler's output.
    ///
    /// # Safety
    ///
    /// The arrays and buffers that [`options`] was given still are there.
    pub(crate) unsafe fn give(&self, logs: &Logs) {
        // SAFETY: the caller's promise.
        unsafe {
            give_log(self.info, &logs.info);
            give_log(self.error, &logs.error);
        }
        if self.wall_at != 0 {
            let at = std::ptr::with_exposed_provenance_mut::<f32>(self.wall_at);
            // SAFETY: the value of an option is as wide as a pointer.
            unsafe { at.write_unaligned(logs.wall_ms) };
        }
    }
}

unsafe fn give_log(buffer: Buffer, log: &[u8]) {
    let room = buffer.size as usize;
    let mut len = 0;
    if buffer.to != 0 && room > 0 {
        len = log.len().min(room - 1);
        let to = std::ptr::with_exposed_provenance_mut::<u8>(buffer.to);
        // SAFETY: `room` bytes of the program, of which the last is for the NUL.
        unsafe {
            std::ptr::copy_nonoverlapping(log.as_ptr(), to, len);
            to.add(len).write(0);
        }
    }
    if buffer.size_at != 0 {
        let at = std::ptr::with_exposed_provenance_mut::<u32>(buffer.size_at);
        // SAFETY: the value of an option is as wide as a pointer.
        unsafe { at.write_unaligned(len as u32) };
    }
}

/// Reads a file that the program names: it is a file of this machine.
///
/// # Errors
///
/// FILE_NOT_FOUND, INVALID_VALUE for null.
///
/// # Safety
///
/// Null, or a C string.
pub(crate) unsafe fn file(path: *const c_char) -> Answer<Vec<u8>> {
    fail_if(path.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
    // SAFETY: the caller's promise.
    let path = unsafe { CStr::from_ptr(path) };
    let path = std::ffi::OsStr::from_bytes(path.to_bytes());
    fs::read(path).map_err(|_| cuda::CUDA_ERROR_FILE_NOT_FOUND)
}

#[cfg(test)]
mod tests {
    use std::ptr::without_provenance_mut;

    use super::*;

    #[test]
    fn buffers_stay_here_and_plain_options_travel() {
        let mut log = [0xffu8; 8];
        let names = [
            cuda::CU_JIT_OPTIMIZATION_LEVEL,
            cuda::CU_JIT_ERROR_LOG_BUFFER,
            cuda::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        let mut values = [
            without_provenance_mut(3),
            log.as_mut_ptr().cast::<c_void>(),
            without_provenance_mut(8),
        ];
        // SAFETY: arrays of three elements, and a buffer of eight bytes.
        unsafe {
            let (sent, wanted) = options(3, names.as_ptr(), values.as_mut_ptr()).unwrap();
            assert_eq!(sent.plain, [(cuda::CU_JIT_OPTIMIZATION_LEVEL, 3)]);
            assert_eq!((sent.info_log, sent.error_log), (0, 8));
            wanted.give(&Logs {
                error: b"line 3: unknown opcode".to_vec(),
                ..Logs::default()
            });
        }
        assert_eq!(&log, b"line 3:\0");
        assert_eq!(values[2].addr() as u32, 7);
    }
}
