//! Deliberate bugs, by which the simulation shows that it would find such ones. They are only there in builds with the feature
//! `mutants`, and only one at a time, in the thread that asks for it.

#[cfg(feature = "mutants")]
pub use chosen::{ALL, with};

#[cfg(feature = "mutants")]
pub(crate) use chosen::{counted, is};

/// Whether this bug is chosen: never, in builds for use.
#[cfg(not(feature = "mutants"))]
pub(crate) const fn is(_: &str) -> bool {
    false
}

/// A number that differs from run to run. Nobody asks for it in builds for use.
#[cfg(not(feature = "mutants"))]
pub(crate) const fn counted() -> u64 {
    0
}

#[cfg(feature = "mutants")]
mod chosen {
    use std::cell::Cell;

    /// All bugs there are.
    pub const ALL: [&str; 18] = [
        "starts-before-predecessors",
        "two-tasks-on-a-node",
        "forgets-machines-of-failed-creates",
        "deletes-no-doubtful-machines",
        "takes-any-report",
        "fails-and-never-ends",
        "ends-while-others-run",
        "resumes-nothing",
        "retries-for-ever",
        "never-times-out",
        "quota-one-too-many",
        "starts-while-paused",
        "recreates-without-delete",
        "aborts-without-machines",
        "counts-in-the-process",
        "takes-nothing-up",
        "deletes-under-children",
        "inherits-nothing",
    ];

    thread_local! {
        static CHOSEN: Cell<&'static str> = const { Cell::new("") };
        static COUNT: Cell<u64> = const { Cell::new(0) };
    }

    /// Does something with one of the bugs.
    pub fn with<T>(bug: &'static str, work: impl FnOnce() -> T) -> T {
        CHOSEN.set(bug);
        let done = work();
        CHOSEN.set("");
        done
    }

    pub(crate) fn is(bug: &str) -> bool {
        CHOSEN.get() == bug
    }

    pub(crate) fn counted() -> u64 {
        COUNT.set(COUNT.get() + 1);
        COUNT.get()
    }
}
