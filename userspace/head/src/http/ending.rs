//! The end of the head.

use tokio::sync::watch;

/// Waits for the end, or for the one who would order it to be gone.
pub(super) async fn over(ended: &mut watch::Receiver<bool>) {
    drop(ended.wait_for(|end| *end).await);
}
