section! {
    /// What PCIe Advanced Error Reporting, Downstream Port Containment and the recovery after them
    /// say. Source: drivers/pci/pcie/{aer,dpc,err}.c.
    AerDetail {
        /// Verbatim: `Corrected`, `Correctable`, `Uncorrected (Non-Fatal)`, ... A source without text uses the words of current kernels.
        severity: Option<String>,
        /// Verbatim: `Physical Layer`, `Data Link Layer`, `Transaction Layer`.
        layer: Option<String>,
        /// Verbatim: `Receiver ID`, `Requester ID`, `Completer ID`, `Transmitter ID`.
        agent: Option<String>,
        /// Error status register, hex.
        status: Option<String>,
        /// Error mask register, hex.
        mask: Option<String>,
        /// Names of the errors whose bits are set, as the kernel names them.
        errors: Vec<String>,
        /// Vendor and device id, `8086:a33c`.
        device_id: Option<String>,
        /// TLP header, four hex words, more in Flit mode.
        tlp_header: Vec<String>,
        /// Address of the port that received the message, where the text names it.
        reporter: Option<String>,
        /// Downstream Port Containment: why the port cut its link (`ERR_FATAL`, `RP PIO error`, ...), in
        /// the words of drivers/pci/pcie/dpc.c.
        dpc_reason: Option<String>,
        /// Downstream Port Containment: the port's DPC status register, hex.
        dpc_status: Option<String>,
        /// How the kernel's recovery of the devices below a port ended: `successful` or `failed`.
        recovery: Option<String>,
    }
}

impl AerDetail {
    /// Whether the hardware corrected the error, in the words of any kernel (`Corrected`,
    /// `Correctable`).
    pub fn is_corrected(&self) -> bool {
        self.severity
            .as_deref()
            .and_then(|text| text.get(.."correct".len()))
            .is_some_and(|start| start.eq_ignore_ascii_case("correct"))
    }
}
