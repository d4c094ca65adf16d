//! Any bytes as payloads and as arguments: no panic, no more memory than the bytes account for, and what was read is
//! written as it was.
#![no_main]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::c_char;
use std::sync::atomic::{AtomicUsize, Ordering};

use gtrace_cuda::payload::{
    DeferredCopy, Download, FunctionInfo, GetFunction, HostFunction, HostReached, ImagePiece,
    JitOptions, KernelNode, Launch, LinkAdd, LinkCreate, Load, Loaded, Logs, Metrics,
    MetricsRequest, NodeCall, Payload, Permitted, Piece, Pitched, Resource, Side, Snapshot,
    SnapshotRequest, Taken, TextureCreate, Upload, visible,
};
use gtrace_cuda::wire::{self, Scalar, Versioned};
use gtrace_protocol::{DecodeError, Reader, Writer};
use libfuzzer_sys::fuzz_target;

/// The system's memory, with the bytes that were asked for counted.
struct Counting;

static TAKEN: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does it all.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        TAKEN.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static MEMORY: Counting = Counting;

/// Bytes of memory that a byte which was sent may cost, counting each growth of what it is put into, and that the
/// first of them may cost.
const EACH: usize = 32;
const FIRST: usize = 16 << 10;

/// What `read` gives, if it takes no more memory than `len` bytes account for.
fn within<T>(len: usize, read: impl FnOnce() -> T) -> T {
    let before = TAKEN.load(Ordering::Relaxed);
    let value = read();
    let taken = TAKEN.load(Ordering::Relaxed) - before;
    assert!(
        taken <= FIRST + EACH * len,
        "{taken} bytes of memory for {len}"
    );
    value
}

/// Read and written, it is what it was.
fn there_and_back<'a, P: Payload<'a>>(bytes: &'a [u8]) {
    let mut reader = Reader::new(bytes);
    if let Ok(payload) = within(bytes.len(), || P::read(&mut reader)) {
        assert_eq!(payload.to_bytes(), bytes[..bytes.len() - reader.left()]);
    }
}

/// As [`there_and_back`], of what is capped where it is read.
fn there_and_again<P: for<'a> Payload<'a>>(bytes: &[u8]) {
    let mut reader = Reader::new(bytes);
    if let Ok(payload) = within(bytes.len(), || P::read(&mut reader)) {
        let once = payload.to_bytes();
        assert_eq!(once.len(), bytes.len() - reader.left());
        let again = P::read(&mut Reader::new(&once)).expect("what was written");
        assert_eq!(again.to_bytes(), once);
    }
}

/// What generated code reads, as `choice` says.
fn argument(choice: u8, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    let left = reader.left();
    let mut writer = Writer::default();
    match choice % 14 {
        0 => u8::take(reader)?.put(&mut writer),
        1 => i32::take(reader)?.put(&mut writer),
        2 => usize::take(reader)?.put(&mut writer),
        3 => f64::take(reader)?.put(&mut writer),
        4 => writer.u8(reader.flag("a flag")?.into()),
        5 => {
            // SAFETY: integers.
            let values: Vec<u32> = within(left, || unsafe { wire::take_vec(reader) })?;
            writer.u64(values.len() as u64);
            // SAFETY: as many integers.
            unsafe { wire::put(&mut writer, values.as_ptr(), values.len()) };
        }
        6 => {
            // SAFETY: structures of integers.
            let values: Vec<[u64; 17]> = within(left, || unsafe { wire::take_vec(reader) })?;
            writer.u64(values.len() as u64);
            // SAFETY: as many structures.
            unsafe { wire::put(&mut writer, values.as_ptr(), values.len()) };
        }
        7 => {
            let words = within(left, || wire::take_words(reader))?;
            assert!(words.len() <= left / 8 + 1);
            return Ok(());
        }
        8 => {
            let text = within(left, || wire::take_string(reader))?;
            // SAFETY: a C string.
            unsafe { wire::put_string(&mut writer, text.as_ptr()) };
        }
        9 => {
            let mut into = [1 as c_char; 40];
            let capacity = usize::from(choice) / 14;
            // SAFETY: it has more room than is reported.
            unsafe { wire::take_room(reader, into.as_mut_ptr(), capacity) }?;
            assert!(
                into[capacity..].iter().all(|byte| *byte == 1),
                "behind its room"
            );
            assert!(
                capacity == 0 || into[..capacity].contains(&0),
                "it has no end"
            );
            return Ok(());
        }
        10 => {
            let mut value = within(left, || Versioned::take(reader))?;
            // As the driver does first.
            // SAFETY: a structure whose first member is its version.
            let version = unsafe { value.pointer::<u32>().read() };
            assert!((version & 0xff_ffff) as usize <= left);
            value.put(&mut writer);
        }
        11 => {
            // A structure of 16 bytes as the program has it.
            let mut into = [16_u32 | 1 << 24, 1, 2, 3, 77, 77];
            // SAFETY: it says its size, and has more room.
            unsafe { wire::take_versioned(reader, into.as_mut_ptr()) }?;
            assert_eq!(into[4..], [77, 77], "behind its size");
            return Ok(());
        }
        12 => {
            let count = usize::take(reader)?;
            // An array without values in the frame: as large as an answer can be.
            // SAFETY: integers.
            if let Ok(room) = unsafe { wire::room::<u64>(count) } {
                assert!(room.len() * 8 <= wire::ARGUMENT_MAX);
            }
            return Ok(());
        }
        _ => {
            let mut into = [0_u16; 9];
            let count = usize::from(choice) / 14 % 10;
            // SAFETY: it has room for nine.
            unsafe { wire::take(reader, into.as_mut_ptr(), count) }?;
            // SAFETY: as above.
            unsafe { wire::put(&mut writer, into.as_ptr(), count) };
        }
    }
    assert_eq!(writer.len(), left - reader.left());
    Ok(())
}

fn arguments(bytes: &[u8]) {
    let (choices, rest) = bytes.split_at(bytes.len().min(16));
    let mut reader = Reader::new(rest);
    for choice in choices {
        let left = reader.left();
        if argument(*choice, &mut reader).is_err() {
            break;
        }
        assert!(reader.left() <= left);
    }
}

fn devices(bytes: &[u8]) {
    let (choice, text) = bytes
        .split_first()
        .map_or((0, bytes), |(choice, text)| (*choice, text));
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let permitted = |ordinal: u8| Permitted {
        uuid: format!("GPU-{ordinal:08x}-0000-0000-0000-00000000000{ordinal:x}"),
    };
    let all: Vec<_> = (0..choice % 8).map(permitted).collect();
    let seen = visible(&all, Some(text));
    assert!(seen.len() <= all.len() * 48 + 8, "{seen}");
}

fuzz_target!(|data: &[u8]| {
    let Some((choice, bytes)) = data.split_first() else {
        return;
    };
    match choice % 29 {
        0 => there_and_back::<SnapshotRequest>(bytes),
        1 => there_and_back::<Snapshot>(bytes),
        2 => there_and_again::<Load>(bytes),
        3 => there_and_back::<Loaded>(bytes),
        4 => there_and_back::<Logs>(bytes),
        5 => there_and_back::<ImagePiece>(bytes),
        6 => there_and_back::<GetFunction<'_>>(bytes),
        7 => there_and_back::<FunctionInfo>(bytes),
        8 => {
            there_and_back::<Launch<'_>>(bytes);
            if let Ok(launch) = Launch::read(&mut Reader::new(bytes)) {
                assert_eq!(launch.attributes.iter().count(), launch.attributes.len());
            }
        }
        9 => there_and_back::<Upload>(bytes),
        10 => there_and_back::<Download>(bytes),
        11 => there_and_back::<Pitched>(bytes),
        12 => there_and_back::<HostFunction>(bytes),
        13 => there_and_back::<HostReached>(bytes),
        14 => there_and_again::<LinkCreate>(bytes),
        15 => {
            // It borrows from the bytes, so that what is capped is left out here.
            let mut reader = Reader::new(bytes);
            if let Ok(add) = within(bytes.len(), || LinkAdd::read(&mut reader)) {
                assert_eq!(add.to_bytes().len(), bytes.len() - reader.left());
            }
        }
        16 => there_and_again::<JitOptions>(bytes),
        17 => there_and_back::<Side>(bytes),
        18 => devices(bytes),
        19 => there_and_back::<Resource>(bytes),
        20 => there_and_back::<TextureCreate>(bytes),
        21 => there_and_back::<NodeCall<'_>>(bytes),
        22 => there_and_back::<KernelNode<'_>>(bytes),
        23 => there_and_back::<DeferredCopy>(bytes),
        24 => there_and_back::<Piece>(bytes),
        25 => there_and_back::<Taken>(bytes),
        26 => there_and_again::<MetricsRequest>(bytes),
        27 => there_and_back::<Metrics>(bytes),
        _ => arguments(bytes),
    }
});
