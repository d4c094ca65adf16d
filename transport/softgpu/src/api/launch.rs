//! Kernel launches.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::Mutex;

use crate::abi::{Answer, In, api};
use crate::api::event::record;
use crate::cluster;
use crate::context::bound;
use crate::error::{INVALID_VALUE, fail_if};
use crate::event::Event;
use crate::launch::{Request, Shape, launch};
use crate::module::Function;
use crate::sync::lock;
use crate::types::{Handle, LaunchConfig, PointerArray};

/// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`, `_PROGRAMMATIC_EVENT` and `_LAUNCH_COMPLETION_EVENT`.
const COOPERATIVE: u32 = 2;
const PROGRAMMATIC_EVENT: u32 = 7;
const COMPLETION_EVENT: u32 = 12;
/// `CU_PARAM_TR_DEFAULT`.
const DEFAULT_UNIT: c_int = -1;
/// Most bytes of parameters.
const PARAMETERS_MAX: usize = 32 << 10;
/// All that there are (`CUlaunchAttributeID` of CUDA 13); 15 is none.
const KNOWN: [std::ops::RangeInclusive<u32>; 2] = [0..=14, 16..=18];

fn launch_ex(
    config: In<LaunchConfig>,
    function: Handle,
    values: PointerArray,
    extra: PointerArray,
    per_thread: bool,
) -> Answer {
    let config = config.get()?;
    let mut cooperative = false;
    let mut attributes = Vec::new();
    let mut events = Vec::new();
    for index in 0..config.attribute_count as usize {
        let attribute = config.attributes.at(index)?;
        fail_if(
            !KNOWN.iter().any(|known| known.contains(&attribute.id)),
            INVALID_VALUE,
        )?;
        attributes.push(attribute);
        match attribute.id {
            COOPERATIVE => cooperative = attribute.value[0] as u32 != 0,
            // Recorded behind the launch, which is late enough for both.
            PROGRAMMATIC_EVENT | COMPLETION_EVENT => {
                Event::of(attribute.value[0])?;
                events.push(attribute.value[0]);
            }
            // The others but clusters are hints, or order work more loosely than a stream does anyway.
            _ => {}
        }
    }
    if config.attribute_count > 0 {
        cluster::blocks(&config, &Function::of(bound()?.as_ref(), function)?.tuning)?;
    }
    let stream = if per_thread {
        crate::stream::or_per_thread(config.stream)
    } else {
        config.stream
    };
    let shape = Shape {
        grid: config.grid,
        block: config.block,
        shared: config.shared_bytes,
    };
    launch(&Request {
        function,
        shape,
        stream,
        values,
        extra,
        cooperative,
        attributes,
    })?;
    for event in events {
        record(event, stream, false)?;
    }
    Ok(())
}

/// What launches of before CUDA 4.0 have set for a function.
#[derive(Clone, Default)]
struct Set {
    block: [c_uint; 3],
    shared: c_uint,
    parameters: Vec<u8>,
}

static SET: Mutex<BTreeMap<Handle, Set>> = Mutex::new(BTreeMap::new());

fn set(function: Handle, change: impl FnOnce(&mut Set) -> Answer) -> Answer {
    Function::of(bound()?.as_ref(), function)?;
    let mut all = lock(&SET);
    change(all.entry(function).or_default())
}

fn set_parameter(function: Handle, offset: c_int, value: &[u8]) -> Answer {
    let from = usize::try_from(offset).map_err(|_| INVALID_VALUE)?;
    let end = from.checked_add(value.len()).ok_or(INVALID_VALUE)?;
    fail_if(end > PARAMETERS_MAX, INVALID_VALUE)?;
    set(function, |set| {
        if set.parameters.len() < end {
            set.parameters.resize(end, 0);
        }
        set.parameters[from..end].copy_from_slice(value);
        Ok(())
    })
}

/// Launches with what was set.
#[allow(unsafe_code)]
fn launch_set(function: Handle, width: c_int, height: c_int, stream: Handle) -> Answer {
    let mut found = Set::default();
    set(function, |set| {
        found = set.clone();
        Ok(())
    })?;
    let side = |side: c_int| c_uint::try_from(side).unwrap_or(0);
    let size = found.parameters.len();
    // CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END.
    let extra = [
        1,
        found.parameters.as_ptr() as u64,
        2,
        (&raw const size) as u64,
        0,
    ];
    launch(&Request {
        function,
        shape: Shape {
            grid: [side(width), side(height), 1],
            block: found.block,
            shared: found.shared,
        },
        stream,
        values: PointerArray::NULL,
        // SAFETY: the array and what it points to live until the launch has copied them.
        extra: unsafe { PointerArray::new(extra.as_ptr()) },
        cooperative: false,
        attributes: Vec::new(),
    })
}

api! { TABLE:
    /// Threads of a block, for launches of before CUDA 4.0.
    fn cuFuncSetBlockShape(function: Handle, x: c_int, y: c_int, z: c_int) {
        let sides = [x, y, z].map(|side| c_uint::try_from(side).unwrap_or(0));
        fail_if(sides.contains(&0), INVALID_VALUE)?;
        set(function, |set| {
            set.block = sides;
            Ok(())
        })
    }

    /// Shared memory of a block, likewise.
    fn cuFuncSetSharedSize(function: Handle, bytes: c_uint) {
        set(function, |set| {
            set.shared = bytes;
            Ok(())
        })
    }

    /// Bytes of all parameters, likewise.
    fn cuParamSetSize(function: Handle, bytes: c_uint) {
        fail_if(bytes as usize > PARAMETERS_MAX, INVALID_VALUE)?;
        set(function, |set| {
            set.parameters.resize(bytes as usize, 0);
            Ok(())
        })
    }

    /// A parameter, likewise.
    fn cuParamSeti(function: Handle, offset: c_int, value: c_uint) {
        set_parameter(function, offset, &value.to_ne_bytes())
    }

    /// A parameter, likewise.
    fn cuParamSetf(function: Handle, offset: c_int, value: f32) {
        set_parameter(function, offset, &value.to_ne_bytes())
    }

    /// A parameter, likewise.
    fn cuParamSetv(function: Handle, offset: c_int, value: *mut c_void, bytes: c_uint) {
        fail_if(value.is_null() || bytes as usize > PARAMETERS_MAX, INVALID_VALUE)?;
        // SAFETY: by the contract of this function so many bytes are there.
        let value = unsafe { crate::abi::read_bytes(value as u64, bytes as usize) };
        set_parameter(function, offset, &value)
    }

    /// A texture of a function, likewise: it has all of its module.
    fn cuParamSetTexRef(function: Handle, unit: c_int, _texture: Handle) {
        set(function, |_| match unit {
            DEFAULT_UNIT => Ok(()),
            _ => Err(INVALID_VALUE),
        })
    }

    /// Launches one block with what was set.
    fn cuLaunch(function: Handle) {
        launch_set(function, 1, 1, 0)
    }

    /// Launches blocks with what was set.
    fn cuLaunchGrid(function: Handle, width: c_int, height: c_int) {
        launch_set(function, width, height, 0)
    }

    /// The same in a stream.
    fn cuLaunchGridAsync(function: Handle, width: c_int, height: c_int, stream: Handle) {
        launch_set(function, width, height, stream)
    }

    /// Launches a kernel: `values` has one pointer a parameter, or `extra` one buffer for all.
    fn cuLaunchKernel, cuLaunchKernel_ptsz [stream] (
        function: Handle, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint,
        block_x: c_uint, block_y: c_uint, block_z: c_uint, shared: c_uint,
        stream: Handle, values: PointerArray, extra: PointerArray,
    ) {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let shape = Shape { grid, block, shared };
        let (cooperative, attributes) = (false, Vec::new());
        launch(&Request { function, shape, stream, values, extra, cooperative, attributes })
    }

    /// Launches a kernel all of whose blocks run at the same time; more than fit are refused.
    fn cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz [stream] (
        function: Handle, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint,
        block_x: c_uint, block_y: c_uint, block_z: c_uint, shared: c_uint,
        stream: Handle, values: PointerArray,
    ) {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let (shape, extra) = (Shape { grid, block, shared }, PointerArray::NULL);
        let (cooperative, attributes) = (true, Vec::new());
        launch(&Request { function, shape, stream, values, extra, cooperative, attributes })
    }

    /// Launches a kernel with attributes; those that are hints are ignored.
    fn cuLaunchKernelEx(
        config: In<LaunchConfig>, function: Handle, values: PointerArray, extra: PointerArray,
    ) {
        launch_ex(config, function, values, extra, false)
    }

    /// As [`cuLaunchKernelEx`], with the default stream of the thread.
    fn cuLaunchKernelEx_ptsz(
        config: In<LaunchConfig>, function: Handle, values: PointerArray, extra: PointerArray,
    ) {
        launch_ex(config, function, values, extra, true)
    }
}
