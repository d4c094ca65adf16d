//! Where alerts go, as the site configures it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use gtrace_event::FailureClass;
use thiserror::Error;
use ureq::http::Uri;
use ureq::tls::Certificate;

use gtrace_outgoing as outgoing;

/// The path of Alertmanager's API below its base URL (api/v2/openapi.yaml of Alertmanager).
const PATH: &str = "/api/v2/alerts";
/// Where alerts go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Every Alertmanager; each gets every alert.
    pub urls: Vec<BaseUrl>,
    /// A file with the bearer token, read for each request.
    pub token_file: Option<PathBuf>,
    /// CA certificates, PEM, in place of the system's.
    pub ca_file: Option<PathBuf>,
    /// Whether drills are sent too.
    pub drills: bool,
    /// Where the site has its runbooks.
    pub runbooks: Option<Runbooks>,
}

impl Options {
    /// Most Alertmanagers: one that hangs delays the others of a round.
    pub const URLS_MAX: usize = 8;

    /// The bearer token, if there is to be one.
    pub(super) fn token(&self) -> Result<Option<String>, String> {
        let file = self.token_file.as_deref();
        let token = file.map(|file| outgoing::token(file, "alertmanager_token_file"));
        token.transpose()
    }

    /// The certificates that a server over https must have one of; none where no URL is https.
    pub(super) fn certificates(&self) -> Result<Vec<Certificate<'static>>, String> {
        match self.urls.iter().any(BaseUrl::is_https) {
            true => outgoing::certificates(self.ca_file.as_deref(), "alertmanager_ca_file"),
            false => Ok(Vec::new()),
        }
    }
}

/// Base URL of an Alertmanager, or of another service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl {
    base: String,
    https: bool,
    /// Whether it is on this host, so that nobody reads what goes there.
    local: bool,
}

impl BaseUrl {
    /// Where alerts are posted.
    pub(super) fn endpoint(&self) -> String {
        format!("{}{PATH}", self.base)
    }

    pub(crate) fn is_https(&self) -> bool {
        self.https
    }

    /// Whether a token that goes there can be read by others on the way.
    pub fn shows_token(&self) -> bool {
        !self.https && !self.local
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)
    }
}

/// Why a URL is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{url}` {cause}; write it as http://127.0.0.1:9093 or https://alertmanager.example.com")]
pub struct BaseUrlError {
    url: String,
    cause: &'static str,
}

impl BaseUrlError {
    /// What is wrong with it.
    pub(crate) fn cause(&self) -> &'static str {
        self.cause
    }
}

/// The URL's parts; why it is none over HTTP.
fn parse(text: &str) -> Result<Uri, &'static str> {
    let uri: Uri = text.parse().map_err(|_| "is no URL")?;
    let scheme = uri.scheme_str().unwrap_or_default();
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    match (scheme, authority) {
        ("http" | "https", authority) if authority.contains('@') => {
            Err("has a user name: give a token by a token file")
        }
        ("http" | "https", _) if uri.host().is_none_or(str::is_empty) => Err("has no host"),
        ("http" | "https", authority) if has_bad_port(authority, &uri) => {
            Err("has no port from 1 to 65535 after the colon")
        }
        ("http" | "https", _) => Ok(uri),
        _ => Err("does not begin with http:// or https://"),
    }
}

fn has_bad_port(authority: &str, uri: &Uri) -> bool {
    let after_host = authority.rsplit(']').next().unwrap_or_default();
    after_host.contains(':') && uri.port_u16().is_none_or(|port| port == 0)
}

impl FromStr for BaseUrl {
    type Err = BaseUrlError;

    fn from_str(text: &str) -> Result<Self, BaseUrlError> {
        let refuse = |cause| BaseUrlError {
            url: text.to_owned(),
            cause,
        };
        let uri = parse(text).map_err(refuse)?;
        let base = text.trim_end_matches('/');
        if uri.query().is_some() || text.contains('#') {
            return Err(refuse("has a query or a fragment"));
        }
        if base.ends_with("/alerts") || base.ends_with("/api/v2") || base.ends_with("/api/v1") {
            return Err(refuse("has a path of the API, which gtrace adds itself"));
        }
        let host = uri.host().unwrap_or_default();
        let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
        Ok(Self {
            base: base.to_owned(),
            https: uri.scheme_str() == Some("https"),
            local: host == "localhost" || address.is_ok_and(|address| address.is_loopback()),
        })
    }
}

/// Address of the site's runbooks, in which `{class}` stands for the class of failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runbooks(String);

impl Runbooks {
    const CLASS: &'static str = "{class}";

    /// The page for `class`.
    pub(super) fn of(&self, class: FailureClass) -> String {
        self.0.replace(Self::CLASS, class.name())
    }
}

impl FromStr for Runbooks {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match parse(&text.replace(Self::CLASS, "class")) {
            Ok(_) => Ok(Self(text.to_owned())),
            Err(cause) => Err(format!(
                "`{text}` {cause}; write it as https://wiki.example.com/gpu/{{class}}"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls_are_taken_with_a_path_and_without() {
        for (text, endpoint, shows_token) in [
            (
                "http://127.0.0.1:9093",
                "http://127.0.0.1:9093/api/v2/alerts",
                false,
            ),
            (
                "https://am.example.com/prefix/",
                "https://am.example.com/prefix/api/v2/alerts",
                false,
            ),
            (
                "http://[::1]:9093",
                "http://[::1]:9093/api/v2/alerts",
                false,
            ),
            ("http://am:9093", "http://am:9093/api/v2/alerts", true),
        ] {
            let url: BaseUrl = text.parse().unwrap();
            assert_eq!(
                (url.endpoint().as_str(), url.shows_token()),
                (endpoint, shows_token)
            );
        }
    }

    #[test]
    fn what_is_no_base_url_is_refused_with_its_cause() {
        for (text, cause) in [
            ("127.0.0.1:9093", "http://"),
            ("am", "http://"),
            ("ftp://am", "http://"),
            ("http://", "no URL"),
            ("http://a b", "no URL"),
            ("http://am:0", "port"),
            ("http://am:99999", "port"),
            ("http://u:p@am", "token file"),
            ("http://am?x=1", "query"),
            ("http://am/api/v2/alerts", "adds itself"),
        ] {
            let error = text.parse::<BaseUrl>().unwrap_err().to_string();
            assert!(
                error.contains(cause) && error.contains("9093"),
                "{text}: {error}"
            );
        }
    }

    #[test]
    fn a_runbook_is_that_of_the_class() {
        let runbooks: Runbooks = "https://wiki/gpu/{class}.html".parse().unwrap();
        assert_eq!(
            runbooks.of(FailureClass::GpuOom),
            "https://wiki/gpu/gpu_oom.html"
        );
        assert!(
            "wiki/{class}"
                .parse::<Runbooks>()
                .unwrap_err()
                .contains("https://")
        );
    }

    #[test]
    fn files_that_are_of_no_use_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, " \n").unwrap();
        let options = Options {
            urls: vec!["https://am".parse().unwrap()],
            token_file: Some(file.clone()),
            ca_file: Some(file.clone()),
            ..Options::default()
        };
        let name = file.to_str().unwrap();
        let token = options.token().unwrap_err();
        let certificates = options.certificates().unwrap_err();
        assert!(token.contains(name) && certificates.contains(name));
        std::fs::write(&file, "secret\n").unwrap();
        assert_eq!(options.token().unwrap().unwrap(), "secret");
        std::fs::remove_file(&file).unwrap();
        assert!(
            options
                .token()
                .unwrap_err()
                .contains("alertmanager_token_file")
        );
        assert!(
            options
                .certificates()
                .unwrap_err()
                .contains("alertmanager_ca_file")
        );
    }
}
