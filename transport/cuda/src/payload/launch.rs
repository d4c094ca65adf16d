//! Kernel launches.

use gtrace_protocol::{DecodeError, Reader, Writer};

use super::Payload;

/// Most bytes of parameters: 32,764 since CUDA 12.1 on compute capability 7.0, 4,096 before.
pub const PARAMETERS_MAX: usize = 32 << 10;
/// Bytes of `CUlaunchAttributeValue`.
pub const ATTRIBUTE_VALUE: usize = 64;
/// Most attributes of a launch; the driver knows some 20.
pub const LAUNCH_ATTRIBUTES_MAX: usize = 64;

/// `CUlaunchAttribute`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// `CUlaunchAttributeID`.
    pub id: u32,
    /// The union's bytes. Events in it are handles of the client, to be looked up: the first eight
    /// bytes of PROGRAMMATIC_EVENT (7) and LAUNCH_COMPLETION_EVENT (12).
    pub value: [u8; ATTRIBUTE_VALUE],
}

/// `cuLaunchKernel`, `cuLaunchCooperativeKernel` and `cuLaunchKernelEx`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch<'a> {
    /// Handle of a function or of a kernel.
    pub function: u64,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads a block.
    pub block: [u32; 3],
    /// Dynamic shared memory, bytes a block.
    pub shared_bytes: u32,
    /// Handle of the stream, or 0, 1, 2.
    pub stream: u64,
    /// The parameter buffer: each parameter at its offset. The server passes it on as
    /// `CU_LAUNCH_PARAM_BUFFER_POINTER`, so it needs no layout.
    pub parameters: &'a [u8],
    /// Attributes of `cuLaunchKernelEx`.
    pub attributes: Attributes<'a>,
}

/// Attributes of a launch, still as bytes: most launches have none, and none allocate for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes<'a>(&'a [u8]);

const ATTRIBUTE_LEN: usize = 4 + ATTRIBUTE_VALUE;
/// Bytes up to the attributes, their length included.
const HEAD: usize = 52;

impl<'a> Attributes<'a> {
    /// None.
    pub const NONE: Self = Self(&[]);

    /// Each attribute.
    pub fn iter(self) -> impl Iterator<Item = Attribute> + 'a {
        let (pieces, _) = self.0.as_chunks::<ATTRIBUTE_LEN>();
        pieces.iter().map(|piece| {
            let mut id = [0; 4];
            id.copy_from_slice(&piece[..4]);
            let mut value = [0; ATTRIBUTE_VALUE];
            value.copy_from_slice(&piece[4..]);
            Attribute {
                id: u32::from_le_bytes(id),
                value,
            }
        })
    }

    /// How many there are.
    pub const fn len(self) -> usize {
        self.0.len() / ATTRIBUTE_LEN
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }
}

impl Launch<'_> {
    /// Appends all up to the parameters, which are `len` bytes and follow: for a sender that gathers
    /// them in place. The attributes of `self` come before.
    pub fn write_head(&self, w: &mut Writer, len: usize) {
        w.raw(&self.head(self.attributes.0.len()));
        w.raw(self.attributes.0);
        w.u64(len as u64);
    }

    /// Appends attributes where [`Launch::write_head`] puts those of `self`: for a sender that has
    /// them in another form.
    #[inline]
    pub fn write_head_with(
        &self,
        w: &mut Writer,
        attributes: impl ExactSizeIterator<Item = Attribute>,
        len: usize,
    ) {
        w.raw(&self.head(attributes.len() * ATTRIBUTE_LEN));
        for attribute in attributes {
            w.u32(attribute.id);
            w.raw(&attribute.value);
        }
        w.u64(len as u64);
    }

    /// What every launch has, in one piece: appending each value by itself costs a launch more than
    /// its checksum does.
    #[inline]
    fn head(&self, attributes: usize) -> [u8; HEAD] {
        let ([gx, gy, gz], [bx, by, bz]) = (self.grid, self.block);
        let mut head = [0; HEAD];
        head[..8].copy_from_slice(&self.function.to_le_bytes());
        let words = [gx, gy, gz, bx, by, bz, self.shared_bytes];
        for (place, word) in head[8..36].as_chunks_mut().0.iter_mut().zip(words) {
            *place = word.to_le_bytes();
        }
        head[36..44].copy_from_slice(&self.stream.to_le_bytes());
        head[44..].copy_from_slice(&(attributes as u64).to_le_bytes());
        head
    }
}

impl<'a> Payload<'a> for Launch<'a> {
    fn write(&self, w: &mut Writer) {
        self.write_head(w, self.parameters.len());
        w.raw(self.parameters);
    }

    fn read(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        // In one piece, as it is written.
        let mut head = Reader::new(r.raw(HEAD)?);
        let function = head.u64()?;
        let grid = [head.u32()?, head.u32()?, head.u32()?];
        let block = [head.u32()?, head.u32()?, head.u32()?];
        let shared_bytes = head.u32()?;
        let stream = head.u64()?;
        let len = head.len(LAUNCH_ATTRIBUTES_MAX * ATTRIBUTE_LEN)?;
        if len % ATTRIBUTE_LEN != 0 {
            return Err(DecodeError::BadValue {
                what: "the length of launch attributes",
                value: len as u64,
            });
        }
        let attributes = Attributes(r.raw(len)?);
        let len = r.len(PARAMETERS_MAX)?;
        Ok(Self {
            function,
            grid,
            block,
            shared_bytes,
            stream,
            parameters: r.raw(len)?,
            attributes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::comes_back;
    use super::*;

    const LAUNCH: Launch<'_> = Launch {
        function: 5 << 56 | 1 << 4,
        grid: [4, 1, 1],
        block: [256, 1, 1],
        shared_bytes: 48 << 10,
        stream: 2,
        parameters: &[1, 2, 3, 4, 5, 6, 7, 8],
        attributes: Attributes(&[]),
    };

    #[test]
    fn launches_come_back() {
        comes_back(&LAUNCH, &mut Vec::new());
    }

    #[test]
    fn attributes_come_back() {
        let attribute = Attribute {
            id: 7,
            value: [9; ATTRIBUTE_VALUE],
        };
        let mut w = Writer::default();
        LAUNCH.write_head_with(&mut w, [attribute; 2].into_iter(), 8);
        w.raw(LAUNCH.parameters);
        let read = Launch::read(&mut Reader::new(w.as_slice())).unwrap();
        assert_eq!(read.attributes.iter().collect::<Vec<_>>(), [attribute; 2]);
        assert_eq!(
            (read.attributes.len(), read.parameters),
            (2, LAUNCH.parameters)
        );
    }

    #[test]
    fn parameters_are_capped() {
        let parameters = vec![0; PARAMETERS_MAX + 1];
        let launch = Launch {
            parameters: &parameters,
            ..LAUNCH
        };
        assert!(Launch::read(&mut Reader::new(&launch.to_bytes())).is_err());
    }
}
