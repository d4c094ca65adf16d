//! Values of keys that are more than a number or a path.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use gtrace_abi::{DeviceFilter, STATUS_BITS};
use gtrace_devices::HostThresholds;
use gtrace_tls::AccessFiles;

use super::{CallFailures, Compat, ConfigError, HeadConfig, Keys, NatsFiles, ReadAddress};
use crate::alertmanager::{self, BaseUrl};
use crate::component::{self, plugins};
use crate::otlp;

/// The failures that say something about the GPU, its memory or the driver. Others, such as
/// NV_ERR_NOT_SUPPORTED, are how programs find out what a GPU can do.
pub(super) const CALL_FAILURES: &str = "no_memory,insufficient_resources,gpu_is_lost,card_not_present,\
                             ecc_error,gpu_in_fullchip_reset,reset_required,timeout";

/// Error numbers of ioctl(2) by which the driver reports a GPU that is gone or does not answer; the
/// others report a caller's mistake.
const CALL_ERRNOS: [i32; 4] = [libc::EIO, libc::ENXIO, libc::ENODEV, libc::ETIMEDOUT];

/// Why the value of a key is refused.
pub(super) fn refused(key: &'static str, reason: impl Into<String>) -> ConfigError {
    ConfigError::Value {
        key,
        reason: reason.into(),
    }
}

/// A hundred years: sums with it overflow no clock.
const LONGEST_S: u64 = 100 * 365 * 86_400;

/// A time in seconds, `None` for 0.
pub(super) fn seconds(value: Option<u64>) -> Option<Duration> {
    let value = value.filter(|&seconds| seconds > 0)?;
    Some(Duration::from_secs(value.min(LONGEST_S)))
}

/// The directory of the store: an empty path would be the one that the daemon happens to run in.
pub(super) fn parse_state_dir(path: Option<PathBuf>) -> Result<PathBuf, ConfigError> {
    path.filter(|path| !path.as_os_str().is_empty())
        .ok_or_else(|| refused("state_dir", "it is empty: give the path of a directory"))
}

pub(super) fn parse_call_failures(text: &str) -> Result<CallFailures, ConfigError> {
    let mut failures = CallFailures::default();
    match text {
        "none" => return Ok(failures),
        // 0 is success.
        "all" => {
            failures.statuses.fill(u64::MAX);
            failures.statuses[0] &= !1;
            failures.errnos = [!1, u64::MAX];
            return Ok(failures);
        }
        _ => {}
    }
    for errno in CALL_ERRNOS.iter().filter_map(|e| usize::try_from(*e).ok()) {
        failures.errnos[errno / 64 % 2] |= 1 << (errno % 64);
    }
    for word in split(text) {
        let number = word
            .strip_prefix("0x")
            .and_then(|hex| u32::from_str_radix(hex, 16).ok())
            .or_else(|| word.parse().ok());
        let status = number.or_else(|| gtrace_nvrm::status_by_name(word));
        let place = status
            .and_then(|status| usize::try_from(status).ok())
            .filter(|status| (1..STATUS_BITS).contains(status));
        let Some(status) = place else {
            return Err(refused(
                "call_failures",
                format!(
                    "`{word}` is no NV_STATUS of a failure below {STATUS_BITS:#x}; write it as \
                     no_memory, NV_ERR_NO_MEMORY or 0x51, or write `all` or `none`"
                ),
            ));
        };
        failures.statuses[status / 64] |= 1 << (status % 64);
    }
    Ok(failures)
}

/// Where the API listens.
#[derive(Default)]
pub(super) struct Listen {
    pub(super) loopback: Option<ReadAddress>,
    pub(super) https: Vec<SocketAddr>,
}

/// Most addresses of https.
const HTTPS_MAX: usize = 8;

/// Reads the key `listen`; `tls` says whether a certificate is configured.
pub(super) fn parse_listen(text: &str, tls: bool) -> Result<Listen, ConfigError> {
    let refuse = |reason: String| refused("listen", reason);
    let mut listen = Listen::default();
    if text == "off" {
        return Ok(listen);
    }
    for word in split(text) {
        let https = word.strip_prefix("https://");
        let address = https.or(word.strip_prefix("http://")).unwrap_or(word);
        let address: SocketAddr = address.trim_end_matches('/').parse().map_err(|_| {
            refuse(format!(
                "`{word}` is no address; write it as 127.0.0.1:7470 or https://0.0.0.0:7471, or `off`"
            ))
        })?;
        if https.is_some() {
            if !tls {
                return Err(refuse(format!(
                    "{word} needs a certificate: set tls_cert and tls_key"
                )));
            }
            if listen.https.len() == HTTPS_MAX {
                return Err(refuse(format!("there are more than {HTTPS_MAX} addresses")));
            }
            listen.https.push(address);
            continue;
        }
        let address = ReadAddress::try_from(address).map_err(|error| refuse(error.to_string()))?;
        if listen.loopback.replace(address).is_some() {
            return Err(refuse("there is more than one address on loopback".into()));
        }
    }
    Ok(listen)
}

/// What https needs; `None` where no certificate is configured.
pub(super) fn parse_access(keys: &Keys) -> Result<Option<AccessFiles>, ConfigError> {
    let refuse = |key, reason: &str| Err(refused(key, reason.to_owned()));
    let (certificate, key) = match (&keys.tls_cert, &keys.tls_key) {
        (Some(certificate), Some(key)) => (certificate.clone(), key.clone()),
        (Some(_), None) => return refuse("tls_key", "tls_cert needs the private key with it"),
        (None, Some(_)) => return refuse("tls_cert", "tls_key needs the certificate with it"),
        (None, None) if keys.tls_client_ca.is_some() => {
            return refuse("tls_client_ca", "it needs tls_cert and tls_key with it");
        }
        (None, None) => return Ok(None),
    };
    if keys.tls_client_crl.is_some() && keys.tls_client_ca.is_none() {
        return refuse("tls_client_crl", "it needs tls_client_ca with it");
    }
    Ok(Some(AccessFiles {
        certificate,
        key,
        client_ca: keys.tls_client_ca.clone(),
        client_crl: keys.tls_client_crl.clone(),
        credentials: keys.credentials.clone().unwrap_or_default(),
        credentials_optional: false,
    }))
}

/// Names of components.
pub(super) fn parse_disabled_sources(text: &str) -> Result<Vec<&'static str>, ConfigError> {
    split(text)
        .map(|word| {
            let known = component::find(word).map(|component| component.name());
            known.ok_or_else(|| {
                let names: Vec<_> = component::all().map(|c| c.name()).collect();
                refused(
                    "disabled_sources",
                    format!("`{word}` is no source; sources are {}", names.join(", ")),
                )
            })
        })
        .collect()
}

/// The share of `key` in percent, as one from 0 to 1; `None` for 0 and where there is none.
pub(super) fn parse_share(
    key: &'static str,
    percent: Option<f64>,
) -> Result<Option<f64>, ConfigError> {
    let percent = percent.unwrap_or_default();
    if !(0.0..=100.0).contains(&percent) {
        return Err(refused(
            key,
            format!("{percent} is no number of percent from 0 to 100"),
        ));
    }
    Ok((percent > 0.0).then_some(percent / 100.0))
}

/// From where on parts of the host count as wrong. 0 means never.
pub(super) fn parse_thresholds(keys: &Keys) -> Result<HostThresholds, ConfigError> {
    let share = |key, percent| parse_share(key, percent).map(Option::unwrap_or_default);
    // What is above such a threshold is wrong, so never is what nothing is above.
    let or_never = |share: f64| if share > 0.0 { share } else { f64::INFINITY };
    let time = |value: Option<u64>, unit: fn(u64) -> Duration| match value.unwrap_or_default() {
        0 => Duration::MAX,
        value => unit(value),
    };
    let found = HostThresholds {
        disk_low: share("disk_low_percent", keys.disk_low_percent)?,
        disk_empty: share("disk_empty_percent", keys.disk_empty_percent)?,
        limits_high: or_never(share("limits_high_percent", keys.limits_high_percent)?),
        limits_full: or_never(share("limits_full_percent", keys.limits_full_percent)?),
        memory_low: share("memory_low_percent", keys.memory_low_percent)?,
        memory_errors_hourly: match keys.memory_errors_hourly.unwrap_or_default() {
            0 => u64::MAX,
            errors => errors,
        },
        clock_error: time(keys.clock_error_ms, Duration::from_millis),
        clock_offset: time(keys.clock_offset_ms, Duration::from_millis),
        cpu_stolen: or_never(share("cpu_stolen_percent", keys.cpu_stolen_percent)?),
        stuck_process: time(keys.stuck_process_s, Duration::from_secs),
        zombies: match keys.zombie_processes.unwrap_or_default() {
            0 => u32::MAX,
            zombies => zombies,
        },
        service_down: time(keys.service_down_s, Duration::from_secs),
    };
    if found.disk_low > 0.0 && found.disk_low < found.disk_empty {
        let reason = "it is below disk_empty_percent, so that nothing is ever degraded".to_owned();
        return Err(refused("disk_low_percent", reason));
    }
    if found.limits_high.is_finite() && found.limits_high > found.limits_full {
        let reason = "it is above limits_full_percent, so that nothing is ever degraded".to_owned();
        return Err(refused("limits_high_percent", reason));
    }
    Ok(found)
}

/// How plugins are run; `None` where no folder is named.
pub(super) fn parse_plugins(keys: &Keys) -> Result<Option<plugins::Options>, ConfigError> {
    let Some(folder) = keys.plugins.clone() else {
        return Ok(None);
    };
    let refuse = |key, reason| Err(refused(key, reason));
    if !folder.is_absolute() {
        let reason = format!("{} is no absolute path", folder.display());
        return refuse("plugins", reason);
    }
    let interval = keys.plugins_interval_s.unwrap_or_default();
    if !(10..=86_400).contains(&interval) {
        let reason = format!("{interval} is no number of seconds from 10 to 86400");
        return refuse("plugins_interval_s", reason);
    }
    let deadline = keys.plugins_deadline_s.unwrap_or_default();
    if deadline == 0 || deadline >= interval {
        let reason =
            format!("{deadline} is not from 1 to less than plugins_interval_s, {interval}");
        return refuse("plugins_deadline_s", reason);
    }
    Ok(Some(plugins::Options {
        folder,
        interval: Duration::from_secs(interval),
        deadline: Duration::from_secs(deadline),
    }))
}

/// Longest time that a recording goes on after the opening, seconds.
const AFTER_MAX_S: u64 = 600;

/// As which other programs the daemon answers too.
pub(super) fn parse_compat(text: &str) -> Result<Compat, ConfigError> {
    let mut compat = Compat::default();
    for word in text.split(',').map(str::trim) {
        match word {
            "none" => {}
            "gpud" => compat.gpud = true,
            "dcgm" => compat.dcgm = true,
            other => {
                return Err(refused(
                    "compat",
                    format!("`{other}` is not `none`, `gpud` or `dcgm`"),
                ));
            }
        }
    }
    Ok(compat)
}

/// How long a recording goes on.
pub(super) fn parse_after(seconds: Option<u64>) -> Result<Duration, ConfigError> {
    let seconds = seconds.unwrap_or(0);
    match (1..=AFTER_MAX_S).contains(&seconds) {
        true => Ok(Duration::from_secs(seconds)),
        false => Err(refused(
            "recording_after_s",
            format!("{seconds} is no number of seconds from 1 to {AFTER_MAX_S}"),
        )),
    }
}

/// Least megabytes of evidence: what one incident may have.
const EVIDENCE_MB: u64 = 16;

/// Bytes of evidence; `None` where the flight recorder is off.
pub(super) fn parse_evidence(
    on: Option<bool>,
    mb: Option<u64>,
) -> Result<Option<u64>, ConfigError> {
    match mb.unwrap_or(EVIDENCE_MB) {
        _ if on == Some(false) => Ok(None),
        mb if mb < EVIDENCE_MB => Err(refused(
            "evidence_mb",
            format!("{mb} is less than {EVIDENCE_MB}; flight_recorder = false records nothing"),
        )),
        mb => Ok(Some(mb.saturating_mul(1_000_000))),
    }
}

/// Bytes of the history of samples; `None` where it is off.
pub(super) fn parse_history(on: Option<bool>, mb: Option<u64>) -> Result<Option<u64>, ConfigError> {
    let least = gtrace_history::Options::MIN_BYTES.div_ceil(1_000_000);
    let mb = mb.unwrap_or_default();
    if !on.unwrap_or_default() {
        return Ok(None);
    }
    if mb < least {
        return Err(refused(
            "sample_history_mb",
            format!("{mb} is less than {least}; sample_history = false keeps no samples"),
        ));
    }
    Ok(Some(mb.saturating_mul(1_000_000)))
}

/// Where alerts go; `None` for nowhere.
pub(super) fn parse_alertmanager(
    keys: &Keys,
) -> Result<Option<alertmanager::Options>, ConfigError> {
    let wrong = |reason: String| refused("alertmanager_url", reason);
    let urls: Vec<BaseUrl> = split(keys.alertmanager_url.as_deref().unwrap_or_default())
        .map(|word| word.parse().map_err(|error| wrong(format!("{error}"))))
        .collect::<Result<_, _>>()?;
    let most = alertmanager::Options::URLS_MAX;
    if urls.len() > most {
        return Err(wrong(format!(
            "{} URLs are given; at most {most} are taken",
            urls.len()
        )));
    }
    if let Some(url) = urls.iter().find(|url| url.shows_token())
        && keys.alertmanager_token_file.is_some()
    {
        return Err(wrong(format!(
            "{url} would get the token of alertmanager_token_file in clear over the network; use https"
        )));
    }
    let runbooks = keys.alertmanager_runbook_url.as_deref().map(str::parse);
    let runbooks = runbooks
        .transpose()
        .map_err(|reason| refused("alertmanager_runbook_url", reason))?;
    Ok((!urls.is_empty()).then(|| alertmanager::Options {
        urls,
        token_file: keys.alertmanager_token_file.clone(),
        ca_file: keys.alertmanager_ca_file.clone(),
        drills: keys.alertmanager_drills.unwrap_or_default(),
        runbooks,
    }))
}

/// Where metrics and events go by OTLP.
pub(super) fn parse_otlp(keys: &Keys) -> Result<Option<otlp::Options>, ConfigError> {
    let refuse = |key, reason| Err(refused(key, reason));
    let text = keys.otlp_url.as_deref().unwrap_or_default().trim();
    if text.is_empty() {
        return Ok(None);
    }
    let url: BaseUrl = match text.parse::<BaseUrl>() {
        Ok(url) => url,
        Err(error) => {
            let cause = error.cause();
            let reason = format!("`{text}` {cause}; write it as http://127.0.0.1:4318");
            return refuse("otlp_url", reason);
        }
    };
    if text.contains("/v1/") {
        let reason = format!("`{text}` has a path of OTLP, which gtrace adds itself");
        return refuse("otlp_url", reason);
    }
    if url.shows_token() && keys.otlp_token_file.is_some() {
        let reason = format!(
            "{url} would get the token of otlp_token_file in clear over the network; use https"
        );
        return refuse("otlp_url", reason);
    }
    let interval = keys.otlp_interval_s.unwrap_or_default();
    if !(5..=3600).contains(&interval) {
        let reason = format!("{interval} is no number of seconds from 5 to 3600");
        return refuse("otlp_interval_s", reason);
    }
    Ok(Some(otlp::Options {
        url,
        token_file: keys.otlp_token_file.clone(),
        ca_file: keys.otlp_ca_file.clone(),
        interval: Duration::from_secs(interval),
    }))
}

/// Reads the key `devices`: `MAJOR[:MINOR]` with commas; `None` for `auto`.
///
/// # Errors
///
/// [`ConfigError::Value`] where a word is no device number, or there are more than the probes take.
pub fn parse_devices(text: &str) -> Result<Option<Vec<DeviceFilter>>, ConfigError> {
    if text == "auto" {
        return Ok(None);
    }
    let refuse = |reason: String| refused("devices", reason);
    let filters: Vec<_> = split(text)
        .map(|word| {
            let (major, minor) = match word.split_once(':') {
                Some((major, "*")) => (major, None),
                Some((major, minor)) => (major, Some(minor)),
                None => (word, None),
            };
            let bad = || {
                refuse(format!(
                    "`{word}` is no MAJOR[:MINOR]; 195:255 is /dev/nvidiactl"
                ))
            };
            let major: u32 = major.parse().map_err(|_| bad())?;
            let minor = match minor {
                Some(minor) => minor.parse().map_err(|_| bad())?,
                None => DeviceFilter::ANY_MINOR,
            };
            if major == 0 || major > 0xfff {
                return Err(bad());
            }
            Ok(DeviceFilter { major, minor })
        })
        .collect::<Result<_, _>>()?;
    if filters.len() > gtrace_abi::MAX_DEVICES {
        return Err(refuse(format!(
            "{} devices are given; at most {} fit",
            filters.len(),
            gtrace_abi::MAX_DEVICES
        )));
    }
    Ok(Some(filters))
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty())
}

/// Refuses files for NATS servers where `head` names none: who names them believes that they are used.
fn only_for_nats(keys: &Keys, head: Option<&str>) -> Result<(), ConfigError> {
    let is_nats = |url: &str| url.starts_with("nats://") || url.starts_with("tls://");
    let files = [
        ("head_nats_credentials", &keys.head_nats_credentials),
        ("head_nats_ca", &keys.head_nats_ca),
        ("head_nats_cert", &keys.head_nats_cert),
        ("head_nats_key", &keys.head_nats_key),
    ];
    let named = files.into_iter().find(|(_, file)| file.is_some());
    match named {
        Some((key, _)) if !head.is_some_and(is_nats) => Err(refused(
            key,
            format!(
                "it is for NATS servers, and head {}: name them (head = \"nats://n1.example.com\"), or leave {key} out",
                match head {
                    Some(url) => format!("is `{url}`"),
                    None => "is not set".to_owned(),
                }
            ),
        )),
        _ => Ok(()),
    }
}

/// The head of a fleet, with the host's labels.
pub(super) fn parse_head(keys: &Keys) -> Result<Option<HeadConfig>, ConfigError> {
    let url = keys.head.clone().filter(|url| !url.is_empty());
    only_for_nats(keys, url.as_deref())?;
    let Some(url) = url else {
        return Ok(None);
    };
    let schemes = ["https://", "http://", "nats://", "tls://"];
    if !schemes.iter().any(|scheme| url.starts_with(scheme)) {
        return Err(refused(
            "head",
            format!(
                "`{url}` is no URL: https://head.example.com:7481, or nats://n1.example.com,n2.example.com"
            ),
        ));
    }
    let wrong = |reason: String| refused("head_labels", reason);
    let mut labels = BTreeMap::new();
    let text = keys.head_labels.as_deref().unwrap_or_default();
    for label in text.split(',').map(str::trim).filter(|l| !l.is_empty()) {
        let (name, value) = label
            .split_once('=')
            .ok_or_else(|| wrong(format!("`{label}` is not NAME=VALUE, as rack=r7")))?;
        labels.insert(name.to_owned(), value.to_owned());
    }
    gtrace_fleet::check_labels(&labels).map_err(wrong)?;
    let site = keys.head_site.clone().unwrap_or_default();
    gtrace_fleet::nats::check_site(&site).map_err(|reason| refused("head_site", reason))?;
    let (cert, key) = (keys.head_nats_cert.clone(), keys.head_nats_key.clone());
    if cert.is_some() != key.is_some() {
        return Err(refused(
            "head_nats_key",
            "head_nats_cert and head_nats_key go together".to_owned(),
        ));
    }
    Ok(Some(HeadConfig {
        nats: NatsFiles {
            site,
            credentials: keys.head_nats_credentials.clone(),
            ca: keys.head_nats_ca.clone(),
            identity: cert.zip(key),
        },
        url,
        credential: keys.head_credential.clone().unwrap_or_default(),
        labels,
        rate: keys.head_rate.filter(|rate| *rate > 0),
        sessions: keys.head_sessions.unwrap_or_default(),
        reports: keys.head_reports.unwrap_or_default(),
        traces: keys.head_traces.unwrap_or_default(),
        page: keys.head_page.unwrap_or_default(),
    }))
}
