//! What the tests of the driver API share.
#![allow(dead_code, unsafe_code, clippy::unwrap_used, reason = "a test")]
#![allow(
    clippy::macro_metavars_in_unsafe,
    reason = "the whole call is the unsafe part"
)]

use std::ffi::{CString, c_void};
use std::sync::atomic::AtomicU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gtrace_softgpu::abi::{In, Name, Out};
use gtrace_softgpu::api::{context, device, fill, init, launch, memory, module, stream};

/// An [`Out`] for a variable that outlives the call.
pub(crate) fn out<T>(value: &mut T) -> Out<T> {
    // SAFETY: a live variable; the callers keep it until the call has returned.
    unsafe { Out::new(value) }
}

/// An [`Out`] for an array that outlives the call.
pub(crate) fn outs<T>(values: &mut [T]) -> Out<T> {
    // SAFETY: a live array; the callers name its length to the function.
    unsafe { Out::new(values.as_mut_ptr()) }
}

/// An [`In`] for a value that outlives the call.
pub(crate) fn given<T: Copy>(value: &T) -> In<T> {
    // SAFETY: a live variable.
    unsafe { In::new(value) }
}

/// No wish for a result.
pub(crate) fn nowhere<T>() -> Out<T> {
    // SAFETY: null is allowed.
    unsafe { Out::new(std::ptr::null_mut()) }
}

/// A C string argument.
pub(crate) fn name(text: &CString) -> Name {
    // SAFETY: NUL-terminated; the callers keep it until the call has returned.
    unsafe { Name::new(text.as_ptr()) }
}

/// A call of a function of the driver API.
macro_rules! call {
    ($call:expr) => {{
        // SAFETY: tests give valid pointers, or null where they test for it.
        unsafe { $call }
    }};
}

/// A call of a function of the driver API that must give this code.
macro_rules! gives {
    ($call:expr, $code:expr $(, $($why:tt)+)?) => {
        assert_eq!(call!($call), $code $(, $($why)+)?)
    };
}

/// A call of a function of the driver API that must succeed.
macro_rules! ok {
    ($call:expr) => {
        gives!($call, 0, "{}", stringify!($call))
    };
}

/// What a call that must succeed gives by a pointer, which it is handed by this name.
macro_rules! made {
    (|$to:ident| $call:expr) => {{
        let mut value = Default::default();
        let $to = out(&mut value);
        ok!($call);
        value
    }};
}

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A context of a test, destroyed at its end. Tests of one file run one after the other, as they
/// count launches and memory of one device.
pub(crate) struct Fixture {
    pub(crate) context: u64,
    _turn: MutexGuard<'static, ()>,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        ok!(init::cuInit(0));
        let mut context = 0;
        ok!(context::cuCtxCreate_v2(out(&mut context), 0, 0));
        Self {
            context,
            _turn: turn,
        }
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        call!(context::cuCtxDestroy_v2(self.context));
    }
}

pub(crate) fn alloc(size: usize) -> u64 {
    made!(|to| memory::cuMemAlloc_v2(to, size))
}

/// Words of device memory.
pub(crate) fn zeros(count: usize) -> u64 {
    let address = alloc(count * 8);
    ok!(fill::cuMemsetD8_v2(address, 0, count * 8));
    ok!(context::cuCtxSynchronize());
    address
}

pub(crate) fn alloc_host(size: usize) -> *mut c_void {
    let mut address = std::ptr::null_mut();
    ok!(memory::cuMemHostAlloc(out(&mut address), size, 0));
    address
}

pub(crate) fn free_memory() -> usize {
    made!(|to| memory::cuMemGetInfo_v2(to, nowhere()))
}

pub(crate) fn new_stream(flags: u32) -> u64 {
    made!(|to| stream::cuStreamCreate(to, flags))
}

pub(crate) fn attribute(id: u32) -> i32 {
    made!(|to| device::cuDeviceGetAttribute(to, id, 0))
}

pub(crate) fn load(ptx: &str) -> u64 {
    let text = CString::new(ptx).unwrap();
    made!(|to| module::cuModuleLoadData(to, text.as_ptr().cast()))
}

pub(crate) fn function(module: u64, text: &str) -> u64 {
    let text = CString::new(text).unwrap();
    made!(|to| module::cuModuleGetFunction(to, module, name(&text)))
}

/// Launches with parameters of 8 bytes each; gives the code.
pub(crate) fn launch(function: u64, grid: u32, block: u32, stream: u64, params: &[u64]) -> u32 {
    let pointers: Vec<u64> = params
        .iter()
        .map(|value| std::ptr::from_ref(value) as u64)
        .collect();
    // SAFETY: one pointer a parameter; null if there are none.
    let values = unsafe {
        In::new(if params.is_empty() {
            std::ptr::null()
        } else {
            pointers.as_ptr()
        })
    };
    call!(launch::cuLaunchKernel(
        function,
        grid,
        1,
        1,
        block,
        1,
        1,
        0,
        stream,
        values,
        In::NULL
    ))
}

/// A kernel that stores its parameter `value` to `out[thread]`, one that spins for `ns`
/// nanoseconds and then stores 1 to `out`, one that stores through a null pointer, one that traps,
/// and one that does nothing; beside them a variable.
pub(crate) const PTX: &str = r#"
.version 7.0
.target sm_70
.address_size 64

.visible .global .align 4 .u32 counter = 7;

.visible .entry empty()
{
    ret;
}

.visible .entry fill(.param .u64 out, .param .u64 value)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [value];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mad.lo.s32 %r4, %r2, %r3, %r1;
    mul.wide.u32 %rd3, %r4, 8;
    add.s64 %rd4, %rd1, %rd3;
    st.global.u64 [%rd4], %rd2;
    ret;
}

.visible .entry delay(.param .u64 out, .param .u64 ns)
{
    .reg .pred %p<2>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [ns];
    mov.u64 %rd3, %globaltimer;
loop:
    mov.u64 %rd4, %globaltimer;
    sub.s64 %rd5, %rd4, %rd3;
    setp.lt.u64 %p1, %rd5, %rd2;
    @%p1 bra loop;
    mov.u64 %rd6, 1;
    st.global.u64 [%rd1], %rd6;
    ret;
}

.visible .entry wild()
{
    .reg .b64 %rd<3>;
    mov.u64 %rd1, 64;
    mov.u64 %rd2, 5;
    st.global.u64 [%rd1], %rd2;
    ret;
}

.visible .entry small() .maxntid 64, 1, 1
{
    .shared .align 4 .b8 buffer[1024];
    .reg .b32 %r<3>;
    mov.u32 %r1, buffer;
    mov.u32 %r2, 3;
    st.shared.u32 [%r1], %r2;
    ret;
}

.visible .entry stop()
{
    trap;
    ret;
}
"#;

/// A kernel that adds one to the word `cell`, waits until that is `count`, and then stores 1 to `met`. After a minute it gives up.
pub(crate) const MEET: &str = r#"
.version 7.0
.target sm_70
.address_size 64

.visible .entry meet(.param .u64 cell, .param .u64 count, .param .u64 met)
{
    .reg .pred %p<3>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<7>;
    ld.param.u64 %rd1, [cell];
    ld.param.u64 %rd2, [count];
    ld.param.u64 %rd3, [met];
    mov.u64 %rd4, %globaltimer;
    atom.global.add.u32 %r1, [%rd1], 1;
again:
    ld.volatile.global.u32 %r1, [%rd1];
    cvt.u64.u32 %rd5, %r1;
    setp.ge.u64 %p1, %rd5, %rd2;
    @%p1 bra all;
    mov.u64 %rd6, %globaltimer;
    sub.s64 %rd6, %rd6, %rd4;
    setp.lt.u64 %p2, %rd6, 60000000000;
    @%p2 bra again;
    ret;
all:
    mov.u64 %rd6, 1;
    st.global.u64 [%rd3], %rd6;
    ret;
}
"#;

/// A word of page-locked memory, of zeros, by which a program meets [`MEET`]. It is there as long as the test's context.
pub(crate) fn meeting() -> &'static AtomicU32 {
    // SAFETY: an aligned word.
    unsafe { AtomicU32::from_ptr(alloc_host(8).cast()) }
}

/// Launches [`MEET`], which ends once the program has added one to `cell` and then stores 1 to `met`.
pub(crate) fn launch_meet(stream: u64, cell: &AtomicU32, met: u64) {
    let meet = function(load(MEET), "meet");
    assert_eq!(
        launch(meet, 1, 1, stream, &[cell.as_ptr() as u64, 2, met]),
        0
    );
}

/// Waits until `done` says so, at most ten seconds.
pub(crate) fn eventually(done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "not in ten seconds"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}
