//! Why servers and client do not come to terms, as cause and remedy.

use std::error::Error as StdError;
use std::io;

use async_nats::rustls::pki_types::pem::PemObject as _;
use async_nats::rustls::pki_types::{CertificateDer, UnixTime};
use async_nats::rustls::{self, AlertDescription, CertificateError, InvalidMessage};
use async_nats::{ConnectError, ConnectErrorKind};

use crate::access::Access;

/// What is wrong, and what to do about it, in one line.
pub(crate) fn explained(error: &ConnectError, access: &Access) -> String {
    if let Some(of_tls) = tls_error(error) {
        return match of_tls {
            rustls::Error::InvalidCertificate(wrong) => of_servers(wrong, access),
            rustls::Error::AlertReceived(alert) => alerted(*alert, access),
            rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
                "the NATS servers do not speak TLS: give nats-server a certificate (`tls {}` in its configuration); without TLS, \
                 nats:// reaches servers of this host alone"
                    .to_owned()
            }
            other => format!(
                "TLS with the NATS servers failed: {other}; they have to speak TLS 1.3, of nats-server 2.9 or newer"
            ),
        };
    }
    match error.kind() {
        ConnectErrorKind::AuthorizationViolation => {
            format!(
                "{error}: give the file of the credentials (--nats-credentials, head_nats_credentials)"
            )
        }
        ConnectErrorKind::Tls => {
            let error = error.to_string().replace('\n', "; ");
            format!(
                "{error}: a name in the URL is none that a certificate can have, or this system's authorities cannot be read"
            )
        }
        _ => error.to_string(),
    }
}

/// The error of TLS that is the cause of `error`.
fn tls_error<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a rustls::Error> {
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

/// The servers' certificate was refused.
fn of_servers(wrong: &CertificateError, access: &Access) -> String {
    let ca = match &access.ca {
        Some(ca) => ca.display().to_string(),
        None => "this system's authorities".to_owned(),
    };
    match wrong {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => format!(
            "the certificate of the NATS servers is of no authority in {ca}: name the file of theirs (--nats-ca, head_nats_ca)"
        ),
        CertificateError::ExpiredContext { not_after, .. } => format!(
            "the certificate of the NATS servers expired at {}: renew it there, or set this host's clock",
            date(*not_after)
        ),
        CertificateError::NotValidYetContext { not_before, .. } => format!(
            "the certificate of the NATS servers is valid from {} on: set this host's clock, or wait",
            date(*not_before)
        ),
        CertificateError::NotValidForNameContext { presented, .. } => format!(
            "the certificate of the NATS servers is for {} and not for the names in {}: use a name that it has, or have it issued for these too",
            match presented.is_empty() {
                true => "no name".to_owned(),
                false => presented.join(", "),
            },
            access.url
        ),
        other => format!(
            "the certificate of the NATS servers cannot be accepted: {other}; {ca} has the authorities (--nats-ca, head_nats_ca)"
        ),
    }
}

/// The servers refused.
fn alerted(alert: AlertDescription, access: &Access) -> String {
    let cause = match alert {
        // nats-server 2.9 sends bad_certificate whatever the cause is.
        _ if is_of_certificate(alert) && access.identity.is_none() => {
            "want a certificate of this client".to_owned()
        }
        _ if is_of_certificate(alert)
            && let Some(end) = own_expiry(access)
            && end < jiff::Timestamp::now() =>
        {
            format!("refuse this client's certificate, which expired at {end}")
        }
        AlertDescription::ProtocolVersion => {
            return "the NATS servers do not speak TLS 1.3: allow it there (`min_version` in `tls {}`)".to_owned();
        }
        AlertDescription::UnknownCA => {
            "do not know the authority of this client's certificate".to_owned()
        }
        AlertDescription::CertificateRevoked => {
            "say that this client's certificate is revoked".to_owned()
        }
        other if is_of_certificate(other) => "refuse this client's certificate".to_owned(),
        other => return format!("the NATS servers ended TLS: {other:?}; their log says why"),
    };
    format!("the NATS servers {cause}: {}", access.certificate_remedy())
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
fn own_expiry(access: &Access) -> Option<jiff::Timestamp> {
    let (certificate, _) = access.identity.as_ref()?;
    gtrace_tls::expiry(&CertificateDer::from_pem_file(certificate).ok()?)
}

fn date(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    let time = jiff::Timestamp::from_second(seconds).unwrap_or(jiff::Timestamp::MAX);
    time.to_string()
}
