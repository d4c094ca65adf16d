//! Decoded kernels: what the executor runs. Names are resolved, operations are function pointers.

use std::sync::Arc;

use super::alu::{Exec, Operands};
use super::exec::atomic::Update;
use super::types::Class;

/// A slot number that stands for none.
pub(crate) const NONE: u32 = u32::MAX;

/// Bytes of shared memory behind the kernel's own that cooperative groups use as scratch space.
pub(crate) const RESERVED_SHARED: u16 = 4096;

/// A kernel with every function that it can reach; number 0 is the kernel.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) functions: Vec<Code>,
    /// Numbers within the module (as in generic addresses of functions) to numbers here.
    pub(crate) by_address: Vec<u32>,
    /// Bytes of static shared memory; dynamic shared memory follows.
    pub(crate) shared: u32,
    /// Bytes of stack a thread needs; recursion needs more.
    pub(crate) stack: u32,
    pub(crate) recursive: bool,
    /// Bytes of shared memory kept for the system: RESERVED_SHARED if the kernel asks where it is.
    pub(crate) reserved: u32,
}

impl Program {
    /// An instruction of a function.
    pub(crate) fn instruction(&self, function: u32, pc: u32) -> Option<&Inst> {
        let code = self.functions.get(function as usize)?;
        code.instructions.get(pc as usize)
    }
}

/// A function.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pub(crate) name: String,
    pub(crate) instructions: Vec<Inst>,
    /// Units of registers, then of constants and special registers.
    pub(crate) slots: u32,
    /// Units that start as zero: the registers proper.
    pub(crate) registers: u32,
    pub(crate) constants: Vec<(u32, Class, u64)>,
    pub(crate) specials: Vec<(u32, Class, Special)>,
    /// Bytes of local memory: variables, parameters of calls, own parameters.
    pub(crate) frame: u32,
    pub(crate) params: Vec<Passed>,
    pub(crate) returns: Vec<Passed>,
}

/// An instruction: 48 bytes, read once a warp.
#[derive(Debug)]
pub(crate) struct Inst {
    pub(crate) kind: Op,
    /// Slot of the predicate, or NONE.
    pub(crate) guard: u32,
    /// All ones where the predicate is negated.
    pub(crate) flip: u32,
    pub(crate) o: Operands,
    pub(crate) line: u32,
}

/// What an instruction does.
#[derive(Debug)]
pub(crate) enum Op {
    Alu(Exec),
    Jump(u32),
    /// The slot a picks one of the targets.
    Table(Box<[u32]>),
    Call(Arc<CallSite>),
    Return,
    Exit,
    Trap,
    Load(Box<Access>),
    Store(Box<Access>),
    Atomic(Box<AtomicAccess>),
    /// Copies bytes from global to shared memory: addresses d and a, sizes b and c.
    CopyAsync,
    Barrier(BarrierKind),
    /// Arrives at the barrier of the cluster.
    ClusterArrive,
    /// Waits there, until all threads of the cluster have arrived.
    ClusterWait,
    Warp(WarpKind),
    /// The lanes that run together.
    ActiveMask,
    /// A clock into d.
    Clock(ClockKind),
    Fence,
    /// Reads through the texture whose handle is in slot a.
    Sample(Box<Sampling>),
    /// Reads from or writes to the surface whose handle is in slot a.
    Surface(Box<SurfaceAccess>),
    /// Asks about the texture or surface whose handle is in slot a; the answer goes to d.
    Query(Query),
    /// Lets other warps run.
    Pause,
}

/// Memory that an instruction reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Global,
    Shared,
    Local,
    Param,
    Generic,
}

/// How an element of memory becomes a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Element {
    U8,
    S8,
    U16,
    S16,
    U32,
    S32,
    U64,
}

impl Element {
    pub(crate) fn size(self) -> u32 {
        match self {
            Self::U8 | Self::S8 => 1,
            Self::U16 | Self::S16 => 2,
            Self::U32 | Self::S32 => 4,
            Self::U64 => 8,
        }
    }
}

/// A load or store; the address is slot a plus `offset`.
#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) place: Place,
    pub(crate) element: Element,
    pub(crate) count: u32,
    /// Destinations or sources; NONE for a part that nobody wants.
    pub(crate) slots: [u32; 8],
    pub(crate) offset: u64,
    /// The class of the register that holds the address.
    pub(crate) base: Class,
    /// The address is the same for all lanes.
    pub(crate) fixed: bool,
    /// Ordered against the accesses of other threads.
    pub(crate) ordered: bool,
}

/// An atomic: d (or NONE) is the value before, b and c the operands.
#[derive(Debug)]
pub(crate) struct AtomicAccess {
    pub(crate) place: Place,
    pub(crate) element: Element,
    pub(crate) offset: u64,
    /// The class of the register that holds the address.
    pub(crate) base: Class,
    pub(crate) update: Update,
    /// The same for global memory.
    pub(crate) update_global: Update,
    /// The operation is an addition of integers, which has a quicker way.
    pub(crate) adds: bool,
}

/// tex and tld4.
#[derive(Debug)]
pub(crate) struct Sampling {
    pub(crate) reading: Reading,
    /// Coordinates without the layer.
    pub(crate) axes: u32,
    /// Coordinates are integers.
    pub(crate) whole: bool,
    pub(crate) coordinates: [u32; 3],
    /// Slot of the layer, or NONE.
    pub(crate) layer: u32,
    /// Where the channels go; NONE for one that nobody wants.
    pub(crate) out: [u32; 4],
}

/// What of a texture is read.
#[derive(Debug)]
pub(crate) enum Reading {
    /// The largest level.
    Base,
    /// The level in this slot.
    Level(u32),
    /// The level that these derivatives of the coordinates mean.
    Gradient([[u32; 3]; 2]),
    /// This channel of four elements.
    Gather(usize),
}

/// suld and sust.
#[derive(Debug)]
pub(crate) struct SurfaceAccess {
    pub(crate) write: bool,
    /// Slots of x in bytes, y, and z or the layer; NONE for what there is not.
    pub(crate) coordinates: [u32; 3],
    /// Bytes of each register.
    pub(crate) size: u32,
    pub(crate) count: u32,
    pub(crate) slots: [u32; 4],
    pub(crate) beyond: Beyond,
}

/// What an access beyond a surface does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beyond {
    /// Ends the kernel.
    Trap,
    /// Is one to the nearest element.
    Clamp,
    /// Reads 0, or writes nothing.
    Zero,
}

/// txq and suq.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Query {
    Width,
    Height,
    Depth,
    Levels,
}

/// Where a value is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passed {
    Slot(u32, Class),
    /// Offset in the frame's local memory, and bytes.
    Memory {
        offset: u32,
        size: u32,
    },
}

/// A call.
#[derive(Debug)]
pub(crate) struct CallSite {
    pub(crate) target: Target,
    pub(crate) params: Vec<Passed>,
    pub(crate) returns: Vec<Passed>,
}

/// What is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Number within the program.
    Function(u32),
    /// Slot that holds a generic address of a function.
    Address(u32),
    Printf,
    AssertFail,
    Malloc,
    Free,
    /// `cudaGraphSetConditional`: handle and value.
    SetConditional,
}

/// bar and barrier; slot a is the number of the barrier, b the count of threads or NONE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierKind {
    Wait,
    Arrive,
    /// Counts, ands or ors the predicate in slot c into d.
    Count,
    And,
    Or,
}

/// Instructions of which several lanes take part; slot x holds the mask of members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WarpKind {
    Sync,
    /// d = a of another lane, which b and c name; the predicate goes to `slot`, or NONE.
    Shuffle {
        mode: Shuffle,
        predicate: u32,
    },
    All,
    Any,
    Uniform,
    Ballot,
    MatchAny {
        wide: bool,
    },
    MatchAll {
        wide: bool,
        predicate: u32,
    },
    Reduce(Reduce),
    /// One lane is chosen: its number to d, the predicate to `predicate`.
    Elect {
        predicate: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduce {
    Add,
    MinU,
    MaxU,
    MinS,
    MaxS,
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClockKind {
    /// Cycles, 32 bits; the upper half; 64 bits. A cycle is a nanosecond here.
    Low,
    High,
    Wide,
    /// Nanoseconds since the epoch, and halves.
    Global,
    GlobalLow,
    GlobalHigh,
}

/// Registers that hold the same from the start of a function to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    LaneId,
    WarpId,
    WarpCount,
    SmId,
    SmCount,
    GridId,
    LanesEqual,
    LanesBelow,
    LanesUpTo,
    LanesAbove,
    LanesFrom,
    DynamicShared,
    TotalShared,
    /// Start of the shared memory that is kept for the system, plus this.
    ReservedShared(u16),
    /// Start of the function's local memory.
    Frame,
    /// What the parameters of the kernel have at this offset.
    Param(u32, Element),
    /// Half of the address of the memory through which the blocks of a cooperative launch wait for
    /// each other, 0 for other launches: the upper (1) or the lower (2) one.
    GridWorkspace(u8),
}

impl Special {
    /// From the name of a special register; clocks are instructions.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let axis = |prefix: &str| -> Option<u8> {
            match name.strip_prefix(prefix)? {
                ".x" => Some(0),
                ".y" => Some(1),
                ".z" => Some(2),
                _ => None,
            }
        };
        if let Some(axis) = axis("%tid") {
            return Some(Self::Tid(axis));
        }
        if let Some(axis) = axis("%ntid") {
            return Some(Self::Ntid(axis));
        }
        // Without clusters a block is a cluster of one.
        if let Some(axis) = axis("%ctaid").or_else(|| axis("%clusterid")) {
            return Some(Self::Ctaid(axis));
        }
        if let Some(axis) = axis("%nctaid").or_else(|| axis("%nclusterid")) {
            return Some(Self::Nctaid(axis));
        }
        Some(match name {
            "%laneid" => Self::LaneId,
            "%warpid" => Self::WarpId,
            "%nwarpid" => Self::WarpCount,
            "%smid" => Self::SmId,
            "%nsmid" => Self::SmCount,
            "%gridid" => Self::GridId,
            "%lanemask_eq" => Self::LanesEqual,
            "%lanemask_lt" => Self::LanesBelow,
            "%lanemask_le" => Self::LanesUpTo,
            "%lanemask_gt" => Self::LanesAbove,
            "%lanemask_ge" => Self::LanesFrom,
            // What cooperative groups read of them (cooperative_groups/details/driver_abi.h).
            "%envreg1" => Self::GridWorkspace(1),
            "%envreg2" => Self::GridWorkspace(2),
            "%dynamic_smem_size" => Self::DynamicShared,
            "%total_smem_size" => Self::TotalShared,
            "%reserved_smem_offset_begin" | "%reserved_smem_offset_0" => Self::ReservedShared(0),
            "%reserved_smem_offset_1" => Self::ReservedShared(RESERVED_SHARED / 2),
            "%reserved_smem_offset_end" => Self::ReservedShared(RESERVED_SHARED),
            _ => return None,
        })
    }
}
