//! Metrics of the fleet, pushed to Prometheus or what takes its remote write (version 1.0 of the protocol): protobuf, compressed by Snappy.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gtrace_event::Timestamp;
use gtrace_fleet::remedy::Service;
use gtrace_outgoing as outgoing;
use prost::Message;
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use super::App;
use super::ending::over;
use super::metrics::{self, Family};

/// Series of one request, as Prometheus itself sends them at most.
const SERIES: usize = 2000;
/// How long a request may take.
const WITHIN: Duration = Duration::from_secs(30);

/// Where metrics are pushed to.
#[derive(Clone, Debug)]
pub struct RemoteWrite {
    /// Its URL: `https://`, or `http://` on loopback.
    pub url: String,
    /// User, where the receiver wants one: the token is the password then.
    pub user: Option<String>,
    /// File with a token, read for each round.
    pub token_file: Option<PathBuf>,
    /// Authorities of its certificate (PEM), instead of the system's.
    pub ca_file: Option<PathBuf>,
    /// Between two rounds.
    pub every: Duration,
}

impl RemoteWrite {
    /// Whether it can be used.
    ///
    /// # Errors
    /// Why not, and what to correct.
    pub fn check(&self) -> Result<(), String> {
        let service = Service {
            url: self.url.clone(),
            token_file: self.token_file.clone(),
            ca_file: self.ca_file.clone(),
        };
        service.check("--remote-write")?;
        if self.user.is_some() && self.token_file.is_none() {
            return Err(
                "--remote-write-user needs --remote-write-token-file, a file with its password"
                    .to_owned(),
            );
        }
        self.authorization()?;
        self.agent().map(drop)
    }

    fn authorization(&self) -> Result<Option<String>, String> {
        let Some(file) = &self.token_file else {
            return Ok(None);
        };
        let token = outgoing::token(file, "--remote-write-token-file")?;
        Ok(Some(match &self.user {
            Some(user) => format!("Basic {}", STANDARD.encode(format!("{user}:{token}"))),
            None => format!("Bearer {token}"),
        }))
    }

    fn agent(&self) -> Result<ureq::Agent, String> {
        let (is_https, ca) = (self.url.starts_with("https:"), self.ca_file.as_deref());
        outgoing::client(is_https, ca, "--remote-write-ca", WITHIN)
    }

    /// Sends one round; why what was not taken was not.
    fn send(&self, requests: Vec<WriteRequest>, pushed: &Pushed) -> Result<(), String> {
        let all: usize = requests.iter().map(|one| one.timeseries.len()).sum();
        let mut taken = 0;
        let sent = self.send_each(&requests, &mut taken);
        let add = |counter: &AtomicU64, n: usize| {
            counter.fetch_add(n as u64, Ordering::Relaxed);
        };
        add(&pushed.taken, taken);
        add(&pushed.failed, all - taken);
        sent
    }

    fn send_each(&self, requests: &[WriteRequest], taken: &mut usize) -> Result<(), String> {
        let (agent, authorization) = (self.agent()?, self.authorization()?);
        for one in requests {
            let body = snap::raw::Encoder::new()
                .compress_vec(&one.encode_to_vec())
                .map_err(|e| format!("cannot be compressed: {e}"))?;
            let mut request = agent
                .post(&self.url)
                .header("content-type", "application/x-protobuf")
                .header("content-encoding", "snappy")
                .header("x-prometheus-remote-write-version", "0.1.0");
            if let Some(authorization) = &authorization {
                request = request.header("authorization", authorization);
            }
            let answer = request.send(body.as_slice());
            let mut answer = answer.map_err(|e| format!("{} does not answer: {e}", self.url))?;
            let status = answer.status();
            if !status.is_success() {
                let (status, text) = (status.as_u16(), outgoing::beginning(&mut answer));
                return Err(format!("{} answers {status}: {text}", self.url));
            }
            *taken += one.timeseries.len();
        }
        Ok(())
    }
}

/// What has become of samples.
#[derive(Debug, Default)]
pub(super) struct Pushed {
    pub(super) taken: AtomicU64,
    pub(super) failed: AtomicU64,
}

/// Pushes what the head knows every so often, until `ended`. What fails is not sent again: the next round has what is newer.
pub(super) async fn keep(app: App, to: RemoteWrite, mut ended: watch::Receiver<bool>) {
    let pushed = app.pushed.clone().unwrap_or_default();
    let to = Arc::new(to);
    let mut rounds = tokio::time::interval(to.every);
    rounds.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut last = None;
    loop {
        tokio::select! {
            _ = rounds.tick() => {}
            () = over(&mut ended) => return,
        }
        let sent = match metrics::families(&app).await {
            Ok(families) => {
                let requests = requests(&families, Timestamp::now());
                let (to, pushed) = (Arc::clone(&to), Arc::clone(&pushed));
                let sending = tokio::task::spawn_blocking(move || to.send(requests, &pushed));
                sending.await.unwrap_or_else(|e| Err(e.to_string()))
            }
            Err(problem) => Err(problem.cause().to_owned()),
        };
        match &sent {
            Ok(()) if matches!(last, Some(Err(_))) => {
                tracing::info!("metrics are pushed again to {}", to.url);
            }
            Err(why) if last.as_ref() != Some(&sent) => {
                tracing::warn!(
                    "metrics are not pushed, and tried again every {:?}: {why}",
                    to.every
                );
            }
            _ => {}
        }
        last = Some(sent);
    }
}

fn requests(families: &[Family], now: Timestamp) -> Vec<WriteRequest> {
    let timestamp = now.as_millisecond();
    let series = families.iter().flat_map(|family| {
        family.series.iter().map(move |(labels, value)| {
            let name = ("__name__", family.name.to_owned());
            let labels = [name].into_iter().chain(labels.iter().cloned());
            let mut labels: Vec<Label> = labels
                .map(|(name, value)| Label {
                    name: name.to_owned(),
                    value,
                })
                .collect();
            // Receivers want them so.
            labels.sort_by(|a, b| a.name.cmp(&b.name));
            TimeSeries {
                labels,
                samples: vec![Sample {
                    value: *value as f64,
                    timestamp,
                }],
            }
        })
    });
    let series: Vec<TimeSeries> = series.collect();
    let request = |series: &[TimeSeries]| WriteRequest {
        timeseries: series.to_vec(),
    };
    series.chunks(SERIES).map(request).collect()
}

/// `prometheus.WriteRequest`, prompb/remote.proto; its metadata are left out.
#[derive(Clone, PartialEq, Message)]
struct WriteRequest {
    #[prost(message, repeated, tag = "1")]
    timeseries: Vec<TimeSeries>,
}

/// `prometheus.TimeSeries`, prompb/types.proto, as the others.
#[derive(Clone, PartialEq, Message)]
struct TimeSeries {
    #[prost(message, repeated, tag = "1")]
    labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    samples: Vec<Sample>,
}

#[derive(Clone, PartialEq, Message)]
struct Label {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    #[prost(double, tag = "1")]
    value: f64,
    /// Milliseconds since 1970-01-01.
    #[prost(int64, tag = "2")]
    timestamp: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_so_many_series_with_sorted_labels() {
        let series = |n: usize| {
            (
                vec![("host", format!("h{n}")), ("Z", "z".to_owned())],
                n as u64,
            )
        };
        let family = Family {
            name: "gtrace_fleet_host_healthy",
            kind: "gauge",
            help: "",
            series: (0..SERIES + 1).map(series).collect(),
        };
        let requests = requests(&[family], Timestamp::from_second(7).unwrap());
        let sizes: Vec<usize> = requests.iter().map(|one| one.timeseries.len()).collect();
        assert_eq!(sizes, [SERIES, 1]);
        let last = &requests[1].timeseries[0];
        let labels: Vec<_> = last
            .labels
            .iter()
            .map(|l| (l.name.as_str(), l.value.as_str()))
            .collect();
        let name = ("__name__", "gtrace_fleet_host_healthy");
        assert_eq!(labels, [("Z", "z"), name, ("host", "h2000")]);
        assert_eq!(
            (last.samples[0].value, last.samples[0].timestamp),
            (2000.0, 7000)
        );
    }

    #[test]
    fn what_cannot_be_used_is_refused_at_the_start() {
        let of = |url: &str, user: Option<&str>, file: Option<&str>| {
            let to = RemoteWrite {
                url: url.to_owned(),
                user: user.map(str::to_owned),
                token_file: file.map(Into::into),
                ca_file: None,
                every: Duration::from_secs(30),
            };
            to.check()
        };
        assert_eq!(of("http://127.0.0.1:9090/api/v1/write", None, None), Ok(()));
        for (url, user, file, cause) in [
            (
                "http://prometheus/api/v1/write",
                None,
                None,
                "--remote-write `http://prometheus",
            ),
            (
                "http://[::1]:1",
                Some("7"),
                None,
                "--remote-write-token-file",
            ),
            (
                "http://[::1]:1",
                None,
                Some("/nonexistent"),
                "cannot be read",
            ),
        ] {
            let why = of(url, user, file).unwrap_err();
            assert!(why.contains(cause), "{why}");
        }
    }
}
