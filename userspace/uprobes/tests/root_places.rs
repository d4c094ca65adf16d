//! Probes behind a function's start, and in libraries that call each other: on functions that this process itself calls.
//! Every test here needs root; without it each is skipped, saying so.
#![cfg(target_arch = "x86_64")]
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![allow(unsafe_code)] // calls functions of a library that it has compiled

mod support;

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;

use gtrace_abi::ApiCounter;
use gtrace_uprobes::functions::default_set;
use gtrace_uprobes::library::Library;
use gtrace_uprobes::{Class, Options, Tracer};
use support::{is_root, ways};

const CALLS: u64 = 1000;

/// The library, and how to call it.
struct Compared {
    allocate: extern "C" fn(*mut u64, u64) -> i32,
    turn: extern "C" fn() -> i32,
    wait: extern "C" fn() -> i32,
    inner: extern "C" fn() -> i32,
}

impl Compared {
    fn open(path: &Path) -> Self {
        let path = CString::new(path.as_os_str().as_bytes()).unwrap();
        // SAFETY: a library without constructors, and a string that ends with 0.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
        assert!(!library.is_null());
        let symbol = |name: &str| {
            let name = CString::new(name).unwrap();
            // SAFETY: the library is open, and stays so.
            let found = unsafe { libc::dlsym(library, name.as_ptr()) };
            assert!(!found.is_null(), "{name:?}");
            found
        };
        // SAFETY: compared.c gives the functions these types.
        unsafe {
            Self {
                allocate: std::mem::transmute::<
                    *mut libc::c_void,
                    extern "C" fn(*mut u64, u64) -> i32,
                >(symbol("cuMemAlloc_v2")),
                turn: std::mem::transmute::<*mut libc::c_void, extern "C" fn() -> i32>(symbol(
                    "cuCtxSynchronize",
                )),
                wait: std::mem::transmute::<*mut libc::c_void, extern "C" fn() -> i32>(symbol(
                    "cuStreamSynchronize",
                )),
                inner: std::mem::transmute::<*mut libc::c_void, extern "C" fn() -> i32>(symbol(
                    "inner",
                )),
            }
        }
    }

    fn call(&self) {
        for size in 0..CALLS {
            let mut place = 0;
            // The first one, of no bytes, fails.
            assert_eq!((self.allocate)(&raw mut place, size), i32::from(size == 0));
            assert!(place >= 0x1000);
            assert_eq!((self.turn)(), 0);
            assert_eq!((self.wait)(), 0);
            assert_eq!((self.inner)(), 0);
        }
    }
}

#[test]
fn root_calls_are_counted_exactly_wherever_the_probe_is() {
    if !is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("libcompared.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/compared.c");
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o"]);
    assert!(cc.args([&path, &source]).status().unwrap().success());
    let compared = Compared::open(&path);
    let pid = std::process::id();
    for way in ways() {
        let mut options = Options::new(Some(pid), default_set());
        options.way = Some(way);
        let mut tracer = Tracer::load(options).unwrap();
        tracer.attach(Library::open(&path).unwrap()).unwrap();
        let named = |function: u32| tracer.functions()[function as usize].name.clone();
        let probed = tracer.libraries().next().unwrap();
        let mut places: Vec<_> = probed
            .sites
            .iter()
            .map(|site| (named(site.function), site.place.behind(), site.place.class))
            .collect();
        places.sort();
        let place = |name: &str, behind, class| (name.to_owned(), behind, class);
        let expected = [
            place("cuCtxSynchronize", 0, Class::SingleStepped),
            place("cuMemAlloc_v2", 10, Class::Emulated),
            place("cuStreamSynchronize", 0, Class::SingleStepped),
        ];
        assert_eq!(places, expected);
        compared.call();
        let counted = tracer.counted().unwrap();
        for (name, ..) in &expected {
            let row = counted
                .rows
                .iter()
                .find(|row| named(row.function) == *name)
                .unwrap();
            let failed = u64::from(name == "cuMemAlloc_v2");
            let seen = (row.pid, row.calls, row.timed, row.errors);
            assert_eq!(
                seen,
                (pid, CALLS, CALLS, failed),
                "{name} by {}",
                way.name()
            );
        }
        // By arguments read at the jump, and by what they point to at the end.
        let ledger = counted.ledgers[&pid];
        let bytes = CALLS * (CALLS - 1) / 2;
        let seen = (
            ledger.allocated,
            ledger.allocations,
            ledger.failed_allocations,
        );
        assert_eq!(seen, (bytes, CALLS - 1, 1), "{}", way.name());
    }
}

#[test]
fn root_a_call_that_a_library_passes_on_to_another_is_one_of_each() {
    if !is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/passing.c");
    let build = |name: &str, define: Option<String>| {
        let built = folder.path().join(name);
        let mut cc = Command::new("cc");
        cc.args(["-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o"]);
        cc.args([&built, &source]).args(define).arg("-ldl");
        assert!(cc.status().unwrap().success());
        built
    };
    let inner = build("libinner.so", None);
    let outer = build(
        "libouter.so",
        Some(format!("-DINNER=\"{}\"", inner.display())),
    );
    let path = CString::new(outer.as_os_str().as_bytes()).unwrap();
    // SAFETY: a library without constructors, and a string that ends with 0.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
    assert!(!library.is_null());
    // SAFETY: the library is open, and stays so.
    let symbol = |name: &std::ffi::CStr| unsafe { libc::dlsym(library, name.as_ptr()) };
    let (allocate, free) = (symbol(c"cuMemAlloc_v2"), symbol(c"cuMemFree_v2"));
    assert!(!allocate.is_null() && !free.is_null());
    // SAFETY: passing.c gives the functions these types.
    let (allocate, free) = unsafe {
        (
            std::mem::transmute::<*mut libc::c_void, extern "C" fn(*mut u64, u64) -> i32>(allocate),
            std::mem::transmute::<*mut libc::c_void, extern "C" fn(u64) -> i32>(free),
        )
    };
    let pid = std::process::id();
    for way in ways() {
        let mut options = Options::new(Some(pid), default_set());
        options.way = Some(way);
        let mut tracer = Tracer::load(options).unwrap();
        for library in [&inner, &outer] {
            tracer.attach(Library::open(library).unwrap()).unwrap();
        }
        for _ in 0..CALLS {
            let mut place = 0;
            assert_eq!(allocate(&raw mut place, 64), 0);
            assert_eq!(free(place), 0);
        }
        let counted = tracer.counted().unwrap();
        for name in ["cuMemAlloc_v2", "cuMemFree_v2"] {
            let named = |function: u32| tracer.functions()[function as usize].name == name;
            let row = counted.rows.iter().find(|row| named(row.function));
            assert_eq!(row.unwrap().calls, 2 * CALLS, "{name} by {}", way.name());
        }
        let ledger = counted.ledgers[&pid];
        let seen = (ledger.live, ledger.frees, ledger.unknown_frees);
        assert_eq!(seen, (0, CALLS, CALLS), "by {}", way.name());
        assert_eq!(counted.counter(ApiCounter::StartsUnseen), 0);
    }
}
