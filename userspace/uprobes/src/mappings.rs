//! Libraries as the kernel reports that they are mapped: perf_event_open(2), PERF_RECORD_MMAP. So no process need be read
//! to see that one has opened a library, and one that lives for a moment only is seen too.
#![allow(unsafe_code)] // libbpf's perf buffer has no safe form

use std::collections::BTreeSet;
use std::ffi::{c_int, c_void};
use std::fmt;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd};
use std::ptr::NonNull;

use libbpf_rs::{MapHandle, MapType};
use libbpf_sys::{
    LIBBPF_PERF_EVENT_CONT, PERF_COUNT_SW_DUMMY, PERF_RECORD_LOST, PERF_RECORD_MMAP,
    PERF_TYPE_SOFTWARE, bpf_map_create_opts, perf_buffer, perf_event_attr, perf_event_header,
};

/// Pages of each CPU's buffer, a power of two. 16 KiB have room for about 150 mappings between two readings.
const PAGES: u64 = 4;
/// Processes that one reading may name. More are counted as lost.
const MOST: usize = 1024;
/// The fields of a PERF_RECORD_MMAP before the file's name: header, pid, tid, address, length, offset.
const BEFORE_NAME: usize = 40;

/// What was mapped since it was asked for last.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Mapped {
    /// The processes that mapped a file of the name for execution.
    pub(crate) pids: BTreeSet<u32>,
    /// Whether there was more than there was room for, so that processes have to be read.
    pub(crate) lost: bool,
}

impl Mapped {
    /// Takes a record as the kernel wrote it, with its header.
    fn take(&mut self, record: &[u8], name: &[u8]) {
        let word = |at: usize| {
            let bytes = record.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_ne_bytes(bytes))
        };
        match word(0) {
            Some(PERF_RECORD_MMAP) => {}
            Some(PERF_RECORD_LOST) => {
                self.lost = true;
                return;
            }
            _ => return,
        }
        let path = record.get(BEFORE_NAME..).unwrap_or_default();
        let path = path.split(|byte| *byte == 0).next().unwrap_or_default();
        let file = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let Some(pid) = word(8).filter(|_| file.starts_with(name)) else {
            return;
        };
        match self.pids.len() < MOST {
            true => {
                self.pids.insert(pid);
            }
            false => self.lost = true,
        }
    }
}

/// What the callback fills.
struct Found {
    name: Vec<u8>,
    mapped: Mapped,
}

/// The kernel's reports of every process, by one buffer a CPU.
pub(crate) struct Mappings {
    buffer: NonNull<perf_buffer>,
    /// From `Box::into_raw`: the buffer's callback has the same pointer.
    found: NonNull<Found>,
    _map: MapHandle,
}

// SAFETY: neither pointer is bound to a thread, and nothing else has them.
unsafe impl Send for Mappings {}

impl fmt::Debug for Mappings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mappings").finish_non_exhaustive()
    }
}

impl Mappings {
    /// Of files whose name begins with `name`. Needs CAP_PERFMON and CAP_BPF.
    pub(crate) fn open(name: &str) -> io::Result<Self> {
        let options = bpf_map_create_opts {
            sz: size_of::<bpf_map_create_opts>() as _,
            ..bpf_map_create_opts::default()
        };
        // As many entries as CPUs: libbpf fills them in.
        let cpus = libbpf_rs::num_possible_cpus().map_err(io::Error::other)?;
        let map = MapHandle::create(
            MapType::PerfEventArray,
            Some("gtrace_mappings"),
            4,
            4,
            u32::try_from(cpus).map_err(io::Error::other)?,
            &options,
        )
        .map_err(io::Error::other)?;
        let mut attributes = perf_event_attr {
            type_: PERF_TYPE_SOFTWARE,
            size: size_of::<perf_event_attr>() as u32,
            config: u64::from(PERF_COUNT_SW_DUMMY),
            ..perf_event_attr::default()
        };
        attributes.set_mmap(1);
        attributes.set_watermark(1);
        attributes.__bindgen_anon_2.wakeup_watermark = 1;
        let found = Box::new(Found {
            name: name.as_bytes().to_vec(),
            mapped: Mapped::default(),
        });
        // SAFETY: not null, as it comes from a box.
        let found = unsafe { NonNull::new_unchecked(Box::into_raw(found)) };
        // SAFETY: the map and the attributes live during the call, the context until the buffer is freed.
        let buffer = unsafe {
            libbpf_sys::perf_buffer__new_raw(
                map.as_fd().as_raw_fd(),
                PAGES,
                &raw mut attributes,
                Some(take),
                found.as_ptr().cast(),
                std::ptr::null(),
            )
        };
        let Some(buffer) = NonNull::new(buffer) else {
            let error = io::Error::last_os_error();
            // SAFETY: from `Box::into_raw`; no buffer has it.
            drop(unsafe { Box::from_raw(found.as_ptr()) });
            return Err(error);
        };
        Ok(Self {
            buffer,
            found,
            _map: map,
        })
    }

    /// Readable when something was mapped, whatever its name.
    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the buffer lives, and its descriptor as long as it.
        unsafe { BorrowedFd::borrow_raw(libbpf_sys::perf_buffer__epoll_fd(self.buffer.as_ptr())) }
    }

    /// What was mapped since the last time.
    pub(crate) fn take(&mut self) -> Mapped {
        // SAFETY: the buffer lives; its callback runs in this call only.
        let read = unsafe { libbpf_sys::perf_buffer__consume(self.buffer.as_ptr()) };
        // SAFETY: the callback has returned, so that this is the only reference.
        let found = unsafe { self.found.as_mut() };
        let mut mapped = std::mem::take(&mut found.mapped);
        mapped.lost |= read < 0;
        mapped
    }
}

impl Drop for Mappings {
    fn drop(&mut self) {
        // SAFETY: freed once, and before the context of its callback.
        unsafe {
            libbpf_sys::perf_buffer__free(self.buffer.as_ptr());
            drop(Box::from_raw(self.found.as_ptr()));
        }
    }
}

/// Called by libbpf with each record, whole in memory. It does not panic: it indexes nothing.
unsafe extern "C" fn take(
    context: *mut c_void,
    _cpu: c_int,
    event: *mut perf_event_header,
) -> c_int {
    // SAFETY: what `Mappings::open` passed; only `Mappings::take` calls this, and holds no reference then.
    let found = unsafe { &mut *context.cast::<Found>() };
    // SAFETY: libbpf passes a whole record, whose header has its size.
    let record = unsafe {
        std::slice::from_raw_parts(event.cast::<u8>().cast_const(), usize::from((*event).size))
    };
    found.mapped.take(record, &found.name);
    LIBBPF_PERF_EVENT_CONT
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn record(kind: u32, pid: u32, path: &[u8]) -> Vec<u8> {
        let mut record = vec![0; BEFORE_NAME];
        record[0..4].copy_from_slice(&kind.to_ne_bytes());
        record[8..12].copy_from_slice(&pid.to_ne_bytes());
        record.extend_from_slice(path);
        record.push(0);
        record
    }

    fn mapped(records: &[Vec<u8>]) -> Mapped {
        let mut mapped = Mapped::default();
        for record in records {
            mapped.take(record, b"libcuda.so");
        }
        mapped
    }

    #[test]
    fn processes_that_mapped_a_file_of_the_name_are_named_once() {
        let seen = mapped(&[
            record(PERF_RECORD_MMAP, 7, b"/usr/lib/libcuda.so.1"),
            record(PERF_RECORD_MMAP, 7, b"/opt/a b/libcuda.so.550.54 (deleted)"),
            record(PERF_RECORD_MMAP, 8, b"/usr/lib/libcudart.so.12"),
            record(PERF_RECORD_MMAP, 9, b"/opt/libcuda.so/other"),
            record(PERF_RECORD_MMAP, 10, b"[vdso]"),
            record(9, 11, b"/usr/lib/libcuda.so.1"),
        ]);
        assert_eq!(
            seen,
            Mapped {
                pids: BTreeSet::from([7]),
                lost: false
            }
        );
    }

    #[test]
    fn what_is_lost_is_known() {
        assert!(mapped(&[record(PERF_RECORD_LOST, 0, b"")]).lost);
        let many: Vec<_> = (0..2000)
            .map(|pid| record(PERF_RECORD_MMAP, pid, b"/libcuda.so"))
            .collect();
        let seen = mapped(&many);
        assert_eq!((seen.pids.len(), seen.lost), (MOST, true));
    }

    /// Of any process, here of one that has ended before it is asked for.
    #[test]
    fn root_a_process_that_maps_the_file_is_named() {
        let mut mappings = match Mappings::open("libc.so") {
            Ok(mappings) => mappings,
            Err(error) => {
                eprintln!("skipped: needs root ({error})");
                return;
            }
        };
        for _ in 0..20 {
            mappings.take();
            let mut child = Command::new("sleep").arg("0").spawn().unwrap();
            child.wait().unwrap();
            let mut fds = [libc::pollfd {
                fd: mappings.as_fd().as_raw_fd(),
                events: libc::POLLIN,
                revents: 0,
            }];
            // SAFETY: one entry, which lives during the call.
            let ready = unsafe { libc::poll(fds.as_mut_ptr(), 1, 60_000) };
            assert_eq!(ready, 1, "nothing woke the reader");
            let mapped = mappings.take();
            if mapped.pids.contains(&child.id()) {
                return;
            }
            // Processes of other tests can fill the buffers.
            assert!(mapped.lost, "{mapped:?} without {}", child.id());
        }
        panic!("the buffers were full each time");
    }

    #[test]
    fn a_record_that_is_cut_does_no_harm() {
        let whole = record(PERF_RECORD_MMAP, 7, b"/usr/lib/libcuda.so.1");
        for len in 0..whole.len() {
            let mut cut = Mapped::default();
            cut.take(&whole[..len], b"libcuda.so");
            assert!(!cut.lost);
        }
    }
}
