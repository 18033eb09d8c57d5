//! Fills a workspace from inside: a command in a sandbox makes every entry, as an agent's command would.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use super::Decoy;
use crate::support::Place;

/// What is planted under every name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A link to a file outside.
    Link,
    /// A link to a free name outside.
    Dangling,
    /// A link to a directory outside.
    Way,
    /// A pipe that is never written to.
    Pipe,
    /// A socket without a listener.
    Socket,
    /// A link to a device without an end.
    Device,
    /// A file that its owner may not read.
    Closed,
    /// A directory that its owner may not enter.
    ClosedDirectory,
    /// A file of ten gigabytes, none of them on disk.
    Huge,
    /// A file with a second name.
    HardLink,
    /// Thousands of directories, one in the other.
    Deep,
    /// Text with the bytes that terminals obey.
    Escapes,
    /// A repository that points at directories outside.
    Repository,
}

impl Kind {
    pub(crate) const ALL: [Self; 13] = [
        Self::Link,
        Self::Dangling,
        Self::Way,
        Self::Pipe,
        Self::Socket,
        Self::Device,
        Self::Closed,
        Self::ClosedDirectory,
        Self::Huge,
        Self::HardLink,
        Self::Deep,
        Self::Escapes,
        Self::Repository,
    ];

    /// A function `plant(path, number)` in Python.
    fn script(self, decoy: &Decoy) -> String {
        let quoted = |path: PathBuf| format!("'{}'", path.display());
        let (file, new, directory) =
            (quoted(decoy.file()), quoted(decoy.new_file()), quoted(decoy.directory()));
        let body = match self {
            Self::Link => format!("os.symlink({file}, path)"),
            Self::Dangling => format!("os.symlink({new} + str(number), path)"),
            Self::Way => format!("os.symlink({directory}, path)"),
            Self::Pipe => "os.mkfifo(path)".to_owned(),
            // Bound by a short name, because a socket's path has about a hundred bytes.
            Self::Socket => "s = socket.socket(socket.AF_UNIX); s.bind('s'); s.close(); os.rename('s', path)".to_owned(),
            Self::Device => "os.symlink('/dev/zero', path)".to_owned(),
            Self::Closed => "open(path, 'w').close(); os.chmod(path, 0)".to_owned(),
            Self::ClosedDirectory => "os.mkdir(path, 0)".to_owned(),
            Self::Huge => "f = open(path, 'w'); f.truncate(10 << 30); f.close()".to_owned(),
            Self::HardLink => "open('.first', 'a').close(); os.link('.first', path)".to_owned(),
            // Deep trees under every name would take too long: most are deep enough to be refused, some to
            // overflow a stack.
            Self::Deep => "deep(path, 3000 if number % 400 == 0 else 120 if number % 10 == 0 else 3)".to_owned(),
            Self::Escapes => r#"open(path, 'w').write('[package]\nname = "\x1b]52;c;eA==\x07\x1b[2J\x9b31m\u202e"\nFROM \x1b[31mx\n')"#.to_owned(),
            Self::Repository => format!("repository(path, {directory})"),
        };
        format!("def plant(path, number):\n    {body}\n")
    }
}

/// Which of the names are planted: the first bad entry ends many commands, and hides the entries after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Every name.
    All,
    /// All but configuration files.
    WithoutConfiguration,
    /// All but configuration files and the repository.
    WithoutRepository,
    /// The same, with real directories above the nested names.
    Nested,
    /// All but those and the files that an image is built from: instead, a Dockerfile that copies everything.
    BuildContext,
}

impl Layout {
    fn paths(self, names: &BTreeSet<String>) -> BTreeSet<String> {
        let first = |name: &str| name.split('/').next().unwrap_or(name).to_owned();
        let left_out: &[&str] = match self {
            Self::All => &[],
            Self::WithoutConfiguration => &[".agentctl"],
            Self::WithoutRepository | Self::Nested => &[".agentctl", ".git"],
            Self::BuildContext => &[".agentctl", ".git", "Dockerfile", ".dockerignore"],
        };
        let is_left_out = |name: &str| left_out.iter().any(|start| name.starts_with(start));
        let kept = names.iter().filter(|name| !is_left_out(name));
        if self != Self::Nested {
            return kept.map(|name| first(name)).collect();
        }
        let directories: BTreeSet<String> =
            names.iter().filter(|name| name.contains('/')).map(|name| first(name)).collect();
        let is_above = |name: &String| names.iter().any(|other| other.starts_with(&format!("{name}/")));
        kept.filter(|name| !directories.contains(*name) && !is_above(name)).cloned().collect()
    }
}

const HELPERS: &str = r"
import os, socket, sys
def deep(path, levels):
    here = os.open('.', os.O_RDONLY)
    os.mkdir(path); os.chdir(path)
    for _ in range(levels):
        os.mkdir('d'); os.chdir('d')
    os.fchdir(here); os.close(here)
def repository(path, outside):
    for name in ('objects', 'refs', 'worktrees/x', 'hooks'):
        os.makedirs(os.path.join(path, name))
    files = {'HEAD': 'ref: refs/heads/x', 'config': '[core]\n\tfsmonitor = ./evil\n\tworktree = ' + outside,
             'commondir': outside, 'worktrees/x/commondir': '../..', 'worktrees/x/gitdir': outside + '/.git'}
    for name, text in files.items():
        open(os.path.join(path, name), 'w').write(text + '\n')
";

/// Lets a command plant this kind under the names of the source. Returns how many.
pub(crate) fn fill(
    place: &Place,
    decoy: &Decoy,
    names: &BTreeSet<String>,
    kind: Kind,
    layout: Layout,
) -> usize {
    let paths = layout.paths(names);
    let mut script = format!("{HELPERS}{}", kind.script(decoy));
    let listed = serde_json::to_string(&paths).unwrap();
    write!(
        script,
        "names = {listed}\nfor number, path in enumerate(names):\n    \
         os.makedirs(os.path.dirname(path) or '.', exist_ok=True)\n    plant(path, number)\nprint(len(names))\n"
    )
    .unwrap();
    if layout == Layout::BuildContext {
        place.file("Dockerfile", "FROM scratch\nCOPY . /\n");
    }
    let output = place.output(["run", "--quiet", "--", "python3", "-c", &script]);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        printed.trim(),
        paths.len().to_string(),
        "{kind:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    paths.len()
}
