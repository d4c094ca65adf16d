//! A driver call in words.

use gtrace_abi::{CMD_CLOSE, CMD_MMAP, CMD_OPEN, CODE_UNREADABLE, NO_STATUS};

/// What a call was, as events and statistics show it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operation {
    /// ioctl request number, hex; the name of another system call.
    pub ioctl: String,
    /// Its public name.
    pub op: Option<String>,
    /// What the operation is about, hex; `None` where it has no such thing.
    pub code: Option<String>,
    /// Public name of the code; `unreadable` where the parameters could not be read or were too short to have one.
    pub code_name: Option<String>,
}

impl Operation {
    /// Names request number `cmd` with `code` in its parameters.
    pub fn new(cmd: u32, code: u32) -> Self {
        if let Some((call, op)) = on_file(cmd) {
            return Self {
                ioctl: call.to_owned(),
                op: Some(op.to_owned()),
                ..Self::default()
            };
        }
        let nr = gtrace_nvrm::escape_number(cmd);
        let op = gtrace_nvrm::ioctl_name(cmd).map(str::to_owned);
        let has_code = nr.is_some_and(|nr| gtrace_nvrm::code_offset(nr).is_some());
        if has_code && code == CODE_UNREADABLE {
            return Self {
                ioctl: format!("{cmd:#x}"),
                op,
                code: None,
                code_name: Some("unreadable".to_owned()),
            };
        }
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

    /// The shortest text that names the operation: `RM_CONTROL NV2080_CTRL_CMD_GPU_GET_INFO_V2`.
    pub fn text(&self) -> String {
        let op = self.op.as_deref().unwrap_or(&self.ioctl);
        match self.code_name.as_ref().or(self.code.as_ref()) {
            Some(code) => format!("{op} {code}"),
            None => op.to_owned(),
        }
    }
}

/// System calls on the driver's device files that are no ioctl(2): what they are called, and the operation.
fn on_file(cmd: u32) -> Option<(&'static str, &'static str)> {
    Some(match cmd {
        CMD_OPEN => ("open", "OPEN"),
        CMD_CLOSE => ("close", "CLOSE"),
        CMD_MMAP => ("mmap", "MMAP"),
        _ => return None,
    })
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
        assert_eq!(text(CMD_OPEN, 0), "OPEN");
    }

    #[test]
    fn parameters_that_could_not_be_read_are_not_taken_for_zeroes() {
        let control = Operation::new(0xc020_462a, CODE_UNREADABLE);
        assert_eq!(control.text(), "RM_CONTROL unreadable");
        assert_eq!(control.code, None);
        // Of these nothing would be read.
        assert_eq!(
            Operation::new(0xc010_4629, CODE_UNREADABLE).text(),
            "RM_FREE"
        );
    }

    #[test]
    fn a_status_is_named() {
        assert_eq!(status_text(0x51).as_deref(), Some("NV_ERR_NO_MEMORY"));
        assert_eq!(status_text(0xfff0).as_deref(), Some("0xfff0"));
        assert_eq!(status_text(NO_STATUS), None);
    }
}
