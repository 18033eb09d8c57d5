//! `mounts`: more of the host's files.

use std::ffi::OsStr;

use exec_core::{Access, MountSpec};

use super::kinds::list;
use super::prelude::*;
use crate::read::items;

/// Paths of the host to show inside.
pub(crate) struct Mounts;

impl RunOption for Mounts {
    type Value = Vec<MountSpec>;

    const DOCS: Docs = Docs {
        name: "mounts",
        flag: "--mount",
        value_name: "SRC:DST[:ro|rw]",
        heading: Heading::Files,
        summary: "Show more of the host, read-only by default",
        details: "Takes SRC, SRC:DST or SRC:DST:ro|rw. In a file, ~/ is your home and a relative SRC is relative to the file. \
                  Mounts of several files and of the command line add up.",
        example: "[\"/srv/data:/data:ro\"]",
        ..Docs::EMPTY
    };

    const SECTION: Option<SectionKey<Vec<MountSpec>>> = Some(SectionKey::same("volumes", "As `mounts`."));

    /// Replaces mounts of lower layers with the same target. Equal targets within one value are refused when all mounts
    /// are checked.
    fn apply(settings: &mut Settings, new: Vec<MountSpec>) {
        let mounts = &mut settings.opts.mounts;
        mounts.retain(|old| new.iter().all(|new| new.target != old.target));
        mounts.extend(new);
    }

    fn unset(_: &Settings, _: Machine) -> Unset {
        Unset::fixed("-")
    }

    fn is_looser(before: &Settings, after: &Settings, _: Machine) -> bool {
        let is_known = |mount: &MountSpec| {
            before.opts.mounts.iter().any(|known| {
                let same = known.source == mount.source && known.target == mount.target;
                same && (mount.access == Access::ReadOnly || known.access == Access::ReadWrite)
            })
        };
        !after.opts.mounts.iter().all(is_known)
    }

    fn slot(mounts: &Vec<MountSpec>) -> String {
        format!("mounts {}", list(mounts.iter().map(|mount| mount.target.display())))
    }
}

impl OptionValue for Vec<MountSpec> {
    const ARITY: Arity = Arity::Many;

    fn read(node: &Node, base: &Base) -> Result<Self, Fault> {
        let wanted = "a list of mounts, like [\"/srv/data:/data:ro\"]";
        items(node, wanted)?.iter().map(|item| mount(item, base)).collect()
    }

    fn parse(word: &OsStr, _: &Base) -> Result<Self, String> {
        let text = word.to_str().ok_or("this is not UTF-8")?;
        text.parse().map(|mount| vec![mount]).map_err(|error: exec_core::ParseValueError| error.to_string())
    }

    fn show(&self) -> String {
        list(self.iter().map(shown))
    }

    fn schema(_: &[Backend]) -> Value {
        json!({"type": "array", "items": {"type": "string"}})
    }

    fn append(&mut self, more: Self) {
        self.extend(more);
    }

    fn parts(&self) -> Vec<Self> {
        self.iter().map(|mount| vec![mount.clone()]).collect()
    }
}

fn mount(node: &Node, base: &Base) -> Result<MountSpec, Fault> {
    let spec: MountSpec = parsed(node, "a mount, like \"/srv/data:/data:ro\"", str::parse)?;
    Ok(MountSpec { source: base.resolve(&spec.source), ..spec })
}

fn shown(mount: &MountSpec) -> String {
    let access = match mount.access {
        Access::ReadOnly => "ro",
        Access::ReadWrite => "rw",
    };
    format!("{}:{}:{access}", mount.source.display(), mount.target.display())
}
