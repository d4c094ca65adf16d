use gtrace_event::{Event, Gpu, Kind, PciAddress, Provenance, Severity, Timestamp};
use gtrace_store::{Filter, GpuFilter, IncidentFilter};
use jiff::SignedDuration;

/// Most events in one answer of `/api/v1/events`.
pub const MAX_LIMIT: usize = 10_000;
/// Events in one answer of `/api/v1/events` that names no limit.
pub const DEFAULT_LIMIT: usize = 1_000;

/// Most incidents in one answer.
const MAX_INCIDENTS: usize = 1_000;
/// Incidents in one answer that names no limit.
const DEFAULT_INCIDENTS: usize = 100;

/// Which events are asked for, on the command line and over HTTP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventQuery {
    /// Events that first happened at this time or later.
    pub since: Option<Timestamp>,
    /// Events that first happened before this time.
    pub until: Option<Timestamp>,
    /// Kinds; every kind if empty.
    pub kinds: Vec<Kind>,
    /// The device.
    pub gpu: Option<GpuSelector>,
    /// Lowest severity.
    pub severity: Option<Severity>,
    /// Provenance.
    pub provenance: Option<Provenance>,
    /// At most so many events, the newest of those that match.
    pub limit: Option<usize>,
    /// Only events that nobody acknowledged.
    pub unacked: bool,
}

/// A GPU as a person names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GpuSelector {
    /// By NVML's index.
    Index(u32),
    /// By address, or the beginning of an address or UUID.
    Device(GpuFilter),
}

impl GpuSelector {
    /// Whether `gpu` is the one.
    pub fn matches(&self, gpu: &Gpu) -> bool {
        match self {
            Self::Index(index) => gpu.index == Some(*index),
            Self::Device(device) => device.matches(gpu),
        }
    }

    /// Whether `event` is of it; a line names no index.
    fn concerns(&self, event: &Event) -> bool {
        match self {
            Self::Index(_) => event.gpu.as_ref().is_some_and(|gpu| self.matches(gpu)),
            Self::Device(device) => device.concerns(event),
        }
    }
}

impl std::fmt::Display for GpuSelector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Index(index) => index.fmt(f),
            Self::Device(GpuFilter::Pci(pci)) => pci.fmt(f),
            Self::Device(GpuFilter::Text(text)) => f.write_str(text),
        }
    }
}

impl std::str::FromStr for GpuSelector {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // A bare number is an index, as in nvidia-smi; a bus of digits only is written `17:00`.
        if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
            return text
                .parse()
                .map(Self::Index)
                .map_err(|_| format!("`{text}` is no GPU index"));
        }
        if let Some(pci) = PciAddress::parse(text) {
            return Ok(Self::Device(GpuFilter::Pci(pci)));
        }
        let digits = match text.get(..4) {
            Some(head) if head.eq_ignore_ascii_case("GPU-") => &text[4..],
            _ => text,
        };
        let plausible = |b: u8| b.is_ascii_hexdigit() || b":.-".contains(&b);
        if !digits.is_empty() && digits.bytes().all(plausible) {
            return Ok(Self::Device(GpuFilter::Text(text.to_owned())));
        }
        Err(format!(
            "`{text}` names no GPU: give a PCI address (0000:3b:00.0), an index (2) or a UUID \
             (GPU-...)"
        ))
    }
}

/// A parameter that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {cause}")]
pub struct BadParameter {
    /// Its name.
    pub name: String,
    /// What is wrong with it, and what is allowed.
    pub cause: String,
}

/// A parameter of a request, as the OpenAPI document describes it.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// What it can be.
    pub values: Values,
}

/// What a [`Parameter`] can be.
#[derive(Clone, Copy, Debug)]
pub enum Values {
    /// What [`parse_time`] reads.
    Time,
    /// Kinds of events, separated by commas.
    Kinds,
    /// What [`GpuSelector`] is read from.
    Gpu,
    /// A severity.
    Severity,
    /// A provenance.
    Provenance,
    /// A whole number from the first to the second.
    Integer {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
        /// What serves where it is not given.
        default: u64,
    },
    /// True or false; false where it is not given.
    Flag,
    /// The id of a record.
    Record,
    /// Any text; may be repeated.
    Text,
}

pub(super) const fn parameter(
    name: &'static str,
    meaning: &'static str,
    values: Values,
) -> Parameter {
    Parameter {
        name,
        meaning,
        values,
    }
}

/// An array of parameters, a line each: name, meaning, and what it can be.
macro_rules! parameters {
    ($($name:literal $meaning:literal => $values:expr;)*) => {
        [$(crate::query::parameter($name, $meaning, $values)),*]
    };
}
pub(super) use parameters;

/// How many events an answer has at most.
pub(super) const LIMIT: Values = Values::Integer {
    min: 1,
    max: MAX_LIMIT as u64,
    default: DEFAULT_LIMIT as u64,
};

/// Parameters of [`EventQuery`], in the order of the documentation.
pub const PARAMETERS: [Parameter; 8] = parameters! {
    "since" "Events that first happened at or after this time: RFC 3339, or an age (30s, 30m, 1h30m, 2d, 1w)" =>
        Values::Time;
    "until" "Events before this time: RFC 3339, or an age" => Values::Time;
    "kind" "Event kinds, separated by commas; may be repeated" => Values::Kinds;
    "gpu" "PCI address or its beginning, NVML index, or UUID or its beginning" => Values::Gpu;
    "severity" "Lowest severity" => Values::Severity;
    "provenance" "Who wrote the text of the event" => Values::Provenance;
    "limit" "At most so many events, the newest that match" => LIMIT;
    "unacked" "Only events that nobody acknowledged" => Values::Flag;
};

/// The parameter of answers with histograms.
pub(super) const BUCKETS: Parameter = parameter(
    "buckets",
    "With the buckets of the histograms",
    Values::Flag,
);

/// Parameters of the list of incidents.
pub(super) const INCIDENT_PARAMETERS: [Parameter; 4] = parameters! {
    "since" "Incidents that something happened to at or after this time: RFC 3339, or an age (30s, 30m, 1h30m, 2d, 1w)" =>
        Values::Time;
    "until" "Incidents that began before this time: RFC 3339, or an age" => Values::Time;
    "open" "Only incidents that nobody has resolved" => Values::Flag;
    "limit" "At most so many incidents, the newest that match" =>
        Values::Integer { min: 1, max: MAX_INCIDENTS as u64, default: DEFAULT_INCIDENTS as u64 };
};

/// Reads the parameters of the list of incidents. Ages count back from `now`.
///
/// # Errors
///
/// The first parameter that is unknown or cannot be understood.
pub fn incident_filter<'a>(
    pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    now: Timestamp,
) -> Result<IncidentFilter, BadParameter> {
    let mut filter = IncidentFilter {
        limit: Some(DEFAULT_INCIDENTS),
        ..IncidentFilter::default()
    };
    set_each(pairs, |name, value| match name {
        "since" => parse_time(value, now).map(|time| filter.since = Some(time)),
        "until" => parse_time(value, now).map(|time| filter.until = Some(time)),
        "open" => parse_bool(value).map(|open| filter.unresolved = open),
        "limit" => match value.parse() {
            Ok(limit @ 1..=MAX_INCIDENTS) => {
                filter.limit = Some(limit);
                Ok(())
            }
            _ => Err(format!("`{value}` is no limit: use 1 to {MAX_INCIDENTS}")),
        },
        _ => Err(none_of(&INCIDENT_PARAMETERS)),
    })?;
    Ok(filter)
}

/// What is wrong with a parameter that is none of `known`.
pub(super) fn none_of(known: &[Parameter]) -> String {
    let known: Vec<_> = known.iter().map(|known| known.name).collect();
    format!("no such parameter; known: {}", known.join(", "))
}

/// Has `set` take each parameter; the error names the first that it refuses.
pub(super) fn set_each<'a>(
    pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    mut set: impl FnMut(&str, &str) -> Result<(), String>,
) -> Result<(), BadParameter> {
    pairs.into_iter().try_for_each(|(name, value)| {
        set(name, value).map_err(|cause| BadParameter {
            name: name.into(),
            cause,
        })
    })
}

/// Where the stream goes on.
pub(super) const AFTER: Parameter = parameter(
    "after",
    "Id of a record: goes on after it, as Last-Event-ID does, which comes first",
    Values::Record,
);

/// The stream's `limit`.
pub(super) const HISTORY_LIMIT: Parameter = parameter(
    "limit",
    "With since: at most so many events of history",
    LIMIT,
);

impl EventQuery {
    /// Reads decoded query parameters. Ages count back from `now`.
    ///
    /// # Errors
    ///
    /// The first parameter that is unknown or cannot be understood.
    pub fn from_pairs<'a>(
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
        now: Timestamp,
    ) -> Result<Self, BadParameter> {
        let mut query = Self::default();
        set_each(pairs, |name, value| query.set(name, value, now))?;
        Ok(query)
    }

    fn set(&mut self, name: &str, value: &str, now: Timestamp) -> Result<(), String> {
        match name {
            "since" => self.since = Some(parse_time(value, now)?),
            "until" => self.until = Some(parse_time(value, now)?),
            "kind" => {
                for kind in value.split(',').filter(|k| !k.is_empty()) {
                    self.kinds.push(kind.parse().map_err(|e| format!("{e}"))?);
                }
            }
            "gpu" => self.gpu = Some(value.parse()?),
            "severity" => self.severity = Some(value.parse().map_err(|e| format!("{e}"))?),
            "provenance" => self.provenance = Some(parse_provenance(value)?),
            "limit" => self.limit = Some(parse_limit(value)?),
            "unacked" => self.unacked = parse_bool(value)?,
            _ => return Err(none_of(&PARAMETERS)),
        }
        Ok(())
    }

    /// The parameters that [`EventQuery::from_pairs`] reads this query from.
    pub fn to_pairs(&self) -> Vec<(&'static str, String)> {
        let mut pairs = Vec::new();
        let mut push = |name, value: Option<String>| pairs.extend(value.map(|v| (name, v)));
        push("since", self.since.map(|t| t.to_string()));
        push("until", self.until.map(|t| t.to_string()));
        for kind in &self.kinds {
            push("kind", Some(kind.to_string()));
        }
        push("gpu", self.gpu.as_ref().map(ToString::to_string));
        push("severity", self.severity.map(|s| s.to_string()));
        push("provenance", self.provenance.map(|p| p.to_string()));
        push("limit", self.limit.map(|l| l.to_string()));
        push("unacked", self.unacked.then(|| "true".to_owned()));
        pairs
    }

    /// Whether `event` is asked for, `limit` aside.
    pub fn matches(&self, event: &Event) -> bool {
        self.gpu.as_ref().is_none_or(|gpu| gpu.concerns(event)) && self.filter().matches(event)
    }

    /// The query as the store takes it; the store does not know a GPU by its index.
    pub fn filter(&self) -> Filter {
        let gpu = match &self.gpu {
            Some(GpuSelector::Device(device)) => Some(device.clone()),
            Some(GpuSelector::Index(_)) | None => None,
        };
        Filter {
            since: self.since,
            until: self.until,
            kinds: self.kinds.clone(),
            gpu,
            min_severity: self.severity,
            provenance: self.provenance,
            unacked_only: self.unacked,
            limit: self.limit,
            ..Filter::default()
        }
    }
}

/// Reads a time: RFC 3339, or an age before `now` such as `90s`, `30m`, `1h`, `2d`, `1w`.
///
/// # Errors
///
/// A message that says what is allowed.
pub fn parse_time(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    if let Some(age) = parse_age(text) {
        return now.checked_sub(age).map_err(|_| {
            format!("`{text}` is too far in the past; without it all events are meant")
        });
    }
    // In a URL a `+` that is not written as %2B means a space.
    let offset = text
        .rsplit_once(' ')
        .filter(|(time, _)| time.contains('T'))
        .map(|(time, offset)| format!("{time}+{offset}"));
    offset.as_deref().unwrap_or(text).parse().map_err(|_| {
        format!(
            "`{text}` is not a time: write RFC 3339 (2026-03-03T04:05:06Z) or an age (30s, 30m, 1h30m, 2d, 1w)"
        )
    })
}

/// Reads `90s`, `2d`, `1h30m`; with a minus before it the same.
fn parse_age(text: &str) -> Option<SignedDuration> {
    let mut rest = text.strip_prefix('-').unwrap_or(text);
    let mut seconds = 0_i64;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let unit = rest.find(|c: char| !c.is_ascii_digit())?;
        let (digits, after) = rest.split_at(unit);
        let of_unit = match after.as_bytes().first()? {
            b's' => 1,
            b'm' => 60,
            b'h' => 3600,
            b'd' => 86_400,
            b'w' => 604_800,
            _ => return None,
        };
        // Longer than any number here: too far in the past, not no age.
        let count: i64 = (!digits.is_empty()).then(|| digits.parse().unwrap_or(i64::MAX))?;
        seconds = seconds.saturating_add(count.saturating_mul(of_unit));
        rest = &after[1..];
    }
    Some(SignedDuration::from_secs(seconds))
}

/// Reads a provenance's name.
///
/// # Errors
///
/// A message that says what is allowed.
pub fn parse_provenance(text: &str) -> Result<Provenance, String> {
    let found = Provenance::ALL.into_iter().find(|p| p.name() == text);
    found.ok_or_else(|| {
        format!("`{text}` is no provenance: use kernel, userspace, injected or unknown")
    })
}

fn parse_limit(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(limit @ 1..=MAX_LIMIT) => Ok(limit),
        _ => Err(format!("`{text}` is no limit: use 1 to {MAX_LIMIT}")),
    }
}

pub(super) fn parse_bool(text: &str) -> Result<bool, String> {
    match text {
        "true" | "1" | "" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(format!("`{text}` is neither true nor false")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-03-03T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn a_query_survives_the_way_to_parameters_and_back() {
        let pairs = [
            ("since", "1h"),
            ("until", "2026-03-03T11:59:00Z"),
            ("kind", "xid,aer"),
            ("kind", "oom_kill"),
            ("gpu", "3B:00.0"),
            ("severity", "warning"),
            ("provenance", "injected"),
            ("limit", "10"),
            ("unacked", "true"),
        ];
        let query = EventQuery::from_pairs(pairs, now()).unwrap();
        assert_eq!(query.since, Some("2026-03-03T11:00:00Z".parse().unwrap()));
        assert_eq!(query.kinds, [Kind::Xid, Kind::Aer, Kind::OomKill]);
        assert_eq!(
            query.gpu,
            Some(GpuSelector::Device(GpuFilter::Pci(
                "0000:3b:00.0".parse().unwrap()
            )))
        );
        let back = query.to_pairs();
        let back = back.iter().map(|(n, v)| (*n, v.as_str()));
        assert_eq!(EventQuery::from_pairs(back, now()).unwrap(), query);
    }

    #[test]
    fn the_offset_of_a_time_may_have_lost_its_plus_on_the_way() {
        let read = |text: &str| parse_time(text, now()).map(|time| time.to_string());
        let time = Ok("2026-03-03T03:05:06Z".to_owned());
        assert_eq!(read("2026-03-03T04:05:06+01:00"), time);
        assert_eq!(read("2026-03-03T04:05:06 01:00"), time);
        assert!(read("2026-03-03T04:05:06 1h").is_err());
    }

    #[test]
    fn a_bad_parameter_is_named_with_what_is_allowed() {
        for (name, value, part) in [
            ("since", "yesterday", "RFC 3339"),
            ("since", "9999999999999999999h", "too far in the past"),
            ("since", "999999999w", "too far in the past"),
            ("since", "é", "RFC 3339"),
            ("kind", "xyd", "known kinds: xid"),
            ("gpu", "the first", "PCI address"),
            ("severity", "bad", "info, warning, critical or fatal"),
            ("provenance", "me", "kernel, userspace"),
            ("limit", "0", "1 to 10000"),
            ("unacked", "maybe", "neither"),
            ("sinc", "1h", "known: since"),
        ] {
            let error = EventQuery::from_pairs([(name, value)], now()).unwrap_err();
            assert_eq!(error.name, name);
            assert!(error.cause.contains(part), "{error}");
        }
    }
}
