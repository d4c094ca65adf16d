use gtrace_link::LinkError;

/// Why something could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The driver's library, or a function that it lacks.
    #[error("the CUDA driver cannot be loaded: {0}")]
    Library(#[from] libloading::Error),
    /// A call of the driver failed.
    #[error("{call} gave CUDA error {code}")]
    Cuda {
        /// The function.
        call: &'static str,
        /// CUresult.
        code: i32,
    },
    /// The link to the server.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// A socket of this machine.
    #[error("a socket of this machine: {0}")]
    Io(#[from] std::io::Error),
    /// What came back is not what was sent.
    #[error("{0} bytes that were copied to the device and back came back changed")]
    Changed(u64),
    /// The other side of an exchange has ended.
    #[error("the far side of an exchange on this machine has ended early")]
    FarSide,
}
