//! What the first instruction of a function costs a probe.
//!
//! The kernel puts a breakpoint in its place and afterwards has to do what it did. For a few
//! instructions it does so itself; all others it executes out of line with a second trap, which is
//! several times dearer (`arch/x86/kernel/uprobes.c`, `push_setup_xol_ops` and
//! `branch_setup_xol_ops`).

/// How the kernel goes on after the breakpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// The kernel does what the instruction does.
    Emulated,
    /// The instruction is executed in single step.
    SingleStepped,
}

impl Class {
    /// As it is shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Emulated => "emulated",
            Self::SingleStepped => "single-stepped",
        }
    }
}

/// `endbr64`, which compilers put first with -fcf-protection.
const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];

/// Where to put the probe of a function that begins with `code`, as bytes from its start, and what
/// it then costs.
///
/// Past `endbr64`, which does nothing but mark the place, if what follows is emulated: the stack is
/// still as it was at the call, so that arguments and return address are found as at the start.
pub fn place(code: &[u8]) -> (u64, Class) {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(rest) = code.strip_prefix(&ENDBR64)
            && is_emulated(rest)
        {
            return (ENDBR64.len() as u64, Class::Emulated);
        }
        match is_emulated(code) {
            true => (0, Class::Emulated),
            false => (0, Class::SingleStepped),
        }
    }
    // arm64 emulates branches and what addresses by the program counter; functions begin otherwise.
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (code, ENDBR64, is_emulated as fn(&[u8]) -> bool);
        (0, Class::SingleStepped)
    }
}

/// Whether the kernel emulates the x86-64 instruction that `code` begins with.
fn is_emulated(code: &[u8]) -> bool {
    match *code {
        // push of a register, r8 to r15 with REX.B.
        [0x50..=0x57, ..] | [0x41, 0x50..=0x57, ..] => true,
        // nop, with operand size prefix or without.
        [0x90, ..] | [0x66, 0x90, ..] => true,
        // jmp and call to a place near.
        [0xeb | 0xe9 | 0xe8, ..] => true,
        // Conditional jumps.
        [0x70..=0x7f, ..] | [0x0f, 0x80..=0x8f, ..] => true,
        _ => false,
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_emulates_is_known() {
        for code in [
            &[0x55][..],               // push %rbp
            &[0x41, 0x57],             // push %r15
            &[0xe9, 0, 0, 0, 0],       // jmp
            &[0x0f, 0x84, 0, 0, 0, 0], // je
            &[0x66, 0x90],             // xchg %ax,%ax
        ] {
            assert_eq!(place(code), (0, Class::Emulated), "{code:x?}");
        }
        for code in [
            &[0x48, 0x83, 0xec, 0x08][..],                     // sub $8,%rsp
            &[0x48, 0x89, 0xe5],                               // mov %rsp,%rbp
            &[0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 0x08], // endbr64; sub
            &[0x41, 0x89],                                     // mov
            &[0x0f, 0x1f, 0x44, 0, 0], // nop of five bytes: only some kernels
            &[],
        ] {
            assert_eq!(place(code), (0, Class::SingleStepped), "{code:x?}");
        }
        assert_eq!(place(&[0xf3, 0x0f, 0x1e, 0xfa, 0x55]), (4, Class::Emulated));
        assert_eq!(
            place(&[0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x54]),
            (4, Class::Emulated)
        );
    }
}
