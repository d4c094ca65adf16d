//! Settings of a slower network than there is, for tests.

use std::str::FromStr;
use std::time::Duration;

use crate::link::LinkError;

/// What the network is to be like.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Emulation {
    /// Round trip, half of it each way.
    pub rtt: Duration,
    /// Bytes a second each way; none for no limit.
    pub bandwidth: Option<f64>,
    /// Most that the delay of one way differs from its mean, either way.
    pub jitter: Duration,
    /// The connection breaks after that time.
    pub break_after: Option<Duration>,
    /// The connection breaks after that many bytes, both ways together.
    pub break_bytes: Option<u64>,
}

impl FromStr for Emulation {
    type Err = LinkError;

    /// Reads `rtt=30ms,bandwidth=1Gbit,jitter=1ms,break=5s`; `break` also takes bytes (`10MB`), and
    /// bandwidths are bits (`Mbit`, `Gbit`) or bytes (`MB`, `GB`) a second.
    fn from_str(text: &str) -> Result<Self, LinkError> {
        let bad = |part: &str, cause: &str| {
            LinkError::Usage(format!(
                "`{part}` in the emulated network `{text}`: {cause}; write for example \
                 rtt=30ms,bandwidth=1Gbit,jitter=1ms,break=5s"
            ))
        };
        let mut emulation = Self::default();
        for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
            let (name, value) = part
                .split_once('=')
                .ok_or_else(|| bad(part, "`=` is missing"))?;
            let time = || time(value).ok_or_else(|| bad(part, "not a time such as 30ms or 5s"));
            match name {
                "rtt" => emulation.rtt = time()?,
                "jitter" => emulation.jitter = time()?,
                "bandwidth" => {
                    let rate = rate(value)
                        .ok_or_else(|| bad(part, "not a bandwidth such as 1Gbit or 100MB"))?;
                    emulation.bandwidth = Some(rate);
                }
                "break" => match bytes(value) {
                    Some(bytes) => emulation.break_bytes = Some(bytes as u64),
                    None => emulation.break_after = Some(time()?),
                },
                _ => return Err(bad(part, "known are rtt, bandwidth, jitter and break")),
            }
        }
        Ok(emulation)
    }
}

/// A positive number and what follows it.
fn split(text: &str) -> Option<(f64, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let number: f64 = text.get(..end)?.parse().ok()?;
    Some((number, text.get(end..)?))
}

fn time(text: &str) -> Option<Duration> {
    let (number, unit) = split(text)?;
    let seconds = match unit {
        "us" => number / 1e6,
        "ms" => number / 1e3,
        "s" => number,
        "" if number == 0.0 => 0.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(seconds).ok()
}

fn bytes(text: &str) -> Option<f64> {
    let (number, unit) = split(text)?;
    let scale = match unit {
        "B" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        _ => return None,
    };
    Some(number * scale)
}

fn rate(text: &str) -> Option<f64> {
    let text = text.strip_suffix("/s").unwrap_or(text);
    let rate = match text.strip_suffix("bit") {
        Some(bits) => {
            let (number, scale) = split(bits)?;
            let scale = match scale {
                "" => 1.0,
                "k" | "K" => 1e3,
                "M" => 1e6,
                "G" => 1e9,
                _ => return None,
            };
            number * scale / 8.0
        }
        None => bytes(text)?,
    };
    (rate > 0.0).then_some(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read() {
        let all: Emulation = "rtt=30ms,bandwidth=1Gbit,jitter=500us,break=5s"
            .parse()
            .unwrap();
        assert_eq!(
            all,
            Emulation {
                rtt: Duration::from_millis(30),
                bandwidth: Some(125e6),
                jitter: Duration::from_micros(500),
                break_after: Some(Duration::from_secs(5)),
                break_bytes: None,
            }
        );
        let some: Emulation = "bandwidth=12.5MB/s,break=10MB".parse().unwrap();
        assert_eq!(some.bandwidth, Some(12.5e6));
        assert_eq!(some.break_bytes, Some(10_000_000));
    }

    #[test]
    fn wrong_settings_are_named() {
        for text in [
            "rtt",
            "rtt=30",
            "speed=1",
            "bandwidth=0Gbit",
            "bandwidth=1ms",
        ] {
            let error = text.parse::<Emulation>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{text}` in")), "{error}");
        }
    }
}
