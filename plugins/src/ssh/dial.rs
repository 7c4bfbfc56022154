//! The TCP connection below SSH, and limits of time.

use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;

use super::error::SshError;

/// Silence after which the peer's system is asked whether it is still there.
const KEEPALIVE_AFTER: Duration = Duration::from_secs(15);
/// Time between such questions.
const KEEPALIVE_EVERY: Duration = Duration::from_secs(5);
/// A peer whose system has acknowledged nothing for so long is given up.
const DEAD_AFTER: Duration = Duration::from_secs(30);

/// Work on a machine that may take so long; `what` names it for people.
///
/// # Errors
/// Those of the work; [`SshError::TimedOut`] when it took longer, and was dropped.
pub(super) async fn within<T>(
    limit: Duration,
    address: &str,
    what: &str,
    work: impl Future<Output = Result<T, SshError>>,
) -> Result<T, SshError> {
    let late = |_| SshError::TimedOut { address: address.to_owned(), what: what.to_owned(), limit };
    tokio::time::timeout(limit, work).await.map_err(late)?
}

/// Connects. Small packets are sent at once, and a peer that vanishes is noticed within a minute. Sets no limit of its own.
///
/// # Errors
/// When the machine refuses or cannot be reached.
pub(super) async fn dial(host: &str, port: u16) -> Result<TcpStream, SshError> {
    let fail = |error: std::io::Error| SshError::from_dial(&format!("{host}:{port}"), &error);
    let stream = TcpStream::connect((host, port)).await.map_err(fail)?;
    stream.set_nodelay(true).map_err(fail)?;
    let socket = SockRef::from(&stream);
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE_AFTER).with_interval(KEEPALIVE_EVERY);
    socket.set_tcp_keepalive(&keepalive).map_err(fail)?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(DEAD_AFTER)).map_err(fail)?;
    Ok(stream)
}
