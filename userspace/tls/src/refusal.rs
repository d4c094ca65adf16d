//! Why servers and a client do not come to terms over TLS, as cause and remedy.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::Path;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::{AlertDescription, CertificateError, InvalidMessage};

/// Servers and their client, as an explanation names them.
#[derive(Clone, Copy)]
pub struct Parties<'a> {
    /// Who the servers are, in the plural: `the NATS servers`.
    pub servers: &'a str,
    /// The names by which the client reaches them.
    pub names: &'a dyn fmt::Display,
    /// The file of the authorities that the client trusts; those of the system without it.
    pub ca: Option<&'a Path>,
    /// How another one is named.
    pub ca_options: &'a str,
    /// The file of the client's certificate, if it has one.
    pub certificate: Option<&'a Path>,
    /// How another one is named.
    pub certificate_options: &'a str,
    /// What helps where the servers speak no TLS.
    pub without_tls: &'a str,
    /// Where the servers allow version 1.3.
    pub version_setting: &'a str,
    /// The servers that have it.
    pub version_needed: &'a str,
}

/// What is wrong, and what to do about it, in one line.
pub fn explained(error: &rustls::Error, of: &Parties<'_>) -> String {
    let servers = of.servers;
    match error {
        rustls::Error::InvalidCertificate(wrong) => of_servers(wrong, of),
        rustls::Error::AlertReceived(alert) => alerted(*alert, of),
        rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => no_tls(of),
        other => format!(
            "TLS with {servers} failed: {other}; they have to speak TLS 1.3, {}",
            of.version_needed
        ),
    }
}

/// The servers do not speak TLS.
pub fn no_tls(of: &Parties<'_>) -> String {
    format!("{} do not speak TLS: {}", of.servers, of.without_tls)
}

/// What to do where the servers do not take this client's certificate.
fn certificate_remedy(of: &Parties<'_>) -> String {
    let options = of.certificate_options;
    match of.certificate {
        None => format!("name one that their authority has issued ({options})"),
        Some(certificate) => format!(
            "have {} issued anew by an authority that they know, or name another one ({options})",
            certificate.display()
        ),
    }
}

/// The error of TLS that is the cause of `error`.
pub fn tls_error<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a rustls::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        // Its source is that of what it wraps.
        next = match error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref)
        {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        };
    }
    None
}

/// What a time-out may mean beside a server that is away: `; ` and a remedy, or nothing.
pub fn timeout_hint() -> &'static str {
    // The packets of a service that systemd does not let out are dropped without a word.
    match std::env::var_os("INVOCATION_ID") {
        Some(_) => {
            "; if this is the service gtrace.service, systemd lets it reach its own host alone: IPAddressAllow= by `systemctl edit gtrace` \
             opens it for the servers, and for DNS"
        }
        None => "",
    }
}

/// What is wrong with a server's certificate that is an authority's own, and what to do; `None` of anything else.
pub fn shown_authority(wrong: &CertificateError) -> Option<&'static str> {
    // rustls passes the error of its verifier on without a variant of its own.
    let is_authority =
        matches!(wrong, CertificateError::Other(of) if of.to_string() == "CaUsedAsEndEntity");
    is_authority.then_some(
        "is an authority's own (CA:TRUE), as `openssl req -x509` makes it: have one issued for the server, or make it with \
         -addext basicConstraints=critical,CA:FALSE",
    )
}

/// The servers' certificate was refused.
fn of_servers(wrong: &CertificateError, of: &Parties<'_>) -> String {
    let (servers, options) = (of.servers, of.ca_options);
    if let Some(what) = shown_authority(wrong) {
        return format!("the certificate of {servers} {what}");
    }
    let ca = match of.ca {
        Some(ca) => ca.display().to_string(),
        None => "this system's authorities".to_owned(),
    };
    match wrong {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => format!(
            "the certificate of {servers} is of no authority in {ca}: name the file of theirs ({options})"
        ),
        CertificateError::ExpiredContext { not_after, .. } => format!(
            "the certificate of {servers} expired at {}: renew it there, or set this host's clock",
            date(*not_after)
        ),
        CertificateError::NotValidYetContext { not_before, .. } => format!(
            "the certificate of {servers} is valid from {} on: set this host's clock, or wait",
            date(*not_before)
        ),
        CertificateError::NotValidForNameContext { presented, .. } => format!(
            "the certificate of {servers} is for {} and not for the names in {}: use a name that it has, or have it issued for these too",
            match presented.is_empty() {
                true => "no name".to_owned(),
                false => presented.join(", "),
            },
            of.names
        ),
        other => format!(
            "the certificate of {servers} cannot be accepted: {other}; {ca} has the authorities ({options})"
        ),
    }
}

/// The servers refused.
fn alerted(alert: AlertDescription, of: &Parties<'_>) -> String {
    let servers = of.servers;
    let cause = match alert {
        // nats-server 2.9 sends bad_certificate, and PostgreSQL 15 unknown_ca or none, whatever the cause is.
        _ if is_of_certificate(alert) && of.certificate.is_none() => {
            "want a certificate of this client".to_owned()
        }
        _ if is_of_certificate(alert)
            && let Some(end) = own_expiry(of)
            && end < jiff::Timestamp::now() =>
        {
            format!("refuse this client's certificate, which expired at {end}")
        }
        AlertDescription::ProtocolVersion => {
            return format!(
                "{servers} do not speak TLS 1.3: allow it there ({})",
                of.version_setting
            );
        }
        AlertDescription::UnknownCA => {
            "do not know the authority of this client's certificate".to_owned()
        }
        AlertDescription::CertificateRevoked => {
            "say that this client's certificate is revoked".to_owned()
        }
        // A signature of an authority that only has the name of theirs.
        AlertDescription::DecryptError if of.certificate.is_some() => {
            "refuse this client's certificate".to_owned()
        }
        other if is_of_certificate(other) => "refuse this client's certificate".to_owned(),
        other => return format!("{servers} ended TLS: {other:?}; their log says why"),
    };
    format!("{servers} {cause}: {}", certificate_remedy(of))
}

fn is_of_certificate(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::CertificateRequired
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied
    )
}

/// The end of this client's certificate.
fn own_expiry(of: &Parties<'_>) -> Option<jiff::Timestamp> {
    super::expiry(&CertificateDer::from_pem_file(of.certificate?).ok()?)
}

fn date(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    let time = jiff::Timestamp::from_second(seconds).unwrap_or(jiff::Timestamp::MAX);
    time.to_string()
}

#[cfg(test)]
mod tests {
    use rustls::RootCertStore;
    use rustls::client::WebPkiServerVerifier;
    use rustls::client::danger::ServerCertVerifier as _;
    use rustls::pki_types::ServerName;

    use super::*;

    #[test]
    fn a_server_that_shows_an_authoritys_certificate_is_known_as_one() {
        let mut params = rcgen::CertificateParams::new(vec!["node7".to_owned()]).unwrap();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = rcgen::KeyPair::generate().unwrap();
        let shown = params.self_signed(&key).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(shown.der().clone()).unwrap();
        let verifier = WebPkiServerVerifier::builder_with_provider(roots.into(), crate::provider());
        let verifier = verifier.build().unwrap();
        let name = ServerName::try_from("node7").unwrap();
        let found = verifier.verify_server_cert(shown.der(), &[], &name, &[], UnixTime::now());
        let Err(rustls::Error::InvalidCertificate(wrong)) = found else {
            panic!("{found:?}");
        };
        let what = shown_authority(&wrong).unwrap();
        assert!(what.contains("CA:FALSE"), "{what}");
        assert_eq!(shown_authority(&CertificateError::UnknownIssuer), None);
    }
}
