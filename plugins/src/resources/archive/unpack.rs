//! Writing what an archive holds.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::Path;

use super::{ArchiveFault, ArchiveLimits, Item, Summary, walk};

/// Mode of folders.
const FOLDER_MODE: u32 = 0o755;
/// What everybody may do with a file; whether it is a program, the archive says.
const FILE_MODE: u32 = 0o444;
/// Bits of a mode that say that a file is a program.
const PROGRAM: u32 = 0o111;

/// Unpacks an archive into `folder`, which is there and empty. Files belong to whoever unpacks, can be read by all, and are
/// programs if the archive says so; nothing else of their modes is taken over.
///
/// # Errors
/// What is wrong with it, or with the disk; then some of it may be there.
pub fn unpack(archive: impl Read, folder: &Path, limits: &ArchiveLimits) -> Result<Summary, ArchiveFault> {
    walk(archive, limits, &mut |path, item| write(&folder.join(path), folder, item))
}

fn write(path: &Path, root: &Path, item: Item<'_>) -> io::Result<()> {
    if let Item::Folder = item {
        return make_folders(path);
    }
    path.parent().map_or(Ok(()), make_folders)?;
    match item {
        Item::Folder => Ok(()),
        Item::Link(aim) => symlink(aim, path),
        Item::SameAs(file) => fs::hard_link(root.join(file), path),
        Item::File { mode, content } => {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
            io::copy(content, &mut file)?;
            file.set_permissions(Permissions::from_mode(FILE_MODE | (mode & PROGRAM)))
        }
    }
}

fn make_folders(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)?;
    fs::set_permissions(path, Permissions::from_mode(FOLDER_MODE))
}
