//! The kernel from outside: its rules one by one, whole journals in files, case files, and what holds for every cluster
//! and every sequence of commands.

#[cfg(test)]
mod abort;
#[cfg(test)]
mod check;
#[cfg(test)]
mod create;
#[cfg(test)]
mod delete;
#[cfg(test)]
mod expiry;
#[cfg(test)]
mod failing;
#[cfg(test)]
mod nodes;
#[cfg(test)]
mod order;
#[cfg(test)]
mod retry;
#[cfg(test)]
mod sketch;
#[cfg(test)]
mod stale;
#[cfg(test)]
mod world;
