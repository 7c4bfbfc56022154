//! A folder for one run: its home, and its resources in its working directory.
//!
//! ```text
//!   /tmp/cooperage-plugin-X        for the run's user alone; gone after the run
//!     home                         HOME and TMPDIR
//!     work                         the working directory, and in it KIND/NAME: the plugin's resources in use
//!   RUNS/cooperage-plugin-X        the record: where the folder is, so that a killed server's are found
//! ```

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use cooperage_domain::entity::{PluginType, ResourceFormat, ResourceType};
use tempfile::TempDir;

use super::account::Account;
use super::process::GRACE;
use super::strays;
use crate::resources::archive::unpack;
use crate::resources::{ArchiveLimits, PluginResources, ResourceKey, Side};

/// How the names of these folders begin.
const PREFIX: &str = "cooperage-plugin-";
/// Where an archive is unpacked before it has its place.
const UNPACKED: &str = ".unpacked";
/// Mode of a file whose type says nothing of it.
const FILE_MODE: u32 = 0o444;
/// Bits of a mode that let somebody write.
const WRITE: u32 = 0o222;

/// A folder for one run, removed with its record when dropped.
pub(super) struct Workspace {
    folder: TempDir,
    record: PathBuf,
}

impl Drop for Workspace {
    fn drop(&mut self) {
        // What a plugin made unreadable for itself, root can remove; the rest is swept at the next start.
        if fs::remove_dir_all(self.folder.path()).is_ok() {
            let _ = fs::remove_file(&self.record);
        }
    }
}

impl Workspace {
    /// A fresh one with its record in `runs`, for us alone: nobody can change anything below it while it is furnished.
    pub(super) fn make(runs: &Path) -> io::Result<Self> {
        fs::create_dir_all(runs)?;
        let private = Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix(PREFIX).permissions(private).tempdir()?;
        let record = runs.join(folder.path().file_name().unwrap_or_default());
        fs::write(&record, folder.path().as_os_str().as_encoded_bytes())?;
        let made = Self { folder, record };
        for path in [made.home(), made.work()] {
            fs::create_dir(&path)?;
            fs::set_permissions(&path, Permissions::from_mode(0o700))?;
        }
        Ok(made)
    }

    /// Gives it to the run's user. After that nothing may be written to it but by the run.
    pub(super) fn hand_over(&self, account: &Account) -> io::Result<()> {
        // The outermost last: it is the door.
        [self.home(), self.work(), self.folder.path().to_owned()]
            .iter()
            .try_for_each(|path| account.own(path))
    }

    pub(super) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The working directory.
    pub(super) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// A copy of a file that only the run's user may read, in its home.
    pub(super) fn lend(&self, file: &Path, account: Option<&Account>) -> io::Result<PathBuf> {
        let copy = self.home().join(file.file_name().unwrap_or_default());
        let mut to = OpenOptions::new().write(true).create_new(true).mode(0o400).open(&copy)?;
        to.write_all(&fs::read(file)?)?;
        account.map_or(Ok(()), |account| account.own(&copy))?;
        Ok(copy)
    }

    /// Puts the resources of a plugin that are in use into the working directory, with the modes their types ask for, but
    /// for nobody to write. Those that not everybody may read belong to the run's user.
    pub(super) fn furnish(&self, of: &Furniture<'_>, account: Option<&Account>) -> Result<(), String> {
        let plugin = &of.plugin_type.base.name;
        let keys = of.resources.in_use(of.tenant, of.side, plugin).map_err(|fault| fault.to_string())?;
        for key in keys {
            let Some(kind) = of.plugin_type.resource_types.get(&key.kind) else { continue };
            let bytes = of.resources.open_active(&key).map_err(|fault| fault.to_string())?;
            let placed = self.place(&key, kind, bytes, account, &of.limits);
            placed.map_err(|fault| format!("resource {key} cannot be used: {fault}"))?;
        }
        Ok(())
    }

    fn place(
        &self,
        key: &ResourceKey,
        kind: &ResourceType,
        mut bytes: File,
        account: Option<&Account>,
        limits: &ArchiveLimits,
    ) -> Result<(), String> {
        let folder = self.work().join(&key.kind);
        let place = folder.join(&key.name);
        let text = |fault: io::Error| fault.to_string();
        make_folder(&folder).map_err(text)?;
        match kind.format {
            ResourceFormat::File => {
                let mode = kind.permissions.as_deref().and_then(|digits| u32::from_str_radix(digits, 8).ok());
                let mode = mode.unwrap_or(FILE_MODE) & !WRITE & 0o777;
                write(&mut bytes, &place, mode, account).map_err(text)
            }
            ResourceFormat::Archive => {
                let unpacked = folder.join(UNPACKED);
                make_folder(&unpacked).map_err(text)?;
                unpack(bytes, &unpacked, limits).map_err(|fault| fault.to_string())?;
                settle(&unpacked, &key.name, &place).map_err(text)
            }
        }
    }
}

/// Which resources a run gets.
pub(super) struct Furniture<'a> {
    pub(super) resources: &'a PluginResources,
    pub(super) tenant: &'a str,
    pub(super) side: Side,
    pub(super) plugin_type: &'a PluginType,
    pub(super) limits: ArchiveLimits,
}

fn make_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o755))
}

fn write(bytes: &mut File, place: &Path, mode: u32, account: Option<&Account>) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(place)?;
    io::copy(bytes, &mut file)?;
    file.set_permissions(Permissions::from_mode(mode))?;
    match account {
        Some(account) if mode & 0o004 == 0 => account.own(place),
        _ => Ok(()),
    }
}

/// Coopr's archives hold one folder called like the resource; others are the folder's content.
fn settle(unpacked: &Path, name: &str, place: &Path) -> io::Result<()> {
    let inner = unpacked.join(name);
    let only = fs::read_dir(unpacked)?.count() == 1;
    if only && inner.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        fs::rename(&inner, place)?;
        return fs::remove_dir(unpacked);
    }
    fs::rename(unpacked, place)
}

/// What was found of runs of an earlier server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Swept {
    /// Runs that nothing is left of now.
    pub runs: usize,
    /// Folders that cannot be removed; they are tried again next time.
    pub left: Vec<PathBuf>,
}

/// Ends what a server that was killed left running, and removes its folders. Only call it before the first run. Waits.
///
/// # Errors
/// When the records cannot be read or removed.
pub fn sweep(runs: &Path) -> io::Result<Swept> {
    let mut swept = Swept::default();
    let entries = match fs::read_dir(runs) {
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(swept),
        entries => entries?,
    };
    for entry in entries {
        let record = entry?.path();
        let folder = PathBuf::from(String::from_utf8_lossy(&fs::read(&record)?).into_owned());
        let is_ours = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
        if is_ours && folder.is_absolute() {
            strays::end(&folder.join("home"), GRACE);
            match fs::remove_dir_all(&folder) {
                Err(fault) if fault.kind() != io::ErrorKind::NotFound => {
                    swept.left.push(folder);
                    continue;
                }
                _ => swept.runs += 1,
            }
        }
        fs::remove_file(&record)?;
    }
    Ok(swept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_with_its_run_and_with_the_next_start_after_a_crash() {
        let runs = tempfile::tempdir().unwrap();
        let made = Workspace::make(runs.path()).unwrap();
        let folder = made.folder.path().to_owned();
        drop(made);
        assert!(!folder.exists() && fs::read_dir(runs.path()).unwrap().count() == 0);
        let made = Workspace::make(runs.path()).unwrap();
        let folder = made.folder.path().to_owned();
        let mut left =
            std::process::Command::new("sleep").arg("60").env("HOME", made.home()).spawn().unwrap();
        std::mem::forget(made);
        // For a moment after it has begun a process shows no environment.
        while fs::read(format!("/proc/{}/environ", left.id())).unwrap().is_empty() {
            std::thread::yield_now();
        }
        assert_eq!(sweep(runs.path()).unwrap(), Swept { runs: 1, left: Vec::new() });
        assert!(!folder.exists() && !left.wait().unwrap().success());
        assert_eq!(sweep(runs.path()).unwrap(), Swept::default());
        assert_eq!(sweep(&runs.path().join("none")).unwrap(), Swept::default());
    }

    #[test]
    fn it_is_closed_to_the_run_s_user_until_it_is_complete() {
        use std::os::unix::fs::MetadataExt;
        let Some(account) = Account::for_plugins("nobody").unwrap() else { return };
        let runs = tempfile::tempdir().unwrap();
        let made = Workspace::make(runs.path()).unwrap();
        let owner = || {
            (
                made.folder.path().metadata().unwrap().uid(),
                made.folder.path().metadata().unwrap().mode() & 0o777,
            )
        };
        assert_eq!(owner(), (0, 0o700));
        made.hand_over(&account).unwrap();
        assert_eq!(owner(), (account.uid, 0o700));
    }

    #[test]
    fn a_record_that_is_none_removes_nothing() {
        let runs = tempfile::tempdir().unwrap();
        let other = tempfile::tempdir().unwrap();
        fs::write(runs.path().join("x"), other.path().as_os_str().as_encoded_bytes()).unwrap();
        assert_eq!(sweep(runs.path()).unwrap(), Swept::default());
        assert!(other.path().exists());
    }
}
