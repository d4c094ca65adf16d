//! What the registers and the stack of a call mean.

use gtrace_abi::{ApiCall, ApiFunction};
use gtrace_cuda::traced::{Bytes, Traced, traced};
use gtrace_cuda::{find, names, signatures};
use gtrace_engine::sources::records::text_of;
use gtrace_recording::layout::Event;
use gtrace_recording::{NAMES, NO_STREAM, is_success, kind, launch_words};
use gtrace_uprobes::Function;

use crate::names::Kernels;

/// Bytes of a `CUlaunchConfig` up to and with its stream.
const LAUNCH_CONFIG: u32 = 40;

/// A function that gives a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    /// The one that the text names.
    ByName,
    /// That of another handle, by its place.
    Of(usize),
}

fn gives_kernel(symbol: &str) -> Option<Names> {
    match symbol {
        "cuModuleGetFunction" | "cuLibraryGetKernel" => Some(Names::ByName),
        "cuKernelGetFunction" => Some(Names::Of(1)),
        _ => None,
    }
}

/// The signature that a symbol has: its own, or that of the function that it is a variant of.
fn traced_arguments(symbol: &str) -> Traced {
    let own = find(signatures::DRIVER, symbol);
    let signature = own.or_else(|| {
        let mut all = signatures::DRIVER.iter();
        all.find(|one| {
            names::symbols(one.name)
                .iter()
                .any(|(name, _)| name == symbol)
        })
    });
    signature.map_or(Traced::Plain, traced)
}

/// Sets which arguments the probes report of a function's calls.
pub fn describe(function: &mut Function) {
    let description: &mut ApiFunction = &mut function.description;
    if let Some(names) = gives_kernel(&function.name) {
        (description.given_arg, description.given_bytes) = (1, 8);
        description.text_arg = if names == Names::ByName { 3 } else { 0 };
        return;
    }
    match traced_arguments(&function.name) {
        Traced::Allocate { given, .. } => {
            (description.given_arg, description.given_bytes) = (given as u32 + 1, 8);
        }
        Traced::LaunchEx { config, .. } => {
            (description.given_arg, description.given_bytes) = (config as u32 + 1, LAUNCH_CONFIG);
        }
        _ => {}
    }
}

/// What the arguments of a function mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// Its number in recordings.
    pub name: u16,
    traced: Traced,
    names: Option<Names>,
}

impl Meaning {
    /// Of a symbol; `None` if recordings do not know it.
    pub fn of(symbol: &str) -> Option<Self> {
        let name = NAMES.binary_search(&symbol).ok()?;
        Some(Self {
            name: u16::try_from(name).ok()?,
            traced: traced_arguments(symbol),
            names: gives_kernel(symbol),
        })
    }

    /// The call as recordings have it; `asleep_ns`: CLOCK_BOOTTIME less CLOCK_MONOTONIC.
    pub fn event(&self, call: &ApiCall, asleep_ns: u64) -> Event {
        let (kind, words, extra) = self.words(call);
        Event {
            start: call.start_ns.saturating_add(asleep_ns),
            end: call.end_ns.saturating_add(asleep_ns),
            thread: call.header.tid,
            code: call.result,
            function: self.name,
            kind,
            unused: 0,
            extra,
            words,
        }
    }

    fn words(&self, call: &ApiCall) -> (u8, [u64; 4], u32) {
        let word = |place: usize| call.words.get(place).copied().unwrap_or(0);
        let stream = |place: Option<usize>| match place {
            Some(place) => call.words.get(place).copied().unwrap_or(NO_STREAM),
            None => NO_STREAM,
        };
        let side = |place: Option<usize>| place.map_or(0, word);
        // The upper half of a register that holds 32 bits is anything.
        let narrow = |place: usize| word(place) as u32;
        let bytes = |bytes: Bytes| match bytes {
            Bytes::Count(count) => word(count),
            Bytes::Elements(count, size) => word(count).wrapping_mul(size),
            Bytes::Area([width, height], size) => {
                word(width).wrapping_mul(word(height)).wrapping_mul(size)
            }
            // The probes have looked there.
            Bytes::Copy2d(_) | Bytes::Copy3d(_) | Bytes::Copy3dPeer(_) | Bytes::Unknown => {
                call.bytes
            }
        };
        match self.traced {
            Traced::Plain => (kind::PLAIN, [0; 4], 0),
            Traced::Stream(of) => (kind::STREAM, [0, stream(Some(of)), 0, 0], 0),
            Traced::Copy {
                bytes: count,
                stream: of,
                to,
                from,
            } => {
                let words = [bytes(count), stream(of), side(to), side(from)];
                (kind::COPY, words, 0)
            }
            Traced::Set {
                bytes: count,
                stream: of,
                to,
            } => (kind::SET, [bytes(count), stream(of), word(to), 0], 0),
            Traced::Allocate {
                bytes: count,
                stream: of,
                ..
            } => {
                let given = match is_success(call.result) {
                    true => call.given[0],
                    false => 0,
                };
                (kind::ALLOCATE, [bytes(count), stream(of), given, 0], 0)
            }
            Traced::Free { stream: of, freed } => (kind::FREE, [0, stream(of), word(freed), 0], 0),
            Traced::Launch {
                function,
                stream: of,
                grid,
                block,
                shared,
            } => {
                let [grid, block] = launch_words(grid.map(narrow), block.map(narrow));
                let words = [word(function), stream(of), grid, block];
                (kind::LAUNCH, words, narrow(shared))
            }
            Traced::LaunchEx { function, .. } => {
                // gridDimX, Y, Z, blockDimX, Y, Z, sharedMemBytes, and after a gap of four bytes hStream.
                let half = |at: usize| (call.given[at / 2] >> (32 * (at % 2))) as u32;
                let [grid, block] = launch_words([0, 1, 2].map(half), [3, 4, 5].map(half));
                let words = [word(function), call.given[4], grid, block];
                (kind::LAUNCH, words, half(6))
            }
        }
    }

    /// Learns the name of a kernel that the call gave.
    pub fn learn(&self, call: &ApiCall, event: &Event, kernels: &mut Kernels) {
        let (Some(names), true) = (self.names, is_success(call.result)) else {
            return;
        };
        let given = call.given[0];
        let name = match names {
            Names::ByName => text_of(&call.text),
            Names::Of(place) => {
                let kernel = call.words[place];
                let known = kernels.name(event.start, kernel);
                known.unwrap_or_default().to_owned()
            }
        };
        if given != 0 && !name.is_empty() {
            kernels.learn(event.start, given, &name);
        }
    }
}

#[cfg(test)]
mod tests {
    use gtrace_abi::Header;

    use super::*;

    fn call(words: [u64; 9]) -> ApiCall {
        ApiCall {
            header: Header::default(),
            start_ns: 100,
            end_ns: 300,
            bytes: 77,
            address: 0,
            function: 0,
            result: 0,
            words,
            given: [0; 5],
            comm: [0; 16],
            text: [0; gtrace_abi::API_TEXT],
        }
    }

    #[test]
    fn arguments_are_read_as_the_signature_says() {
        let copy = Meaning::of("cuMemcpyHtoDAsync_v2_ptsz").unwrap();
        let event = copy.event(&call([0x10, 0x20, 64, 7, 0, 0, 0, 0, 0]), 1_000);
        assert_eq!((event.start, event.end), (1_100, 1_300));
        assert_eq!((event.kind, event.words), (kind::COPY, [64, 7, 0x10, 0x20]));
        // What is above a number of 32 bits does not matter.
        let junk = |n: u64| n | 0xdead_beef << 32;
        let words = [
            9,
            junk(4),
            junk(5),
            junk(6),
            junk(1),
            junk(2),
            junk(3),
            junk(512),
            7,
        ];
        let launch = Meaning::of("cuLaunchKernel").unwrap();
        let event = launch.event(&call(words), 0);
        let wanted = [9, 7, 4 | 5 << 32 | 6 << 48, 1 | 2 << 16 | 3 << 32];
        assert_eq!((event.words, event.extra), (wanted, 512));
        let mut by_config = call([0x7fff, 9, 0, 0, 0, 0, 0, 0, 0]);
        by_config.given = [4 | 5 << 32, 6 | 1 << 32, 2 | 3 << 32, 512, 7];
        let launch = Meaning::of("cuLaunchKernelEx").unwrap();
        let event = launch.event(&by_config, 0);
        assert_eq!((event.words, event.extra), (wanted, 512));
        let area = Meaning::of("cuMemcpy2D_v2").unwrap();
        assert_eq!(area.event(&call([1; 9]), 0).words[0], 77);
        assert_eq!(Meaning::of("cuNothing"), None);
    }

    #[test]
    fn kernels_have_the_names_that_the_process_asked_for() {
        let mut kernels = Kernels::default();
        let mut named = call([0x7ff0, 1, 0x7ff8, 0, 0, 0, 0, 0, 0]);
        named.given[0] = 0xabc;
        named.text[..4].copy_from_slice(b"axpy");
        let of_library = Meaning::of("cuLibraryGetKernel").unwrap();
        of_library.learn(&named, &of_library.event(&named, 0), &mut kernels);
        let mut function = call([0x7ff0, 0xabc, 0, 0, 0, 0, 0, 0, 0]);
        function.given[0] = 0xdef;
        let of_kernel = Meaning::of("cuKernelGetFunction").unwrap();
        of_kernel.learn(&function, &of_kernel.event(&function, 0), &mut kernels);
        assert_eq!(kernels.name(500, 0xdef), Some("axpy"));
    }
}
