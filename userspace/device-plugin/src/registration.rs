//! The life of the plugin's socket: the kubelet removes it when it starts, and learns of it by a registration.

use std::convert::Infallible;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use gtrace_grpc::device_plugin::{Empty, KUBELET, REGISTER, RegisterRequest, VERSION};
use gtrace_grpc::server::{self, Service};
use gtrace_grpc::{CallError, call_async};
use tokio::net::UnixListener;
use tokio::sync::watch;

use crate::PluginError;
use crate::answers::IMPLEMENTED;

/// The kubelet has to answer within this time.
const DEADLINE: Duration = Duration::from_secs(10);
/// Pauses between attempts to register.
const PAUSES: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(10)];
/// Time between two looks at the sockets.
const LOOK: Duration = Duration::from_secs(1);
/// A kubelet that has watched the devices and does not for so long has forgotten the plugin.
const FORGOTTEN: Duration = Duration::from_secs(3);

/// A socket that is removed in the end.
pub(crate) struct Socket(pub(crate) PathBuf);

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Serves on `own` and registers it, anew whenever the kubelet starts again or watches `devices` no longer. `watched`: set by
/// the service when it does.
pub(crate) async fn offer(
    folder: &Path,
    own: &Path,
    resource: &str,
    service: Arc<dyn Service>,
    devices: &watch::Sender<Bytes>,
    watched: &AtomicBool,
) -> Result<Infallible, PluginError> {
    let failed = |cause| PluginError::Socket {
        path: own.to_owned(),
        cause,
    };
    let kubelet = folder.join(KUBELET);
    // The service has one receiver; each call of ListAndWatch has one while it is open.
    let is_forgotten = || watched.load(Ordering::Acquire) && devices.receiver_count() <= 1;
    loop {
        watched.store(false, Ordering::Release);
        let listener = bind(own).map_err(failed)?;
        let Some(mine) = identity(own) else {
            // A kubelet that starts has removed it already.
            tokio::time::sleep(PAUSES[0]).await;
            continue;
        };
        let until_gone = async {
            let theirs = register(&kubelet, own, resource).await?;
            tracing::info!("the kubelet has registered {resource}");
            let mut alone: Option<Instant> = None;
            while identity(own) == Some(mine) && identity(&kubelet) == theirs {
                match is_forgotten() {
                    false => alone = None,
                    true if alone.get_or_insert_with(Instant::now).elapsed() >= FORGOTTEN => break,
                    true => {}
                }
                tokio::time::sleep(LOOK).await;
            }
            tracing::info!(
                "the kubelet starts again, or watches no longer: {resource} is registered anew"
            );
            Ok(())
        };
        tokio::select! {
            served = server::serve(listener, Arc::clone(&service)) => {
                served.map_err(failed)?;
            }
            gone = until_gone => gone?,
        }
    }
}

/// A new socket at `path`, for this user alone.
fn bind(path: &Path) -> io::Result<UnixListener> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(path)?;
    match fs::set_permissions(path, fs::Permissions::from_mode(0o600)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        // It may have been removed already, which is seen later.
        _ => Ok(listener),
    }
}

/// Which file a path leads to.
fn identity(path: &Path) -> Option<(u64, u64, i64)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino(), metadata.ctime_nsec()))
}

/// Registers once the kubelet is there. Answers with which socket that was.
async fn register(
    kubelet: &Path,
    own: &Path,
    resource: &str,
) -> Result<Option<(u64, u64, i64)>, PluginError> {
    let request = RegisterRequest {
        version: VERSION.to_owned(),
        endpoint: own
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default(),
        resource_name: resource.to_owned(),
        options: Some(IMPLEMENTED),
    };
    let [mut pause, longest] = PAUSES;
    let mut reported = String::new();
    loop {
        let theirs = identity(kubelet);
        match call_async::<_, Empty>(kubelet, REGISTER, &request, DEADLINE).await {
            Ok(Empty {}) => return Ok(theirs),
            Err(cause @ CallError::Refused { .. }) => {
                return Err(PluginError::Refused {
                    resource: resource.to_owned(),
                    cause,
                });
            }
            Err(error) => {
                let error = error.to_string();
                if error != reported {
                    tracing::warn!("the kubelet is not there yet: {error}");
                    reported = error;
                }
            }
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(longest);
    }
}
