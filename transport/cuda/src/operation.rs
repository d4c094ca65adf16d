//! What client and server look up of an operation by its id.

use gtrace_protocol::{OpId, op_id};

use crate::{Class, Function, Hand, functions, payload};

/// What an operation does that its arguments do not show.
///
/// A description says it by [marks](crate::describe!); [`attributes`] finds it by an operation's id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// It waits for work on the device.
    pub synchronising: bool,
    /// It loads or unloads code.
    pub loads_code: bool,
    /// It needs no current context on the server: a thread without one makes it to get one, or for what outlives
    /// contexts.
    pub needs_no_context: bool,
    /// It is one-way and may read or write any memory of the device that is among its arguments. Launches and copies
    /// from and to the host, which are written by hand, say by themselves which memory they use.
    pub uses_memory: bool,
    /// It is one-way and gives the device nothing to do.
    pub idle: bool,
    /// It is awaited and makes or begins something that the program has to end: if it succeeds it must say so, as the
    /// program would not end what it believes not to exist. So must what changes something of which the client keeps account. An
    /// earlier call's error waits for the next call.
    pub creates: bool,
    /// It is one-way and ends something: it is sent whatever an earlier call did, as the program would not end that again. It
    /// answers an earlier call's error.
    pub ends: bool,
    /// Where its stream is, if it uses memory and has one.
    pub stream: Option<StreamArgument>,
    /// What it changes of the memory that is allocated.
    pub memory: Option<MemoryChange>,
    /// What it changes of contexts that hold memory and events.
    pub context: Option<ContextChange>,
}

/// Which of the arguments of a call its stream is. It travels as eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamArgument {
    /// The first.
    First,
    /// The last.
    Last,
}

impl StreamArgument {
    /// The stream, by the arguments as they travel.
    pub fn of(self, arguments: &[u8]) -> Option<u64> {
        let stream = match self {
            Self::First => arguments.first_chunk(),
            Self::Last => arguments.last_chunk(),
        };
        stream.map(|stream| u64::from_le_bytes(*stream))
    }
}

/// What a call changes of the memory that is allocated. Its first arguments in the request say how much. Of physical memory, which
/// is there until its last handle and mapping are gone, and of page-locked memory, of which ranges may share pages, no call alone
/// says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryChange {
    /// Allocates: bytes. The address comes back.
    Allocate,
    /// Allocates rows: bytes of a row, rows. The address and the bytes from row to row come back.
    AllocatePitched,
    /// Creates an array: its new handle, `CUDA_ARRAY_DESCRIPTOR`.
    CreateArray,
    /// Creates an array: its new handle, `CUDA_ARRAY3D_DESCRIPTOR`.
    CreateArray3d,
    /// Creates an array of several levels: its new handle, `CUDA_ARRAY3D_DESCRIPTOR`, levels.
    CreateMipmappedArray,
    /// Frees memory or an array: its address or handle.
    Free,
}

impl MemoryChange {
    /// Whether memory is allocated.
    pub const fn takes(self) -> bool {
        !matches!(self, Self::Free)
    }
}

/// What a call changes of contexts that hold memory and events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextChange {
    /// Takes a reference to a device's primary context: the handle that the client gives it, the device.
    RetainPrimary,
    /// Ends a context: its handle.
    Destroy,
    /// Ends a device's primary context: the device.
    ResetPrimary,
    /// Drops a reference to a device's primary context, which ends with the last one: the device.
    ReleasePrimary,
}

impl ContextChange {
    /// Whether a context has ended when the call succeeded.
    pub const fn ends(self) -> bool {
        matches!(self, Self::Destroy | Self::ResetPrimary)
    }

    /// Whether a context may have ended, and with it its events and its memory.
    pub const fn may_end(self) -> bool {
        self.ends() || matches!(self, Self::ReleasePrimary)
    }
}

impl Attributes {
    /// Those of most operations.
    pub const NONE: Self = Self {
        synchronising: false,
        loads_code: false,
        needs_no_context: false,
        uses_memory: false,
        idle: false,
        creates: false,
        ends: false,
        stream: None,
        memory: None,
        context: None,
    };

    /// Whether a context has ended when the call succeeded.
    pub const fn ends_context(self) -> bool {
        match self.context {
            Some(change) => change.ends(),
            None => false,
        }
    }

    /// Whether a context may have ended after the call, and with it its events.
    pub const fn ends_events(self) -> bool {
        match self.context {
            Some(change) => change.may_end(),
            None => false,
        }
    }

    const fn are_none(self) -> bool {
        matches!(self, Self::NONE)
    }
}

/// A word in parentheses before a function's name in a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Written by hand.
    Hand(Hand),
    /// [`Attributes::synchronising`]
    Synchronising,
    /// [`Attributes::loads_code`]
    LoadsCode,
    /// [`Attributes::needs_no_context`]
    NeedsNoContext,
    /// [`Attributes::uses_memory`]
    UsesMemory,
    /// [`Attributes::idle`]
    Idle,
    /// [`Attributes::creates`], where no handle that is minted and no change of memory says so.
    Creates,
    /// [`Attributes::ends`], where no handle that is destroyed and no change of memory says so.
    Ends,
    /// [`Attributes::memory`]
    Memory(MemoryChange),
    /// [`Attributes::context`]
    Context(ContextChange),
}

/// What the marks of a function of this class say.
///
/// # Panics
///
/// If they contradict each other or the class, which in a constant is a compile error.
pub const fn marked(class: Class, marks: &[Mark]) -> (Hand, Attributes) {
    let one_way = matches!(class, Class::OneWay);
    let local = matches!(class, Class::Local);
    let mut hand = Hand::None;
    let mut attributes = Attributes::NONE;
    let mut at = 0;
    while at < marks.len() {
        match marks[at] {
            _ if local => panic!(
                "what is local is written by hand anyway, and has no operation that is looked up"
            ),
            Mark::Hand(_) if !matches!(hand, Hand::None) => panic!("two marks say who writes it"),
            Mark::Hand(by) => hand = by,
            Mark::Synchronising => attributes.synchronising = true,
            Mark::LoadsCode => attributes.loads_code = true,
            Mark::NeedsNoContext => attributes.needs_no_context = true,
            Mark::UsesMemory | Mark::Idle | Mark::Ends if !one_way => {
                panic!("only one-way calls have this mark")
            }
            Mark::UsesMemory => attributes.uses_memory = true,
            Mark::Idle => attributes.idle = true,
            Mark::Creates if one_way => panic!("a one-way call says nothing about what it creates"),
            Mark::Creates => attributes.creates = true,
            Mark::Ends => attributes.ends = true,
            Mark::Memory(_) if attributes.memory.is_some() => panic!("two changes of memory"),
            Mark::Memory(change) => attributes.memory = Some(change),
            Mark::Context(_) if attributes.context.is_some() => panic!("two changes of contexts"),
            Mark::Context(change) => attributes.context = Some(change),
        }
        at += 1;
    }
    if attributes.idle && attributes.uses_memory {
        panic!("a call that gives the device nothing to do uses no memory")
    }
    (hand, attributes)
}

/// An operation's id with its attributes, for what looks them up when it is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// On the wire.
    pub id: OpId,
    /// What it does.
    pub attributes: Attributes,
}

impl Operation {
    /// The operation of a function.
    pub const fn named(name: &str) -> Self {
        let id = op_id(name);
        Self {
            id,
            attributes: attributes(id),
        }
    }
}

/// Attributes of the operation with this id; none for one that does not exist.
pub const fn attributes(op: OpId) -> Attributes {
    let (mut low, mut high) = (0, TABLE.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if TABLE[middle].id < op {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    match low < TABLE.len() && TABLE[low].id == op {
        true => TABLE[low].attributes,
        false => Attributes::NONE,
    }
}

/// Operations that no function stands for and that have attributes.
const OWN: &[Operation] = &[
    own(
        payload::COLLECT,
        Attributes {
            needs_no_context: true,
            ..Attributes::NONE
        },
    ),
    own(payload::MAP_HOST, CREATES),
    own(
        payload::UNMAP_HOST,
        Attributes {
            synchronising: true,
            ..Attributes::NONE
        },
    ),
    own(payload::EXPORT_MEMORY, CREATES),
    own(payload::IMPORT_MEMORY, CREATES),
    own(payload::GRAPH_NODE, CREATES),
    own(payload::GRAPH_INSTANTIATE, CREATES),
    own(payload::GRAPH_UPDATE, CREATES),
];

const CREATES: Attributes = Attributes {
    creates: true,
    ..Attributes::NONE
};

const fn own(id: OpId, attributes: Attributes) -> Operation {
    Operation { id, attributes }
}

/// What has attributes, sorted by id.
const TABLE: &[Operation] =
    &table::<{ count(functions::DRIVER) + count(functions::NVML) + OWN.len() }>();

const fn count(tables: &[&[Function]]) -> usize {
    let mut count = 0;
    let mut table = 0;
    while table < tables.len() {
        let mut at = 0;
        while at < tables[table].len() {
            if !tables[table][at].attributes.are_none() {
                count += 1;
            }
            at += 1;
        }
        table += 1;
    }
    count
}

const fn table<const COUNT: usize>() -> [Operation; COUNT] {
    let mut all = [Operation {
        id: 0,
        attributes: Attributes::NONE,
    }; COUNT];
    let mut count = 0;
    while count < OWN.len() {
        insert(&mut all, count, OWN[count]);
        count += 1;
    }
    count = add(&mut all, count, functions::DRIVER);
    add(&mut all, count, functions::NVML);
    all
}

/// Adds what of these functions has attributes to the first `count`; how many there are then.
const fn add(all: &mut [Operation], mut count: usize, tables: &[&[Function]]) -> usize {
    let mut table = 0;
    while table < tables.len() {
        let mut at = 0;
        while at < tables[table].len() {
            let function = &tables[table][at];
            if !function.attributes.are_none() {
                let operation = Operation {
                    id: function.id(),
                    attributes: function.attributes,
                };
                insert(all, count, operation);
                count += 1;
            }
            at += 1;
        }
        table += 1;
    }
    count
}

/// Puts it where it belongs among the first `count`, which are sorted.
const fn insert(all: &mut [Operation], count: usize, operation: Operation) {
    let mut at = count;
    while at > 0 && all[at - 1].id > operation.id {
        all[at] = all[at - 1];
        at -= 1;
    }
    all[at] = operation;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Api, Kind, Pass};

    fn described() -> impl Iterator<Item = &'static Function> {
        functions::all(Api::Driver).chain(functions::all(Api::Nvml))
    }

    #[test]
    fn attributes_are_found_by_the_id_of_what_is_described() {
        for function in described() {
            assert_eq!(
                attributes(function.id()),
                function.attributes,
                "{}",
                function.name
            );
        }
        assert!(attributes(payload::COLLECT).needs_no_context);
        assert_eq!(attributes(payload::DEFER_COPY), Attributes::NONE);
        assert_eq!(attributes(op_id("cuNothing")), Attributes::NONE);
    }

    #[test]
    fn what_takes_or_gives_memory_counts_towards_the_limit() {
        for function in described().filter(|function| function.served()) {
            let has = |pass| {
                function
                    .arguments
                    .iter()
                    .any(|argument| argument.pass == pass)
            };
            let arrays = [Kind::Array, Kind::MipmappedArray];
            let takes = function.name.starts_with("cuMemAlloc")
                || arrays.iter().any(|kind| has(Pass::Mint(*kind)));
            let gives = function.name.starts_with("cuMemFree")
                || arrays.iter().any(|kind| has(Pass::Destroy(*kind)));
            let given = function.attributes.memory == Some(MemoryChange::Free);
            assert_eq!(given, gives, "{}", function.name);
            assert_eq!(
                function.attributes.memory.is_some(),
                takes || gives,
                "{}",
                function.name
            );
        }
    }

    #[test]
    fn what_ends_a_context_is_marked_so() {
        for function in described() {
            let destroys =
                |argument: &crate::Argument| argument.pass == Pass::Destroy(Kind::Context);
            let destroys = function.arguments.iter().any(destroys);
            let destroyed = function.attributes.context == Some(ContextChange::Destroy);
            assert_eq!(destroyed, destroys, "{}", function.name);
        }
    }

    #[test]
    fn what_creates_something_is_known() {
        let words = [
            "Create",
            "Alloc",
            "Open",
            "Reserve",
            "Retain",
            "Clone",
            "LoadData",
            "BeginCapture",
            "EndCapture",
            "CaptureMode",
        ];
        // They ask about something that there is.
        let asks = [
            "cuMemGetAllocationGranularity",
            "cuMemGetAllocationPropertiesFromHandle",
            "cuGraphNodeFindInClone",
        ];
        for function in functions::all(Api::Driver) {
            let waiting = function.class == Class::Waiting;
            let named = words.iter().any(|word| function.name.contains(word))
                && !asks.contains(&function.name);
            let mints = |argument: &crate::Argument| matches!(argument.pass, Pass::Mint(_));
            let mints = function.arguments.iter().any(mints);
            if waiting && (named || mints) {
                assert!(function.attributes.creates, "{}", function.name);
            }
        }
        // The client keeps account of what they set.
        for name in [
            "cuDevicePrimaryCtxSetFlags_v2",
            "cuCtxSetFlags",
            "cuDeviceSetMemPool",
            "cuMemSetMemPool",
            "cuFuncSetAttribute",
            "cuKernelSetAttribute",
        ] {
            assert!(attributes(op_id(name)).creates, "{name}");
        }
        assert!(attributes(payload::GRAPH_INSTANTIATE).creates);
        assert!(attributes(payload::GRAPH_UPDATE).creates);
        assert!(!attributes(op_id("cuMemFree_v2")).creates);
        assert!(!attributes(op_id("cuCtxSynchronize")).creates);
    }

    #[test]
    fn what_ends_something_is_known() {
        let words = ["Destroy", "Free", "Release", "Unload", "Close"];
        for function in functions::all(Api::Driver) {
            let named = words.iter().any(|word| function.name.contains(word));
            let ends = function.class == Class::OneWay && named;
            assert_eq!(function.attributes.ends, ends, "{}", function.name);
        }
        assert!(attributes(op_id("cuStreamDestroy_v2")).ends);
        assert!(attributes(op_id("cuMemFreeAsync")).ends);
        assert!(!attributes(op_id("cuMemFree_v2")).ends, "it is awaited");
    }

    #[test]
    fn what_is_given_addresses_and_is_not_written_by_hand_uses_memory() {
        for function in described() {
            let one_way = function.class == Class::OneWay && function.hand == Hand::None;
            let address = |argument: &crate::Argument| argument.pass == Pass::Address;
            if one_way && function.arguments.iter().any(address) {
                assert!(function.attributes.uses_memory, "{}", function.name);
            }
        }
    }

    #[test]
    fn the_stream_of_what_uses_memory_is_known() {
        let arguments = [1u64, 0, 2].map(u64::to_le_bytes).concat();
        let stream = |name| attributes(op_id(name)).stream?.of(&arguments);
        assert_eq!(stream("cuStreamWriteValue32_v2"), Some(1));
        assert_eq!(stream("cuStreamBatchMemOp_v2"), Some(1));
        assert_eq!(stream("cuMemcpyDtoDAsync_v2"), Some(2));
        assert_eq!(stream("cuMemsetD2D32Async"), Some(2));
        assert_eq!(stream("cuGraphLaunch"), Some(2));
        assert_eq!(stream("cuMemcpyDtoD_v2"), None, "it has none");
    }
}
