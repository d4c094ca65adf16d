//! Options of the JIT compiler, and the JIT linker.

#![allow(non_snake_case, reason = "the driver's names")]
#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{JitOptions, LinkAdd, LinkCreate, Logs, Payload as _};
use gtrace_cuda::types::driver::{
    CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
    CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_WALL_TIME, CUjit_option, CUlinkState,
};
use gtrace_protocol::{Reader, Writer};

use super::images::take_bulk;
use super::{INVALID_IMAGE, INVALID_VALUE, NOT_SUPPORTED, checked, code_of};
use crate::exec::{Called, Code, Exec};

/// Options whose value is a number. Those that are addresses, or that only make sense with one, are
/// refused: a client could have the driver write to any place of this process.
const PLAIN: &[u32] = &[
    0,  // MAX_REGISTERS
    1,  // THREADS_PER_BLOCK
    2,  // WALL_TIME
    7,  // OPTIMIZATION_LEVEL
    8,  // TARGET_FROM_CUCONTEXT
    9,  // TARGET
    10, // FALLBACK_STRATEGY
    11, // GENERATE_DEBUG_INFO
    12, // LOG_VERBOSE
    13, // GENERATE_LINE_INFO
    14, // CACHE_MODE
    16, // FAST_COMPILE
    20, // LTO
    21, // FTZ
    22, // PREC_DIV
    23, // PREC_SQRT
    24, // FMA
    29, // OPTIMIZE_UNUSED_DEVICE_VARIABLES
    30, // POSITION_INDEPENDENT_CODE
    31, // MIN_CTA_PER_SM
    32, // MAX_THREADS_PER_BLOCK
    33, // OVERRIDE_DIRECTIVE_VALUES
];

/// Options as the driver takes them, with the buffers that it writes to. Boxed buffers stay where
/// they are when this moves.
pub(super) struct Jit {
    options: Vec<CUjit_option>,
    values: Vec<*mut c_void>,
    info: Box<[u8]>,
    error: Box<[u8]>,
}

// SAFETY: the pointers are to its own buffers.
unsafe impl Send for Jit {}

impl Jit {
    /// For the client's options.
    pub(super) fn new(given: &JitOptions) -> Result<Self, Code> {
        let mut jit = Self {
            options: Vec::new(),
            values: Vec::new(),
            info: vec![0; given.info_log as usize].into(),
            error: vec![0; given.error_log as usize].into(),
        };
        for (option, value) in &given.plain {
            if !PLAIN.contains(option) {
                return Err(INVALID_VALUE);
            }
            jit.put(*option, ptr::without_provenance_mut(*value as usize));
        }
        for (buffer, option, size) in [
            (
                jit.info.as_mut_ptr(),
                CU_JIT_INFO_LOG_BUFFER,
                (CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, jit.info.len()),
            ),
            (
                jit.error.as_mut_ptr(),
                CU_JIT_ERROR_LOG_BUFFER,
                (CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, jit.error.len()),
            ),
        ] {
            if size.1 > 0 {
                jit.put(option, buffer.cast());
                jit.put(size.0, ptr::without_provenance_mut(size.1));
            }
        }
        Ok(jit)
    }

    fn put(&mut self, option: CUjit_option, value: *mut c_void) {
        self.options.push(option);
        self.values.push(value);
    }

    /// How many there are.
    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.options.len()).unwrap_or(0)
    }

    /// The arrays, of [`Jit::len`] values each.
    pub(super) fn arrays(&mut self) -> (*mut CUjit_option, *mut *mut c_void) {
        (self.options.as_mut_ptr(), self.values.as_mut_ptr())
    }

    /// What the driver wrote.
    pub(super) fn logs(&self) -> Logs {
        let text = |buffer: &[u8]| {
            let end = buffer.iter().position(|byte| *byte == 0);
            buffer[..end.unwrap_or(buffer.len())].to_vec()
        };
        let wall = self
            .options
            .iter()
            .position(|option| *option == CU_JIT_WALL_TIME)
            .and_then(|at| self.values.get(at));
        Logs {
            info: text(&self.info),
            error: text(&self.error),
            // The value is a float in the place of the pointer.
            wall_ms: wall.map_or(0.0, |value| f32::from_bits(value.addr() as u32)),
        }
    }
}

/// Link states under way: the driver keeps pointers to the options of their creation.
static STATES: Mutex<Option<HashMap<usize, Jit>>> = Mutex::new(None);

/// Held while a link state is used, so that no other lane destroys it meanwhile.
static IN_USE: Mutex<()> = Mutex::new(());

/// To be held from the check of the handle until the driver is done with the link state.
fn in_use() -> MutexGuard<'static, ()> {
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with_states<T>(use_it: impl FnOnce(&mut HashMap<usize, Jit>) -> T) -> T {
    let mut states = STATES.lock().unwrap_or_else(PoisonError::into_inner);
    use_it(states.get_or_insert_default())
}

/// Begins a link.
pub(crate) fn cuLinkCreate_v2(exec: &mut Exec, r: &mut Reader<'_>, _: &mut Writer) -> Called {
    let create = LinkCreate::whole(r)?;
    let call = exec.driver.cuLinkCreate_v2.ok_or(NOT_SUPPORTED)?;
    exec.handles.check_minted(Kind::Link, create.handle)?;
    let mut jit = Jit::new(&create.jit)?;
    let mut state: CUlinkState = ptr::null_mut();
    let len = jit.len();
    let (options, values) = jit.arrays();
    // SAFETY: both arrays have `len` values; they and the buffers that they name live in `STATES`
    // as long as the link state, as the driver wants it.
    let status = unsafe { call(len, options, values, &raw mut state) };
    if status == 0 {
        with_states(|states| states.insert(state.addr(), jit));
        exec.handles.insert(Kind::Link, create.handle, state.cast());
    }
    Ok(status.cast_signed())
}

/// `data` as an input, and its bytes: behind them is a NUL, which PTX ends with.
fn input(mut data: Vec<u8>) -> Result<(Vec<u8>, usize), Code> {
    if !gtrace_image::is_whole(&data) {
        return Err(INVALID_IMAGE);
    }
    let len = data.len();
    data.push(0);
    Ok((data, len))
}

/// Adds an input to a link.
pub(crate) fn cuLinkAddData_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    let add = LinkAdd::whole(r)?;
    let data = input(take_bulk(exec)?);
    let call = exec.driver.cuLinkAddData_v2.ok_or(NOT_SUPPORTED)?;
    let _in_use = in_use();
    let state = exec.handles.real(Kind::Link, add.state)?;
    let mut jit = Jit::new(&add.jit)?;
    let name = CString::new(add.name).map_err(|_| INVALID_VALUE)?;
    let (mut data, data_len) = data?;
    let len = jit.len();
    let (options, values) = jit.arrays();
    // SAFETY: the state is the driver's, the data and the arrays have the given lengths.
    let status = unsafe {
        call(
            state.cast(),
            add.kind,
            data.as_mut_ptr().cast(),
            data_len,
            name.as_ptr(),
            len,
            options,
            values,
        )
    };
    let state_logs = with_states(|states| states.get(&state.addr()).map(Jit::logs));
    let mut logs = jit.logs();
    if logs.info.is_empty() && logs.error.is_empty() {
        logs = state_logs.unwrap_or(logs);
    }
    logs.write(w);
    Ok(status.cast_signed())
}

/// Ends a link: the image.
pub(crate) fn cuLinkComplete(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    let handle = u64::whole(r)?;
    let call = exec.driver.cuLinkComplete.ok_or(NOT_SUPPORTED)?;
    let image = complete(exec, handle, call, w)?;
    let chunk = exec.link.info.chunk;
    let small = w.as_slice().to_vec();
    let code = exec.bulk_out(image.len() as u64, chunk, &small, |offset, to| {
        let offset = usize::try_from(offset).map_err(|_| INVALID_VALUE)?;
        let piece = image.get(offset..offset + to.len()).ok_or(INVALID_VALUE)?;
        to.copy_from_slice(piece);
        Ok(())
    })?;
    Ok(code)
}

/// Has the driver link; a copy of the image, as the driver's own ends with the link state.
fn complete(
    exec: &Exec,
    handle: u64,
    call: unsafe extern "C" fn(CUlinkState, *mut *mut c_void, *mut usize) -> u32,
    w: &mut Writer,
) -> Result<Vec<u8>, Code> {
    let _in_use = in_use();
    let state = exec.handles.real(Kind::Link, handle)?;
    let (mut image, mut size): (*mut c_void, usize) = (ptr::null_mut(), 0);
    // SAFETY: a link state of the driver, and places for a pointer and a size.
    let made = checked(unsafe { call(state.cast(), &raw mut image, &raw mut size) });
    let logs = with_states(|states| states.get(&state.addr()).map(Jit::logs)).unwrap_or_default();
    logs.write(w);
    made?;
    Ok(match image.is_null() {
        true => Vec::new(),
        // SAFETY: the driver owns `size` bytes there until the link state is destroyed, which it is not
        // before this returns.
        false => unsafe { std::slice::from_raw_parts(image.cast::<u8>(), size) }.to_vec(),
    })
}

/// Has `destroy` end a link state. Its options live until then; the driver may give its address to another lane's next one at
/// once.
fn end(state: usize, destroy: impl FnOnce() -> u32) -> u32 {
    let _options = with_states(|states| states.remove(&state));
    destroy()
}

/// Forgets a link.
pub(crate) fn cuLinkDestroy(exec: &mut Exec, r: &mut Reader<'_>, _: &mut Writer) -> Called {
    let handle = u64::whole(r)?;
    let call = exec.driver.cuLinkDestroy.ok_or(NOT_SUPPORTED)?;
    let _in_use = in_use();
    let state = exec.handles.real(Kind::Link, handle)?;
    // SAFETY: a link state of the driver, which is forgotten with it.
    let status = end(state.addr(), || unsafe { call(state.cast()) });
    exec.handles.remove(Kind::Link, handle);
    Ok(code_of(checked(status)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_state_at_an_address_that_has_just_come_free_keeps_its_options() {
        const STATE: usize = 0x1000;
        let given = JitOptions {
            error_log: 10,
            ..JitOptions::default()
        };
        let begin = || {
            let jit = Jit::new(&given).unwrap();
            with_states(|states| states.insert(STATE, jit)).is_none()
        };
        assert!(begin());
        // As another lane does.
        assert_eq!(end(STATE, || u32::from(!begin())), 0);
        assert!(with_states(|states| states.contains_key(&STATE)));
        end(STATE, || 0);
        assert!(!with_states(|states| states.contains_key(&STATE)));
    }

    #[test]
    fn text_for_the_linker_ends_with_a_nul() {
        let text = b".version 8.0\n";
        let (data, len) = input(text.to_vec()).unwrap();
        assert_eq!((&data[..len], data.get(len)), (&text[..], Some(&0)));
        assert_eq!(input(vec![7; 7]), Err(INVALID_IMAGE));
    }
}
