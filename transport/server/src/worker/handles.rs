//! The client's handles, and what the driver calls them.

use std::collections::{HashMap, HashSet};
use std::ffi::c_void;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Once, OnceLock, PoisonError, RwLock};

use gtrace_cuda::{Kind, STREAM_PER_THREAD};
use gtrace_image::Layouts;
use tracing::warn;

/// A status that a call is answered with: CUresult, or nvmlReturn_t for a call of NVML.
pub(crate) type Code = i32;

/// CUDA_ERROR_INVALID_VALUE
pub(crate) const INVALID_VALUE: Code = 1;
/// CUDA_ERROR_OUT_OF_MEMORY
pub(crate) const OUT_OF_MEMORY: Code = 2;
/// CUDA_ERROR_INVALID_CONTEXT
pub(crate) const INVALID_CONTEXT: Code = 201;
/// CUDA_ERROR_CONTEXT_IS_DESTROYED
pub(crate) const CONTEXT_IS_DESTROYED: Code = 709;
/// CUDA_ERROR_INVALID_HANDLE
pub(crate) const INVALID_HANDLE: Code = 400;
/// NVML_ERROR_INVALID_ARGUMENT
pub(crate) const NVML_INVALID_ARGUMENT: Code = 2;

/// Most handles of a client, and most objects that have numbers of the driver's.
pub(crate) const HANDLES_MAX: usize = 1 << 20;

/// What a handle that is not known, or is of another kind, is answered with.
pub(crate) const fn not_known(kind: Kind) -> Code {
    match kind {
        Kind::Context => INVALID_CONTEXT,
        Kind::MemPool => INVALID_VALUE,
        Kind::NvmlDevice
        | Kind::NvmlUnit
        | Kind::NvmlEventSet
        | Kind::NvmlGpuInstance
        | Kind::NvmlComputeInstance
        | Kind::NvmlGpmSample
        | Kind::NvmlSystemEventSet => NVML_INVALID_ARGUMENT,
        _ => INVALID_HANDLE,
    }
}

/// Handles are counters: multiplying spreads them well enough, and costs a nanosecond.
#[derive(Default)]
pub(crate) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(value.into());
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(value.into());
    }

    fn write_u64(&mut self, value: u64) {
        let mixed = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

type Map<K, V> = HashMap<K, V, BuildHasherDefault<Spread>>;

#[derive(Default)]
struct Tables {
    /// Handle to the driver's pointer.
    real: Map<u64, usize>,
    /// The driver's pointer to the handle that was given for it last.
    given: Map<(u8, usize), u64>,
    /// What goes with a module, library or kernel: its functions and kernels.
    children: Map<u64, HashSet<u64, BuildHasherDefault<Spread>>>,
    /// The graph of each node: nodes that are found by way of another go with that one's graph.
    graphs: Map<u64, u64>,
    /// Parameters of the kernels of a module or library, where the driver does not report them.
    layouts: Map<u64, Arc<Layouts>>,
    /// Handles that the server minted so far.
    minted: u64,
}

impl Tables {
    /// Under what the driver's pointer of `handle` is noted.
    fn key(&self, handle: u64) -> Option<(u8, usize)> {
        let real = self.real.get(&handle)?;
        Some((handle.to_be_bytes()[0], *real))
    }

    /// The driver's pointer of `handle` does not lead to it any more. Whether it did.
    fn forget_pointer(&mut self, handle: u64) -> bool {
        let key = self.key(handle);
        let own = key.filter(|key| self.given.get(key) == Some(&handle));
        own.is_some_and(|key| self.given.remove(&key).is_some())
    }

    fn remove(&mut self, handle: u64) -> Option<usize> {
        self.forget_pointer(handle);
        let real = self.real.remove(&handle)?;
        self.layouts.remove(&handle);
        self.graphs.remove(&handle);
        Some(real)
    }

    /// `child` ends with `parent`, or for two nodes with the graph of that one.
    fn adopt(&mut self, child: u64, parent: u64) {
        let mut parent = parent;
        if Kind::GraphNode.matches(child) {
            parent = self.graphs.get(&parent).copied().unwrap_or(parent);
            self.graphs.insert(child, parent);
        }
        self.children.entry(parent).or_default().insert(child);
    }

    fn insert(&mut self, kind: Kind, minted: u64, real: *mut c_void) {
        self.real.insert(minted, real as usize);
        self.given.insert((kind as u8, real as usize), minted);
    }
}

/// The handles of a session.
#[derive(Default)]
pub(crate) struct Handles {
    tables: RwLock<Tables>,
    /// NVML's devices that the client may see, in their order; all if not set.
    visible: OnceLock<Vec<usize>>,
}

impl Handles {
    /// What the driver calls `handle`. The streams that CUDA has numbers for (0, 1, 2) are these
    /// numbers.
    ///
    /// # Errors
    ///
    /// [`not_known`]'s code if the client never had it, has destroyed it, or it is of another kind.
    #[inline]
    pub(crate) fn real(&self, kind: Kind, handle: u64) -> Result<*mut c_void, Code> {
        if kind == Kind::Stream && handle <= STREAM_PER_THREAD {
            return Ok(handle as *mut c_void);
        }
        // Where the driver takes a function it takes a kernel too.
        let kernel = kind == Kind::Function && Kind::Kernel.matches(handle);
        if !kind.matches(handle) && !kernel {
            return Err(not_known(kind));
        }
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        match tables.real.get(&handle) {
            Some(real) => Ok(*real as *mut c_void),
            None => Err(not_known(kind)),
        }
    }

    /// Whether the client may use `minted` for a new object: of the right kind, not in use, and
    /// not from the numbers that the server mints.
    ///
    /// # Errors
    ///
    /// [`INVALID_VALUE`]; [`OUT_OF_MEMORY`] if the client has [`HANDLES_MAX`].
    pub(crate) fn check_minted(&self, kind: Kind, minted: u64) -> Result<(), Code> {
        let own = minted & gtrace_cuda::SERVER_MINTED != 0;
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        if own || !kind.matches(minted) || tables.real.contains_key(&minted) {
            return Err(INVALID_VALUE);
        }
        if tables.real.len() >= HANDLES_MAX {
            static REPORTED: Once = Once::new();
            REPORTED.call_once(|| warn!("the client has {HANDLES_MAX} handles, and gets no more"));
            return Err(OUT_OF_MEMORY);
        }
        Ok(())
    }

    /// From now on the client calls `real` by `minted`.
    pub(crate) fn insert(&self, kind: Kind, minted: u64, real: *mut c_void) {
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        tables.insert(kind, minted, real);
    }

    /// As [`Handles::insert`], for what ends with `parent`: a function of a module. Not inserted if
    /// the parent has ended meanwhile.
    pub(crate) fn insert_child(&self, kind: Kind, minted: u64, real: *mut c_void, parent: u64) {
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        if tables.real.contains_key(&parent) {
            tables.insert(kind, minted, real);
            tables.adopt(minted, parent);
        }
    }

    /// From now on `child` ends with `parent`, if that is there.
    pub(crate) fn move_to(&self, child: u64, parent: u64) {
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        if tables.real.contains_key(&child) && tables.real.contains_key(&parent) {
            tables.adopt(child, parent);
        }
    }

    /// Keeps what the image of a module or library says of its kernels, until its end.
    pub(crate) fn keep_layouts(&self, owner: u64, layouts: Arc<Layouts>) {
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        tables.layouts.insert(owner, layouts);
    }

    /// What was kept by [`Handles::keep_layouts`].
    pub(crate) fn layouts(&self, owner: u64) -> Option<Arc<Layouts>> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        tables.layouts.get(&owner).cloned()
    }

    /// Hides all devices of NVML but these. Once set it stays.
    pub(crate) fn show_only(&self, devices: Vec<usize>) {
        // Set before: by an earlier start of NVML, with the same result.
        let _ = self.visible.set(devices);
    }

    /// NVML's devices that the client may see, if not all.
    pub(crate) fn visible(&self) -> Option<&[usize]> {
        self.visible.get().map(Vec::as_slice)
    }

    /// The handle of what the driver calls `real`, minted here if the client has none. Null is 0,
    /// and so is a device that the client may not see.
    pub(crate) fn known(&self, kind: Kind, real: *mut c_void) -> u64 {
        self.known_of(kind, real, None)
    }

    /// As [`Handles::known`], for what ends with `parent`.
    pub(crate) fn known_child(&self, kind: Kind, real: *mut c_void, parent: u64) -> u64 {
        self.known_of(kind, real, Some(parent))
    }

    fn known_of(&self, kind: Kind, real: *mut c_void, parent: Option<u64>) -> u64 {
        let key = (kind as u8, real as usize);
        if real.is_null() || (kind == Kind::Stream && key.1 as u64 <= STREAM_PER_THREAD) {
            return key.1 as u64;
        }
        let hidden = |visible: &[usize]| !visible.contains(&key.1);
        if kind == Kind::NvmlDevice && self.visible().is_some_and(hidden) {
            return 0;
        }
        {
            let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(handle) = tables.given.get(&key) {
                return *handle;
            }
        }
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(handle) = tables.given.get(&key) {
            return *handle;
        }
        tables.minted += 1;
        let handle = kind.server_handle(tables.minted);
        tables.insert(kind, handle, real);
        if let Some(parent) = parent {
            tables.adopt(handle, parent);
        }
        handle
    }

    /// Forgets `handle` and what goes with it; what the driver called it, if it was known.
    pub(crate) fn remove(&self, _kind: Kind, handle: u64) -> Option<*mut c_void> {
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        // A graph whose nodes come and go must not remember those that went.
        if let Some(graph) = tables.graphs.get(&handle).copied()
            && let Some(nodes) = tables.children.get_mut(&graph)
        {
            nodes.remove(&handle);
        }
        let mut children = Vec::new();
        children.extend(tables.children.remove(&handle).into_iter().flatten());
        while let Some(child) = children.pop() {
            children.extend(tables.children.remove(&child).into_iter().flatten());
            tables.remove(child);
        }
        tables.remove(handle).map(|real| real as *mut c_void)
    }

    /// `handle` is about to end, and what goes with it: the driver may give their pointers to what another lane makes before they
    /// are removed, which is not to be taken for them. To be given to [`Handles::show`] if they do not end.
    pub(crate) fn hide(&self, handle: u64) -> Vec<u64> {
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        let mut found = HashSet::<u64, BuildHasherDefault<Spread>>::default();
        let mut left = vec![handle];
        while let Some(next) = left.pop() {
            if found.insert(next) {
                left.extend(tables.children.get(&next).into_iter().flatten());
            }
        }
        let mut hidden: Vec<u64> = found.into_iter().collect();
        hidden.retain(|handle| tables.forget_pointer(*handle));
        hidden
    }

    /// What was hidden has not ended.
    pub(crate) fn show(&self, hidden: &[u64]) {
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        for handle in hidden {
            if let Some(key) = tables.key(*handle) {
                tables.given.entry(key).or_insert(*handle);
            }
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        tables.real.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_good_for_its_kind_until_it_is_removed() {
        let handles = Handles::default();
        let stream = Kind::Stream.handle(7);
        let real = 0x1000 as *mut c_void;
        assert_eq!(handles.real(Kind::Stream, stream), Err(INVALID_HANDLE));
        handles.insert(Kind::Stream, stream, real);
        assert_eq!(handles.real(Kind::Stream, stream), Ok(real));
        assert_eq!(handles.real(Kind::Event, stream), Err(INVALID_HANDLE));
        assert_eq!(handles.real(Kind::Context, stream), Err(INVALID_CONTEXT));
        assert_eq!(handles.known(Kind::Stream, real), stream);
        assert_eq!(handles.remove(Kind::Stream, stream), Some(real));
        assert_eq!(handles.real(Kind::Stream, stream), Err(INVALID_HANDLE));
        assert_ne!(handles.known(Kind::Stream, real), stream);
    }

    #[test]
    fn functions_go_with_their_module_and_kernels_are_functions() {
        let handles = Handles::default();
        let (library, kernel) = (Kind::Library.handle(1), Kind::Kernel.handle(2));
        handles.insert(Kind::Library, library, 0x1000 as *mut c_void);
        handles.insert_child(Kind::Kernel, kernel, 0x2000 as *mut c_void, library);
        let real = 0x2000 as *mut c_void;
        assert_eq!(handles.real(Kind::Kernel, kernel), Ok(real));
        assert_eq!(handles.real(Kind::Function, kernel), Ok(real));
        // What the server found is as the kernel that the client asked for: it stays no longer.
        let function = Kind::Function.handle(3);
        handles.insert_child(Kind::Function, function, 0x3000 as *mut c_void, kernel);
        let found = handles.known_child(Kind::Kernel, 0x4000 as *mut c_void, library);
        assert_eq!(handles.known_child(Kind::Kernel, real, library), kernel);
        assert_eq!(handles.len(), 4);
        handles.remove(Kind::Library, library);
        assert_eq!(handles.real(Kind::Kernel, kernel), Err(INVALID_HANDLE));
        assert_eq!(handles.real(Kind::Kernel, found), Err(INVALID_HANDLE));
        assert_eq!(handles.real(Kind::Function, function), Err(INVALID_HANDLE));
        assert_eq!(handles.len(), 0);
        // Too late: there is nothing that it would end with.
        handles.insert_child(Kind::Function, function, 0x3000 as *mut c_void, kernel);
        assert_eq!(handles.len(), 0);
    }

    #[test]
    fn nodes_go_with_their_graph_however_they_were_found() {
        let handles = Handles::default();
        let (graph, node) = (Kind::Graph.handle(1), Kind::GraphNode.handle(2));
        handles.insert(Kind::Graph, graph, 0x1000 as *mut c_void);
        handles.insert_child(Kind::GraphNode, node, 0x2000 as *mut c_void, graph);
        let other = handles.known_child(Kind::GraphNode, 0x3000 as *mut c_void, node);
        let inner = handles.known_child(Kind::Graph, 0x4000 as *mut c_void, other);
        let remembered = || handles.tables.read().unwrap().children[&graph].len();
        assert_eq!(remembered(), 2);
        handles.remove(Kind::GraphNode, node);
        assert_eq!(remembered(), 1);
        assert!(handles.real(Kind::GraphNode, other).is_ok());
        handles.remove(Kind::Graph, graph);
        assert_eq!(handles.real(Kind::GraphNode, other), Err(INVALID_HANDLE));
        assert_eq!(handles.real(Kind::Graph, inner), Err(INVALID_HANDLE));
        assert_eq!(handles.len(), 0);
    }

    #[test]
    fn a_graph_at_a_pointer_that_has_just_come_free_has_a_number_of_its_own() {
        let handles = Handles::default();
        let (graph, node) = (Kind::Graph.handle(1), Kind::GraphNode.handle(2));
        let (real, within) = (0x1000 as *mut c_void, 0x2000 as *mut c_void);
        handles.insert(Kind::Graph, graph, real);
        handles.insert_child(Kind::GraphNode, node, within, graph);
        handles.hide(graph);
        assert_eq!(handles.real(Kind::Graph, graph), Ok(real), "until it ends");
        // What another lane has captured.
        let other = handles.known(Kind::Graph, real);
        let inner = handles.known_child(Kind::GraphNode, within, other);
        assert!(other != graph && inner != node);
        handles.remove(Kind::Graph, graph);
        assert_eq!(handles.real(Kind::Graph, other), Ok(real));
        assert_eq!(handles.real(Kind::GraphNode, inner), Ok(within));
        // One that the driver does not end.
        let hidden = handles.hide(other);
        handles.show(&hidden);
        assert_eq!(handles.known(Kind::Graph, real), other);
        let again = handles.known_child(Kind::GraphNode, within, other);
        assert_eq!(again, inner);
    }

    #[test]
    fn a_graph_that_is_moved_ends_with_the_graph_of_its_node() {
        let handles = Handles::default();
        let (graph, node) = (Kind::Graph.handle(1), Kind::GraphNode.handle(2));
        let (child, inner) = (Kind::Graph.handle(3), Kind::GraphNode.handle(4));
        handles.insert(Kind::Graph, graph, 0x1000 as *mut c_void);
        handles.insert(Kind::Graph, child, 0x3000 as *mut c_void);
        handles.insert_child(Kind::GraphNode, inner, 0x4000 as *mut c_void, child);
        handles.insert_child(Kind::GraphNode, node, 0x2000 as *mut c_void, graph);
        handles.move_to(child, node);
        let real = 0x3000 as *mut c_void;
        assert_eq!(handles.known_child(Kind::Graph, real, node), child);
        handles.remove(Kind::Graph, graph);
        assert_eq!(handles.real(Kind::Graph, child), Err(INVALID_HANDLE));
        assert_eq!(handles.real(Kind::GraphNode, inner), Err(INVALID_HANDLE));
        assert_eq!(handles.len(), 0);
    }

    #[test]
    fn layouts_are_kept_as_long_as_their_module() {
        let handles = Handles::default();
        let module = Kind::Module.handle(1);
        handles.insert(Kind::Module, module, 0x1000 as *mut c_void);
        handles.keep_layouts(module, Arc::default());
        assert!(handles.layouts(module).is_some());
        handles.remove(Kind::Module, module);
        assert!(handles.layouts(module).is_none());
    }

    #[test]
    fn the_streams_with_numbers_are_these_numbers() {
        let handles = Handles::default();
        for number in 0..=2u64 {
            assert_eq!(
                handles.real(Kind::Stream, number),
                Ok(number as *mut c_void)
            );
        }
        assert_eq!(handles.real(Kind::Stream, 3), Err(INVALID_HANDLE));
        assert_eq!(handles.real(Kind::Event, 0), Err(INVALID_HANDLE));
    }

    #[test]
    fn handles_have_an_end() {
        let handles = Handles::default();
        for number in 0..HANDLES_MAX as u64 {
            handles.insert(
                Kind::Event,
                Kind::Event.handle(number),
                0x1000 as *mut c_void,
            );
        }
        let next = Kind::Event.handle(HANDLES_MAX as u64);
        assert_eq!(handles.check_minted(Kind::Event, next), Err(OUT_OF_MEMORY));
        handles.remove(Kind::Event, Kind::Event.handle(0));
        assert_eq!(handles.check_minted(Kind::Event, next), Ok(()));
    }

    #[test]
    fn what_the_server_finds_has_one_number_that_no_client_can_mint() {
        let handles = Handles::default();
        let pool = handles.known(Kind::MemPool, 0x2000 as *mut c_void);
        assert_eq!(handles.known(Kind::MemPool, 0x2000 as *mut c_void), pool);
        assert_eq!(
            handles.check_minted(Kind::MemPool, pool),
            Err(INVALID_VALUE)
        );
        assert_eq!(
            handles.check_minted(Kind::MemPool, Kind::MemPool.handle(1)),
            Ok(())
        );
        assert_eq!(
            handles.check_minted(Kind::MemPool, Kind::Stream.handle(1)),
            Err(INVALID_VALUE)
        );
    }
}
