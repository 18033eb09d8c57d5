//! Secrets of the host within directories that a cell shows.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use super::Place;

/// Where systems and their administrators put files that only root may read.
const SYSTEM: [&str; 3] = ["/etc", "/opt", "/usr/local"];

/// A directory of the system, removed with the value.
#[derive(Debug)]
struct Configuration(PathBuf);

impl Configuration {
    fn make(parent: &str) -> Self {
        let made = Self(format!("{parent}/agentctl-test-{}", std::process::id()).into());
        write(&made.0, "readable", "world\n", 0o644);
        write(&made.0, "nested/deeper/key", "secret\n", 0o600);
        made
    }
}

impl Drop for Configuration {
    fn drop(&mut self) {
        // A failing test has reported its reason already.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn write(root: &Path, name: &str, text: &str, mode: u32) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A49: a toolchain is shown without the token in it. A command of root owns all of root's files, but reads
/// from the system's directories only files that every user may read. A file next to each secret is the
/// control.
pub(crate) fn assert_secrets_are_masked(options: &[&str]) {
    let (place, pyenv) = (Place::new(), tempfile::tempdir().unwrap());
    let pyenv = pyenv.path().canonicalize().unwrap();
    fs::set_permissions(&pyenv, Permissions::from_mode(0o755)).unwrap();
    write(&pyenv, "versions/3.12.0/bin/tool", "tool\n", 0o644);
    write(&pyenv, "versions/3.12.0/pip.conf", "secret\n", 0o644);
    let system = if geteuid().is_root() { &SYSTEM[..] } else { &[] };
    let configuration: Vec<Configuration> = system.iter().map(|parent| Configuration::make(parent)).collect();
    let mut files = vec![pyenv.join("versions/3.12.0/bin/tool"), pyenv.join("versions/3.12.0/pip.conf")];
    let mut expected = "tool\n".to_owned();
    for Configuration(root) in &configuration {
        files.extend([root.join("readable"), root.join("nested/deeper/key")]);
        expected.push_str("world\n");
    }
    let script = "for file; do cat \"$file\" 2>/dev/null; done; true";
    let files = files.iter().map(|file| file.to_str().unwrap());
    let command = ["--", "sh", "-c", script, "sh"];
    let args = ["run", "--quiet"].iter().chain(options).chain(&command).copied();
    let output = place.agentctl(args.chain(files)).env("PYENV_ROOT", &pyenv).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{output:?}");
}
