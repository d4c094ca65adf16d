//! Kernel launches.

use std::ffi::c_uint;

use crate::abi::{Answer, In, api};
use crate::cluster;
use crate::context::bound;
use crate::launch::{Request, Shape, launch};
use crate::module::Function;
use crate::types::{Handle, LaunchConfig, PointerArray};

/// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`.
const COOPERATIVE: u32 = 2;

fn launch_ex(
    config: In<LaunchConfig>,
    function: Handle,
    values: PointerArray,
    extra: PointerArray,
    per_thread: bool,
) -> Answer {
    let config = config.get()?;
    let mut cooperative = false;
    for index in 0..config.attribute_count as usize {
        let attribute = config.attributes.at(index)?;
        // The others but clusters are hints, or order work more loosely than a stream does anyway.
        if attribute.id == COOPERATIVE {
            cooperative = attribute.value[0] as u32 != 0;
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
    })
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
        launch(&Request { function, shape, stream, values, extra, cooperative: false })
    }

    /// Launches a kernel all of whose blocks run at the same time; more than fit are refused.
    fn cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz [stream] (
        function: Handle, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint,
        block_x: c_uint, block_y: c_uint, block_z: c_uint, shared: c_uint,
        stream: Handle, values: PointerArray,
    ) {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let (shape, extra) = (Shape { grid, block, shared }, PointerArray::NULL);
        launch(&Request { function, shape, stream, values, extra, cooperative: true })
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
