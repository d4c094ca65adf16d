//! Symbols whose arguments are not known: a jump to the driver's function.

// Written in assembly.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod jump {
    use std::ffi::{CString, c_void};
    use std::panic::catch_unwind;
    use std::ptr::null_mut;
    use std::sync::atomic::{AtomicPtr, Ordering};

    use crate::{hooks, target};

    /// Room for the driver's functions.
    const ROOM: usize = 256;
    /// The driver's functions, by number; null before the first call.
    pub(crate) static FOUND: [AtomicPtr<c_void>; ROOM] =
        [const { AtomicPtr::new(null_mut()) }; ROOM];

    /// Finds the function with the number in r11 and jumps to it, with all registers that may hold
    /// arguments as they were.
    #[unsafe(naked)]
    pub(crate) unsafe extern "C" fn first_call() {
        std::arch::naked_asm!(
            "push rdi",
            "push rsi",
            "push rdx",
            "push rcx",
            "push r8",
            "push r9",
            "push rax",
            "sub rsp, 128",
            "movups [rsp], xmm0",
            "movups [rsp + 16], xmm1",
            "movups [rsp + 32], xmm2",
            "movups [rsp + 48], xmm3",
            "movups [rsp + 64], xmm4",
            "movups [rsp + 80], xmm5",
            "movups [rsp + 96], xmm6",
            "movups [rsp + 112], xmm7",
            "mov rdi, r11",
            "call {find}",
            "mov r11, rax",
            "movups xmm0, [rsp]",
            "movups xmm1, [rsp + 16]",
            "movups xmm2, [rsp + 32]",
            "movups xmm3, [rsp + 48]",
            "movups xmm4, [rsp + 64]",
            "movups xmm5, [rsp + 80]",
            "movups xmm6, [rsp + 96]",
            "movups xmm7, [rsp + 112]",
            "add rsp, 128",
            "pop rax",
            "pop r9",
            "pop r8",
            "pop rcx",
            "pop rdx",
            "pop rsi",
            "pop rdi",
            "jmp r11",
            find = sym find,
        )
    }

    extern "C" fn find(number: usize) -> *mut c_void {
        let found = catch_unwind(|| {
            let name = crate::generated::untouched::NAMES.get(number)?;
            hooks::untouched(name);
            target::symbol(&CString::new(*name).ok()?)
        });
        let address = found
            .unwrap_or(None)
            .unwrap_or(target::absent as *const () as *mut c_void);
        if let Some(place) = FOUND.get(number) {
            place.store(address, Ordering::Relaxed);
        }
        address
    }

    /// Exports symbols: number and name of each.
    macro_rules! untouched {
        ($($number:literal $name:ident,)*) => {
            /// Their names, by number.
            pub(crate) const NAMES: &[&str] = &[$(stringify!($name)),*];

            $(
                /// Passed on without a look.
                ///
                /// # Safety
                /// As the driver's function of this name.
                #[allow(unsafe_code)]
                #[unsafe(no_mangle)]
                #[unsafe(naked)]
                pub unsafe extern "C" fn $name() -> u32 {
                    std::arch::naked_asm!(
                        "lea r11, [rip + {found}]",
                        "mov r11, [r11 + 8 * {number}]",
                        "test r11, r11",
                        "jz 2f",
                        "jmp r11",
                        "2:",
                        "mov r11d, {number}",
                        "jmp {first}",
                        found = sym crate::untouched::FOUND,
                        number = const $number,
                        first = sym crate::untouched::first_call,
                    )
                }
            )*
        };
    }
    pub(crate) use untouched;
}

#[cfg(target_arch = "x86_64")]
pub(crate) use jump::{FOUND, first_call, untouched};
