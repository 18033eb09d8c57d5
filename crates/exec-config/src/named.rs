//! The file of `--config`. All of it counts, so inside the workspace it is accepted only if no command can have
//! redirected its path to another file, or can change it under another name.

use std::path::{Component, Path, PathBuf};

use exec_core::{Error, Result};

use crate::fault::invalid;
use crate::surroundings::{HostEnvironment, Links};

/// Which links on the path are allowed.
pub(crate) fn links(host: &impl HostEnvironment, workspace: &Path, path: &Path) -> Result<Links> {
    // A missing path is reported where it is used or read.
    let (Ok(workspace), Ok(real)) = (host.canonical(workspace), host.canonical(path)) else {
        return Ok(Links::Follow);
    };
    // The outermost directory on the path that is in the workspace: everything below may be a command's work.
    let entered = path.ancestors().skip(1).filter_map(|above| {
        let directory = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        let directory = host.canonical(directory).ok().filter(|real| real.starts_with(&workspace))?;
        Some(directory.join(path.strip_prefix(above).unwrap_or(path)))
    });
    match entered.last() {
        Some(inside) if without_detours(&inside) == real => Ok(Links::RefuseHard),
        Some(_) => Err(led_astray(path, &real)),
        None if real.starts_with(&workspace) => Ok(Links::RefuseHard),
        None => Ok(Links::Follow),
    }
}

/// Resolves the path lexically, which is correct if there are no links.
fn without_detours(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

fn led_astray(path: &Path, real: &Path) -> Error {
    invalid(format!(
        "`{}` leads over a symbolic link in the workspace, which a command could have made, to `{}`",
        path.display(),
        real.display()
    ))
    .with_remedy(
        "look at that file; if you mean it, name it without the link, or keep it outside the workspace",
    )
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rstest::rstest;

    use crate::surroundings::Here;
    use crate::{Config, Wanted};

    /// A38
    #[rstest]
    #[case::outside("own.toml", None)]
    #[case::a_link_outside("link.toml", None)]
    #[case::in_the_workspace("w/plain.toml", None)]
    #[case::by_a_detour("w/sub/../plain.toml", None)]
    #[case::a_link_in_it("w/link.toml", Some("symbolic link in the workspace"))]
    #[case::a_linked_directory("w/dir/own.toml", Some("symbolic link in the workspace"))]
    #[case::two_names("w/hard.toml", Some("a second name"))]
    #[case::a_link_into_it("into.toml", Some("it is a symbolic link"))]
    fn no_command_decides_what_is_read(#[case] file: &str, #[case] refusal: Option<&str>) {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("w/sub")).unwrap();
        for name in ["own.toml", "other.toml", "w/plain.toml"] {
            fs::write(at(name), "").unwrap();
        }
        symlink(at("own.toml"), at("link.toml")).unwrap();
        symlink(at("own.toml"), at("w/link.toml")).unwrap();
        symlink(dir.path(), at("w/dir")).unwrap();
        fs::hard_link(at("other.toml"), at("w/hard.toml")).unwrap();
        symlink(at("w/plain.toml"), at("into.toml")).unwrap();
        let wanted = Wanted { workspace: at("w"), file: Some(at(file)), flags: Vec::new() };
        let said = Config::load(&Here::default(), wanted).err().map(|error| error.to_string());
        match (said, refusal) {
            (None, None) => {}
            (Some(said), Some(word)) => assert!(said.contains(word), "{said}"),
            (said, _) => panic!("{said:?}"),
        }
    }
}
