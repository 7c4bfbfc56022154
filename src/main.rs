//! The `cooperage` program.
fn main() {}
