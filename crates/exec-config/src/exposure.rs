//! What no command may see: where the user's configuration lies, and where it is remembered what is trusted. Whoever writes
//! there decides about the next run (A38).

use std::path::{Path, PathBuf};

use exec_core::{Access, Error, MountSpec, Result};

use crate::config::Config;
use crate::fault::invalid;
use crate::places::Homes;
use crate::surroundings::Surroundings;

impl Config {
    /// Refuses to show a directory that holds one of these or lies in one, and to make a configuration that counts writable
    /// at a second place.
    pub fn refuse_exposure(
        &self,
        host: &impl Surroundings,
        workspace: &Path,
        mounts: &[MountSpec],
    ) -> Result<()> {
        let shown = [workspace].into_iter().chain(mounts.iter().map(|mount| mount.source.as_path()));
        refuse_own(host, self.homes(), shown)?;
        for mount in mounts.iter().filter(|mount| mount.access == Access::ReadWrite) {
            let source = real(host, &mount.source);
            if let Some(file) = self.files().iter().find(|file| file.starts_with(&source)) {
                return Err(refusal(
                    &mount.source,
                    &format!("let the command write the configuration `{}`", file.display()),
                ));
            }
        }
        Ok(())
    }
}

fn refuse_own<'a>(
    host: &impl Surroundings,
    homes: &Homes,
    shown: impl IntoIterator<Item = &'a Path>,
) -> Result<()> {
    let own: Vec<PathBuf> =
        [&homes.config, &homes.state].into_iter().flatten().map(|path| real(host, path)).collect();
    for path in shown {
        let place = real(host, path);
        if let Some(own) = own.iter().find(|own| own.starts_with(&place) || place.starts_with(own)) {
            return Err(refusal(
                path,
                &format!("show the command agentctl's own files in `{}`", own.display()),
            ));
        }
    }
    Ok(())
}

fn refusal(path: &Path, what: &str) -> Error {
    invalid(format!("`{}` is refused: it would {what}", path.display()))
        .with_remedy("name another directory, or pass --allow-dangerous-mounts if you mean it")
}

/// Without links as far as there is anything: what is not there yet could be made inside.
fn real(host: &impl Surroundings, path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|above| Some((above, host.canonical(above).ok()?)));
    match found {
        Some((above, real)) => path.strip_prefix(above).map_or(real.clone(), |rest| join(&real, rest)),
        None => path.to_owned(),
    }
}

/// An empty rest would leave a slash at the end.
fn join(path: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { path.to_owned() } else { path.join(rest) }
}

#[cfg(all(test, unix))]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::surroundings::Here;

    /// A38
    #[rstest]
    #[case("home/.config", true)]
    #[case("home/.config/agentctl", true)]
    #[case("home/.local", true)]
    #[case("home/.local/state/agentctl/x", true)]
    #[case("link", true)]
    #[case("home/project", false)]
    #[case("home/.config/other", false)]
    fn own_files_stay_outside(#[case] shown: &str, #[case] refused: bool) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        std::fs::create_dir_all(root.join("home/.local")).unwrap();
        std::os::unix::fs::symlink(root.join("home/.local"), root.join("link")).unwrap();
        let homes = Homes {
            home: Some(root.join("home")),
            config: Some(root.join("home/.config/agentctl")),
            state: Some(root.join("home/.local/state/agentctl")),
        };
        let outcome = refuse_own(&Here, &homes, [root.join(shown).as_path()]);
        assert_eq!(outcome.is_err(), refused);
    }
}
