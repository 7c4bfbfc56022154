//! Says whether the web interface is built, and has the program built anew when it changes.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // What is not there yet is looked for where it will be: a folder that gets an entry has changed.
    let built = Path::new("web/dist/index.html").exists();
    println!("cargo:rerun-if-changed={}", if built { "web/dist" } else { "web" });
    println!("cargo:rustc-env=COOPERAGE_WEB={}", if built { "built" } else { "left out" });
}
