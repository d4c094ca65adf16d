//! The tables themselves.

// Tables of function pointers, and results through pointers of their callers.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::ptr;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use crate::integrity::{Asked, Device, answer};
use crate::storage::{Destructor, Storage};
use crate::{CUresult, INVALID_HANDLE, INVALID_VALUE, NOT_SUPPORTED, SUCCESS, UNKNOWN, Uuid};

/// What the tables need of the driver that hands them out.
pub trait Driver: 'static {
    /// Its tables, always the same.
    fn tables() -> &'static Tables;

    /// The primary context of a device, made if it is not there.
    ///
    /// # Errors
    ///
    /// As `cuDevicePrimaryCtxRetain`.
    fn primary(device: c_int) -> Result<*mut c_void, CUresult>;

    /// Loads a kernel image, with or without the wrapper around it.
    ///
    /// # Errors
    ///
    /// As `cuModuleLoadData`.
    fn load(image: *const c_void) -> Result<*mut c_void, CUresult>;

    /// The current context of this thread, or null.
    ///
    /// Handles of contexts and streams are multiples of 4, and none is used twice: streams are known by theirs.
    fn current() -> *mut c_void;

    /// `cuDriverGetVersion`.
    ///
    /// # Errors
    ///
    /// As that.
    fn version() -> Result<u32, CUresult>;

    /// The devices that the process sees, in their order.
    ///
    /// # Errors
    ///
    /// NOT_INITIALIZED.
    fn devices() -> Result<Vec<Device>, CUresult>;
}

/// 6bd5fb6c-5bf4-e74a-8987-d93912fd9df9: every runtime.
const RUNTIME: Uuid = uuid(0x6bd5_fb6c_5bf4_e74a_8987_d939_12fd_9df9);
/// a094798c-2e74-2e74-93f2-0800200c0a66: every runtime, for tools.
const CALLBACK_HOOKS: Uuid = uuid(0xa094_798c_2e74_2e74_93f2_0800_200c_0a66);
/// 42d85a81-23f6-cb47-8298-f6e78a3aecdc: every runtime, for tools; cuBLAS, as it finds workspaces.
const TOOLS_TLS: Uuid = uuid(0x42d8_5a81_23f6_cb47_8298_f6e7_8a3a_ecdc);
/// c693336e-1121-df11-a8c3-68f355d89593: every runtime and library.
const STORAGE: Uuid = uuid(0xc693_336e_1121_df11_a8c3_68f3_55d8_9593);
/// d4082055-bde6-704b-8d34-ba123c66e1f2: every runtime.
const INTEGRITY: Uuid = uuid(0xd408_2055_bde6_704b_8d34_ba12_3c66_e1f2);
/// 263e8860-7cd2-6143-92f6-bbd5006dfa7e: the runtime from 13.0.
const CONTEXT_CHECKS: Uuid = uuid(0x263e_8860_7cd2_6143_92f6_bbd5_006d_fa7e);
/// 21318c60-9714-3248-8ca6-41ff7324c8f2: the runtime from 13.5, cublasLt, cuDNN; cuBLAS, as it finds workspaces.
const LIBRARIES: Uuid = uuid(0x2131_8c60_9714_3248_8ca6_41ff_7324_c8f2);
/// 1734dc26-800d-4745-8726-c0f1e7dd8bca: cublasLt.
const CUBLAS_LT: Uuid = uuid(0x1734_dc26_800d_4745_8726_c0f1_e7dd_8bca);

/// 7cb63f9b-9ca4-8e42-a484-beb66e6aed7f: CUPTI, before anything else. Seen of 11.8, 12.9 and 13.5: with this table and
/// without the next one cuptiGetVersion and cuptiGetTimestamp succeed, and what would trace answers that it cannot be
/// initialised. Without this table 13.5 refuses these two as well, and programs that do not expect it crash.
const CUPTI: Uuid = uuid(0x7cb6_3f9b_9ca4_8e42_a484_beb6_6e6a_ed7f);
/// 2c8e0ad8-0710-ab4e-90dd-54719fe5f74b: what CUPTI would trace with, first of some forty.
const CUPTI_TRACING: Uuid = uuid(0x2c8e_0ad8_0710_ab4e_90dd_5471_9fe5_f74b);
/// d7bd8af8-e7ac-ca4a-bdbc-fb1f1b3fcf33: CUPTI's clock; it uses the host's without.
const CUPTI_CLOCK: Uuid = uuid(0xd7bd_8af8_e7ac_ca4a_bdbc_fb1f_1b3f_cf33);

/// Tables that runtimes ask for and do without: seen of 11.8 to 13.5.
const OPTIONAL: [Uuid; 2] = [
    uuid(0xf8cf_f951_2146_8b4e_b9e2_fb46_9e7c_0dd9),
    uuid(0xda91_51d3_3ae6_cc41_a5c0_4f26_d533_e328),
];
/// What cuFFT walks private structures of a driver's modules with, which nobody but the driver has.
const CUFFT: Uuid = uuid(0x6e16_3fbe_b958_444d_835c_e182_aff1_991e);

/// Why a table is not handed out that a program has asked for, if that is worth telling.
pub fn refusal(name: &Uuid) -> Option<String> {
    if OPTIONAL.contains(name) {
        return None;
    }
    if *name == CUFFT {
        return Some(
            "cuFFT reads private structures of the driver, which are not there when the GPU is elsewhere: its plans \
             will fail with an internal error"
                .to_owned(),
        );
    }
    if *name == CUPTI_CLOCK {
        return None;
    }
    if *name == CUPTI_TRACING {
        return Some(
            "NVIDIA's CUPTI cannot trace: it works inside the driver, which is not in this process. Profilers that use it, such as \
             torch.profiler, see nothing of the GPU. gtrace exec --cupti gives them gtrace's, and gtrace exec --trace --gpu-time \
             records what the GPU does"
                .to_owned(),
        );
    }
    let name: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(format!(
        "the table {name} is not known here; it was refused"
    ))
}

const fn uuid(bytes: u128) -> Uuid {
    bytes.to_be_bytes()
}

/// Bytes that tools would fill, had there been any: a runtime looks at a u32 for each of its functions,
/// of which 13.5 has some 480, without asking how many there are. Where one is not 0 it calls tools.
const HOOKS_LARGE: usize = 4096;
const HOOKS_SMALL: usize = 14;

/// CU_STREAM_LEGACY
const STREAM_LEGACY: usize = 1;
/// CU_STREAM_PER_THREAD
const STREAM_PER_THREAD: usize = 2;

type Word = *const c_void;

/// The tables of a driver, and what they keep.
pub struct Tables {
    runtime: [Word; 13],
    callback_hooks: [Word; 7],
    tools_tls: [Word; 3],
    storage: [Word; 4],
    integrity: [Word; 3],
    context_checks: [Word; 5],
    libraries: [Word; 77],
    cublas_lt: [Word; 16],
    cupti: [Word; 64],
    hooks_large: [AtomicU8; HOOKS_LARGE],
    hooks_small: [AtomicU8; HOOKS_SMALL],
    kept: Storage,
}

// SAFETY: the words are addresses of functions and a length, and never change; what is kept has its
// own lock.
unsafe impl Sync for Tables {}
// SAFETY: as above.
unsafe impl Send for Tables {}

/// A table whose first word is its length in bytes. What is not known to be called says so.
fn sized<const N: usize>(functions: &[(usize, Word)]) -> [Word; N] {
    let mut table = [not_known as Word; N];
    table[0] = ptr::without_provenance(N * size_of::<Word>());
    for (at, function) in functions {
        if let Some(place) = table.get_mut(*at) {
            *place = *function;
        }
    }
    table
}

impl Tables {
    /// The tables of `D`, which is to keep them in one place for ever.
    pub fn new<D: Driver>() -> Self {
        Self {
            runtime: sized(&[
                (1, load::<D> as Word),
                (2, primary::<D> as Word),
                (6, load_with::<D> as Word),
                (7, nothing as Word),
                (8, load_bare::<D> as Word),
                (12, nothing as Word),
            ]),
            callback_hooks: sized(&[(2, hooks_large::<D> as Word), (6, hooks_small::<D> as Word)]),
            tools_tls: sized(&[(2, current::<D> as Word)]),
            // The only one without its length.
            storage: [
                put::<D> as Word,
                delete::<D> as Word,
                get::<D> as Word,
                ptr::null(),
            ],
            integrity: sized(&[(1, integrity::<D> as Word)]),
            context_checks: sized(&[(2, no_check as Word), (3, nothing as Word)]),
            libraries: sized(&[
                (4, no as Word),
                (39, stream_id::<D> as Word),
                (51, stream_of as Word),
            ]),
            cublas_lt: sized(&[(4, not_known as Word)]),
            // 11.8 and 12.9 call it and look at nothing.
            cupti: sized(&[(32, nothing as Word)]),
            hooks_large: [const { AtomicU8::new(0) }; HOOKS_LARGE],
            hooks_small: [const { AtomicU8::new(0) }; HOOKS_SMALL],
            kept: Storage::default(),
        }
    }

    /// The table of this name, if it is handed out.
    pub fn find(&self, name: &Uuid) -> Option<*const c_void> {
        Some(match *name {
            RUNTIME => self.runtime.as_ptr().cast(),
            CALLBACK_HOOKS => self.callback_hooks.as_ptr().cast(),
            TOOLS_TLS => self.tools_tls.as_ptr().cast(),
            STORAGE => self.storage.as_ptr().cast(),
            INTEGRITY => self.integrity.as_ptr().cast(),
            CONTEXT_CHECKS => self.context_checks.as_ptr().cast(),
            LIBRARIES => self.libraries.as_ptr().cast(),
            CUBLAS_LT => self.cublas_lt.as_ptr().cast(),
            CUPTI => self.cupti.as_ptr().cast(),
            _ => return None,
        })
    }

    /// A context ends: calls what libraries wanted to have called.
    pub fn context_ended(&self, context: *mut c_void) {
        for (key, value, destructor) in self.kept.end(context.addr()) {
            // SAFETY: the library gave it for this.
            unsafe { destructor(context.addr(), key, value) };
        }
    }
}

/// No panic leaves a function of a table.
fn guard(action: impl FnOnce() -> Result<(), CUresult>) -> CUresult {
    match catch_unwind(AssertUnwindSafe(action)) {
        Ok(Ok(())) => SUCCESS,
        Ok(Err(code)) => code,
        Err(_) => UNKNOWN,
    }
}

/// # Safety
///
/// Null, or writable.
unsafe fn write<T>(to: *mut T, value: T) -> Result<(), CUresult> {
    if to.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller's promise.
    unsafe { to.write(value) };
    Ok(())
}

extern "C" fn not_known() -> CUresult {
    NOT_SUPPORTED
}

extern "C" fn nothing() -> CUresult {
    SUCCESS
}

unsafe extern "C" fn primary<D: Driver>(context: *mut *mut c_void, device: c_int) -> CUresult {
    // SAFETY: the caller's pointer.
    guard(|| unsafe { write(context, D::primary(device)?) })
}

/// Loads a module; the runtime before 12.0 calls one of these three for what a program has registered.
unsafe extern "C" fn load<D: Driver>(module: *mut *mut c_void, image: *const c_void) -> CUresult {
    // SAFETY: the caller's pointer.
    guard(|| unsafe { write(module, D::load(image)?) })
}

/// As [`load`]; what the others mean is not known, and the runtime gives none.
unsafe extern "C" fn load_with<D: Driver>(
    module: *mut *mut c_void,
    image: *const c_void,
    _: *mut c_void,
    _: *mut c_void,
    _: u32,
) -> CUresult {
    // SAFETY: the caller's pointer.
    unsafe { load::<D>(module, image) }
}

/// As [`load_with`], of an image without a wrapper.
unsafe extern "C" fn load_bare<D: Driver>(
    image: *const c_void,
    module: *mut *mut c_void,
    _: *mut c_void,
    _: *mut c_void,
    _: u32,
) -> CUresult {
    // SAFETY: the caller's pointer.
    unsafe { load::<D>(module, image) }
}

/// # Safety
///
/// Two pointers, each null or writable.
unsafe fn hooks(
    bytes: &'static [AtomicU8],
    address: *mut *mut c_void,
    len: *mut usize,
) -> Result<(), CUresult> {
    // SAFETY: the caller's promise.
    unsafe {
        write(address, bytes.as_ptr().cast_mut().cast())?;
        write(len, bytes.len())
    }
}

unsafe extern "C" fn hooks_large<D: Driver>(
    address: *mut *mut c_void,
    len: *mut usize,
) -> CUresult {
    // SAFETY: the caller's pointers.
    guard(|| unsafe { hooks(&D::tables().hooks_large, address, len) })
}

unsafe extern "C" fn hooks_small<D: Driver>(
    address: *mut *mut c_void,
    len: *mut usize,
) -> CUresult {
    // SAFETY: the caller's pointers.
    guard(|| unsafe { hooks(&D::tables().hooks_small, address, len) })
}

/// Null means the current context.
fn context_of<D: Driver>(context: *mut c_void) -> usize {
    match context.is_null() {
        true => D::current().addr(),
        false => context.addr(),
    }
}

unsafe extern "C" fn put<D: Driver>(
    context: *mut c_void,
    key: usize,
    value: usize,
    destructor: Option<Destructor>,
) -> CUresult {
    guard(|| {
        let context = context_of::<D>(context);
        D::tables().kept.put(context, key, value, destructor);
        Ok(())
    })
}

unsafe extern "C" fn delete<D: Driver>(context: *mut c_void, key: usize) -> CUresult {
    guard(
        || match D::tables().kept.delete(context_of::<D>(context), key) {
            true => Ok(()),
            false => Err(INVALID_HANDLE),
        },
    )
}

unsafe extern "C" fn get<D: Driver>(
    value: *mut usize,
    context: *mut c_void,
    key: usize,
) -> CUresult {
    guard(|| {
        let kept = D::tables().kept.get(context_of::<D>(context), key);
        // SAFETY: the caller's pointer.
        unsafe { write(value, kept.ok_or(INVALID_HANDLE)?) }
    })
}

unsafe extern "C" fn integrity<D: Driver>(
    version: u32,
    unix_seconds: u64,
    digest: *mut [u8; 16],
) -> CUresult {
    guard(|| {
        let tables = D::tables();
        // SAFETY: pthread_self(3) has no conditions.
        let thread = unsafe { libc::pthread_self() };
        let asked = Asked {
            driver_version: D::version()?,
            version,
            pid: process::id(),
            thread: thread as u32,
            runtime_table: tables.runtime.as_ptr().addr() as u64,
            integrity_table: tables.integrity.as_ptr().addr() as u64,
            function: (integrity::<D> as *const ()).addr() as u64,
            unix_seconds,
        };
        // SAFETY: the caller's pointer.
        unsafe { write(digest, answer(&asked, &D::devices()?)) }
    })
}

/// Nothing is wrong with any context, and there is nothing to say of it.
unsafe extern "C" fn no_check(
    _: *mut c_void,
    number: *mut u32,
    what: *mut *mut c_void,
) -> CUresult {
    guard(|| unsafe {
        // SAFETY: the caller's pointers.
        write(number, 0)?;
        write(what, ptr::null_mut())
    })
}

/// The current context of this thread.
///
/// Where a program gives cuBLAS no workspace, each product takes one from a pool by its stream: this function, then
/// [`stream_of`] and [`stream_id`]. If one of them fails, so does the product, with CUBLAS_STATUS_INTERNAL_ERROR. Seen of
/// 12.4, 12.8, 13.0 and 13.10. The runtime 13.5 calls the same three where tools want to know of its calls.
unsafe extern "C" fn current<D: Driver>(context: *mut *mut c_void) -> CUresult {
    // SAFETY: the caller's pointer.
    guard(|| unsafe { write(context, D::current()) })
}

/// The stream that a handle means. Null is the stream of the thread in functions whose names end with `_ptsz`, and the
/// legacy stream in others.
unsafe extern "C" fn stream_of(
    _: *mut c_void,
    stream: *mut c_void,
    found: *mut *mut c_void,
    per_thread: c_int,
) -> CUresult {
    let stream = match (stream.addr(), per_thread) {
        (0, 0) => ptr::without_provenance_mut(STREAM_LEGACY),
        (0, _) => ptr::without_provenance_mut(STREAM_PER_THREAD),
        _ => stream,
    };
    // SAFETY: the caller's pointer.
    guard(|| unsafe { write(found, stream) })
}

/// A number that no other stream of the process has, of what [`stream_of`] found. It asks no server: cuBLAS calls it for
/// each product.
unsafe extern "C" fn stream_id<D: Driver>(
    context: *mut c_void,
    stream: *mut c_void,
    id: *mut u64,
) -> CUresult {
    guard(|| {
        let found = match stream.addr() {
            0 | STREAM_LEGACY => (context_of::<D>(context) | STREAM_LEGACY) as u64,
            STREAM_PER_THREAD => thread_stream_id(context_of::<D>(context)),
            handle => handle as u64,
        };
        // SAFETY: the caller's pointer.
        unsafe { write(id, found) }
    })
}

/// The number of the stream of this thread in a context. Handles are multiples of 4, and these numbers are not.
fn thread_stream_id(context: usize) -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    thread_local! {
        static KNOWN: RefCell<Vec<(usize, u64)>> = const { RefCell::new(Vec::new()) };
    }
    let next = || NEXT.fetch_add(1, Ordering::Relaxed) << 2 | STREAM_PER_THREAD as u64;
    let found = KNOWN.try_with(|known| {
        let mut known = known.borrow_mut();
        match known.iter().find(|(of, _)| *of == context) {
            Some((_, id)) => *id,
            None => {
                let id = next();
                known.push((context, id));
                id
            }
        }
    });
    // A thread at its end.
    found.unwrap_or_else(|_| next())
}

/// No, as an int.
unsafe extern "C" fn no(_: *mut c_void, answer: *mut c_int) -> CUresult {
    // SAFETY: the caller's pointer.
    guard(|| unsafe { write(answer, 0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A driver without devices.
    struct Stub;

    /// The context that is current in [`Stub`].
    const CONTEXT: usize = 0x50;

    impl Driver for Stub {
        fn tables() -> &'static Tables {
            static TABLES: std::sync::OnceLock<Tables> = std::sync::OnceLock::new();
            TABLES.get_or_init(Tables::new::<Self>)
        }

        fn primary(_: c_int) -> Result<*mut c_void, CUresult> {
            Err(NOT_SUPPORTED)
        }

        fn load(_: *const c_void) -> Result<*mut c_void, CUresult> {
            Err(NOT_SUPPORTED)
        }

        fn current() -> *mut c_void {
            ptr::without_provenance_mut(CONTEXT)
        }

        fn version() -> Result<u32, CUresult> {
            Err(NOT_SUPPORTED)
        }

        fn devices() -> Result<Vec<Device>, CUresult> {
            Ok(Vec::new())
        }
    }

    /// The entry of a table, as programs find it.
    fn entry(name: &Uuid, slot: usize) -> Word {
        let table = Stub::tables().find(name).unwrap().cast::<Word>();
        // SAFETY: the tables are longer than any slot that is asked for here.
        unsafe { table.add(slot).read() }
    }

    /// What cuBLAS does to know a stream, with an error as the driver gives it.
    fn id_of(context: usize, stream: usize, per_thread: c_int) -> u64 {
        type Find =
            unsafe extern "C" fn(*mut c_void, *mut c_void, *mut *mut c_void, c_int) -> CUresult;
        type Number = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut u64) -> CUresult;
        let context = ptr::without_provenance_mut(context);
        let stream = ptr::without_provenance_mut(stream);
        let (mut found, mut id) = (ptr::null_mut(), 0);
        // SAFETY: the signatures of the two entries.
        unsafe {
            let find = std::mem::transmute::<Word, Find>(entry(&LIBRARIES, 51));
            let number = std::mem::transmute::<Word, Number>(entry(&LIBRARIES, 39));
            let status = find(context, stream, &raw mut found, per_thread);
            assert_eq!(status, SUCCESS);
            assert_eq!(number(context, found, &raw mut id), SUCCESS);
            assert_eq!(number(context, found, ptr::null_mut()), INVALID_VALUE);
        }
        id
    }

    #[test]
    fn the_current_context_is_known_without_a_name() {
        type Current = unsafe extern "C" fn(*mut *mut c_void) -> CUresult;
        let mut context = ptr::null_mut();
        // SAFETY: the signature of the entry.
        let status =
            unsafe { std::mem::transmute::<Word, Current>(entry(&TOOLS_TLS, 2))(&raw mut context) };
        assert_eq!((status, context.addr()), (SUCCESS, CONTEXT));
    }

    #[test]
    fn each_stream_has_a_number_of_its_own() {
        let legacy = id_of(CONTEXT, 0, 0);
        assert_eq!(id_of(CONTEXT, STREAM_LEGACY, 0), legacy);
        assert_eq!(id_of(0, 0, 0), legacy);
        let own = id_of(CONTEXT, 0, 1);
        assert_eq!(id_of(CONTEXT, STREAM_PER_THREAD, 1), own);
        let other_thread = std::thread::spawn(|| id_of(CONTEXT, STREAM_PER_THREAD, 1));
        let all = [
            legacy,
            own,
            other_thread.join().unwrap(),
            id_of(0x90, 0, 0),
            id_of(0x90, 0, 1),
            id_of(CONTEXT, 0x1000, 0),
            id_of(CONTEXT, 0x1010, 0),
        ];
        let distinct: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len(), "{all:x?}");
        assert_eq!(id_of(CONTEXT, 0x1000, 0), id_of(CONTEXT, 0x1000, 1));
    }

    #[test]
    fn what_runtimes_do_without_is_not_reported() {
        assert_eq!(refusal(&OPTIONAL[0]), None);
        assert!(refusal(&CUFFT).is_some_and(|why| why.contains("cuFFT")));
        assert!(refusal(&CUPTI_TRACING).is_some_and(|why| why.contains("gtrace exec --cupti")));
        let other = refusal(&[0xab; 16]).unwrap_or_default();
        assert!(other.contains(&"ab".repeat(16)), "{other}");
    }
}
