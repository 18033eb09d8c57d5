//! `image`: the file system of a container.

use super::prelude::*;
use crate::read::text;

/// The image to run in.
pub(crate) struct Image;

impl RunOption for Image {
    type Value = String;

    const DOCS: Docs = Docs {
        name: "image",
        flag: "--image",
        value_name: "IMAGE",
        heading: Heading::Sandbox,
        summary: "Run containers from this image [default: host]",
        details: "`host` shows this machine's own programs, read-only, and needs no registry. `build` builds the workspace's \
                  Dockerfile.dev or Dockerfile, again whenever it changes; the engine carries the file out with a network. \
                  Any other image is pulled if it is missing.",
        example: "\"host\"",
        ..Docs::EMPTY
    };

    const SECTION: Option<SectionKey<String>> =
        Some(SectionKey { needs_images: true, ..SectionKey::same("image", "As `image`.") });

    fn apply(settings: &mut Settings, image: String) {
        settings.opts.image = Some(image);
    }

    fn unset(_: &Settings, _: Machine) -> Unset {
        Unset::fixed("host")
    }

    fn is_looser(before: &Settings, after: &Settings, _: Machine) -> bool {
        after.opts.image != before.opts.image
    }
}

/// The name of an image.
impl OptionValue for String {
    fn read(node: &Node, _: &Base) -> Result<Self, Fault> {
        match text(node, "the name of an image, like \"debian:13\"")? {
            "" => Err(Fault::new(node.at, "an image needs a name; leave the key out for the default")),
            name => Ok(name.to_owned()),
        }
    }

    fn show(&self) -> String {
        self.clone()
    }

    fn schema(_: &[Backend]) -> Value {
        json!({"type": "string", "minLength": 1})
    }
}
