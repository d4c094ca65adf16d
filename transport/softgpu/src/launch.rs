//! Launches: what is checked when the program asks, and what the stream's worker does.

use std::sync::Arc;

use crate::abi::Answer;
use crate::attributes::{MAX_BLOCK, MAX_GRID, MAX_THREADS};
use crate::command::Command;
use crate::context::Context;
use crate::error::{
    COOPERATIVE_LAUNCH_TOO_LARGE, CuError, INVALID_HANDLE, INVALID_VALUE, UNKNOWN, fail_if,
};
use crate::faults::LaunchFate;
use crate::graph::capture;
use crate::graph::work::Work;
use crate::health::Health;
use crate::module::Function;
use crate::occupancy;
use crate::program::Entry;
use crate::state::{State, state};
use crate::stream::{Stream, resolve};
use crate::types::{LaunchAttribute, PointerArray};

/// Ends the list `extra` of a launch; then the keys of buffer and size.
const EXTRA_END: u64 = 0;
const EXTRA_BUFFER: u64 = 1;
const EXTRA_SIZE: u64 = 2;

/// Grid, block and dynamic shared memory (bytes).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared: u32,
}

impl Shape {
    /// Whether the device and the function take this shape.
    ///
    /// # Errors
    /// As `cuLaunchKernel`: `CUDA_ERROR_INVALID_VALUE` for what no function takes, and for more threads than this one has
    /// bounds for.
    fn check(&self, function: &Function) -> Answer {
        let entry = function.entry();
        for axis in 0..3 {
            let (grid, block) = (self.grid[axis], self.block[axis]);
            if grid == 0 || block == 0 || grid > MAX_GRID[axis] || block > MAX_BLOCK[axis] {
                return Err(INVALID_VALUE);
            }
        }
        let threads = self.threads();
        fail_if(threads > u64::from(MAX_THREADS), INVALID_VALUE)?;
        if entry
            .required_block
            .is_some_and(|required| required != self.block)
        {
            return Err(INVALID_VALUE);
        }
        fail_if(
            entry
                .max_threads
                .is_some_and(|most| threads > u64::from(most)),
            INVALID_VALUE,
        )?;
        fail_if(
            self.shared > function.tuning.dynamic_shared(entry),
            INVALID_VALUE,
        )
    }

    /// Threads of a block.
    pub(crate) fn threads(&self) -> u64 {
        self.block.iter().map(|size| u64::from(*size)).product()
    }

    /// Blocks of the grid.
    fn blocks(&self) -> u64 {
        self.grid
            .iter()
            .fold(1u64, |all, size| all.saturating_mul(u64::from(*size)))
    }
}

/// Addresses of the parameters of a kernel, which live as long as these.
#[derive(Clone)]
struct Pointers(Arc<[u64]>);

/// A kernel with all that it runs with.
#[derive(Clone)]
pub(crate) struct Kernel {
    /// The handle by which the program called it.
    pub(crate) handle: u64,
    pub(crate) context: Arc<Context>,
    pub(crate) function: Arc<Function>,
    pub(crate) shape: Shape,
    pub(crate) params: Arc<[u8]>,
    /// Where each lies, as `kernelParams` of a launch.
    pointers: Pointers,
    pub(crate) cooperative: bool,
    /// What `cuLaunchKernelEx` was given, or `cuGraphKernelNodeSetAttribute`.
    pub(crate) attributes: Vec<LaunchAttribute>,
}

impl Kernel {
    /// Checks what a launch asks for.
    ///
    /// # Errors
    /// As `cuLaunchKernel` and its kin.
    pub(crate) fn new(context: &Arc<Context>, request: &Request) -> Answer<Self> {
        let function = Function::of(context, request.function)?;
        fail_if(function.context != context.handle, INVALID_HANDLE)?;
        let shape = request.shape;
        shape.check(&function)?;
        function.load();
        if request.cooperative {
            let fit = occupancy::blocks_on_device(&function, shape.threads(), shape.shared);
            fail_if(shape.blocks() > fit, COOPERATIVE_LAUNCH_TOO_LARGE)?;
        }
        let params: Arc<[u8]> = gather(function.entry(), request.values, request.extra)?.into();
        let base = params.as_ptr() as u64;
        let each = function.entry().params.iter();
        let pointers = each.map(|param| base + param.offset as u64).collect();
        Ok(Self {
            handle: request.function,
            context: Arc::clone(context),
            params,
            pointers: Pointers(pointers),
            function,
            shape,
            cooperative: request.cooperative,
            attributes: request.attributes.clone(),
        })
    }

    /// Where each parameter lies, as `kernelParams` of a launch.
    pub(crate) fn pointers(&self) -> *const u64 {
        self.pointers.0.as_ptr()
    }
}

/// A launch that was accepted.
pub(crate) struct Launch {
    pub(crate) state: &'static State,
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) fate: LaunchFate,
}

/// Copies the values of `kernelParams`, one pointer a parameter, or of `extra`, one buffer.
#[allow(unsafe_code)]
fn gather(entry: &Entry, values: PointerArray, extra: PointerArray) -> Answer<Vec<u8>> {
    if !values.is_null() {
        fail_if(!extra.is_null(), INVALID_VALUE)?;
        let mut bytes = vec![0; entry.param_size];
        for (index, param) in entry.params.iter().enumerate() {
            let value = values.at(index)?;
            fail_if(value == 0, INVALID_VALUE)?;
            let place = &mut bytes[param.offset..param.offset + param.size];
            // SAFETY: by the contract of cuLaunchKernel each pointer is that of a value of its
            // parameter's size.
            unsafe {
                std::ptr::copy_nonoverlapping(value as *const u8, place.as_mut_ptr(), param.size);
            }
        }
        return Ok(bytes);
    }
    if extra.is_null() {
        return if entry.params.is_empty() {
            Ok(Vec::new())
        } else {
            Err(INVALID_VALUE)
        };
    }
    let (mut buffer, mut size) = (0, 0);
    for index in (0..).step_by(2) {
        match extra.at(index)? {
            EXTRA_END => break,
            EXTRA_BUFFER => buffer = extra.at(index + 1)?,
            // SAFETY: by the contract of cuLaunchKernel the value of this key points to a size_t.
            EXTRA_SIZE => size = unsafe { (extra.at(index + 1)? as *const usize).read_unaligned() },
            _ => return Err(INVALID_VALUE),
        }
    }
    fail_if(buffer == 0 && entry.param_size > 0, INVALID_VALUE)?;
    // A structure may be given without its end, which the kernel then does not look at: NCCL gives 4 KiB of arguments so.
    let given = size.min(entry.param_size);
    // SAFETY: by the contract of cuLaunchKernel the buffer has the size that was reported.
    let mut bytes = unsafe { crate::abi::read_bytes(buffer, given) };
    bytes.resize(entry.param_size, 0);
    Ok(bytes)
}

/// What `cuLaunchKernel` and its kin ask for.
pub(crate) struct Request {
    pub(crate) function: u64,
    pub(crate) shape: Shape,
    pub(crate) stream: u64,
    pub(crate) values: PointerArray,
    pub(crate) extra: PointerArray,
    pub(crate) cooperative: bool,
    pub(crate) attributes: Vec<LaunchAttribute>,
}

/// Checks a launch and queues it.
pub(crate) fn launch(request: &Request) -> Answer {
    let state = state()?;
    let (context, stream) = resolve(request.stream)?;
    let kernel = Kernel::new(&context, request)?;
    if let Some(capture) = capture::of(&stream) {
        return capture::record(&stream, &capture, Work::Kernel(Arc::new(kernel)));
    }
    context.printed.flush();
    capture::refuse_implicit(&stream)?;
    let device = context.device;
    let fate = device.faults.on_launch();
    // What is not executed needs no turn in the stream either, and a measurement of the way here
    // measures only that.
    let is_plain = !fate.lost && fate.fails.is_none() && fate.delay.is_zero();
    if state.config.skip_launches && is_plain && !device.is_lost() {
        return Ok(());
    }
    let launch = Launch {
        state,
        kernel: Arc::new(kernel),
        fate,
    };
    submit(&stream, launch)
}

fn submit(stream: &Stream, launch: Launch) -> Answer {
    let (state, context) = (launch.state, Arc::clone(&launch.kernel.context));
    stream.submit(&context, Command::Launch(Box::new(launch)))?;
    if state.config.launch_blocking {
        stream.quiesce(&context);
        context.health.check()?;
    }
    Ok(())
}

impl Launch {
    /// Runs the kernel in the calling thread (and its helpers).
    pub(crate) fn run(&self, health: &Health) -> Answer {
        let device = self.kernel.context.device;
        if self.fate.lost {
            self.state.lose(device);
        }
        fail_if(device.is_lost(), UNKNOWN)?;
        device.busy().begin();
        let writing = crate::exported::writing();
        let outcome = self.execute(health);
        drop(writing);
        device.busy().end();
        if let Err((error, address)) = outcome {
            // A kernel that was ended because the device is lost is no fault of its own.
            if !device.is_lost() {
                self.state.log_fault(device, error, address);
            }
            return Err(error);
        }
        Ok(())
    }

    fn execute(&self, health: &Health) -> Result<(), (CuError, Option<u64>)> {
        if !self.fate.delay.is_zero() {
            std::thread::sleep(self.fate.delay);
        }
        if let Some(error) = self.fate.fails {
            return Err((error, None));
        }
        if self.state.config.skip_launches {
            return Ok(());
        }
        self.kernel.function.program.run(self, health)
    }
}
