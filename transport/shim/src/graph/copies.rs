//! Copies of graphs that read or write memory of the client.

// Memory of the program goes to and fro.
#![allow(unsafe_code)]

use std::collections::HashSet;
use std::sync::Arc;

use gtrace_cuda::payload::{Extent, Pitched, SYNCHRONOUS, Side, SideKind};
use gtrace_cuda::types::driver::{self as cuda, CUstream};
use gtrace_protocol::{OpId, op_id};

use super::pairs::Names;
use crate::capture;
use crate::entry::{Answer, check};
use crate::generated::driver::remote;
use crate::owner::Owner;
use crate::session::{self, Session};
use crate::spare::Piece;
use crate::status::fail_if;
use crate::{copy, memory, pitched};

const COPY: OpId = op_id("cuMemcpy3DAsync_v2");

/// Where memory of the client lies that a graph copies: first byte, and distances of rows and slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    place: Side,
    extent: Extent,
}

/// The place of memory of the client on the device, packed.
#[derive(Debug)]
pub(crate) struct Staging {
    memory: Piece,
    shape: Shape,
    /// What was instantiated with nodes that copy it.
    owner: Owner,
}

/// Where the server's copy goes from and to, and how much of it.
pub(super) type Ends = ((SideKind, u64), (SideKind, u64), Extent);

pub(super) fn ends(copy: &Pitched) -> Ends {
    let place = |side: &Side| (side.kind, side.place);
    (place(&copy.from), place(&copy.to), copy.extent)
}

impl Drop for Staging {
    fn drop(&mut self) {
        // A graph may be at work there still.
        if let Some(session) = session::current() {
            session.state.spare.add(self.memory);
        }
    }
}

/// A copy of a graph of which at least one side is memory of the client.
#[derive(Clone, Debug)]
pub(crate) struct HostCopy {
    /// The node, if it is known.
    pub(super) node: u64,
    given: Pitched,
    from: Option<Arc<Staging>>,
    to: Option<Arc<Staging>>,
}

impl HostCopy {
    /// Without memory of the client.
    #[cfg(test)]
    pub(super) fn unstaged(node: u64, given: Pitched) -> Self {
        Self {
            node,
            given,
            from: None,
            to: None,
        }
    }

    /// To memory of the client, with a place on the device.
    #[cfg(test)]
    pub(super) fn writing(node: u64, given: Pitched) -> Self {
        use crate::context;
        let staging = Staging {
            memory: Piece {
                address: 0x7000,
                bytes: 8,
                context: context::top(),
                id: 0,
            },
            shape: Shape {
                place: given.to,
                extent: given.extent,
            },
            owner: Owner::default(),
        };
        Self {
            to: Some(Arc::new(staging)),
            ..Self::unstaged(node, given)
        }
    }

    pub(super) fn without_node(&self) -> Self {
        self.of_node(0)
    }

    pub(super) fn of_node(&self, node: u64) -> Self {
        Self {
            node,
            ..self.clone()
        }
    }

    /// Its node has another name.
    pub(super) fn rename(&mut self, names: &Names) {
        self.node = names.get(&self.node).copied().unwrap_or(self.node);
    }

    /// As the program gave it.
    pub(super) const fn given(&self) -> &Pitched {
        &self.given
    }

    /// The same within the device.
    pub(super) fn staged(&self) -> Pitched {
        let side = |staging: &Option<Arc<Staging>>, given: Side| match staging {
            Some(staging) => staging.side(),
            None => given,
        };
        Pitched {
            from: side(&self.from, self.given.from),
            to: side(&self.to, self.given.to),
            ..self.given
        }
    }

    /// Whether the server's copy of `copy` is this one.
    pub(super) fn is(&self, copy: &Pitched) -> bool {
        self.ends() == ends(copy)
    }

    /// Those of the server's copy.
    pub(super) fn ends(&self) -> Ends {
        ends(&self.staged())
    }

    pub(super) fn places(&self) -> impl Iterator<Item = &Arc<Staging>> {
        #[cfg(test)]
        super::places::tests::ASKED.with(|count| count.set(count.get() + 1));
        self.from.iter().chain(self.to.iter())
    }

    /// Whether something else than `exec` was instantiated with one of its places.
    pub(super) fn is_taken(&self, exec: u64) -> bool {
        self.places().any(|place| place.owner.is_other(exec))
    }

    /// `exec` is instantiated with its places.
    pub(super) fn claim(&self, exec: u64) {
        self.places().for_each(|place| place.owner.set(exec));
    }

    /// Whether the graph reads memory of the client by it.
    pub(super) fn reads(&self) -> bool {
        self.from.is_some()
    }

    /// Whether the graph writes memory of the client by it.
    pub(super) fn writes(&self) -> bool {
        self.to.is_some()
    }
}

impl Staging {
    pub(super) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Whether it is of something else that was instantiated than `exec`.
    pub(super) fn is_other(&self, exec: u64) -> bool {
        self.owner.is_other(exec)
    }

    fn side(&self) -> Side {
        Side {
            pitch: self.shape.extent.width,
            height: self.shape.extent.height,
            ..Side::at(SideKind::Device, self.memory.address)
        }
    }

    fn bytes(&self) -> usize {
        usize::try_from(self.shape.extent.bytes().unwrap_or_default()).unwrap_or_default()
    }
}

/// Whether it is one run of bytes in the first row.
fn is_linear(shape: &Shape) -> bool {
    let is_first = (shape.place.y, shape.place.z) == (0, 0);
    is_first && shape.extent.height == 1 && shape.extent.depth == 1
}

/// The place that other copies of a graph, or of what is instantiated from it, have of the same memory.
pub(super) type Beside<'a> = &'a dyn Fn(&Shape) -> Option<Arc<Staging>>;

/// Memory of the client at a side of a copy: its place, the same if another copy has it.
fn place(
    session: &'static Session,
    beside: Beside<'_>,
    side: Side,
    extent: Extent,
) -> Answer<Option<Arc<Staging>>> {
    if side.kind != SideKind::Client {
        return Ok(None);
    }
    let shape = Shape {
        place: side,
        extent,
    };
    pitched::check_client(&side, &extent)?;
    if let Some(own) = beside(&shape) {
        return Ok(Some(own));
    }
    let bytes = extent.bytes().ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
    let bytes = usize::try_from(bytes).map_err(|_| cuda::CUDA_ERROR_INVALID_VALUE)?;
    Ok(Some(Arc::new(Staging {
        memory: memory::allocate_own(session, bytes)?,
        shape,
        owner: Owner::default(),
    })))
}

/// A copy for a graph, or for what is instantiated from it.
///
/// # Errors
///
/// INVALID_VALUE for a copy of nothing, or from memory that cannot be; those of an allocation.
pub(super) fn stage(
    session: &'static Session,
    beside: Beside<'_>,
    given: &Pitched,
    node: u64,
) -> Answer<HostCopy> {
    fail_if(
        given.extent.bytes().is_none_or(|bytes| bytes == 0),
        cuda::CUDA_ERROR_INVALID_VALUE,
    )?;
    Ok(HostCopy {
        node,
        given: *given,
        from: place(session, beside, given.from, given.extent)?,
        to: place(session, beside, given.to, given.extent)?,
    })
}

/// A linear copy.
pub(super) fn linear(from: (SideKind, u64), to: (SideKind, u64), len: usize) -> Pitched {
    Pitched {
        from: Side::at(from.0, from.1),
        to: Side::at(to.0, to.1),
        extent: Extent::row(len as u64),
        chunk: 0,
        stream: SYNCHRONOUS,
    }
}

/// Captures a copy of which a side is memory of the client, if the stream captures: true then.
pub(crate) fn captured_copy(
    session: &'static Session,
    op: OpId,
    given: &Pitched,
    stream: CUstream,
) -> Answer<bool> {
    let Some(id) = capture::of(session, stream)? else {
        return Ok(false);
    };
    if given.extent.bytes() == Some(0) {
        return Ok(true);
    }
    let beside = |shape: &Shape| capture::find(session, id, |held| held.copies.place(shape, 0));
    let copy = stage(session, &beside, given, 0)?;
    let staged = Pitched {
        stream: copy::stream(stream),
        ..copy.staged()
    };
    if is_linear_copy(&staged) {
        let (to, from) = (staged.to.place, staged.from.place);
        // SAFETY: no pointers of the client.
        check(unsafe {
            remote::cuMemcpyDtoDAsync_v2(to, from, staged.extent.width as usize, stream)
        })?;
    } else {
        pitched::issue(session, op, &staged)?;
    }
    capture::hold(session, id, |held| held.copies.push(copy));
    Ok(true)
}

fn is_linear_copy(copy: &Pitched) -> bool {
    let plain =
        |side: &Side| side.kind == SideKind::Device && (side.x, side.y, side.z) == (0, 0, 0);
    copy.extent.height == 1 && copy.extent.depth == 1 && plain(&copy.from) && plain(&copy.to)
}

/// As [`captured_copy`], for a linear copy.
pub(crate) fn captured_linear(
    session: &'static Session,
    from: (SideKind, u64),
    to: (SideKind, u64),
    len: usize,
    stream: CUstream,
) -> Answer<bool> {
    if !session.state.captures.any() {
        return Ok(false);
    }
    captured_copy(session, COPY, &linear(from, to, len), stream)
}

fn issue(
    session: &'static Session,
    (from, to): (Side, Side),
    extent: Extent,
    stream: u64,
) -> Answer {
    let copy = Pitched {
        from,
        to,
        extent,
        chunk: 0,
        stream,
    };
    pitched::issue(session, COPY, &copy)
}

/// Sends what copies of a graph will read, in the order of `stream`.
pub(super) fn send<'a>(
    session: &'static Session,
    copies: impl Iterator<Item = &'a HostCopy>,
    stream: u64,
) -> Answer {
    each(copies.filter_map(|copy| copy.from.as_ref()), |staging| {
        let shape = &staging.shape;
        if is_linear(shape) {
            let (to, len) = (staging.memory.address, staging.bytes());
            return copy::to_device(session, to, shape.place, len, stream);
        }
        issue(session, (shape.place, staging.side()), shape.extent, stream)
    })
}

/// Takes in what copies of a graph have written, once `stream` gets there.
pub(super) fn receive<'a>(
    session: &'static Session,
    copies: impl Iterator<Item = &'a HostCopy>,
    stream: u64,
) -> Answer {
    each(copies.filter_map(|copy| copy.to.as_ref()), |staging| {
        let shape = &staging.shape;
        if is_linear(shape) {
            let (from, len) = (staging.memory.address, staging.bytes());
            return copy::to_host(session, shape.place, from, len, stream);
        }
        issue(session, (staging.side(), shape.place), shape.extent, stream)
    })
}

/// Each place once, however many copies have it.
fn each<'a>(
    places: impl Iterator<Item = &'a Arc<Staging>>,
    mut act: impl FnMut(&Staging) -> Answer,
) -> Answer {
    let mut seen = HashSet::new();
    for staging in places {
        if seen.insert(staging.memory.address) {
            act(staging)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_behind_others_is_not_where_the_first_is() {
        let shape = |y, z| Shape {
            place: Side {
                y,
                z,
                pitch: 64,
                ..Side::at(SideKind::Client, 0x1000)
            },
            extent: Extent::row(16),
        };
        assert!(is_linear(&shape(0, 0)));
        assert!(!is_linear(&shape(2, 0)));
        assert!(!is_linear(&shape(0, 1)));
    }
}
