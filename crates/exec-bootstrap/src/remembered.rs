//! The options that existing files were generated with, and how far they are trusted.
//!
//! A generated file names its options, so that it can be checked and regenerated with the same ones. But a command in
//! a sandbox can write that line, too. So the line chooses only among what the project's own files could choose:
//! which files are written, and which version of a known image or program. An arbitrary image must be named by the
//! caller.

use exec_core::{Change, Error, ErrorKind, Remedy, Result};

use crate::disk::OnDisk;
use crate::files::{DOCKERFILE, DOCKERFILE_DEV};
use crate::header;
use crate::plan::{Scope, Wishes};
use crate::project::Project;
use crate::reason::one_line;

/// The options recorded in a generated file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    file: &'static str,
    wishes: Wishes,
}

impl Project {
    /// The options of the generated files here; `None` if there are none.
    ///
    /// # Errors
    ///
    /// Fails if a file can't be read.
    pub fn remembered(&self) -> Result<Option<Remembered>> {
        let of = |name| match self.on_disk(name)? {
            OnDisk::Text(text) => Ok(header::wishes(&text).map(|wishes| Remembered { file: name, wishes })),
            OnDisk::Missing | OnDisk::Foreign => Ok(None),
        };
        // With two Dockerfiles both record the same options; either may have been replaced by hand.
        match (of(DOCKERFILE_DEV)?, of(DOCKERFILE)?) {
            (Some(mut dev), Some(app)) => {
                if let Some(digests) = &mut dev.wishes.digests {
                    digests.extend(app.wishes.digests.unwrap_or_default());
                }
                Ok(Some(dev))
            }
            (dev, app) => Ok(dev.or(app)),
        }
    }
}

impl Remembered {
    /// The file that records them.
    pub fn file(&self) -> &'static str {
        self.file
    }

    /// The options they add to the caller's wishes.
    pub fn added_to(&self, asked: &Wishes) -> String {
        let mut added = self.wishes.clone();
        added.base = None;
        if !asked.agents.is_empty() {
            added.agents.clear();
        }
        if asked.scope == added.scope {
            added.scope = Scope::default();
        }
        if asked.digests.is_some() {
            added.digests = None;
        }
        header::options_of(&added).trim_start().to_owned()
    }

    /// Completes the caller's wishes with the recorded ones.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the file names a base image that the caller does not.
    pub fn complete(&self, asked: Wishes) -> Result<Wishes> {
        let Wishes { base, agents, scope, digests } = self.wishes.clone();
        if let (Some(base), None) = (base, &asked.base) {
            let base = one_line(&base);
            let what = format!("{} says that it was generated with the base image {base}", self.file);
            let yours = "if that is yours (a command can write this line)";
            let remedy = Remedy::from(Change::set("base", &base).with_purpose(yours))
                .or(format!("remove {}", self.file));
            return Err(Error::new(ErrorKind::InvalidInput, "bootstrap", what).with_remedy(remedy));
        }
        Ok(Wishes {
            base: asked.base,
            agents: if asked.agents.is_empty() { agents } else { asked.agents },
            scope: if asked.scope == Scope::default() { scope } else { asked.scope },
            digests: asked.digests.or(digests),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remembered(options: &str) -> Remembered {
        let text = format!("{}\n# Regenerate: agentctl bootstrap-docker{options}\n", header::MARK);
        Remembered { file: "Dockerfile", wishes: header::wishes(&text).unwrap() }
    }

    /// A43: a command can write a header.
    #[test]
    fn an_image_needs_the_callers_word() {
        let planted = remembered(" --base evil.example/image");
        let error = planted.complete(Wishes::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "Dockerfile says that it was generated with the base image evil.example/image"
        );
        let asked = Wishes { base: Some("golang:1.22-alpine".to_owned()), ..Wishes::default() };
        assert_eq!(planted.complete(asked.clone()).unwrap(), asked);
        assert_eq!(planted.added_to(&asked), "");
    }

    #[test]
    fn remembered_options_are_shown() {
        let made_with = remembered(" --digest --with-cli codex@0.1.0 --compose");
        let asked = Wishes::default();
        assert_eq!(made_with.added_to(&asked), "--digest --with-cli codex@0.1.0 --compose");
        let wishes = made_with.complete(asked).unwrap();
        assert_eq!((wishes.scope, wishes.agents.len()), (Scope::Compose, 1));
        let asked = Wishes { agents: ["claude".parse().unwrap()].into(), ..wishes };
        assert_eq!(made_with.added_to(&asked), "");
        assert_eq!(made_with.complete(asked.clone()).unwrap(), asked);
    }
}
