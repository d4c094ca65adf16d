//! Copies in two and three dimensions.

// Reads and writes the program's memory.
#![allow(unsafe_code)]

use std::{ptr, slice};

use gtrace_cuda::payload::{Extent, Payload as _, Pitched, SYNCHRONOUS, Side, SideKind};
use gtrace_cuda::types::driver::{self as cuda, CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUmemorytype};
use gtrace_protocol::{Flags, OpId};

use crate::copy::{chunk, is_host, pull, push};
use crate::entry::{Answer, Call, check, written};
use crate::graph::captured_copy;
use crate::lane::Lane;
use crate::session::{Session, with_lane};
use crate::status::fail_if;
use crate::{capture, clock, deferred_copies, managed};

mod calls;

pub(crate) use calls::*;

/// Neither rows nor slices of a side may run into each other. The driver sees that of an array, and of memory whose
/// copy it gets whole: not where the other side is the program's, which travels packed and in pieces.
fn check_apart(side: &Side, extent: &Extent) -> Answer {
    let fits = |at: u64, extent: u64, room: u64| {
        let end = at.checked_add(extent);
        end.is_some_and(|end| end <= room)
    };
    let pitch = match side.pitch {
        0 => extent.width,
        pitch => pitch,
    };
    let one_row = extent.height <= 1 && extent.depth <= 1;
    let rows = one_row || fits(side.x, extent.width, pitch);
    let one_slice = extent.depth <= 1 || side.height == 0;
    let slices = one_slice || fits(side.y, extent.height, side.height);
    let apart = rows && slices;
    fail_if(
        side.kind != SideKind::Array && !apart,
        cuda::CUDA_ERROR_INVALID_VALUE,
    )
}

/// The program's side of a copy.
#[derive(Clone, Copy)]
struct Host {
    /// Address of the first byte of the first row.
    base: usize,
    /// Bytes from row to row.
    pitch: usize,
    /// Bytes from slice to slice.
    slice: usize,
}

impl Host {
    /// # Errors
    ///
    /// INVALID_VALUE if the place is null, or does not fit the address space, or its rows or slices run into each other.
    fn new(side: &Side, extent: &Extent) -> Answer<Self> {
        let base = || {
            let pitch = if side.pitch == 0 {
                extent.width
            } else {
                side.pitch
            };
            let slice = pitch.checked_mul(if side.height == 0 {
                extent.height
            } else {
                side.height
            })?;
            let offset = side
                .z
                .checked_mul(slice)?
                .checked_add(side.y.checked_mul(pitch)?)?
                .checked_add(side.x)?;
            let end = extent.depth.checked_mul(slice)?.checked_add(offset)?;
            side.place.checked_add(end)?;
            Some(Self {
                base: usize::try_from(side.place.checked_add(offset)?).ok()?,
                pitch: usize::try_from(pitch).ok()?,
                slice: usize::try_from(slice).ok()?,
            })
        };
        match side.place {
            0 => Err(cuda::CUDA_ERROR_INVALID_VALUE),
            _ => {
                check_apart(side, extent)?;
                base().ok_or(cuda::CUDA_ERROR_INVALID_VALUE)
            }
        }
    }

    /// What is still to come to the rows comes before the copy.
    fn settle(&self, session: &'static Session, extent: &Extent) -> Answer {
        deferred_copies::settle(session, self.base, self.span(extent)?)
    }

    /// Bytes from the first of all rows to the last.
    fn span(&self, extent: &Extent) -> Answer<usize> {
        let [width, height, depth] = sizes(extent)?;
        let last = self.at(depth.saturating_sub(1), height.saturating_sub(1), width);
        Ok(last.saturating_sub(self.base))
    }

    /// Address of a row's byte `x`.
    fn at(&self, z: usize, y: usize, x: usize) -> usize {
        self.base + z * self.slice + y * self.pitch + x
    }
}

/// What a side of `CUDA_MEMCPY3D` is, and where.
fn side(
    session: &Session,
    kind: CUmemorytype,
    [host, device, array]: [u64; 3],
) -> Answer<(SideKind, u64)> {
    match kind {
        cuda::CU_MEMORYTYPE_HOST => Ok((SideKind::Client, host)),
        cuda::CU_MEMORYTYPE_DEVICE => Ok((SideKind::Device, device)),
        cuda::CU_MEMORYTYPE_ARRAY => Ok((SideKind::Array, array)),
        cuda::CU_MEMORYTYPE_UNIFIED if is_host(session, device) => Ok((SideKind::Client, device)),
        cuda::CU_MEMORYTYPE_UNIFIED => Ok((SideKind::Device, device)),
        _ => Err(cuda::CUDA_ERROR_INVALID_VALUE),
    }
}

const SIDE: Side = Side::at(SideKind::Client, 0);

/// The same in three dimensions.
fn one_slice(copy: &CUDA_MEMCPY2D) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        srcXInBytes: copy.srcXInBytes,
        srcY: copy.srcY,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: copy.srcMemoryType,
        srcHost: copy.srcHost,
        srcDevice: copy.srcDevice,
        srcArray: copy.srcArray,
        reserved0: ptr::null_mut(),
        srcPitch: copy.srcPitch,
        srcHeight: 0,
        dstXInBytes: copy.dstXInBytes,
        dstY: copy.dstY,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: copy.dstMemoryType,
        dstHost: copy.dstHost,
        dstDevice: copy.dstDevice,
        dstArray: copy.dstArray,
        reserved1: ptr::null_mut(),
        dstPitch: copy.dstPitch,
        dstHeight: 0,
        WidthInBytes: copy.WidthInBytes,
        Height: copy.Height,
        Depth: 1,
    }
}

/// A copy of the program in three dimensions, as it travels.
///
/// # Errors
///
/// INVALID_VALUE for a kind of memory that there is not.
pub(crate) fn deep(session: &Session, copy: &CUDA_MEMCPY3D) -> Answer<Pitched> {
    let from = [
        copy.srcHost.addr() as u64,
        copy.srcDevice,
        copy.srcArray.addr() as u64,
    ];
    let to = [
        copy.dstHost.addr() as u64,
        copy.dstDevice,
        copy.dstArray.addr() as u64,
    ];
    Ok(Pitched::described(
        copy,
        side(session, copy.srcMemoryType, from)?,
        side(session, copy.dstMemoryType, to)?,
    ))
}

/// Whether memory of the program can be a side of a copy.
///
/// # Errors
///
/// INVALID_VALUE.
pub(crate) fn check_client(side: &Side, extent: &Extent) -> Answer {
    Host::new(side, extent).map(drop)
}

/// The copy with managed memory as the device's to copy, whatever the program calls it: it may not be here, and it
/// needs no way.
pub(crate) fn with_managed(copy: &Pitched) -> Pitched {
    let mut copy = *copy;
    for side in [&mut copy.from, &mut copy.to] {
        if side.kind == SideKind::Client && managed::contains(side.place) {
            side.kind = SideKind::Device;
        }
    }
    copy
}

/// Makes a copy now, or in the order of its stream.
pub(crate) fn issue(session: &'static Session, op: OpId, given: &Pitched) -> Answer {
    let bytes = given.extent.bytes().ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
    let bytes = usize::try_from(bytes).map_err(|_| cuda::CUDA_ERROR_INVALID_VALUE)?;
    if bytes == 0 {
        return Ok(());
    }
    let client = |side: &Side| side.kind == SideKind::Client;
    let to_host = client(&given.to);
    let mut copy = *given;
    let sides = [copy.from, copy.to].into_iter();
    let of_device = sides.filter(|side| !client(side)).map(|side| side.place);
    managed::reach(session, of_device)?;
    let mut giving = managed::Giving::default();
    if managed::in_use() {
        copy = with_managed(&copy);
        if copy.stream == SYNCHRONOUS {
            crate::copy::behind_all_host_functions(session, SYNCHRONOUS)?;
        }
        if !capture::is_captured(session, copy.stream) {
            giving = managed::before_any(session)?;
        }
    }
    let copy = &copy;
    match (client(&copy.from), client(&copy.to)) {
        (false, false) => {
            between(session, op, copy)?;
            drop(giving);
            // The host may read what it calls its own at once, and read and write page-locked memory.
            let locked = |side: &Side| managed::is_mapped(side.place);
            let hosts = || to_host || locked(&copy.to) || locked(&copy.from);
            match copy.stream == SYNCHRONOUS && (hosts() || managed::goes_past(session)) {
                true => crate::copy::synchronise(),
                false => Ok(()),
            }
        }
        (true, false) => {
            let host = Host::new(&copy.from, &copy.extent)?;
            check_apart(&copy.to, &copy.extent)?;
            crate::copy::behind_all_host_functions(session, copy.stream)?;
            host.settle(session, &copy.extent)?;
            let Some(held) = managed::hold(copy.from.place, bytes_of(&copy.from, host, copy)?)
            else {
                // The device has it too since a moment ago.
                drop(giving);
                return issue(session, op, given);
            };
            with_lane(session, |lane| {
                check(lane.take_sticky())?;
                upload(lane, op, copy, host)
            })?;
            drop((held, giving));
            match copy.stream {
                // The host has that memory too, and may read it at once.
                SYNCHRONOUS if to_host => crate::copy::synchronise(),
                SYNCHRONOUS => crate::copy::after_synchronous(session),
                _ => Ok(()),
            }
        }
        (false, true) => {
            let host = Host::new(&copy.to, &copy.extent)?;
            check_apart(&copy.from, &copy.extent)?;
            host.settle(session, &copy.extent)?;
            let span = bytes_of(&copy.to, host, copy)?;
            let came = with_lane(session, |lane| {
                download(lane, op, copy, (host, span), bytes)
            })?;
            if !came {
                // The device has the memory too since a moment ago.
                drop(giving);
                issue(session, op, given)?;
                crate::copy::wait_for(copy.stream)?;
            }
            deferred_copies::collect(session)?;
            managed::after_wait(0, false);
            Ok(())
        }
        (true, true) => {
            let from = Host::new(&copy.from, &copy.extent)?;
            let to = Host::new(&copy.to, &copy.extent)?;
            if copy.stream != SYNCHRONOUS {
                // What the stream still reads or writes there comes first.
                crate::copy::wait_for(copy.stream)?;
            }
            from.settle(session, &copy.extent)?;
            to.settle(session, &copy.extent)?;
            let [width, height, depth] = sizes(&copy.extent)?;
            for (z, y) in (0..depth).flat_map(|z| (0..height).map(move |y| (z, y))) {
                // SAFETY: the program's memory on both sides, by its promise.
                unsafe {
                    ptr::copy(
                        ptr::with_exposed_provenance::<u8>(from.at(z, y, 0)),
                        ptr::with_exposed_provenance_mut::<u8>(to.at(z, y, 0)),
                        width,
                    );
                }
            }
            Ok(())
        }
    }
}

/// Bytes of the program from the place of a side to the end of its last row.
fn bytes_of(side: &Side, host: Host, copy: &Pitched) -> Answer<u64> {
    let before = (host.base as u64).saturating_sub(side.place);
    Ok(before + host.span(&copy.extent)? as u64)
}

/// A copy that the server makes alone.
fn between(session: &'static Session, op: OpId, copy: &Pitched) -> Answer {
    with_lane(session, |lane| {
        check(lane.take_sticky())?;
        frame(lane, op, Flags::default(), copy, &[])
    })
}

fn sizes(extent: &Extent) -> Answer<[usize; 3]> {
    let size = |value: u64| usize::try_from(value).map_err(|_| cuda::CUDA_ERROR_INVALID_VALUE);
    Ok([
        size(extent.width)?,
        size(extent.height)?,
        size(extent.depth)?,
    ])
}

fn frame(lane: &mut Lane, op: OpId, flags: Flags, copy: &Pitched, bulk: &[u8]) -> Answer {
    // The client's side means nothing to the server.
    let hide = |side: Side| match side.kind {
        SideKind::Client => SIDE,
        _ => side,
    };
    let copy = Pitched {
        from: hide(copy.from),
        to: hide(copy.to),
        ..*copy
    };
    written(
        lane,
        |w| copy.write(w),
        |lane, small| push(lane, op, flags, small, bulk),
    )
}

/// Sends as many whole rows a frame as fit; a row that does not fit is cut.
fn upload(lane: &mut Lane, op: OpId, whole: &Pitched, host: Host) -> Answer {
    let [width, height, depth] = sizes(&whole.extent)?;
    let chunk = chunk(lane);
    let columns = width.min(chunk);
    let rows = (chunk / width).clamp(1, height);
    let mut packed = Vec::new();
    for z in 0..depth {
        for y in (0..height).step_by(rows) {
            let rows = rows.min(height - y);
            for x in (0..width).step_by(columns) {
                let columns = columns.min(width - x);
                packed.clear();
                for row in 0..rows {
                    let at = ptr::with_exposed_provenance::<u8>(host.at(z, y + row, x));
                    // SAFETY: the program's memory, by its promise.
                    packed.extend_from_slice(unsafe { slice::from_raw_parts(at, columns) });
                }
                let mut piece = *whole;
                piece.to.x += x as u64;
                piece.to.y += y as u64;
                piece.to.z += z as u64;
                piece.extent = Extent {
                    width: columns as u64,
                    height: rows as u64,
                    depth: 1,
                };
                let last = z + 1 == depth && y + rows == height && x + columns == width;
                let more = if last { Flags::default() } else { Flags::MORE };
                frame(lane, op, more, &piece, &packed)?;
            }
        }
    }
    Ok(())
}

/// False if the bytes went nowhere, as the device has their place too.
fn download(
    lane: &mut Lane,
    op: OpId,
    whole: &Pitched,
    (host, span): (Host, u64),
    bytes: usize,
) -> Answer<bool> {
    let [width, height, _] = sizes(&whole.extent)?;
    let began = clock::now();
    let request = Pitched {
        to: SIDE,
        chunk: chunk(lane) as u32,
        ..*whole
    };
    let call = written(
        lane,
        |w| request.write(w),
        |lane, small| Call::new(op, Flags::default(), began).send(lane, small, &[]),
    )?;
    let mut at = 0;
    let mut held = None;
    let mut shared = false;
    pull(lane, call, bytes, |lane, mut len| {
        if held.is_none() && !shared {
            held = managed::hold(whole.to.place, span);
            shared = held.is_none();
        }
        if shared {
            return lane.drop_bulk(len);
        }
        while len > 0 {
            let (row, x) = (at / width, at % width);
            let piece = len.min(width - x);
            let to = host.at(row / height, row % height, x);
            let to = ptr::with_exposed_provenance_mut::<u8>(to);
            // SAFETY: the program's memory, by its promise.
            lane.bulk(unsafe { slice::from_raw_parts_mut(to, piece) })?;
            at += piece;
            len -= piece;
        }
        Ok(())
    })?;
    Ok(!shared)
}

/// Makes a copy, or captures it.
fn put(session: &'static Session, op: OpId, copy: &Pitched) -> Answer {
    let client = |side: &Side| side.kind == SideKind::Client;
    let may_be_captured = session.state.captures.any()
        && copy.stream != SYNCHRONOUS
        && (client(&copy.from) || client(&copy.to));
    if may_be_captured {
        let stream = ptr::without_provenance_mut(copy.stream as usize);
        let copy = with_managed(copy);
        let is_client = client(&copy.from) || client(&copy.to);
        if is_client && captured_copy(session, op, &copy, stream)? {
            return Ok(());
        }
    }
    issue(session, op, copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXTENT: Extent = Extent {
        width: 10,
        height: 4,
        depth: 2,
    };

    #[test]
    fn rows_lie_a_pitch_apart() {
        let side = Side {
            place: 1000,
            x: 3,
            y: 1,
            z: 1,
            pitch: 16,
            height: 5,
            ..SIDE
        };
        let host = Host::new(&side, &EXTENT).unwrap();
        assert_eq!(host.base, 1000 + 80 + 16 + 3);
        assert_eq!(host.at(1, 2, 0), host.base + 80 + 32);
    }

    #[test]
    fn without_a_pitch_rows_lie_close() {
        let side = Side { place: 8, ..SIDE };
        let host = Host::new(&side, &EXTENT).unwrap();
        assert_eq!((host.pitch, host.slice), (10, 40));
    }

    #[test]
    fn rows_and_slices_that_run_into_each_other_are_refused() {
        let side = Side {
            place: 1000,
            x: 3,
            y: 1,
            pitch: 13,
            height: 5,
            ..SIDE
        };
        let check = |side: Side, extent: Extent| check_apart(&side, &extent).is_ok();
        assert!(check(side, EXTENT));
        assert!(!check(Side { pitch: 12, ..side }, EXTENT));
        assert!(!check(Side { pitch: 0, ..side }, EXTENT));
        assert!(!check(Side { height: 4, ..side }, EXTENT));
        assert!(check(Side { height: 0, ..side }, EXTENT));
        let slice = Extent { depth: 1, ..EXTENT };
        assert!(check(Side { height: 4, ..side }, slice));
        assert!(check(Side { pitch: 0, ..side }, Extent::row(10)));
        let array = Side {
            kind: SideKind::Array,
            pitch: 0,
            ..side
        };
        assert!(check(array, EXTENT));
    }

    #[test]
    fn places_beyond_the_address_space_are_refused() {
        let side = Side {
            place: 8,
            z: u64::MAX / 2,
            pitch: 16,
            height: 5,
            ..SIDE
        };
        assert!(Host::new(&side, &EXTENT).is_err());
        assert!(Host::new(&SIDE, &EXTENT).is_err());
    }
}
