//! Kernel images of CUDA (PTX, cubins, fat binaries): the names of their kernels, and where the
//! parameters of each lie. For drivers that do not report them (`cuFuncGetParamInfo` came with CUDA 12.4).
//!
//! Images come from programs of others: whatever the bytes are, reading them takes memory and time
//! in proportion to their number, and what cannot be read is left out. No I/O.

#![forbid(unsafe_code)]

mod bytes;
mod cubin;
mod fatbin;
mod ptx;
mod whole;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// A parameter in the parameter buffer of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Bytes from the start of the buffer.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
}

/// Most parameters of a kernel that are read: each has a byte, and CUDA 12.1 permits 32,764 of them.
pub const PARAMETERS_MAX: usize = 1 << 15;

/// The kernels of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layouts {
    by_name: HashMap<Box<str>, Option<Box<[Parameter]>>>,
}

impl Layouts {
    /// Reads an image: a fat binary (without the wrapper around it), an ELF file, or PTX. Empty if it
    /// is none of them.
    pub fn read(image: &[u8]) -> Self {
        let mut layouts = Self::default();
        if fatbin::is(image) {
            fatbin::read(image, &mut layouts);
        } else {
            layouts.read_bare(image);
        }
        layouts
    }

    /// A cubin, or PTX.
    fn read_bare(&mut self, image: &[u8]) {
        match cubin::is(image) {
            // What was read before it broke off stands.
            true => drop(cubin::read(image, self)),
            false => ptx::read(image, self),
        }
    }

    /// The parameters of the kernel of this name, in their order; `None` if there is no such kernel,
    /// or its parameters are written in a way that is not understood.
    pub fn get(&self, name: &str) -> Option<&[Parameter]> {
        self.by_name.get(name)?.as_deref()
    }

    /// Names of the kernels whose parameters are known, in no order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let known = self.by_name.iter().filter(|(_, layout)| layout.is_some());
        known.map(|(name, _)| &**name)
    }

    /// How many kernels there are, those without known parameters among them.
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Adds a kernel. Two that contradict each other are both not known.
    fn add(&mut self, name: &str, layout: Option<Vec<Parameter>>) {
        let layout = layout.map(Vec::into_boxed_slice);
        match self.by_name.entry(name.into()) {
            Entry::Vacant(free) => drop(free.insert(layout)),
            Entry::Occupied(mut there) => {
                if *there.get() != layout {
                    there.insert(None);
                }
            }
        }
    }
}

/// Whether all that the headers of an image speak of lies within it, and nothing of it is a pointer: what a driver may be
/// passed that is not given how many bytes there are. Text needs its NUL besides. Entries of fat binaries that are packed
/// are not unpacked for this.
pub fn is_whole(image: &[u8]) -> bool {
    whole::is(image)
}

/// What the kernels of an image may write to the streams of the process that launches them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// They call `printf`.
    pub prints: bool,
    /// They call `printf` or `assert`, or that is not known: an image of many megabytes is not searched.
    pub possible: bool,
}

/// The functions that `printf` and `assert` of a kernel call (CUDA C++ Programming Guide, "Formatted output").
const PRINTS: &[u8] = b"vprintf";
const ASSERTS: &[u8] = b"__assertfail";

impl Output {
    /// Looks through an image: a fat binary (without the wrapper around it), an ELF file, or PTX.
    pub fn of(image: &[u8]) -> Self {
        let mut output = Self::default();
        let look = |bytes: &[u8]| {
            let has = |name| memchr::memmem::find(bytes, name).is_some();
            output.prints |= has(PRINTS);
            output.possible |= output.prints || has(ASSERTS);
        };
        let whole = match fatbin::is(image) {
            true => fatbin::each(image, look),
            false => fatbin::once(image, look),
        };
        output.possible |= !whole;
        output
    }
}

/// Whether parameters follow each other without overlap.
fn in_order(parameters: &[Parameter]) -> bool {
    let mut end = 0;
    parameters.iter().all(|parameter| {
        let follows = u64::from(parameter.offset) >= end;
        end = u64::from(parameter.offset) + u64::from(parameter.size);
        follows
    })
}
