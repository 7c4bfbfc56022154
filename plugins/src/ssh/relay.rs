//! A relay on loopback between an SSH library that cannot be stopped and a machine.

use std::io::{Error, ErrorKind, Result};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};

use futures::task::AtomicWaker;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

/// What is read at once.
const READ_SIZE: usize = 32 * 1024;

/// Passes one connection on, until it is cut or dropped.
pub(super) struct Relay {
    port: u16,
    passed: Arc<Passed>,
    task: AbortHandle,
}

impl Relay {
    /// Waits on a port of its own for the one connection that it passes on to `node`.
    pub(super) async fn to(node: TcpStream) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let passed = Arc::<Passed>::default();
        let ended = Ended(Arc::clone(&passed));
        let task = tokio::spawn(async move {
            let Ok((near, _)) = listener.accept().await else { return };
            drop(listener);
            let _ = near.set_nodelay(true);
            let (mut near_read, mut near_write) = near.into_split();
            let (mut far_read, mut far_write) = node.into_split();
            // Either side's end is the end of both: SSH has no use for half a connection.
            tokio::select! {
                () = pass(&mut near_read, &mut far_write, Some(&ended.0)) => {}
                () = pass(&mut far_read, &mut near_write, None) => {}
            }
            // Marked before the library sees it: it asks then whether the machine said no, or nothing at all.
            drop(ended);
        });
        Ok(Self { port, passed, task: task.abort_handle() })
    }

    /// Where the library is to connect, on 127.0.0.1.
    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    /// How much went towards the node.
    pub(super) fn passed(&self) -> Arc<Passed> {
        Arc::clone(&self.passed)
    }

    /// Whether both sides are still connected, or still to be.
    pub(super) fn is_alive(&self) -> bool {
        !self.passed.ended.load(Ordering::Acquire)
    }

    /// Ends the connection at once.
    pub(super) fn cut(&self) {
        self.task.abort();
        self.passed.end();
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.cut();
    }
}

/// Marks the end however the relay's task ends.
struct Ended(Arc<Passed>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Passes bytes on until either side fails or ends, and counts them.
async fn pass(from: &mut OwnedReadHalf, to: &mut OwnedWriteHalf, passed: Option<&Passed>) {
    let mut bytes = vec![0; READ_SIZE];
    while let Ok(length @ 1..) = from.read(&mut bytes).await {
        if to.write_all(&bytes[..length]).await.is_err() {
            return;
        }
        if let Some(passed) = passed {
            passed.add(length as u64);
        }
    }
}

/// A count of bytes that one writer can wait for.
#[derive(Default)]
pub(super) struct Passed {
    count: AtomicU64,
    ended: AtomicBool,
    waker: AtomicWaker,
}

impl Passed {
    /// Bytes so far.
    pub(super) fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// Ready when `count` bytes have passed; fails when no more will.
    pub(super) fn poll_reached(&self, count: u64, cx: &mut Context<'_>) -> Poll<Result<()>> {
        self.waker.register(cx.waker());
        if self.ended.load(Ordering::Acquire) {
            return Poll::Ready(Err(Error::from(ErrorKind::BrokenPipe)));
        }
        if self.count() >= count { Poll::Ready(Ok(())) } else { Poll::Pending }
    }

    fn add(&self, length: u64) {
        self.count.fetch_add(length, Ordering::AcqRel);
        self.waker.wake();
    }

    fn end(&self) {
        self.ended.store(true, Ordering::Release);
        self.waker.wake();
    }
}
