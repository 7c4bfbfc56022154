//! A network that misbehaves: a relay between client and server that can be slow, freeze or break.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cooperage_plugins::ssh::Target;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

/// Relays to one server until dropped.
pub struct Proxy {
    pub port: u16,
    connections: Arc<AtomicUsize>,
    cut: Arc<std::sync::Mutex<CancellationToken>>,
    stop: CancellationToken,
}

impl Proxy {
    /// Relays to `target`, in pieces of at most 1 KiB that each take `delay`.
    pub async fn to(target: &Target, delay: Duration) -> Self {
        Self::relaying(target, delay, u64::MAX).await
    }

    /// Relays to `target` until the client said so many bytes, and then breaks the connection.
    pub async fn that_breaks_after(target: &Target, bytes: u64) -> Self {
        Self::relaying(target, Duration::ZERO, bytes).await
    }

    async fn relaying(target: &Target, delay: Duration, bytes: u64) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let proxy = Self {
            port: listener.local_addr().unwrap().port(),
            connections: Arc::default(),
            cut: Arc::default(),
            stop: CancellationToken::new(),
        };
        let (stop, connections, cut) =
            (proxy.stop.clone(), Arc::clone(&proxy.connections), Arc::clone(&proxy.cut));
        let server = target.port;
        tokio::spawn(stop.clone().run_until_cancelled_owned(async move {
            while let Ok((near, _)) = listener.accept().await {
                let far = TcpStream::connect((Ipv4Addr::LOCALHOST, server)).await.unwrap();
                connections.fetch_add(1, Ordering::SeqCst);
                let (near_read, near_write) = near.into_split();
                let (mut far_read, far_write) = far.into_split();
                let cut = cut.lock().unwrap().clone();
                let relay = async move {
                    let there = async {
                        let mut near_read = near_read.take(bytes);
                        pump(&mut near_read, far_write, delay).await;
                        // Both ways break together.
                        if near_read.limit() == 0 { Err(()) } else { Ok(()) }
                    };
                    let back = async {
                        pump(&mut far_read, near_write, delay).await;
                        Ok(())
                    };
                    // That it was broken is what was wanted.
                    let _ = tokio::try_join!(there, back);
                };
                tokio::spawn(stop.clone().run_until_cancelled_owned(cut.run_until_cancelled_owned(relay)));
            }
        }));
        proxy
    }

    /// How many connections went through it.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Breaks all connections; new ones are let through.
    pub fn cut(&self) {
        let mut cut = self.cut.lock().unwrap();
        cut.cancel();
        *cut = CancellationToken::new();
    }

    /// The target behind the relay.
    pub fn target(&self, target: &Target) -> Target {
        Target { port: self.port, ..target.clone() }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn pump(from: &mut (impl AsyncRead + Unpin), mut to: OwnedWriteHalf, delay: Duration) {
    let mut piece = [0; 1024];
    while let Ok(length @ 1..) = from.read(&mut piece).await {
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        if to.write_all(&piece[..length]).await.is_err() {
            return;
        }
    }
}
