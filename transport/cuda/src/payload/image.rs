//! Kernel images, and the functions in them.

use gtrace_protocol::{Bounded as _, DecodeError, Reader, Writer, kinds, members};

use super::{PARAMETERS_MAX, Payload};

/// Most bytes of an image. The largest of a PyTorch installation is some 115 MB.
pub const IMAGE_MAX: u64 = 1 << 30;
/// Most functions that are reported with [`Loaded`].
pub const FUNCTIONS_MAX: usize = 64;
/// About how many bytes they have at most, in a reply.
pub const FUNCTIONS_BYTES_MAX: usize = 32 << 10;
const NAME_MAX: usize = 64 << 10;
const LOG_MAX: usize = 1 << 20;

/// Options of the JIT compiler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JitOptions {
    /// (`CUjit_option`, value), without those whose values are addresses or come back.
    pub plain: Vec<(u32, u64)>,
    /// Bytes of the client's buffer for the information log (option 4); 0: none wanted.
    pub info_log: u32,
    /// Bytes of the client's buffer for the error log (option 6); 0: none wanted.
    pub error_log: u32,
}

/// What is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadKind {
    /// A module, in the current context.
    Module,
    /// A library, in all contexts.
    Library,
}

/// `cuModuleLoadData(Ex)`, `cuModuleLoadFatBinary`, `cuLibraryLoadData`.
///
/// The image comes as the frame's bulk part, or by pieces before ([`ImagePiece`]), or is known to the
/// server by its hash. A server that does not have it answers [`Loaded::wanted`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// Which of both.
    pub kind: LoadKind,
    /// Handle of the module or library, minted by the client.
    pub handle: u64,
    /// SHA-256 of the image.
    pub hash: [u8; 32],
    /// Bytes of the image: a fat binary (without its wrapper), an ELF file, or PTX with its NUL.
    pub size: u64,
    /// Options of the JIT compiler.
    pub jit: JitOptions,
    /// (`CUlibraryOption`, value), without BINARY_IS_PRESERVED (1): the server's copy is its own.
    pub library: Vec<(u32, u64)>,
}

/// What the JIT compiler said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Logs {
    /// Information log, without NUL.
    pub info: Vec<u8>,
    /// Error log, without NUL.
    pub error: Vec<u8>,
    /// Option 2, ms; 0 if not known.
    pub wall_ms: f32,
}

/// Answer to [`Load`], whatever the status.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    /// The server does not have the image: nothing was loaded (the status is a success), send the
    /// image and ask again.
    pub wanted: bool,
    /// What the JIT compiler said.
    pub logs: Logs,
    /// The functions or kernels of a small image, with what [`GetFunction`] would answer about them:
    /// at most [`FUNCTIONS_MAX`]. None of an image with more: each would have to be loaded, and
    /// programs use few of many.
    pub functions: Vec<(String, FunctionInfo)>,
}

/// Part of an image: the frame's bulk part. The image is there once all of its bytes came and their
/// hash is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImagePiece {
    /// SHA-256 of the whole image.
    pub hash: [u8; 32],
    /// Bytes of the whole image.
    pub size: u64,
    /// Where the piece begins. Pieces come in order.
    pub offset: u64,
}

/// `cuModuleGetFunction` and `cuLibraryGetKernel`. One-way for what [`Loaded::functions`] had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetFunction<'a> {
    /// Handle of the function or kernel, minted by the client.
    pub handle: u64,
    /// Handle of the module or library.
    pub of: u64,
    /// Its name.
    pub name: &'a str,
}

/// A parameter in the parameter buffer of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Bytes from the start of the buffer.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
}

/// What the client must know of a function, so as to launch it without asking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionInfo {
    /// `cuFuncGetParamInfo` or `cuKernelGetParamInfo`, or what the image says where the driver has
    /// neither (before 12.4); `None` if that is not understood.
    pub parameters: Option<Vec<Parameter>>,
    /// (`CUfunction_attribute`, value), those that the driver knows. Those of a kernel are for the
    /// device of the frame's context, or device 0.
    pub attributes: Vec<(i32, i32)>,
}

impl Payload<'_> for JitOptions {
    fn write(&self, w: &mut Writer) {
        self.plain.write(w);
        w.u32(self.info_log);
        w.u32(self.error_log);
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let log = |r: &mut Reader<'_>| r.u32().map(|len| len.min(LOG_MAX as u32));
        Ok(Self {
            plain: Payload::read(r)?,
            info_log: log(r)?,
            error_log: log(r)?,
        })
    }
}

kinds!(LoadKind, "the kind of a load": 0 => Module, 1 => Library);

members!(Load: kind, handle, hash, size[IMAGE_MAX as usize], jit, library);
members!(Logs: info[LOG_MAX], error[LOG_MAX], wall_ms);
members!(Parameter: offset, size);
members!(ImagePiece: hash, size[IMAGE_MAX as usize], offset[IMAGE_MAX as usize]);
members!(GetFunction<'a>: handle, of, name[NAME_MAX]);

impl Payload<'_> for Loaded {
    fn write(&self, w: &mut Writer) {
        self.wanted.write(w);
        self.logs.write(w);
        self.functions.write(w);
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let (wanted, logs) = (Payload::read(r)?, Payload::read(r)?);
        let count = r.len(FUNCTIONS_MAX)?;
        let functions = (0..count).map(|_| Ok((String::at_most(r, NAME_MAX)?, Payload::read(r)?)));
        Ok(Self {
            wanted,
            logs,
            functions: functions.collect::<Result<_, DecodeError>>()?,
        })
    }
}

impl FunctionInfo {
    /// Whether parameters follow each other without overlap and are no more than a launch can have. A client reads as
    /// much of its program's memory as they say, and sends it.
    pub fn is_layout(parameters: &[Parameter]) -> bool {
        let mut end = 0;
        parameters.iter().all(|parameter| {
            let begin = u64::from(parameter.offset);
            let follows = begin >= end;
            end = begin + u64::from(parameter.size);
            follows && end <= PARAMETERS_MAX as u64
        }) && parameters.len() <= PARAMETERS_MAX
    }
}

impl Payload<'_> for FunctionInfo {
    fn write(&self, w: &mut Writer) {
        self.parameters.write(w);
        self.attributes.write(w);
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let parameters: Option<Vec<Parameter>> = Payload::read(r)?;
        match &parameters {
            Some(parameters) if !Self::is_layout(parameters) => Err(DecodeError::BadValue {
                what: "the layout of a kernel's parameters",
                value: parameters.len() as u64,
            }),
            _ => Ok(Self {
                parameters,
                attributes: Payload::read(r)?,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::comes_back;
    use super::*;

    #[test]
    fn loads_come_back() {
        let load = Load {
            kind: LoadKind::Library,
            handle: 6 << 56 | 16,
            hash: [7; 32],
            size: 4096,
            jit: JitOptions {
                plain: vec![(7, 3)],
                info_log: 100,
                error_log: 200,
            },
            library: vec![(0, 1)],
        };
        comes_back(&load, &mut Vec::new());
        let loaded = Loaded {
            wanted: true,
            logs: Logs {
                info: b"ptxas info".to_vec(),
                error: Vec::new(),
                wall_ms: 1.5,
            },
            functions: vec![("k".into(), FunctionInfo::default())],
        };
        comes_back(&loaded, &mut Vec::new());
        let piece = ImagePiece {
            hash: [7; 32],
            size: 1 << 20,
            offset: 1 << 10,
        };
        comes_back(&piece, &mut Vec::new());
    }

    #[test]
    fn functions_come_back() {
        let get = GetFunction {
            handle: 1,
            of: 2,
            name: "vector_add",
        };
        comes_back(&get, &mut Vec::new());
        let info = FunctionInfo {
            parameters: Some(vec![Parameter { offset: 8, size: 4 }]),
            attributes: vec![(0, 1024)],
        };
        comes_back(&info, &mut Vec::new());
        comes_back(&FunctionInfo::default(), &mut Vec::new());
    }

    #[test]
    fn a_layout_is_in_order_and_no_larger_than_a_launch() {
        let read = |parameters: &[(u32, u32)]| {
            let parameters = parameters.iter().map(|(offset, size)| Parameter {
                offset: *offset,
                size: *size,
            });
            let info = FunctionInfo {
                parameters: Some(parameters.collect()),
                attributes: Vec::new(),
            };
            FunctionInfo::read(&mut Reader::new(&info.to_bytes())).is_ok()
        };
        assert!(read(&[(0, 8), (8, 4), (16, PARAMETERS_MAX as u32 - 16)]));
        assert!(!read(&[(0, PARAMETERS_MAX as u32 + 1)]));
        assert!(!read(&[(u32::MAX, 1)]) && !read(&[(0, 8), (u32::MAX, u32::MAX)]));
        assert!(!read(&[(0, 8), (0, 8)]), "the same bytes twice");
    }

    #[test]
    fn a_name_has_a_cap() {
        let read = |len| {
            let loaded = Loaded {
                functions: vec![("k".repeat(len), FunctionInfo::default())],
                ..Loaded::default()
            };
            Loaded::read(&mut Reader::new(&loaded.to_bytes())).is_ok()
        };
        assert!(read(NAME_MAX) && !read(NAME_MAX + 1));
    }

    #[test]
    fn an_image_has_a_cap() {
        let piece = ImagePiece {
            hash: [0; 32],
            size: IMAGE_MAX + 1,
            offset: 0,
        };
        assert!(ImagePiece::read(&mut Reader::new(&piece.to_bytes())).is_err());
    }
}
