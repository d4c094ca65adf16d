//! What it costs that a connection which breaks is replaced by another one, where none breaks: the same client with
//! `--resume 0` and without, in turns. And what TLS costs, beside TCP in the same rounds.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use gtrace_e2e::server::{Server, Via};
use tempfile::TempDir;

use crate::remote::BULK;
use crate::remote::client::Found;
use crate::report::{Figure, Report};
use crate::stats::Samples;

/// What may be added, as multiples of the same without.
const QUERY: f64 = 1.01;
const LAUNCH: f64 = 1.03;
const COPY: f64 = 1.03;

/// Links whose connections are replaced.
const LINKS: [&str; 3] = ["tcp", "unix", "tls"];
const TLS: usize = 2;
const OFF: &[&str] = &["--resume", "0"];

/// What was measured on a link.
#[derive(Default)]
struct Pair {
    with: Vec<Found>,
    without: Vec<Found>,
}

/// A server that speaks TLS.
struct Encrypted {
    server: Server,
    certificate: String,
    _folder: TempDir,
}

impl Encrypted {
    fn start(gtrace: &Path) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let path = |name: &str| folder.path().join(name).display().to_string();
        let (certificate, key) = (path("certificate"), path("key"));
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
        fs::write(&certificate, made.cert.pem())?;
        fs::write(&key, made.signing_key.serialize_pem())?;
        fs::set_permissions(&key, Permissions::from_mode(0o600))?;
        let options = [
            "--launch=skip",
            "--tls-cert",
            &certificate,
            "--tls-key",
            &key,
        ];
        Ok(Self {
            server: Server::start(gtrace, &[], &options)?,
            certificate,
            _folder: folder,
        })
    }
}

pub(super) struct Resume {
    encrypted: Encrypted,
    links: [Pair; LINKS.len()],
}

impl Resume {
    pub(super) fn start(gtrace: &Path) -> anyhow::Result<Self> {
        Ok(Self {
            encrypted: Encrypted::start(gtrace)?,
            links: Default::default(),
        })
    }

    /// Each link with and without, by `client`, which takes a server, a link and options of `gtrace exec`; who is first
    /// changes with the round.
    pub(super) fn round(
        &mut self,
        round: usize,
        plain: &Server,
        client: impl Fn(&Server, Via, &[&str]) -> anyhow::Result<Found>,
    ) -> anyhow::Result<()> {
        let tls = [
            "--tls-ca",
            &self.encrypted.certificate,
            "--tls-name",
            "localhost",
        ];
        let ways: [(&Server, Via, &[&str]); LINKS.len()] = [
            (plain, Via::Tcp, &[]),
            (plain, Via::Unix, &[]),
            (&self.encrypted.server, Via::Tcp, &tls),
        ];
        for ((server, via, options), pair) in ways.into_iter().zip(&mut self.links) {
            let run = |more: &[&str]| client(server, via, &[options, more].concat());
            if round.is_multiple_of(2) {
                pair.without.push(run(OFF)?);
                pair.with.push(run(&[])?);
            } else {
                pair.with.push(run(&[])?);
                pair.without.push(run(OFF)?);
            }
        }
        Ok(())
    }

    pub(super) fn figures(&self, report: &mut Report) {
        type Of = fn(&Found) -> f64;
        let bulk = BULK >> 20;
        let rows: [(String, &str, f64, f64, Of); 4] = [
            ("cuMemGetInfo, p50".into(), "us", QUERY, 1.0, |f| f.query),
            (
                "cuLaunchKernel, until done".into(),
                "us",
                LAUNCH,
                1.0,
                |f| f.launch_done,
            ),
            (format!("{bulk} MiB to the device"), "ms", COPY, 1e-3, |f| {
                f.to_device
            }),
            (format!("{bulk} MiB to the host"), "ms", COPY, 1e-3, |f| {
                f.to_host
            }),
        ];
        for (at, (link, pair)) in LINKS.into_iter().zip(&self.links).enumerate() {
            for (name, unit, budget, scale, of) in &rows {
                let samples = |found: &[Found]| -> Samples {
                    found.iter().map(|found| of(found) * scale).collect()
                };
                let without = samples(&pair.without).median();
                let name = format!("{name} over {link} that may break");
                let mut figure = Figure::median(name, &samples(&pair.with), unit)
                    .beside("with --resume 0", without);
                if at == TLS {
                    figure = figure.beside("over tcp", samples(&self.links[0].with).median());
                }
                report.push(figure.budget(without * budget));
            }
        }
    }
}
