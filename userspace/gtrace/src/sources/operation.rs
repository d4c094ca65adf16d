//! A driver call in words.

use gtrace_abi::NO_STATUS;

/// What a call was, as events and statistics show it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operation {
    /// ioctl request number, hex.
    pub ioctl: String,
    /// Its public name.
    pub op: Option<String>,
    /// What the operation is about, hex; `None` where it has no such thing.
    pub code: Option<String>,
    /// Public name of the code.
    pub code_name: Option<String>,
}

impl Operation {
    /// Names request number `cmd` with `code` in its parameters.
    pub fn new(cmd: u32, code: u32) -> Self {
        let nr = gtrace_nvrm::escape_number(cmd);
        let op = gtrace_nvrm::ioctl_name(cmd).map(str::to_owned);
        let has_code = nr.is_some_and(|nr| gtrace_nvrm::code_offset(nr).is_some());
        let name = match nr {
            Some(gtrace_nvrm::NR_RM_CONTROL) => gtrace_nvrm::control_name(code),
            Some(gtrace_nvrm::NR_RM_VID_HEAP_CONTROL) => gtrace_nvrm::heap_function_name(code),
            _ => gtrace_nvrm::class_name(code),
        };
        Self {
            ioctl: format!("{cmd:#x}"),
            op,
            code: has_code.then(|| format!("{code:#x}")),
            code_name: name.filter(|_| has_code).map(str::to_owned),
        }
    }

    /// The shortest text that tells the operation: `RM_CONTROL NV2080_CTRL_CMD_GPU_GET_INFO_V2`.
    pub fn text(&self) -> String {
        let op = self.op.as_deref().unwrap_or(&self.ioctl);
        match self.code_name.as_ref().or(self.code.as_ref()) {
            Some(code) => format!("{op} {code}"),
            None => op.to_owned(),
        }
    }
}

/// NV_STATUS in words, hex where it has no public name; `None` where there is none.
pub fn status_text(status: u32) -> Option<String> {
    (status != NO_STATUS).then(|| {
        gtrace_nvrm::status_name(status).map_or_else(|| format!("{status:#x}"), str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_reads_as_its_names_or_numbers() {
        let text = |cmd, code| Operation::new(cmd, code).text();
        assert_eq!(
            text(0xc020_462a, 0x2080_0102),
            "RM_CONTROL NV2080_CTRL_CMD_GPU_GET_INFO_V2"
        );
        assert_eq!(text(0xc030_462b, 0x80), "RM_ALLOC NV01_DEVICE_0");
        assert_eq!(text(51, 0), "UVM_MIGRATE");
        assert_eq!(text(0xc020_462a, 0xffff_fff0), "RM_CONTROL 0xfffffff0");
        assert_eq!(text(0x5401, 0), "0x5401");
    }

    #[test]
    fn a_status_is_named() {
        assert_eq!(status_text(0x51).as_deref(), Some("NV_ERR_NO_MEMORY"));
        assert_eq!(status_text(0xfff0).as_deref(), Some("0xfff0"));
        assert_eq!(status_text(NO_STATUS), None);
    }
}
