use std::fmt;
use std::str::FromStr;

/// Version of the NVIDIA driver, as `/proc/driver/nvidia/version` and `nvidia-smi` write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DriverVersion {
    /// Branch: `575` in `575.51.02`.
    pub major: u32,
    /// `51` in `575.51.02`.
    pub minor: u32,
    /// `2` in `575.51.02`, 0 where the version has two parts only.
    pub patch: u32,
}

/// A text that is no driver version.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no driver version: write it as in nvidia-smi, for example 575.51.02")]
pub struct DriverVersionError(pub String);

impl DriverVersion {
    /// Reads `575.51.02` or `390.144`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.').map(|part| {
            let ok =
                !part.is_empty() && part.len() <= 6 && part.bytes().all(|b| b.is_ascii_digit());
            ok.then(|| part.parse::<u32>().ok())?
        });
        let major = parts.next()??;
        let minor = parts.next()??;
        let patch = parts.next().unwrap_or(Some(0))?;
        parts.next().is_none().then_some(Self {
            major,
            minor,
            patch,
        })
    }
}

impl fmt::Display for DriverVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}.{:02}", self.major, self.minor, self.patch)
    }
}

impl FromStr for DriverVersion {
    type Err = DriverVersionError;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Self::parse(s.trim()).ok_or_else(|| DriverVersionError(s.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_versions_and_orders_them() {
        let v = |s: &str| s.parse::<DriverVersion>().unwrap();
        assert_eq!(
            v("575.51.02"),
            DriverVersion {
                major: 575,
                minor: 51,
                patch: 2
            }
        );
        assert_eq!(v("390.144").patch, 0);
        assert!(v("570.211.01") < v("575.51.02"));
        for bad in ["", "575", "575.", "575.x", "1.2.3.4", "-1.2", "v575.51.02"] {
            assert!(bad.parse::<DriverVersion>().is_err(), "{bad}");
        }
    }
}
