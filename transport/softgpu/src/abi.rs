//! The border to C: arguments that are pointers of the caller, and the guard around every entry.
//!
//! [`Out`], [`In`] and [`Name`] have the representation of plain pointers. Their values come only
//! from the arguments of the exported functions, whose contract (that of the CUDA driver API) says
//! that they are null or valid; so the rest of the crate needs no `unsafe` to use them.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{CuError, INVALID_VALUE, UNKNOWN, fail_if};

/// What the body of an exported function of the driver API gives.
pub type Answer<T = ()> = Result<T, CuError>;

/// A pointer of the caller through which a result is given.
#[repr(transparent)]
#[derive(Debug)]
pub struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> Out<T> {
    /// Wraps a pointer of the caller.
    ///
    /// # Safety
    /// `pointer` is null, or valid for writes (of as many elements as the called function says)
    /// until the called function has returned.
    pub const unsafe fn new(pointer: *mut T) -> Self {
        Self(pointer)
    }

    /// Whether the caller does not want this result.
    #[must_use]
    pub const fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The address itself.
    #[must_use]
    pub fn address(self) -> u64 {
        self.0 as u64
    }

    /// Gives the result.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if the pointer is null.
    pub fn put(self, value: T) -> Answer {
        fail_if(self.0.is_null(), INVALID_VALUE)?;
        // SAFETY: not null, so valid for writes by the contract of `new`; the C caller may have
        // placed it unaligned.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }

    /// Gives the result if the caller wants it.
    pub fn offer(self, value: T) {
        let _ = self.put(value);
    }

    /// Gives element `index` of an array of results.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if the pointer is null.
    pub fn put_at(self, index: usize, value: T) -> Answer {
        fail_if(self.0.is_null(), INVALID_VALUE)?;
        // SAFETY: the contract of `new` covers as many elements as the called function says, and
        // its body stays below that number.
        unsafe { self.0.add(index).write_unaligned(value) };
        Ok(())
    }
}

impl<T> Out<T> {
    /// What stands behind the value, where that is the beginning of a structure that ends with an array.
    #[must_use]
    pub const fn behind<E>(self) -> Out<E> {
        Out(self.0.wrapping_add(1).cast())
    }
}

impl<T: Copy> Out<T> {
    /// What the caller left there, for arguments that go both ways.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if the pointer is null.
    pub fn get(self) -> Answer<T> {
        In(self.0.cast_const()).get()
    }

    /// Reads element `index` of an array that goes both ways.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if the pointer is null.
    pub fn at(self, index: usize) -> Answer<T> {
        In(self.0.cast_const()).at(index)
    }
}

impl Out<c_void> {
    /// The same pointer for a value of type `T`, where another argument gives the type.
    #[must_use]
    pub fn cast<T>(self) -> Out<T> {
        Out(self.0.cast())
    }
}

impl Out<c_char> {
    /// Writes `text` with its closing NUL into a buffer of `length` bytes, cut to fit.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if the pointer is null or `length` is 0.
    pub fn put_text(self, length: usize, text: &str) -> Answer {
        fail_if(length == 0, INVALID_VALUE)?;
        let cut = text.len().min(length - 1);
        for (index, byte) in text.as_bytes()[..cut].iter().enumerate() {
            self.put_at(index, *byte as c_char)?;
        }
        self.put_at(cut, 0)
    }
}

/// A pointer of the caller from which an argument is read.
#[repr(transparent)]
#[derive(Debug)]
pub struct In<T>(*const T);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T: Copy> In<T> {
    /// Nothing given.
    pub const NULL: Self = Self(std::ptr::null());

    /// Wraps a pointer of the caller.
    ///
    /// # Safety
    /// `pointer` is null, or valid for reads (of as many elements as the called function says)
    /// until the called function has returned.
    pub const unsafe fn new(pointer: *const T) -> Self {
        Self(pointer)
    }

    /// Whether the caller gives nothing.
    #[must_use]
    pub const fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The address itself.
    #[must_use]
    pub fn address(self) -> u64 {
        self.0 as u64
    }

    /// Reads the argument.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if the pointer is null.
    pub fn get(self) -> Answer<T> {
        self.at(0)
    }

    /// Reads element `index` of an array.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if the pointer is null.
    pub fn at(self, index: usize) -> Answer<T> {
        fail_if(self.0.is_null(), INVALID_VALUE)?;
        // SAFETY: not null, so valid for reads of the elements that the called function's
        // contract names, and its body stays below their number.
        Ok(unsafe { self.0.add(index).read_unaligned() })
    }
}

/// A NUL-terminated string of the caller.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct Name(*const c_char);

impl Name {
    /// Wraps a string of the caller.
    ///
    /// # Safety
    /// `pointer` is null, or a NUL-terminated string valid until the called function has returned.
    pub const unsafe fn new(pointer: *const c_char) -> Self {
        Self(pointer)
    }

    /// The text.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if the pointer is null or the text is not UTF-8.
    pub fn text(self) -> Answer<String> {
        fail_if(self.0.is_null(), INVALID_VALUE)?;
        // SAFETY: not null, so a NUL-terminated string by the contract of `new`.
        let text = unsafe { CStr::from_ptr(self.0) };
        text.to_str().map(str::to_owned).map_err(|_| INVALID_VALUE)
    }
}

/// Copies bytes between places that may be memory of the device or of the program.
///
/// # Safety
/// Both ranges are mapped; where one is memory of the program, its owner promised by the copy
/// function's contract that nothing else uses it meanwhile.
pub(crate) unsafe fn copy_bytes(to: u64, from: u64, length: usize) {
    // SAFETY: ranges as promised; `copy` allows overlap.
    unsafe { std::ptr::copy(from as *const u8, to as *mut u8, length) };
}

/// Reads `length` bytes of the caller.
///
/// # Safety
/// The range is readable.
pub(crate) unsafe fn read_bytes(from: u64, length: usize) -> Vec<u8> {
    if length == 0 {
        // Even for nothing a slice needs an address.
        return Vec::new();
    }
    // SAFETY: as promised by the caller.
    unsafe { std::slice::from_raw_parts(from as *const u8, length) }.to_vec()
}

/// Runs the body of an exported function: its error becomes the `CUresult`, and a panic becomes
/// `CUDA_ERROR_UNKNOWN`, as unwinding must not enter C code.
pub(crate) fn guard(body: impl FnOnce() -> Answer) -> u32 {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => error.code(),
        Err(_) => UNKNOWN.code(),
    }
}

/// An exported function, for `cuGetProcAddress`.
pub(crate) struct Symbol {
    /// The exported name.
    pub(crate) name: &'static str,
    /// Its address.
    pub(crate) address: *const (),
}

// SAFETY: the address is that of code, which nothing changes.
unsafe impl Sync for Symbol {}

/// Structures of C.
macro_rules! layouts {
    ($($(#[$meta:meta])* $name:ident { $($(#[$of_member:meta])* $member:ident: $type:ty),* $(,)? })*) => {$(
        $(#[$meta])*
        #[repr(C)]
        #[derive(Debug, Clone, Copy)]
        #[allow(missing_docs, reason = "members have the names of the C headers")]
        pub struct $name { $($(#[$of_member])* pub $member: $type),* }
    )*};
}
pub(crate) use layouts;

/// Exports functions of the driver API. `fn name(args) { body }` exports one; with
/// `fn name, twin [stream](args)` a second is exported under `twin`, in which a `stream` of 0 means
/// the default stream of the calling thread; with `[let stream]` the name `stream` is that default
/// stream, which is no argument. `fn name, twin; later, later_twin [stream, is_async](args)` exports both: the one without a
/// stream, and one whose last argument it is. `fn name = other(args)` and `fn name, twin = other, other_twin [stream](args)`
/// export the same under the names of another version. `TABLE` becomes the list of what was exported.
macro_rules! api {
    ($table:ident: $($rest:tt)*) => { $crate::abi::api! { @munch $table [] $($rest)* } };
    (@munch $table:ident [$($done:ident)*]) => {
        pub(crate) static $table: &[$crate::abi::Symbol] = &[
            $($crate::abi::Symbol { name: stringify!($done), address: $done as *const () }),*
        ];
    };
    (@munch $table:ident [$($done:ident)*]
        $(#[$meta:meta])* fn $name:ident $(, $twin:ident)? = $other:ident $(, $other_twin:ident)? $([$stream:ident])?
        ($($arg:ident: $ty:ty),* $(,)?) $body:block $($rest:tt)*) => {
        $crate::abi::api! { @munch $table [$($done)*]
            $(#[$meta])* fn $name $(, $twin)? $([$stream])? ($($arg: $ty),*) $body
            $(#[$meta])* fn $other $(, $other_twin)? $([$stream])? ($($arg: $ty),*) $body
            $($rest)*
        }
    };
    (@munch $table:ident [$($done:ident)*]
        $(#[$meta:meta])* fn $name:ident, $twin:ident; $later:ident, $later_twin:ident [$stream:ident, $is_async:ident]
        ($($arg:ident: $ty:ty),* $(,)?) $body:block $($rest:tt)*) => {
        $crate::abi::api! { @munch $table [$($done)*]
            $(#[$meta])* fn $name, $twin [let $stream] ($($arg: $ty),*) {
                let $is_async = false;
                $body
            }
            $(#[$meta])* fn $later, $later_twin [$stream] ($($arg: $ty,)* $stream: $crate::types::Handle) {
                let $is_async = true;
                $body
            }
            $($rest)*
        }
    };
    (@munch $table:ident [$($done:ident)*]
        $(#[$meta:meta])* fn $name:ident, $twin:ident [let $stream:ident]
        ($($arg:ident: $ty:ty),* $(,)?) $body:block $($rest:tt)*) => {
        $crate::abi::api! { @export $(#[$meta])* $name ($($arg: $ty),*) {
            let $stream = 0u64;
            $body
        } }
        $crate::abi::api! { @export $(#[$meta])* $twin ($($arg: $ty),*) {
            let $stream = $crate::stream::PER_THREAD;
            $body
        } }
        $crate::abi::api! { @munch $table [$($done)* $name $twin] $($rest)* }
    };
    (@munch $table:ident [$($done:ident)*]
        $(#[$meta:meta])* fn $name:ident, $twin:ident [$stream:ident]
        ($($arg:ident: $ty:ty),* $(,)?) $body:block $($rest:tt)*) => {
        $crate::abi::api! { @export $(#[$meta])* $name ($($arg: $ty),*) $body }
        $crate::abi::api! { @export $(#[$meta])* $twin ($($arg: $ty),*) {
            let $stream = $crate::stream::or_per_thread($stream);
            $body
        } }
        $crate::abi::api! { @munch $table [$($done)* $name $twin] $($rest)* }
    };
    (@munch $table:ident [$($done:ident)*]
        $(#[$meta:meta])* fn $name:ident ($($arg:ident: $ty:ty),* $(,)?) $body:block $($rest:tt)*) => {
        $crate::abi::api! { @export $(#[$meta])* $name ($($arg: $ty),*) $body }
        $crate::abi::api! { @munch $table [$($done)* $name] $($rest)* }
    };
    (@export $(#[$meta:meta])* $name:ident ($($arg:ident: $ty:ty),*) $body:block) => {
        $(#[$meta])*
        ///
        /// # Safety
        /// Pointers are null or valid as the CUDA driver API says of this function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> u32 {
            $crate::calls::around(stringify!($name), move || {
                $crate::abi::guard(move || -> $crate::abi::Answer { $body })
            })
        }
    };
}
pub(crate) use api;
