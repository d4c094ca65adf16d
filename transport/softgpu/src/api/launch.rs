//! Kernel launches.

use std::ffi::c_uint;

use crate::abi::{Answer, In, api};
use crate::api::event::record;
use crate::cluster;
use crate::context::bound;
use crate::error::INVALID_VALUE;
use crate::event::Event;
use crate::launch::{Request, Shape, launch};
use crate::module::Function;
use crate::types::{Handle, LaunchConfig, PointerArray};

/// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`, `_PROGRAMMATIC_EVENT` and `_LAUNCH_COMPLETION_EVENT`.
const COOPERATIVE: u32 = 2;
const PROGRAMMATIC_EVENT: u32 = 7;
const COMPLETION_EVENT: u32 = 12;
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
        if !KNOWN.iter().any(|known| known.contains(&attribute.id)) {
            return Err(INVALID_VALUE);
        }
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

api! { TABLE:
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
