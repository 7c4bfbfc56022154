//! Provider `local` with real machines. Needs root, overlay mounts and `systemd-nspawn`; says so and skips where they are not.

mod crash;
mod lab;
mod life;
mod many;
mod refusals;
