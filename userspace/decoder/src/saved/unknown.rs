//! Errors of drivers that the decoder does not read: that there were some is worth a word.

/// Drivers, and how their lines begin.
const DRIVERS: [(&str, &[&str]); 5] = [
    ("amdgpu", &["amdgpu ", "amdgpu: ", "[drm:amdgpu"]),
    ("i915", &["i915 ", "[drm:i915", "[drm:intel"]),
    ("xe", &["xe ", "[drm:xe"]),
    ("habanalabs", &["habanalabs ", "habanalabs: "]),
    ("LustreError", &["LustreError: "]),
];
/// Words of an error, where the log does not say how bad a line is.
const WORDS: [&str; 6] = ["error", "fail", "timeout", "timed out", "fault", "hang"];
/// What the kernel's PCIe code says of a device stands under the name of its driver.
const PCIE: [&str; 3] = [": AER: ", ": PCIe Bus Error: ", ":   device ["];
/// syslog level of errors.
const ERROR: u8 = 3;

/// How many lines of errors each driver wrote.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Drivers([u64; DRIVERS.len()]);

impl Drivers {
    /// Reads a record that gave no event.
    #[inline]
    pub(super) fn read(&mut self, text: &str, level: Option<u8>) {
        // Most records end here.
        if !matches!(text.as_bytes(), [b'a' | b'i' | b'x' | b'h' | b'L', ..])
            && !text.starts_with("[drm:")
        {
            return;
        }
        let of = |begins: &[&str]| begins.iter().any(|begin| text.starts_with(begin));
        let Some(at) = DRIVERS.iter().position(|(_, begins)| of(begins)) else {
            return;
        };
        let is_error = || match level {
            Some(level) => level <= ERROR,
            None => {
                let text = text.to_ascii_lowercase();
                WORDS.iter().any(|word| text.contains(word))
            }
        };
        if !PCIE.iter().any(|part| text.contains(part)) && (of(&["LustreError"]) || is_error()) {
            self.0[at] += 1;
        }
    }

    /// Drivers with errors, and how many lines.
    pub(super) fn seen(&self) -> Vec<(&'static str, u64)> {
        let all = DRIVERS.iter().map(|(name, _)| *name).zip(self.0);
        all.filter(|(_, n)| *n > 0).collect()
    }
}
