//! The shipped catalog, carried in the program itself.

use std::path::PathBuf;

use rust_embed::RustEmbed;

use crate::cli::failure::Failure;
use crate::documents::{Bundle, SourceFile, read_sources};

#[derive(RustEmbed)]
#[folder = "etc/catalog"]
struct Catalog;

/// Everything in the catalog.
///
/// # Errors
/// When it has a fault; a test keeps it without.
pub(super) fn read() -> Result<Bundle, Failure> {
    let sources = Catalog::iter().filter(|path| SourceFile::is_wanted(path.as_ref().as_ref()));
    let sources = sources.filter_map(|path| {
        let content = Catalog::get(&path)?.data.into_owned();
        Some(SourceFile { path: PathBuf::from("etc/catalog").join(path.as_ref()), content })
    });
    Ok(read_sources(sources.collect())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_carries_the_web_template_with_its_scripts() {
        let bundle = read().unwrap();
        assert!(bundle.documents.iter().any(|document| document.name() == "web"));
        assert!(bundle.resources.iter().any(|resource| resource.to_string() == "shell/scripts/nginx.sh"));
    }
}
