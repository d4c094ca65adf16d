//! Calls that do several things of a kind in a stream.

use std::ffi::{c_uint, c_ulonglong};

use super::{copy, managed, stream};
use crate::abi::{Answer, In, Out, api};
use crate::command::MemOp;
use crate::error::{INVALID_VALUE, NOT_SUPPORTED, STREAM_CAPTURE_UNSUPPORTED, fail_if};
use crate::graph::capture;
use crate::stream::resolve;
use crate::types::{DevicePtr, Handle, MemLocation, MemcpyAttributes, StreamMemOp};

/// Most operations of a batch (documented of `cuStreamBatchMemOp`).
const MEM_OPS_MAX: c_uint = 256;
/// `CU_STREAM_MEM_OP_*`.
const WAIT_32: c_uint = 1;
const WRITE_32: c_uint = 2;
const WAIT_64: c_uint = 4;
const WRITE_64: c_uint = 5;
const BARRIER: c_uint = 6;

const _: () = assert!(size_of::<StreamMemOp>() == 48 && size_of::<MemcpyAttributes>() == 24);

/// Which entry of a list that names the first item of each applies to an item.
struct Parts {
    firsts: Vec<usize>,
}

impl Parts {
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if they do not begin with 0 and ascend within the items.
    fn new(firsts: In<usize>, count: usize, items: usize) -> Answer<Self> {
        fail_if(count == 0 || count > items, INVALID_VALUE)?;
        let firsts: Vec<usize> = (0..count).map(|at| firsts.at(at)).collect::<Answer<_>>()?;
        let ascend = firsts[0] == 0 && firsts.windows(2).all(|pair| pair[0] < pair[1]);
        match ascend && firsts[count - 1] < items {
            true => Ok(Self { firsts }),
            false => Err(INVALID_VALUE),
        }
    }

    fn of(&self, item: usize) -> usize {
        self.firsts.partition_point(|first| *first <= item) - 1
    }
}

/// A batch of copies. `failed` is the one that could not be made.
struct Copies {
    to: In<DevicePtr>,
    from: In<DevicePtr>,
    sizes: In<usize>,
    count: usize,
    attributes: In<MemcpyAttributes>,
    firsts: In<usize>,
    attribute_count: usize,
}

impl Copies {
    fn issue(&self, stream: Handle, failed: &mut usize) -> Answer {
        if stream == 0 {
            // The legacy default stream takes no batches.
            return Err(INVALID_VALUE);
        }
        let (_, capturing) = resolve(stream)?;
        let parts = Parts::new(self.firsts, self.attribute_count, self.count)?;
        // As driver 580.159, which names no copy of which the attributes are wrong, and whose capture goes on.
        for at in 0..parts.firsts.len() {
            let attributes = self.attributes.at(at)?;
            if !(1..=3).contains(&attributes.source_order) || attributes.flags > 1 {
                return Err(INVALID_VALUE);
            }
        }
        if let Some(capture) = capture::of(&capturing) {
            capture.check()?;
            return Err(STREAM_CAPTURE_UNSUPPORTED);
        }
        for at in 0..self.count {
            *failed = at;
            copy::of_batch(
                self.to.at(at)?,
                self.from.at(at)?,
                self.sizes.at(at)?,
                stream,
            )?;
        }
        Ok(())
    }
}

fn copies(batch: &Copies, stream: Handle, fail: Option<Out<usize>>) -> Answer {
    let mut failed = usize::MAX;
    batch.issue(stream, &mut failed).inspect_err(|_| {
        if let Some(fail) = fail {
            fail.offer(failed);
        }
    })
}

fn prefetch(
    ranges: &[(DevicePtr, usize)],
    (places, firsts, count): (In<MemLocation>, In<usize>, usize),
    flags: c_ulonglong,
    stream: Handle,
) -> Answer {
    let parts = Parts::new(firsts, count, ranges.len())?;
    fail_if(flags != 0 || stream == 0, INVALID_VALUE)?;
    for (at, (address, size)) in ranges.iter().enumerate() {
        let place = places.at(parts.of(at))?;
        managed::prefetch(*address, *size, stream, || managed::of_location(place))?;
    }
    Ok(())
}

fn ranges(
    addresses: In<DevicePtr>,
    sizes: In<usize>,
    count: usize,
) -> Answer<Vec<(DevicePtr, usize)>> {
    fail_if(count == 0, INVALID_VALUE)?;
    let range = |at| Ok((addresses.at(at)?, sizes.at(at)?));
    (0..count).map(range).collect()
}

/// What the memory holds afterwards is not defined: here what it held.
fn discard(ranges: &[(DevicePtr, usize)], flags: c_ulonglong, stream: Handle) -> Answer {
    fail_if(flags != 0 || stream == 0, INVALID_VALUE)?;
    let (_, stream) = resolve(stream)?;
    capture::refuse(&stream)?;
    all_managed(ranges)
}

fn all_managed(ranges: &[(DevicePtr, usize)]) -> Answer {
    let mut ranges = ranges.iter();
    ranges.try_for_each(|(address, size)| managed::managed(*address, *size))
}

/// What an operation of a batch is, if anything: whatever is before a barrier in the stream is done anyway.
fn mem_op(one: StreamMemOp) -> Answer<Option<MemOp>> {
    let narrow = one.value & u64::from(u32::MAX);
    let op = match one.operation {
        WAIT_32 => stream::wait(one.address, narrow, one.flags, false),
        WAIT_64 => stream::wait(one.address, one.value, one.flags, true),
        WRITE_32 => stream::write(one.address, narrow, one.flags, false),
        WRITE_64 => stream::write(one.address, one.value, one.flags, true),
        BARRIER if one.flags_of_none <= 1 => return Ok(None),
        BARRIER => Err(INVALID_VALUE),
        _ => Err(NOT_SUPPORTED),
    };
    op.map(Some)
}

api! { TABLE:
    /// Copies between any memory in a stream.
    fn cuMemcpyBatchAsync, cuMemcpyBatchAsync_ptsz [stream] (
        to: In<DevicePtr>, from: In<DevicePtr>, sizes: In<usize>, count: usize,
        attributes: In<MemcpyAttributes>, firsts: In<usize>, attribute_count: usize,
        fail: Out<usize>, stream: Handle,
    ) {
        copies(
            &Copies { to, from, sizes, count, attributes, firsts, attribute_count },
            stream,
            Some(fail),
        )
    }

    /// The same without telling which could not be made.
    fn cuMemcpyBatchAsync_v2, cuMemcpyBatchAsync_v2_ptsz [stream] (
        to: In<DevicePtr>, from: In<DevicePtr>, sizes: In<usize>, count: usize,
        attributes: In<MemcpyAttributes>, firsts: In<usize>, attribute_count: usize,
        stream: Handle,
    ) {
        copies(
            &Copies { to, from, sizes, count, attributes, firsts, attribute_count },
            stream,
            None,
        )
    }

    /// Moves managed memory ahead of its use: nothing to be moved.
    fn cuMemPrefetchBatchAsync, cuMemPrefetchBatchAsync_ptsz [stream] (
        addresses: In<DevicePtr>, sizes: In<usize>, count: usize, places: In<MemLocation>,
        firsts: In<usize>, place_count: usize, flags: c_ulonglong, stream: Handle,
    ) {
        let ranges = ranges(addresses, sizes, count)?;
        // One that is not managed memory is refused before anything is done with those before it.
        all_managed(&ranges)?;
        prefetch(&ranges, (places, firsts, place_count), flags, stream)
    }

    /// What managed memory holds is not needed any more.
    fn cuMemDiscardBatchAsync, cuMemDiscardBatchAsync_ptsz [stream] (
        addresses: In<DevicePtr>, sizes: In<usize>, count: usize, flags: c_ulonglong,
        stream: Handle,
    ) {
        discard(&ranges(addresses, sizes, count)?, flags, stream)
    }

    /// Both.
    fn cuMemDiscardAndPrefetchBatchAsync, cuMemDiscardAndPrefetchBatchAsync_ptsz [stream] (
        addresses: In<DevicePtr>, sizes: In<usize>, count: usize, places: In<MemLocation>,
        firsts: In<usize>, place_count: usize, flags: c_ulonglong, stream: Handle,
    ) {
        let ranges = ranges(addresses, sizes, count)?;
        discard(&ranges, flags, stream)?;
        prefetch(&ranges, (places, firsts, place_count), flags, stream)
    }

    /// Waits for words, and stores to words, in a stream.
    fn cuStreamBatchMemOp, cuStreamBatchMemOp_ptsz = cuStreamBatchMemOp_v2, cuStreamBatchMemOp_v2_ptsz [stream] (
        stream: Handle, count: c_uint, operations: In<StreamMemOp>, flags: c_uint,
    ) {
        fail_if(flags != 0 || count == 0 || count > MEM_OPS_MAX, INVALID_VALUE)?;
        resolve(stream)?;
        // All or none.
        let all: Vec<Option<MemOp>> = (0..count as usize)
            .map(|at| mem_op(operations.at(at)?))
            .collect::<Answer<_>>()?;
        all.into_iter()
            .flatten()
            .try_for_each(|op| stream::issue(stream, Ok(op)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_applies_up_to_the_next() {
        let parts = Parts {
            firsts: vec![0, 3, 4],
        };
        let own: Vec<usize> = (0..6).map(|item| parts.of(item)).collect();
        assert_eq!(own, [0, 0, 0, 1, 2, 2]);
    }
}
