//! Calls that no program made, with arguments that the server can read: as the description says they travel.

use std::sync::OnceLock;

use gtrace_cuda::{Api, Argument, Function, Length, Pass, find, functions, payload, signatures};
use gtrace_protocol::{Flags, OpId};

/// An operation that exists.
pub(super) struct Operation {
    pub(super) name: &'static str,
    pub(super) op: OpId,
    pub(super) flags: Flags,
    /// None for those between client and server alone.
    described: Option<(&'static Function, Api)>,
}

/// All operations.
pub(super) fn operations() -> &'static [Operation] {
    static ALL: OnceLock<Vec<Operation>> = OnceLock::new();
    ALL.get_or_init(|| {
        let of = |api, flags| {
            functions::all(api).map(move |function| Operation {
                name: function.name,
                op: function.id(),
                flags,
                described: Some((function, api)),
            })
        };
        let own = payload::NAMES.map(|(name, op)| Operation {
            name,
            op,
            flags: Flags::default(),
            described: None,
        });
        let driver = of(Api::Driver, Flags::default());
        driver
            .chain(of(Api::Nvml, Flags::NVML))
            .chain(own)
            .collect()
    })
}

/// Where arguments get their values.
pub(super) trait Values {
    /// A number that is interesting or was seen.
    fn number(&mut self) -> u64;
    /// A number below `bound`.
    fn below(&mut self, bound: usize) -> usize;
    /// Random bytes.
    fn bytes(&mut self, len: usize) -> Vec<u8>;
}

impl Operation {
    /// Arguments in the right order and mostly of the right size; false if their layout is described nowhere.
    pub(super) fn arguments(&self, small: &mut Vec<u8>, values: &mut impl Values) -> bool {
        let Some((function, api)) = self.described else {
            return false;
        };
        let table = match api {
            Api::Driver => signatures::DRIVER,
            Api::Nvml => signatures::NVML,
        };
        let Some(signature) = find(table, function.name) else {
            return false;
        };
        for argument in function.arguments {
            let mut parameters = signature.parameters.iter();
            let parameter = parameters.find(|parameter| parameter.name == argument.name);
            put(
                small,
                argument,
                parameter.map_or("", |parameter| parameter.ty),
                values,
            );
        }
        true
    }
}

fn put(small: &mut Vec<u8>, argument: &Argument, ty: &str, values: &mut impl Values) {
    let pointer = !matches!(
        argument.pass,
        Pass::Value
            | Pass::Address
            | Pass::Handle(_)
            | Pass::Destroy(_)
            | Pass::Unsent
            | Pass::Special
    );
    if pointer && argument.nullable {
        let there = values.below(8) != 0;
        small.push(there.into());
        if !there {
            return;
        }
    }
    match argument.pass {
        Pass::Value => {
            // Counts and ordinals are small as a rule, else nothing is found behind the first check.
            let number = match values.below(2) {
                0 => values.below(5) as u64,
                _ => values.number(),
            };
            small.extend(&number.to_le_bytes()[..width(ty)]);
        }
        Pass::Address | Pass::Handle(_) | Pass::Destroy(_) | Pass::Mint(_) => {
            small.extend(values.number().to_le_bytes());
        }
        Pass::In | Pass::InOut => {
            let elements = values.below(5);
            let len = match argument.length {
                None | Some(Length::Fixed(_)) => width_behind(ty, values),
                Some(_) => {
                    small.extend((elements as u64).to_le_bytes());
                    elements * width_behind(ty, values)
                }
            };
            small.extend(values.bytes(len));
        }
        Pass::Versioned => {
            let len = [0, 4, 8, 12, 16, 24, 32, 84, 400][values.below(9)];
            let mut bytes = values.bytes(len);
            let version = len as u32 | (1 + values.below(3) as u32) << 24;
            for (place, byte) in bytes.iter_mut().zip(version.to_le_bytes()) {
                *place = byte;
            }
            small.extend((len as u64).to_le_bytes());
            small.extend(bytes);
        }
        Pass::InString => {
            let names: [&[u8]; 6] = [
                b"",
                b"vector_add",
                b"counter",
                b"cuMemAlloc",
                b"0000:01:00.0",
                &[b'x'; 300],
            ];
            let name = names[values.below(names.len())];
            small.extend((name.len() as u64).to_le_bytes());
            small.extend(name);
        }
        Pass::Handles(_) => {
            let count = values.below(4);
            small.extend((count as u64).to_le_bytes());
            for _ in 0..count {
                small.extend(values.number().to_le_bytes());
            }
        }
        Pass::Known(_) | Pass::Out | Pass::OutHandles(_) | Pass::OutString => {}
        Pass::HostIn | Pass::HostOut | Pass::Unsent | Pass::Special => {}
    }
}

/// Bytes of a scalar of this type.
fn width(ty: &str) -> usize {
    match ty {
        "c_uchar" | "c_char" => 1,
        "c_ushort" => 2,
        "usize"
        | "CUdeviceptr"
        | "c_ulonglong"
        | "c_longlong"
        | "cuuint64_t"
        | "f64"
        | "CUtexObject"
        | "CUsurfObject"
        | "CUmemGenericAllocationHandle" => 8,
        _ => 4,
    }
}

/// Bytes of what a pointer points to: known of scalars, guessed of structures.
fn width_behind(ty: &str, values: &mut impl Values) -> usize {
    let inner = ty.trim_start_matches("*mut ").trim_start_matches("*const ");
    match inner {
        "c_uint" | "c_int" | "CUdevice" | "f32" => 4,
        "usize" | "CUdeviceptr" | "c_ulonglong" => 8,
        "c_void" | "c_char" | "c_uchar" => 1,
        _ => [4, 8, 12, 16, 24, 32, 40, 48, 64, 72, 88, 112, 120, 144, 200][values.below(15)],
    }
}
