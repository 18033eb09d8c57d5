//! `workspace_mode` and `write_paths`: what may be written in the workspace. A layer that sets either replaces both.

use std::path::{Component, Path, PathBuf};

use super::kinds::{Words, one_of, read_word, show_word, words};
use super::prelude::*;

/// Whether the workspace is writable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkspaceAccess {
    Rw,
    Ro,
}

impl Words for WorkspaceAccess {
    const WHAT: &'static str = "a workspace mode";
    const ALL: &'static [(&'static str, Self, &'static str)] =
        &[("rw", Self::Rw, "All of it"), ("ro", Self::Ro, "Nothing but the write paths")];
}

/// Whether the workspace is writable as a whole.
pub(crate) struct WorkspaceMode;

impl RunOption for WorkspaceMode {
    type Value = WorkspaceAccess;

    const DOCS: Docs = Docs {
        name: "workspace_mode",
        flag: "--workspace-mode",
        value_name: "MODE",
        heading: Heading::Files,
        summary: "Choose what may be written in the workspace [default: rw]",
        details: "The default is ro if there are write paths.",
        example: "\"rw\"",
        ..Docs::EMPTY
    };

    const SECTION: Option<SectionKey<WorkspaceAccess>> = Some(SectionKey {
        name: "readonly",
        about: "Whether the workspace is read-only.",
        needs_images: false,
        read: |node, base| {
            let mode = |readonly| if readonly { WorkspaceAccess::Ro } else { WorkspaceAccess::Rw };
            bool::read(node, base).map(mode)
        },
        show: |mode| (*mode == WorkspaceAccess::Ro).to_string(),
        schema: bool::schema,
    });

    fn apply(settings: &mut Settings, mode: WorkspaceAccess) {
        settings.workspace_access = Some(mode);
    }

    fn reset(settings: &mut Settings) {
        forget_lower_layers(settings);
    }

    fn unset(settings: &Settings, _: Machine) -> Unset {
        if settings.write_paths.is_empty() {
            return Unset::fixed(WorkspaceAccess::Rw.show());
        }
        Unset { value: WorkspaceAccess::Ro.show(), from: Some(WritePaths::DOCS.name.to_owned()) }
    }

    fn is_looser(before: &Settings, after: &Settings, _: Machine) -> bool {
        let is_writable = |settings: &Settings| settings.writable_paths().is_none();
        is_writable(after) && !is_writable(before)
    }

    fn slot(_: &WorkspaceAccess) -> String {
        SLOT.to_owned()
    }
}

impl OptionValue for WorkspaceAccess {
    fn read(node: &Node, _: &Base) -> Result<Self, Fault> {
        read_word(node)
    }

    fn show(&self) -> String {
        show_word(*self)
    }

    fn schema(backends: &[Backend]) -> Value {
        one_of(&Self::words(backends))
    }

    fn words(_: &[Backend]) -> Vec<Word> {
        words::<Self>()
    }
}

/// Writable paths in a read-only workspace.
pub(crate) struct WritePaths;

impl RunOption for WritePaths {
    type Value = Vec<PathBuf>;

    const DOCS: Docs = Docs {
        name: "write_paths",
        flag: "--write-path",
        value_name: "PATH",
        heading: Heading::Files,
        summary: "Let this path be written in a read-only workspace",
        example: "[\"target\"]",
        ..Docs::EMPTY
    };

    fn apply(settings: &mut Settings, paths: Vec<PathBuf>) {
        settings.write_paths = paths;
    }

    fn reset(settings: &mut Settings) {
        forget_lower_layers(settings);
    }

    fn unset(_: &Settings, _: Machine) -> Unset {
        Unset::fixed("-")
    }

    fn is_looser(before: &Settings, after: &Settings, _: Machine) -> bool {
        match (before.writable_paths(), after.writable_paths()) {
            (Some(before), Some(after)) => {
                !after.iter().all(|path| before.iter().any(|known| lies_in(path, known)))
            }
            // Whether all of the workspace is writable is decided by the mode.
            _ => false,
        }
    }

    fn slot(_: &Vec<PathBuf>) -> String {
        SLOT.to_owned()
    }
}

/// What both options decide together.
const SLOT: &str = "what may be written";

fn forget_lower_layers(settings: &mut Settings) {
    settings.workspace_access = None;
    settings.write_paths.clear();
}

/// A path with `..` is never inside another by its text alone.
fn lies_in(path: &Path, known: &Path) -> bool {
    let climbs = path.components().any(|part| part == Component::ParentDir);
    path == known || (!climbs && path.starts_with(known))
}
