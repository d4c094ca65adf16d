//! Where in a function a probe costs least, and what it costs there.
//!
//! The kernel puts a breakpoint in the place of an instruction and afterwards has to do what that did.
//! For a few instructions it does so itself; all others it executes out of line with a second trap,
//! which is several times dearer (`arch/x86/kernel/uprobes.c`, `push_setup_xol_ops` and
//! `branch_setup_xol_ops`). NVIDIA's libcuda begins nearly all of its functions with a comparison,
//! which is stepped, and a conditional jump, which is emulated.

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

/// Where to put the probe of the function with this `code`, as bytes from its start, and what it then
/// costs.
///
/// Behind the start only if every call comes by there once, with arguments and stack as at the start:
/// what is passed over is straight-line code that leaves them alone and writes no memory, and no
/// branch of the function leads behind its start and up to the place. So `code` has to be the whole
/// function: without `whole` its start is taken.
pub fn place(code: &[u8], whole: bool) -> (u64, Class) {
    #[cfg(target_arch = "x86_64")]
    {
        x86::place(code, whole)
    }
    // arm64 emulates branches and what addresses by the program counter; functions begin otherwise.
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (code, whole);
        (0, Class::SingleStepped)
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory};
    use iced_x86::{OpAccess, Register};

    use super::Class;

    /// Bytes from the start in which a place is looked for.
    const REACH: u64 = 32;

    /// What a probe reads at a call's start: arguments, and the stack with the return address.
    const READ: [Register; 7] = [
        Register::RDI,
        Register::RSI,
        Register::RDX,
        Register::RCX,
        Register::R8,
        Register::R9,
        Register::RSP,
    ];

    pub(super) fn place(code: &[u8], whole: bool) -> (u64, Class) {
        match first_emulated(code) {
            Some(0) => (0, Class::Emulated),
            Some(at) if whole && !is_entered_behind(code, at) => (at, Class::Emulated),
            _ => (0, Class::SingleStepped),
        }
    }

    /// The first instruction that the kernel emulates, if nothing before it matters to a probe.
    fn first_emulated(code: &[u8]) -> Option<u64> {
        let mut info = InstructionInfoFactory::new();
        for instruction in decoder(code) {
            let at = instruction.ip();
            if is_emulated(code.get(at as usize..)?) {
                return Some(at);
            }
            if at >= REACH || instruction.is_invalid() || !is_passed(&instruction, &mut info) {
                return None;
            }
        }
        None
    }

    /// Whether a branch of the function leads behind its start, up to `at`. What cannot be decoded may.
    fn is_entered_behind(code: &[u8], at: u64) -> bool {
        decoder(code).into_iter().any(|instruction| {
            instruction.is_invalid()
                || match instruction.flow_control() {
                    FlowControl::Next | FlowControl::Return | FlowControl::Interrupt => false,
                    // By a register or a table. A table's cases come after the test of its range.
                    FlowControl::IndirectBranch | FlowControl::IndirectCall => false,
                    FlowControl::Exception => false,
                    FlowControl::UnconditionalBranch
                    | FlowControl::ConditionalBranch
                    | FlowControl::Call
                    | FlowControl::XbeginXabortXend => {
                        (1..=at).contains(&instruction.near_branch_target())
                    }
                }
        })
    }

    fn decoder(code: &[u8]) -> Decoder<'_> {
        Decoder::with_ip(64, code, 0, DecoderOptions::NONE)
    }

    /// Whether a call is the same behind this instruction as before it, for a probe.
    fn is_passed(instruction: &Instruction, info: &mut InstructionInfoFactory) -> bool {
        let writes = |access| {
            matches!(
                access,
                OpAccess::Write
                    | OpAccess::CondWrite
                    | OpAccess::ReadWrite
                    | OpAccess::ReadCondWrite
            )
        };
        let used = info.info(instruction);
        instruction.flow_control() == FlowControl::Next
            && !instruction.is_privileged()
            && !used
                .used_memory()
                .iter()
                .any(|memory| writes(memory.access()))
            && !used.used_registers().iter().any(|register| {
                writes(register.access()) && READ.contains(&register.register().full_register())
            })
    }

    /// Whether the kernel emulates the instruction that `code` begins with.
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
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
    /// `cmpl $0x321cba00,disp(%rip)`, as functions of NVIDIA's libcuda begin.
    const COMPARE: [u8; 10] = [0x81, 0x3d, 0x10, 0x20, 0x30, 0x00, 0x00, 0xba, 0x1c, 0x32];

    fn of(parts: &[&[u8]]) -> (u64, Class) {
        place(&parts.concat(), true)
    }

    #[test]
    fn what_the_kernel_emulates_is_known() {
        for code in [
            &[0x55][..],               // push %rbp
            &[0x41, 0x57],             // push %r15
            &[0xe9, 0, 0, 0, 0],       // jmp
            &[0x0f, 0x84, 0, 0, 0, 0], // je
            &[0x66, 0x90],             // xchg %ax,%ax
        ] {
            assert_eq!(place(code, false), (0, Class::Emulated), "{code:x?}");
        }
        for code in [
            &[0x48, 0x83, 0xec, 0x08][..],                     // sub $8,%rsp
            &[0x48, 0x89, 0xe5],                               // mov %rsp,%rbp
            &[0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 0x08], // endbr64; sub
            &[0x41, 0x89],                                     // mov, cut
            &[0x0f, 0x1f, 0x44, 0, 0], // nop of five bytes: only some kernels
            &[],
        ] {
            assert_eq!(place(code, true), (0, Class::SingleStepped), "{code:x?}");
        }
    }

    #[test]
    fn a_probe_goes_behind_what_is_stepped_and_leaves_the_call_as_it_was() {
        let emulated = |at| (at, Class::Emulated);
        let push_ret = &[0x55, 0x5d, 0xc3][..];
        assert_eq!(of(&[&ENDBR64, push_ret]), emulated(4));
        assert_eq!(
            of(&[&ENDBR64, &[0x41, 0x54, 0x41, 0x5c, 0xc3]]),
            emulated(4)
        );
        // The comparison and `je` of libcuda, whose jump leads beyond both.
        let je_ret = &[0x74, 0x01, 0xc3, 0xc3][..];
        assert_eq!(of(&[&COMPARE, je_ret]), emulated(10));
        assert_eq!(of(&[&ENDBR64, &COMPARE, je_ret]), emulated(14));
        // lea of a register that is no argument; push.
        assert_eq!(
            of(&[&[0x4c, 0x8d, 0x54, 0x24, 0x08], push_ret]),
            emulated(5)
        );
    }

    #[test]
    fn what_changes_arguments_stack_memory_or_course_is_not_passed() {
        let push_ret = &[0x55, 0x5d, 0xc3][..];
        for first in [
            &[0x31, 0xff][..],               // xor %edi,%edi
            &[0x41, 0xb8, 1, 0, 0, 0],       // mov $1,%r8d
            &[0x40, 0xb6, 1],                // mov $1,%sil
            &[0x48, 0x83, 0xec, 0x08],       // sub $8,%rsp
            &[0x48, 0x89, 0x7c, 0x24, 0xf8], // mov %rdi,-8(%rsp)
            &[0x5d],                         // pop %rbp
            &[0xff, 0xe0],                   // jmp *%rax
            &[0xc3],                         // ret
            &[0x0f, 0x05],                   // syscall
            &[0xcc],                         // int3
            &[0x48, 0x87, 0xd0],             // xchg %rdx,%rax
            &[0xf0, 0x48, 0x0f, 0xb1, 0x0f], // lock cmpxchg %rcx,(%rdi)
        ] {
            assert_eq!(
                of(&[first, push_ret]),
                (0, Class::SingleStepped),
                "{first:x?}"
            );
        }
        // Thirty-three single bytes that change nothing: too far.
        assert_eq!(of(&[&[0xf8; 33], push_ret]), (0, Class::SingleStepped)); // clc
        assert_eq!(of(&[&[0xf8; 32], push_ret]), (32, Class::Emulated));
    }

    #[test]
    fn a_branch_that_leads_between_start_and_place_keeps_the_probe_at_the_start() {
        // `cmp; je +n; ...; jmp back`, back to each byte.
        let code = |back: i8| [&COMPARE[..], &[0x74, 0x02, 0xeb, back as u8, 0xc3]].concat();
        // The jump ends at 14.
        for target in 0..14_i8 {
            let expected = match target {
                1..=10 => (0, Class::SingleStepped),
                _ => (10, Class::Emulated),
            };
            assert_eq!(place(&code(target - 14), true), expected, "to {target}");
        }
        let cut = code(0);
        assert_eq!(place(&cut, false), (0, Class::SingleStepped), "not whole");
        // What is no instruction may be a branch.
        let unknown = [&cut[..], &[0x06]].concat();
        assert_eq!(place(&unknown, true), (0, Class::SingleStepped));
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_place_within_reach(code in prop::collection::vec(any::<u8>(), 0..200), whole: bool) {
            let (at, class) = place(&code, whole);
            prop_assert!(at as usize <= code.len() && at <= 32);
            prop_assert!(at == 0 || (whole && class == Class::Emulated));
        }
    }
}
