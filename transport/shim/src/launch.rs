//! Launches. They are one-way: what CUDA reports at the call itself is checked here, by what is
//! known of device and function, and the rest comes with a later call.

// Reads arguments and configurations through pointers of the program.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_uint, c_void};
use std::slice;

use gtrace_cuda::payload::{
    ATTRIBUTE_VALUE, Attribute, Attributes, LAUNCH_ATTRIBUTES_MAX, Launch, PARAMETERS_MAX,
};
use gtrace_cuda::types::driver::{
    self as cuda, CUfunction, CUlaunchAttribute, CUlaunchConfig, CUstream,
};
use gtrace_protocol::{Flags, OpId, Writer, op_id};

use crate::context;
use crate::device::launch_limits;
use crate::entry::{Answer, answer_to, check, exchange, send_one_way, written};
use crate::functions::{Record, any_record};
use crate::generated::driver::remote;
use crate::session::{self, Session, with_lane};
use crate::status::fail_if;
use crate::{clock, copy};
use crate::{managed, occupancy};

/// Marks in `extra` (cuda.h: CU_LAUNCH_PARAM_END, BUFFER_POINTER, BUFFER_SIZE).
const END: usize = 0;
const BUFFER_POINTER: usize = 1;
const BUFFER_SIZE: usize = 2;

/// Where the program has the arguments.
#[derive(Clone, Copy)]
pub(crate) struct Arguments {
    /// A pointer to each.
    pub(crate) each: *const *mut c_void,
    /// Or marks and a buffer.
    pub(crate) extra: *const *mut c_void,
}

/// What the client knows of a launch's limits.
#[inline]
pub(crate) fn check_limits(session: &Session, record: &Record, launch: &Launch<'_>) -> Answer {
    let limits = launch_limits(session, context::current()?.device)?;
    let within = |values: [u32; 3], most: [u32; 3]| {
        let mut values = values.into_iter().zip(most);
        values.all(|(value, most)| value > 0 && value <= most)
    };
    let threads = launch.block.iter().map(|n| u64::from(*n)).product::<u64>();
    if !within(launch.grid, limits.grid)
        || !within(launch.block, limits.block)
        || threads > u64::from(limits.threads)
    {
        return Err(cuda::CUDA_ERROR_INVALID_VALUE);
    }
    let attribute = |which| {
        let value = record.attribute(which)?;
        u64::try_from(value).ok()
    };
    if attribute(cuda::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK).is_some_and(|most| threads > most) {
        let registers = attribute(cuda::CU_FUNC_ATTRIBUTE_NUM_REGS).unwrap_or(0);
        return Err(match registers_of(registers, threads) > limits.registers {
            true => cuda::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
            // The kernel's own bounds.
            false => cuda::CUDA_ERROR_INVALID_VALUE,
        });
    }
    let shared = u64::from(launch.shared_bytes);
    let most = attribute(cuda::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES).or_else(|| {
        // A driver does not report it of a function that is not loaded yet, and nobody has set it.
        let own = attribute(cuda::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
        Some(limits.shared.saturating_sub(own))
    });
    fail_if(
        most.is_some_and(|most| shared > most),
        cuda::CUDA_ERROR_INVALID_VALUE,
    )
}

/// Registers that a block of so many threads takes: a warp gets them in portions of 256.
fn registers_of(each: u64, threads: u64) -> u64 {
    const WARP: u64 = 32;
    (each * WARP).next_multiple_of(256) * threads.div_ceil(WARP)
}

/// Whether the blocks of a cooperative launch run at the same time, which CUDA checks at the launch.
fn check_together(f: CUfunction, launch: &Launch<'_>) -> Answer {
    let session = session::cuda()?;
    let record = any_record(session, launch.function)?;
    check_limits(session, &record, launch)?;
    // The limits keep both products small enough.
    let threads = launch.block.iter().product::<u32>();
    let blocks = launch.grid.iter().map(|n| u64::from(*n)).product::<u64>();
    let shared = launch.shared_bytes as usize;
    match blocks > occupancy::blocks_together(f, threads.cast_signed(), shared)? {
        true => Err(cuda::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE),
        false => Ok(()),
    }
}

/// Bytes of the parameter buffer.
///
/// # Errors
///
/// INVALID_VALUE if there are no arguments and there should be; NOT_SUPPORTED without a layout.
///
/// # Safety
///
/// The program's promise to `cuLaunchKernel`.
pub(crate) unsafe fn len(record: &Record, arguments: Arguments) -> Answer<usize> {
    if !arguments.each.is_null() {
        return Ok(record.layout()?.bytes);
    }
    // SAFETY: the caller's promise.
    let buffer = unsafe { extra(arguments.extra) }?;
    match buffer {
        Some(bytes) => Ok(bytes.len()),
        None if record.layout().map_or(0, |layout| layout.bytes) == 0 => Ok(0),
        None => Err(cuda::CUDA_ERROR_INVALID_VALUE),
    }
}

/// The buffer that `extra` names.
///
/// # Safety
///
/// The program's promise: null, or marks with their values up to END.
unsafe fn extra<'a>(extra: *const *mut c_void) -> Answer<Option<&'a [u8]>> {
    if extra.is_null() {
        return Ok(None);
    }
    let (mut buffer, mut size) = (std::ptr::null::<u8>(), 0usize);
    let mut at = 0;
    loop {
        // SAFETY: END was not yet there.
        let mark = unsafe { extra.add(at).read() }.addr();
        if mark == END {
            break;
        }
        // SAFETY: a mark has its value behind it.
        let value = unsafe { extra.add(at + 1).read() };
        match mark {
            BUFFER_POINTER => buffer = value.cast::<u8>().cast_const(),
            // SAFETY: it points to the size.
            BUFFER_SIZE => size = unsafe { value.cast::<usize>().read() },
            _ => return Err(cuda::CUDA_ERROR_INVALID_VALUE),
        }
        at += 2;
    }
    match (buffer.is_null(), size) {
        (_, 0) => Ok(None),
        (true, _) => Err(cuda::CUDA_ERROR_INVALID_VALUE),
        _ if size > PARAMETERS_MAX => Err(cuda::CUDA_ERROR_INVALID_VALUE),
        // SAFETY: the program says that so many bytes are there.
        _ => Ok(Some(unsafe { slice::from_raw_parts(buffer, size) })),
    }
}

/// Appends the parameter buffer.
///
/// # Errors
///
/// INVALID_VALUE for a null pointer to an argument, and for arguments in both ways.
///
/// # Safety
///
/// As for [`len`], which has counted.
pub(crate) unsafe fn gather(w: &mut Writer, record: &Record, arguments: Arguments) -> Answer {
    if arguments.each.is_null() {
        // SAFETY: the caller's promise.
        if let Some(bytes) = unsafe { extra(arguments.extra) }? {
            w.raw(bytes);
        }
        return Ok(());
    }
    fail_if(!arguments.extra.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
    let mut at = 0;
    for (index, parameter) in record.layout()?.parameters.iter().enumerate() {
        let (offset, size) = (parameter.offset as usize, parameter.size as usize);
        while at < offset {
            let gap = (offset - at).min(16);
            w.raw(&[0; 16][..gap]);
            at += gap;
        }
        // SAFETY: there is a pointer for each parameter.
        let value = unsafe { arguments.each.add(index).read() }.cast::<u8>();
        fail_if(value.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
        // SAFETY: it points to as many bytes as the parameter has. Most have 4 or 8, and to copy
        // those needs no call.
        unsafe {
            match size {
                8 => w.raw(&value.cast::<[u8; 8]>().read()),
                4 => w.raw(&value.cast::<[u8; 4]>().read()),
                _ => w.raw(slice::from_raw_parts(value, size)),
            }
        }
        at = at.max(offset + size);
    }
    Ok(())
}

/// The words of the parameter buffer, each of which may be an address.
///
/// # Safety
///
/// As for [`gather`].
#[cold]
unsafe fn words(record: &Record, arguments: Arguments, len: usize) -> Answer<Vec<u64>> {
    let mut w = Writer::over(Vec::with_capacity(len));
    // SAFETY: the caller's promise.
    unsafe { gather(&mut w, record, arguments) }?;
    let (words, _) = w.as_slice().as_chunks::<8>();
    Ok(words.iter().copied().map(u64::from_le_bytes).collect())
}

/// Whether the parameters may lead to page-locked memory that the server does not have yet.
///
/// # Safety
///
/// As for [`gather`].
#[inline]
unsafe fn may_map(record: &Record, arguments: Arguments) -> bool {
    if arguments.each.is_null() {
        // Of a buffer all words are looked at.
        return true;
    }
    let layout = record.layout().map(|layout| &*layout.parameters);
    let parameters = layout.unwrap_or_default().iter().enumerate();
    let mut large = parameters.filter(|(_, parameter)| parameter.size >= 8);
    large.any(|(index, parameter)| {
        // SAFETY: there is a pointer for each parameter, to as many bytes as it has.
        let value = unsafe { arguments.each.add(index).read() }.cast::<u8>();
        if value.is_null() {
            // It is refused later.
            return false;
        }
        // SAFETY: as above.
        let value = unsafe { slice::from_raw_parts(value, parameter.size as usize) };
        let first = (parameter.offset as usize).next_multiple_of(8) - parameter.offset as usize;
        let (words, _) = value.get(first..).unwrap_or_default().as_chunks::<8>();
        let mut words = words.iter().map(|word| u64::from_le_bytes(*word));
        words.any(managed::may_be_reached)
    })
}

/// # Safety
///
/// The program's promise to `cuLaunchKernel`.
#[inline]
unsafe fn launch(
    op: OpId,
    launch: &Launch<'_>,
    attributes: &[CUlaunchAttribute],
    arguments: Arguments,
) -> Answer {
    let session = session::cuda()?;
    let held = any_record(session, launch.function)?;
    let record: &Record = &held;
    check_limits(session, record, launch)?;
    // SAFETY: the caller's promise.
    let len = unsafe { len(record, arguments) }?;
    // SAFETY: the caller's promise.
    if managed::may_map() && (managed::any_is_wanted() || unsafe { may_map(record, arguments) }) {
        // SAFETY: as above.
        let words = unsafe { words(record, arguments, len) }?;
        managed::reach(session, words.into_iter())?;
    }
    let mut giving = managed::Giving::default();
    if managed::in_use() {
        // SAFETY: the caller's promise.
        let words = || unsafe { words(record, arguments, len) };
        giving = managed::before_launch(session, launch.stream, words)?;
    }
    for attribute in attributes {
        if matches!(
            attribute.id,
            cuda::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT
                | cuda::CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT
        ) {
            // The event is what the value begins with.
            let value = travelling(attribute).value;
            if let Some(event) = value.first_chunk() {
                session.state.events.remove(u64::from_le_bytes(*event));
            }
        }
    }
    let write = |w: &mut Writer| {
        launch.write_head_with(w, attributes.iter().map(travelling), len);
        // SAFETY: the caller's promise.
        unsafe { gather(w, record, arguments) }
    };
    if session.settings.strict {
        exchange(session, op, Flags::STRICT, write, |_| Ok(()))?;
    } else {
        with_lane(session, |lane| {
            let began = clock::now();
            check(lane.take_sticky())?;
            written(lane, write, |lane, small| {
                send_one_way(lane, op, small, &[], began)
            })
        })?;
    }
    drop(giving);
    if session.settings.launch_blocking {
        let stream = std::ptr::without_provenance_mut(launch.stream as usize);
        if crate::capture::of(session, stream)?.is_some() {
            return Ok(());
        }
        // SAFETY: a handle.
        check(unsafe { remote::cuStreamSynchronize(stream) })?;
    }
    Ok(())
}

fn travelling(attribute: &CUlaunchAttribute) -> Attribute {
    const { assert!(size_of::<cuda::CUlaunchAttributeValue>() == ATTRIBUTE_VALUE) };
    let mut value = [0; ATTRIBUTE_VALUE];
    // SAFETY: as many bytes as the value has, which is plain data.
    unsafe {
        std::ptr::copy_nonoverlapping(
            (&raw const attribute.value).cast::<u8>(),
            value.as_mut_ptr(),
            ATTRIBUTE_VALUE,
        );
    }
    Attribute {
        id: attribute.id,
        value,
    }
}

pub(crate) unsafe fn cuLaunchKernel(
    f: CUfunction,
    gridDimX: c_uint,
    gridDimY: c_uint,
    gridDimZ: c_uint,
    blockDimX: c_uint,
    blockDimY: c_uint,
    blockDimZ: c_uint,
    sharedMemBytes: c_uint,
    hStream: CUstream,
    kernelParams: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Answer {
    const OP: OpId = op_id("cuLaunchKernel");
    let what = Launch {
        function: f.addr() as u64,
        grid: [gridDimX, gridDimY, gridDimZ],
        block: [blockDimX, blockDimY, blockDimZ],
        shared_bytes: sharedMemBytes,
        stream: copy::stream(hStream),
        parameters: &[],
        attributes: Attributes::default(),
    };
    let arguments = Arguments {
        each: kernelParams,
        extra,
    };
    // SAFETY: the program's arguments.
    unsafe { launch(OP, &what, &[], arguments) }
}

pub(crate) unsafe fn cuLaunchCooperativeKernel(
    f: CUfunction,
    gridDimX: c_uint,
    gridDimY: c_uint,
    gridDimZ: c_uint,
    blockDimX: c_uint,
    blockDimY: c_uint,
    blockDimZ: c_uint,
    sharedMemBytes: c_uint,
    hStream: CUstream,
    kernelParams: *mut *mut c_void,
) -> Answer {
    const OP: OpId = op_id("cuLaunchCooperativeKernel");
    let what = Launch {
        function: f.addr() as u64,
        grid: [gridDimX, gridDimY, gridDimZ],
        block: [blockDimX, blockDimY, blockDimZ],
        shared_bytes: sharedMemBytes,
        stream: copy::stream(hStream),
        parameters: &[],
        attributes: Attributes::default(),
    };
    let arguments = Arguments {
        each: kernelParams,
        extra: std::ptr::null(),
    };
    check_together(f, &what)?;
    // SAFETY: the program's arguments.
    unsafe { launch(OP, &what, &[], arguments) }
}

/// A configuration, and its attributes.
///
/// # Safety
///
/// Null, or a configuration of the program.
unsafe fn configuration<'a>(
    config: *const CUlaunchConfig,
    f: CUfunction,
) -> Answer<(Launch<'a>, &'a [CUlaunchAttribute])> {
    // SAFETY: the caller's promise.
    let config = unsafe { config.as_ref() }.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
    let count = config.numAttrs as usize;
    let attributes: &[CUlaunchAttribute] = match (config.attrs.is_null(), count) {
        (_, 0) => &[],
        (true, _) => return Err(cuda::CUDA_ERROR_INVALID_VALUE),
        _ if count > LAUNCH_ATTRIBUTES_MAX => return Err(cuda::CUDA_ERROR_INVALID_VALUE),
        // SAFETY: the program says that so many are there.
        _ => unsafe { slice::from_raw_parts(config.attrs, count) },
    };
    let launch = Launch {
        function: f.addr() as u64,
        grid: [config.gridDimX, config.gridDimY, config.gridDimZ],
        block: [config.blockDimX, config.blockDimY, config.blockDimZ],
        shared_bytes: config.sharedMemBytes,
        stream: copy::stream(config.hStream),
        parameters: &[],
        attributes: Attributes::default(),
    };
    Ok((launch, attributes))
}

pub(crate) unsafe fn cuLaunchKernelEx(
    config: *const CUlaunchConfig,
    f: CUfunction,
    kernelParams: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Answer {
    const OP: OpId = op_id("cuLaunchKernelEx");
    let arguments = Arguments {
        each: kernelParams,
        extra,
    };
    // SAFETY: the program's arguments.
    unsafe {
        let (what, attributes) = configuration(config, f)?;
        let together = |it: &CUlaunchAttribute| {
            it.id == cuda::CU_LAUNCH_ATTRIBUTE_COOPERATIVE && it.value.cooperative != 0
        };
        if attributes.iter().any(together) {
            check_together(f, &what)?;
        }
        launch(OP, &what, attributes, arguments)
    }
}

/// What a configuration would allow.
unsafe fn ask(
    op: OpId,
    answer: *mut c_int,
    func: CUfunction,
    config: *const CUlaunchConfig,
) -> Answer {
    let session = session::cuda()?;
    // SAFETY: the program's pointer.
    let (launch, attributes) = unsafe { configuration(config, func) }?;
    let write = |w: &mut Writer| launch.write_head_with(w, attributes.iter().map(travelling), 0);
    let value = answer_to(session, op, write, |r| r.i32())?;
    // SAFETY: a pointer of the program.
    unsafe { context::put(answer, value) }
}

pub(crate) unsafe fn cuOccupancyMaxActiveClusters(
    numClusters: *mut c_int,
    func: CUfunction,
    config: *const CUlaunchConfig,
) -> Answer {
    const OP: OpId = op_id("cuOccupancyMaxActiveClusters");
    // SAFETY: the program's pointers.
    unsafe { ask(OP, numClusters, func, config) }
}

pub(crate) unsafe fn cuOccupancyMaxPotentialClusterSize(
    clusterSize: *mut c_int,
    func: CUfunction,
    config: *const CUlaunchConfig,
) -> Answer {
    const OP: OpId = op_id("cuOccupancyMaxPotentialClusterSize");
    // SAFETY: the program's pointers.
    unsafe { ask(OP, clusterSize, func, config) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtrace_cuda::payload::{FunctionInfo, Parameter};

    fn record(parameters: &[(u32, u32)]) -> Record {
        let parameters = parameters.iter();
        let parameters = parameters.map(|&(offset, size)| Parameter { offset, size });
        let info = FunctionInfo {
            parameters: Some(parameters.collect()),
            attributes: Vec::new(),
        };
        Record::new(0, 1, Default::default(), &info)
    }

    fn pointers(values: &mut [&mut [u8]]) -> Vec<*mut c_void> {
        values.iter_mut().map(|v| v.as_mut_ptr().cast()).collect()
    }

    #[test]
    fn arguments_are_gathered_at_their_offsets() {
        let record = record(&[(0, 2), (8, 4)]);
        let (mut a, mut b) = ([1u8, 2], [3u8, 4, 5, 6]);
        let mut each = pointers(&mut [&mut a, &mut b]);
        let arguments = Arguments {
            each: each.as_mut_ptr(),
            extra: std::ptr::null(),
        };
        let mut w = Writer::default();
        // SAFETY: two arguments of the sizes that the record has.
        unsafe {
            assert_eq!(len(&record, arguments), Ok(12));
            gather(&mut w, &record, arguments).unwrap();
        }
        assert_eq!(w.as_slice(), [1, 2, 0, 0, 0, 0, 0, 0, 3, 4, 5, 6]);
    }

    #[test]
    fn a_buffer_is_taken_as_it_is() {
        let record = record(&[(0, 8)]);
        let (mut bytes, mut size) = ([9u8; 8], 8usize);
        let mut marks = [
            std::ptr::without_provenance_mut(BUFFER_POINTER),
            bytes.as_mut_ptr().cast::<c_void>(),
            std::ptr::without_provenance_mut(BUFFER_SIZE),
            (&raw mut size).cast(),
            std::ptr::null_mut(),
        ];
        let arguments = Arguments {
            each: std::ptr::null(),
            extra: marks.as_mut_ptr(),
        };
        let mut w = Writer::default();
        // SAFETY: marks with their values, and END.
        unsafe {
            assert_eq!(len(&record, arguments), Ok(8));
            gather(&mut w, &record, arguments).unwrap();
        }
        assert_eq!(w.as_slice(), [9; 8]);
    }

    #[test]
    fn arguments_are_given_in_one_way() {
        let record = record(&[(0, 4)]);
        let mut value = [3u8, 4, 5, 6];
        let mut each = pointers(&mut [&mut value]);
        let end = std::ptr::null_mut();
        let arguments = Arguments {
            each: each.as_mut_ptr(),
            extra: &raw const end,
        };
        // SAFETY: an argument of the size that the record has, and END.
        let gathered = unsafe { gather(&mut Writer::default(), &record, arguments) };
        assert_eq!(gathered, Err(cuda::CUDA_ERROR_INVALID_VALUE));
    }

    #[test]
    fn a_kernel_with_parameters_needs_arguments() {
        let none = Arguments {
            each: std::ptr::null(),
            extra: std::ptr::null(),
        };
        // SAFETY: nothing is read.
        unsafe {
            assert_eq!(
                len(&record(&[(0, 8)]), none),
                Err(cuda::CUDA_ERROR_INVALID_VALUE)
            );
            assert_eq!(len(&record(&[]), none), Ok(0));
        }
    }
}
