use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What PCIe Advanced Error Reporting, Downstream Port Containment and the recovery after them
/// say. Source: drivers/pci/pcie/{aer,dpc,err}.c.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AerDetail {
    /// Verbatim: `Corrected`, `Correctable`, `Uncorrected (Non-Fatal)`, ... A source without text uses the words of current kernels.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub severity: Option<String>,
    /// Verbatim: `Physical Layer`, `Data Link Layer`, `Transaction Layer`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub layer: Option<String>,
    /// Verbatim: `Receiver ID`, `Requester ID`, `Completer ID`, `Transmitter ID`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent: Option<String>,
    /// Error status register, hex.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<String>,
    /// Error mask register, hex.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mask: Option<String>,
    /// Names of the errors whose bits are set, as the kernel names them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub errors: Vec<String>,
    /// Vendor and device id, `8086:a33c`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub device_id: Option<String>,
    /// TLP header, four hex words.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub tlp_header: Vec<String>,
    /// Address of the port that received the message, where the text names it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reporter: Option<String>,
    /// Downstream Port Containment: why the port cut its link (`ERR_FATAL`, `RP PIO error`, ...), in
    /// the words of drivers/pci/pcie/dpc.c.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub dpc_reason: Option<String>,
    /// Downstream Port Containment: the port's DPC status register, hex.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub dpc_status: Option<String>,
    /// How the kernel's recovery of the devices below a port ended: `successful` or `failed`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub recovery: Option<String>,
}

fill_fields!(AerDetail {
    severity,
    layer,
    agent,
    status,
    mask,
    errors,
    device_id,
    tlp_header,
    reporter,
    dpc_reason,
    dpc_status,
    recovery
});

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
