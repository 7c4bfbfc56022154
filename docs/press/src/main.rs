//! `cooperage-press SOURCE TARGET`: prints the book whose pages are in SOURCE into the folder TARGET, each file packed (gzip).

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cooperage_press::{Leaf, print};
use flate2::{Compression, write::GzEncoder};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let told = match arguments.as_slice() {
        [source, target] => run(Path::new(source), Path::new(target)),
        _ => Err("usage: cooperage-press SOURCE TARGET".to_owned()),
    };
    let mut out = std::io::stderr();
    let (text, code) = match told {
        Ok(text) => (text, ExitCode::SUCCESS),
        Err(text) => (text, ExitCode::FAILURE),
    };
    // Where nobody reads there is nobody to tell.
    let _ = writeln!(out, "{text}");
    code
}

fn run(source: &Path, target: &Path) -> Result<String, String> {
    let leaves = print(source).map_err(|faults| {
        let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
        lines.join("\n")
    })?;
    write(&leaves, target).map_err(|fault| format!("cannot write to {}: {fault}", target.display()))?;
    Ok(format!("printed {} files", leaves.len()))
}

/// Brings a folder to hold these files and no others. Those that are the same are left alone, so that nothing is built anew
/// for them; hidden ones are git's.
fn write(leaves: &[Leaf], target: &Path) -> std::io::Result<()> {
    let mut kept = BTreeSet::new();
    for leaf in leaves {
        let path = target.join(format!("{}.gz", leaf.path));
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(leaf.content.as_bytes())?;
        let packed = packed.finish()?;
        if std::fs::read(&path).ok().as_ref() != Some(&packed) {
            std::fs::write(&path, packed)?;
        }
        kept.insert(path);
    }
    remove_others(target, &kept)
}

fn remove_others(folder: &Path, kept: &BTreeSet<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if path.is_dir() {
            remove_others(&path, kept)?;
        } else if !is_hidden && !kept.contains(&path) {
            std::fs::remove_file(&path)?;
        }
    }
    Ok(())
}
