//! Work that may block, on a thread for such work.

use actix_rt::task::JoinHandle;

/// Does work that waits for the database or the disk, where it delays no actor.
pub(crate) fn spawn<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    #[cfg(feature = "simulation")]
    if is_inline() {
        return actix_rt::spawn(async { work() });
    }
    actix_rt::task::spawn_blocking(work)
}

#[cfg(feature = "simulation")]
pub use simulated::block_inline;
#[cfg(feature = "simulation")]
pub(crate) use simulated::is_inline;

#[cfg(feature = "simulation")]
mod simulated {
    use std::cell::Cell;

    thread_local! {
        static INLINE: Cell<bool> = const { Cell::new(false) };
    }

    /// From now on such work is done in this thread itself, so that its order is the same in every run. For simulations,
    /// in which nothing is delayed: time stands still meanwhile.
    pub fn block_inline() {
        INLINE.set(true);
    }

    pub(crate) fn is_inline() -> bool {
        INLINE.get()
    }
}
