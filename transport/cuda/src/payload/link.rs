//! The JIT linker (`cuLink*`).

use gtrace_protocol::members;

use super::JitOptions;

const NAME_MAX: usize = 4096;

/// `cuLinkCreate_v2`. The logs of these options come with the calls that follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkCreate {
    /// Handle of the link state, minted by the client.
    pub handle: u64,
    /// Options.
    pub jit: JitOptions,
}

/// `cuLinkAddData_v2`, and `cuLinkAddFile_v2` with the file's bytes. The data is the frame's bulk part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkAdd<'a> {
    /// Handle of the link state.
    pub state: u64,
    /// `CUjitInputType`.
    pub kind: u32,
    /// Name for the logs.
    pub name: &'a str,
    /// Options.
    pub jit: JitOptions,
}

members!(LinkCreate: handle, jit);
members!(LinkAdd<'a>: state, kind, name[NAME_MAX], jit);

#[cfg(test)]
mod tests {
    use super::super::tests::comes_back;
    use super::*;

    #[test]
    fn links_come_back() {
        let create = LinkCreate {
            handle: 8 << 56 | 16,
            jit: JitOptions::default(),
        };
        comes_back(&create, &mut Vec::new());
        let add = LinkAdd {
            state: 8 << 56 | 16,
            kind: 1,
            name: "kernels.ptx",
            jit: JitOptions::default(),
        };
        comes_back(&add, &mut Vec::new());
    }
}
