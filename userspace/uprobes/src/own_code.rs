//! Functions of this process that a probe can be put on, with a known first instruction.
#![allow(unsafe_code)] // written in assembly: a compiler chooses the first instruction by itself

use std::io;

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".pushsection .text",
    ".p2align 4",
    "gtrace_uprobes_emulated:",
    "push rbp",
    "pop rbp",
    "xor eax, eax",
    "ret",
    ".p2align 4",
    "gtrace_uprobes_single_stepped:",
    "xor eax, eax",
    "nop",
    "ret",
    ".popsection",
);

#[cfg(target_arch = "aarch64")]
std::arch::global_asm!(
    ".pushsection .text",
    ".p2align 4",
    "gtrace_uprobes_emulated:",
    "b 1f",
    "1: mov w0, wzr",
    "ret",
    ".p2align 4",
    "gtrace_uprobes_single_stepped:",
    "mov w0, wzr",
    "ret",
    ".popsection",
);

unsafe extern "C" {
    fn gtrace_uprobes_emulated() -> u32;
    fn gtrace_uprobes_single_stepped() -> u32;
}

/// Does nothing; its first instruction is one that the kernel emulates.
pub(crate) fn emulated() {
    // SAFETY: takes nothing, touches nothing but the register of its result.
    unsafe { gtrace_uprobes_emulated() };
}

/// Does nothing; its first instruction is executed in single step.
pub(crate) fn single_stepped() {
    // SAFETY: as above.
    unsafe { gtrace_uprobes_single_stepped() };
}

/// Where the two are in the file that this process runs, as offsets.
pub(crate) fn offsets() -> io::Result<[u64; 2]> {
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    let functions: [unsafe extern "C" fn() -> u32; 2] =
        [gtrace_uprobes_emulated, gtrace_uprobes_single_stepped];
    let mut offsets = [0; 2];
    for (offset, function) in offsets.iter_mut().zip(functions) {
        let found = maps
            .lines()
            .find_map(|line| offset_in(line, function as usize as u64));
        *offset = found.ok_or(io::ErrorKind::NotFound)?;
    }
    Ok(offsets)
}

/// The offset of `address` in its file, if this line of /proc/PID/maps is that of its mapping.
fn offset_in(line: &str, address: u64) -> Option<u64> {
    let mut fields = line.split_ascii_whitespace();
    let (low, high) = fields.next()?.split_once('-')?;
    let number = |hex| u64::from_str_radix(hex, 16).ok();
    let (low, high) = (number(low)?, number(high)?);
    let offset = number(fields.nth(1)?)?;
    (low..high)
        .contains(&address)
        .then(|| address - low + offset)
}
