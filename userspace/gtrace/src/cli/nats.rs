//! How commands name NATS servers.

use std::path::PathBuf;

use gtrace_agent::{Enrolled, HeadUrl, HttpUrl, NatsAccess};
use gtrace_nats::{Access, NatsUrl};

/// Heading of options for NATS servers.
pub(super) const NATS: &str = "NATS";

/// What NATS servers are shown.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct NatsArgs {
    /// File with the credentials for the NATS servers: a .creds file, the seed of an nkey, USER:PASSWORD or a token.
    #[arg(long, value_name = "FILE", help_heading = NATS)]
    nats_credentials: Option<PathBuf>,
    /// Authorities (PEM) of the NATS servers' certificates; those of the system by default.
    #[arg(long, value_name = "FILE", help_heading = NATS)]
    nats_ca: Option<PathBuf>,
    /// Certificate that is shown to the NATS servers (PEM).
    #[arg(long, value_name = "FILE", requires = "nats_key", help_heading = NATS)]
    nats_cert: Option<PathBuf>,
    /// Its private key (PEM).
    #[arg(long, value_name = "FILE", requires = "nats_cert", help_heading = NATS)]
    nats_key: Option<PathBuf>,
}

impl NatsArgs {
    /// Why the files cannot be used where there are no servers, which `needed` would name; `None` where there are no files.
    pub(super) fn without_servers(&self, needed: &str) -> Option<String> {
        let files = [&self.nats_credentials, &self.nats_ca, &self.nats_cert];
        files.iter().any(|file| file.is_some()).then(|| {
            format!("--nats-credentials, --nats-ca and --nats-cert are for NATS servers: name these with {needed}")
        })
    }

    /// The servers at `url` with these files.
    pub(super) fn access(&self, url: NatsUrl) -> Access {
        Access {
            url,
            credentials: self.nats_credentials.clone(),
            ca: self.nats_ca.clone(),
            identity: self.nats_cert.clone().zip(self.nats_key.clone()),
        }
    }
}

/// The NATS servers between this host and the heads; `None` where it reaches the head that enrolled it.
///
/// # Errors
/// That the credential is one for another head; what is wrong with the files for NATS.
pub(super) fn nats_of(
    head: &HeadUrl,
    enrolled: &Enrolled,
    access: impl FnOnce(NatsUrl) -> NatsAccess,
) -> anyhow::Result<Option<NatsAccess>> {
    match head {
        // Any head of the fleet knows the host.
        HeadUrl::Nats(url) => {
            let nats = access(url.clone());
            nats.access.check()?;
            Ok(Some(nats))
        }
        HeadUrl::Http(url) => {
            let known: Option<HttpUrl> = enrolled.head.parse().ok();
            anyhow::ensure!(
                known.as_ref() == Some(url),
                "the credential is for {}, and the head is {url}: enroll the host there with `gtrace agent enroll`, or change the URL",
                enrolled.head
            );
            Ok(None)
        }
    }
}
