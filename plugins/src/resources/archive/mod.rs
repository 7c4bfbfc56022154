//! Archives (gzip'ed tar) that strangers made: looked through before they are taken, and unpacked so that nothing leaves its
//! folder and nothing grows without end.
//!
//! Refused are absolute paths and `..`; links that lead out of the folder, or through another link; everything that is
//! neither file, folder nor link; two entries of one path; more entries, more bytes, longer or deeper paths than allowed;
//! and what is packed so tightly that only a bomb is.

mod bounded;
mod paths;
mod unpack;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tar::{Archive, Entry, EntryType, Header, PaxExtensions};

pub use unpack::unpack;

use bounded::{Bounded, Excess};
use paths::{PathKind, Paths, relative};

/// Longest record of names that may come before an entry, in bytes.
const MAX_EXTENSION: u64 = 64 * 1024;

/// How much an archive may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArchiveLimits {
    /// Bytes, unpacked.
    pub bytes: u64,
    /// Files, folders and links, folders that are only implied included.
    pub entries: u64,
}

impl Default for ArchiveLimits {
    fn default() -> Self {
        Self { bytes: 4 << 30, entries: 100_000 }
    }
}

/// What is wrong with an archive, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{fault}; {remedy}", entry.as_ref().map(|entry| format!("entry {entry:?} ")).unwrap_or_default())]
pub struct ArchiveFault {
    /// The entry at fault, as it calls itself; `None`: the archive as a whole.
    pub entry: Option<String>,
    /// What is wrong; continues the sentence "entry ENTRY ...".
    pub fault: String,
    /// What to do.
    pub remedy: String,
}

impl ArchiveFault {
    fn whole(fault: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { entry: None, fault: fault.into(), remedy: remedy.into() }
    }

    fn entry(entry: &[u8], fault: impl Into<String>, remedy: impl Into<String>) -> Self {
        let entry: String = String::from_utf8_lossy(entry).chars().take(200).collect();
        Self { entry: Some(entry), ..Self::whole(fault, remedy) }
    }
}

/// What an archive holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Files, folders and links, folders that are only implied included.
    pub entries: u64,
    /// Bytes of all files.
    pub bytes: u64,
}

/// Looks an archive through to its end, and writes nothing.
///
/// # Errors
/// What is wrong with it.
pub fn check(archive: impl Read, limits: &ArchiveLimits) -> Result<Summary, ArchiveFault> {
    walk(archive, limits, &mut |_: &Path, item: Item<'_>| match item {
        Item::File { content, .. } => io::copy(content, &mut io::sink()).map(drop),
        _ => Ok(()),
    })
}

/// One thing in an archive. Its path, and that of a link, was found to be good.
enum Item<'a> {
    Folder,
    File {
        mode: u32,
        content: &'a mut dyn Read,
    },
    /// A link, and what stands in it.
    Link(&'a Path),
    /// Another name for a file that came before.
    SameAs(&'a Path),
}

/// What the records before an entry say of it.
#[derive(Default)]
struct Extension {
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
}

fn walk(
    archive: impl Read,
    limits: &ArchiveLimits,
    take: &mut dyn FnMut(&Path, Item<'_>) -> io::Result<()>,
) -> Result<Summary, ArchiveFault> {
    let mut archive = Archive::new(Bounded::new(archive, limits.bytes));
    let mut paths = Paths::new(limits.entries);
    let mut extension = Extension::default();
    let mut bytes = 0;
    let entries = archive.entries().map_err(|fault| unreadable(&fault))?;
    // Raw, since names of any length would be read into memory otherwise.
    for entry in entries.raw(true) {
        let mut entry = entry.map_err(|fault| unreadable(&fault))?;
        if !extend(&mut extension, &mut entry)? {
            bytes += one(&mut paths, &std::mem::take(&mut extension), &mut entry, take)?;
        }
    }
    // To the end, where gzip's own checksum stands.
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(|fault| unreadable(&fault))?;
    Ok(Summary { entries: paths.count(), bytes })
}

/// Reads what is no entry but says something of the next one; gives whether it was that.
fn extend<R: Read>(extension: &mut Extension, entry: &mut Entry<'_, R>) -> Result<bool, ArchiveFault> {
    let kind = entry.header().entry_type();
    let known =
        [EntryType::GNULongName, EntryType::GNULongLink, EntryType::XHeader, EntryType::XGlobalHeader];
    if !known.contains(&kind) {
        return Ok(false);
    }
    if entry.size() > MAX_EXTENSION {
        let fault = format!("has a record of {} bytes before it, {MAX_EXTENSION} are allowed", entry.size());
        return Err(ArchiveFault::entry(&entry.path_bytes(), fault, "pack it with plain `tar -czf`"));
    }
    let mut record = Vec::new();
    entry.read_to_end(&mut record).map_err(|fault| unreadable(&fault))?;
    match kind {
        EntryType::GNULongName => extension.path = Some(without_nul(&record)),
        EntryType::GNULongLink => extension.link = Some(without_nul(&record)),
        EntryType::XHeader => {
            for pair in PaxExtensions::new(&record) {
                let pair = pair.map_err(|fault| unreadable(&fault))?;
                match pair.key_bytes() {
                    b"path" => extension.path = Some(pair.value_bytes().to_vec()),
                    b"linkpath" => extension.link = Some(pair.value_bytes().to_vec()),
                    key if key == b"size" || key.starts_with(b"GNU.sparse") => return Err(sparse(entry)),
                    _ => {}
                }
            }
        }
        _ => {}
    }
    Ok(true)
}

fn sparse<R: Read>(entry: &Entry<'_, R>) -> ArchiveFault {
    let remedy = "pack it with plain `tar -czf`, without --sparse";
    ArchiveFault::entry(&entry.path_bytes(), "is before a sparse file, or one of more than 8 GiB", remedy)
}

fn without_nul(record: &[u8]) -> Vec<u8> {
    record.split(|byte| *byte == 0).next().unwrap_or_default().to_vec()
}

/// One entry; gives its bytes.
fn one<R: Read>(
    paths: &mut Paths,
    extension: &Extension,
    entry: &mut Entry<'_, R>,
    take: &mut dyn FnMut(&Path, Item<'_>) -> io::Result<()>,
) -> Result<u64, ArchiveFault> {
    let name = extension.path.clone().unwrap_or_else(|| entry.path_bytes().into_owned());
    let refuse = |fault: String, remedy: &str| ArchiveFault::entry(&name, fault, remedy);
    let path = relative(&name)
        .map_err(|fault| refuse(fault, "pack it from within its folder: tar -C FOLDER -czf"))?;
    let header = entry.header().clone();
    let kind = path_kind(&header, &path).ok_or_else(|| {
        refuse("is neither file, folder nor link".to_owned(), "leave devices, pipes and sockets out")
    })?;
    let link = extension.link.clone().or_else(|| entry.link_name_bytes().map(Vec::from)).unwrap_or_default();
    let aim = paths.add(&path, kind, &link).map_err(|fault| refuse(fault, "leave it out, or correct it"))?;
    let size = if kind == PathKind::File { entry.size() } else { 0 };
    let mut content = Counted { inner: entry, read: 0 };
    let item = match kind {
        PathKind::Folder => Item::Folder,
        PathKind::Link => Item::Link(&aim),
        PathKind::SameAs => Item::SameAs(&aim),
        PathKind::File => Item::File { mode: header.mode().unwrap_or(0o644), content: &mut content },
    };
    take(&path, item).map_err(|fault| unreadable(&fault))?;
    if content.read != size {
        return Err(refuse("breaks off".to_owned(), "pack it again"));
    }
    Ok(size)
}

/// What an entry is; `None` for what nobody needs in an archive.
fn path_kind(header: &Header, path: &Path) -> Option<PathKind> {
    match header.entry_type() {
        EntryType::Directory => Some(PathKind::Folder),
        // Only a folder is the root itself.
        _ if path == PathBuf::new() => None,
        EntryType::Regular | EntryType::Continuous => Some(PathKind::File),
        EntryType::Symlink => Some(PathKind::Link),
        EntryType::Link => Some(PathKind::SameAs),
        _ => None,
    }
}

struct Counted<'a, R> {
    inner: &'a mut R,
    read: u64,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.read += read as u64;
        Ok(read)
    }
}

/// Why reading broke off: it became too much, or it is no archive.
fn unreadable(fault: &io::Error) -> ArchiveFault {
    // `tar` puts words of its own around our faults.
    let mut cause: Option<&(dyn std::error::Error + 'static)> = fault.get_ref().map(|cause| cause as _);
    while let Some(found) = cause {
        if let Some(excess) = found.downcast_ref::<Excess>() {
            return ArchiveFault::whole(
                excess.to_string(),
                "leave out what is not needed, or allow more (resources.max_unpacked_mb)",
            );
        }
        let inner =
            found.downcast_ref::<io::Error>().and_then(|inner| inner.get_ref()).map(|cause| cause as _);
        cause = inner.or_else(|| found.source());
    }
    if fault.raw_os_error().is_some() {
        return ArchiveFault::whole(
            format!("the archive cannot be unpacked: {fault}"),
            "make room on the disk",
        );
    }
    ArchiveFault::whole(format!("the archive is no readable gzip'ed tar: {fault}"), "pack it with `tar -czf`")
}

#[cfg(test)]
mod tests;
