//! A launch: the blocks of a grid on threads of the host.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::super::alu::Regs;
use super::super::error::Fault;
use super::super::load::Loaded;
use super::super::program::{Program, Special};
use super::block::{Block, Turn};
use super::heap::Heap;
use super::host::{Memory, Reach};
use crate::sync::lock;

/// Takes what kernels print; a call is one `printf` of one thread.
pub trait Sink: Sync {
    /// Formatted text, not necessarily UTF-8.
    fn print(&self, text: &[u8]);
}

/// A flag that ends a launch early.
#[derive(Debug, Default)]
pub struct Cancel(AtomicBool);

impl Cancel {
    /// A flag that is not set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the launches that poll this flag, within some thousand instructions.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was set.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How a kernel is launched.
#[derive(Clone, Copy)]
pub struct Launch<'l> {
    /// Blocks in x, y, z; none is 0.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z; at most 1024 together.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared_bytes: u32,
    /// The parameters, laid out as [`super::super::Entry::params`] says.
    pub params: &'l [u8],
    /// Threads of the host that run blocks; 0 counts as 1.
    pub workers: usize,
    /// Bytes of stack a thread gets if the kernel recurses (CU_LIMIT_STACK_SIZE); 0 means 16 KiB.
    pub stack: u32,
    /// All blocks run at the same time, so that they may wait for each other.
    pub cooperative: bool,
    /// Where `printf` goes; without one it is thrown away.
    pub sink: Option<&'l dyn Sink>,
}

impl Default for Launch<'_> {
    fn default() -> Self {
        Self {
            grid: [1; 3],
            block: [1; 3],
            shared_bytes: 0,
            params: &[],
            workers: 1,
            stack: 0,
            cooperative: false,
            sink: None,
        }
    }
}

/// What a launch did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Instructions, each counted once for all lanes that took part.
    pub warp_instructions: u64,
    /// Instructions, counted for each lane that took part.
    pub lane_instructions: u64,
    /// Blocks that ran to their end.
    pub blocks: u64,
}

/// One thread of the host and what its blocks share.
pub(super) struct Worker<'l> {
    pub(super) program: &'l Program,
    pub(super) launch: &'l Launch<'l>,
    pub(super) reach: Reach<'l>,
    pub(super) heap: &'l Heap,
    /// Register files to use again, by function.
    pub(super) spare: Vec<Vec<Regs>>,
    pub(super) stats: Stats,
    pub(super) number: u32,
    pub(super) count: u32,
    /// Bytes of a thread's stack.
    pub(super) stride: u32,
    pub(super) epoch: Instant,
    /// Address of the memory through which blocks wait for each other, or 0.
    pub(super) workspace: u64,
}

const DEFAULT_STACK: u32 = 16 << 10;

/// How long a launch runs on one thread before others help: several times what it costs to start them.
const ALONE: Duration = Duration::from_micros(200);

/// Runs a kernel to its end.
///
/// # Errors
/// The first [`Fault`] that a thread ran into, [`Fault::InvalidLaunch`] if the kernel cannot be run
/// so, [`Fault::Cancelled`].
pub fn launch(
    loaded: &Loaded,
    entry: &str,
    launch: &Launch<'_>,
    memory: &dyn Memory,
    cancel: &Cancel,
) -> Result<Stats, Fault> {
    let invalid = |message: String| Fault::InvalidLaunch(message);
    let Some(kernel) = loaded.kernel(entry) else {
        return Err(invalid(format!("the module has no kernel `{entry}`")));
    };
    let threads: u64 = launch.block.iter().map(|&size| u64::from(size)).product();
    let blocks = launch
        .grid
        .iter()
        .try_fold(1_u64, |n, &size| n.checked_mul(u64::from(size)));
    let Some(blocks) = blocks.filter(|&blocks| blocks > 0) else {
        return Err(invalid(format!("a grid of {:?} blocks", launch.grid)));
    };
    if threads == 0 || threads > u64::from(kernel.entry.max_threads) {
        return Err(invalid(format!(
            "a block of {threads} threads; `{entry}` admits 1 to {}",
            kernel.entry.max_threads
        )));
    }
    if kernel
        .entry
        .required_block
        .is_some_and(|required| required != launch.block)
    {
        return Err(invalid(format!(
            "`{entry}` requires blocks of {:?}",
            kernel.entry.required_block
        )));
    }
    if launch.params.len() < kernel.entry.param_size {
        return Err(invalid(format!(
            "{} bytes of parameters; `{entry}` takes {}",
            launch.params.len(),
            kernel.entry.param_size
        )));
    }
    if launch.shared_bytes > 1 << 24 {
        return Err(invalid(format!(
            "{} bytes of dynamic shared memory",
            launch.shared_bytes
        )));
    }
    Grid {
        program: &kernel.program,
        launch,
        memory,
        heap: loaded.heap(),
        cancel,
        blocks,
        next: AtomicU64::new(0),
        workspace: workspace(&kernel.program, launch, loaded.heap())?,
    }
    .run()
}

/// Bytes of what a cooperative launch gives its blocks to wait for each other: its size, a number
/// that starts as 0, and room (cooperative_groups/details/driver_abi.h).
const WORKSPACE: u64 = 16;

/// The workspace of a cooperative launch whose kernel asks for it; 0 for any other.
fn workspace(program: &Program, launch: &Launch<'_>, heap: &Heap) -> Result<u64, Fault> {
    let asks = |code: &super::super::program::Code| {
        let mut specials = code.specials.iter();
        specials.any(|(_, _, special)| matches!(special, Special::GridWorkspace(_)))
    };
    if !launch.cooperative || !program.functions.iter().any(asks) {
        return Ok(0);
    }
    let address = heap.allocate(WORKSPACE);
    // The first two words: the size, and a number that starts as 0.
    if !heap.set(address, WORKSPACE) {
        return Err(Fault::InvalidLaunch(
            "no memory is left for the blocks of a cooperative launch to wait for each other"
                .into(),
        ));
    }
    Ok(address)
}

struct Grid<'g> {
    program: &'g Program,
    launch: &'g Launch<'g>,
    memory: &'g dyn Memory,
    heap: &'g Heap,
    cancel: &'g Cancel,
    blocks: u64,
    next: AtomicU64,
    workspace: u64,
}

impl Drop for Grid<'_> {
    fn drop(&mut self) {
        self.heap.release(self.workspace);
    }
}

impl Grid<'_> {
    fn run(&self) -> Result<Stats, Fault> {
        let count = (self.launch.workers.max(1) as u64).min(self.blocks) as u32;
        let stop = Cancel::new();
        if count == 1 {
            return self.work(0, 1, &stop, None);
        }
        let total = Mutex::new(Ok(Stats::default()));
        let work = |number, help: Option<&mut dyn FnMut()>| {
            let outcome = self.work(number, count, &stop, help);
            let mut total = lock(&total);
            match (&mut *total, outcome) {
                (Ok(total), Ok(stats)) => {
                    total.warp_instructions += stats.warp_instructions;
                    total.lane_instructions += stats.lane_instructions;
                    total.blocks += stats.blocks;
                }
                // A worker that was stopped for another's fault reports nothing of its own.
                (first @ Ok(_), Err(fault)) => *first = Err(fault),
                (first @ Err(Fault::Cancelled), Err(fault)) => *first = Err(fault),
                (Err(_), _) => {}
            }
        };
        std::thread::scope(|scope| {
            let work = &work;
            let mut help = || {
                for number in 1..count {
                    scope.spawn(move || work(number, None));
                }
            };
            if self.launch.cooperative {
                help();
                work(0, None);
            } else {
                work(0, Some(&mut help));
            }
        });
        total
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn position(&self, number: u64) -> [u32; 3] {
        let [x, y, _] = self.launch.grid.map(u64::from);
        [
            (number % x) as u32,
            (number / x % y) as u32,
            (number / x / y) as u32,
        ]
    }

    fn work(
        &self,
        number: u32,
        count: u32,
        stop: &Cancel,
        help: Option<&mut dyn FnMut()>,
    ) -> Result<Stats, Fault> {
        let stack = if self.launch.stack == 0 {
            DEFAULT_STACK
        } else {
            self.launch.stack
        };
        let deeper = if self.program.recursive { stack } else { 0 };
        let mut worker = Worker {
            program: self.program,
            launch: self.launch,
            heap: self.heap,
            reach: Reach::new(self.memory, self.heap),
            spare: self.program.functions.iter().map(|_| Vec::new()).collect(),
            stats: Stats::default(),
            number,
            count,
            stride: self
                .program
                .stack
                .saturating_add(deeper)
                .next_multiple_of(16),
            epoch: Instant::now(),
            workspace: self.workspace,
        };
        let outcome = if self.launch.cooperative {
            self.together(&mut worker, stop)
        } else {
            self.one_by_one(&mut worker, stop, help)
        };
        if outcome.is_err() {
            stop.cancel();
        }
        outcome.map(|()| worker.stats)
    }

    fn stopped(&self, stop: &Cancel) -> bool {
        stop.is_cancelled() || self.cancel.is_cancelled()
    }

    /// Runs blocks until there are none left. `help` starts the other threads, once the launch has taken
    /// longer than that costs.
    fn one_by_one(
        &self,
        worker: &mut Worker<'_>,
        stop: &Cancel,
        mut help: Option<&mut dyn FnMut()>,
    ) -> Result<(), Fault> {
        let mut block = Block::default();
        let mut ask_for_help = |begun: Instant| {
            if help.is_some()
                && begun.elapsed() >= ALONE
                && self.next.load(Ordering::Relaxed) < self.blocks
                && let Some(help) = help.take()
            {
                help();
            }
        };
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.blocks {
                return Ok(());
            }
            block.start(worker, self.position(number));
            while block.turn(worker)? == Turn::More {
                ask_for_help(worker.epoch);
                if self.stopped(stop) {
                    return Err(Fault::Cancelled);
                }
            }
            ask_for_help(worker.epoch);
            worker.stats.blocks += 1;
            if self.stopped(stop) {
                return Err(Fault::Cancelled);
            }
        }
    }

    fn together(&self, worker: &mut Worker<'_>, stop: &Cancel) -> Result<(), Fault> {
        let mut running = Vec::new();
        let mut number = u64::from(worker.number);
        while number < self.blocks {
            let mut block = Block::default();
            block.start(worker, self.position(number));
            running.push(block);
            number += u64::from(worker.count);
        }
        while !running.is_empty() {
            let mut at = 0;
            while at < running.len() {
                if self.stopped(stop) {
                    return Err(Fault::Cancelled);
                }
                if running[at].turn(worker)? == Turn::Done {
                    running.swap_remove(at);
                    worker.stats.blocks += 1;
                } else {
                    at += 1;
                }
            }
        }
        Ok(())
    }
}
