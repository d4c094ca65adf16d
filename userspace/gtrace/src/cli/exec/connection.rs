//! How a server is reached: options that commands share.

use std::ffi::OsString;
use std::path::PathBuf;

/// How a server is reached and who it is.
#[derive(clap::Args, Clone, Debug, Default)]
pub(in crate::cli) struct Connection {
    /// Networks whose fabric is trusted with plaintext: servers there are reached by RDMA where it
    /// works, and that encrypts nothing. Several with commas between them.
    #[arg(long, value_name = "CIDR", env = "GTRACE_RDMA_TRUSTED_NET")]
    pub(in crate::cli) rdma_trusted_net: Option<String>,
    /// File with the token that the server requires.
    #[arg(long, value_name = "FILE", env = "GTRACE_TOKEN_FILE")]
    token_file: Option<PathBuf>,
    /// Certificate of the server or of its authority, PEM; switches TLS on.
    #[arg(long, value_name = "FILE", env = "GTRACE_TLS_CA")]
    tls_ca: Option<PathBuf>,
    /// Name in the server's certificate, if it is not the host's.
    #[arg(
        long,
        value_name = "NAME",
        env = "GTRACE_TLS_NAME",
        requires = "tls_ca"
    )]
    tls_name: Option<String>,
    /// Certificate of this client, PEM, for a server that takes one in place of a token.
    #[arg(
        long,
        value_name = "FILE",
        env = "GTRACE_TLS_CERT",
        requires = "tls_ca",
        requires = "tls_key"
    )]
    tls_cert: Option<PathBuf>,
    /// Its private key, PEM.
    #[arg(
        long,
        value_name = "FILE",
        env = "GTRACE_TLS_KEY",
        requires = "tls_cert"
    )]
    tls_key: Option<PathBuf>,
    /// How long calls wait for another connection when one breaks, such as 60s; 0: not at all. At most as long as the
    /// server does. [default: 30s]
    #[arg(long, value_name = "TIME", env = "GTRACE_RESUME")]
    pub(in crate::cli) resume: Option<String>,
    /// Behave as over a slower network: rtt=30ms,bandwidth=1Gbit,jitter=1ms,break=5s.
    #[arg(long, value_name = "WHAT", env = "GTRACE_EMULATE")]
    pub(in crate::cli) emulate: Option<String>,
}

/// A file by its absolute path, as a program may change its directory.
pub(in crate::cli) fn file(path: &Option<PathBuf>) -> Option<OsString> {
    let path = path.as_ref()?;
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.clone());
    Some(absolute.into_os_string())
}

impl Connection {
    /// What the client's library reads of it.
    pub(in crate::cli) fn variables(&self) -> Vec<(&'static str, OsString)> {
        let text = |text: &Option<String>| text.as_ref().map(OsString::from);
        let set = [
            ("GTRACE_RDMA_TRUSTED_NET", text(&self.rdma_trusted_net)),
            ("GTRACE_TOKEN_FILE", file(&self.token_file)),
            ("GTRACE_TLS_CA", file(&self.tls_ca)),
            ("GTRACE_TLS_NAME", text(&self.tls_name)),
            ("GTRACE_TLS_CERT", file(&self.tls_cert)),
            ("GTRACE_TLS_KEY", file(&self.tls_key)),
            ("GTRACE_EMULATE", text(&self.emulate)),
            ("GTRACE_RESUME", text(&self.resume)),
        ];
        set.into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }
}
