//! Says whether the web interface is built and the book is printed, and has the program built anew when they change.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // What is not there yet is looked for where it will be: a folder that gets an entry has changed.
    let built = Path::new("web/dist/index.html").exists();
    println!("cargo:rerun-if-changed={}", if built { "web/dist" } else { "web" });
    println!("cargo:rustc-env=COOPERAGE_WEB={}", if built { "built" } else { "left out" });
    // This folder is always there, since git keeps it.
    println!("cargo:rerun-if-changed=docs/dist");
    let printed = Path::new("docs/dist/introduction.html.gz").exists();
    println!("cargo:rustc-env=COOPERAGE_BOOK={}", if printed { "printed" } else { "left out" });
}
