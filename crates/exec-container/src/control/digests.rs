//! Looks up the digests of images, which pin an image to its exact bytes.

use std::collections::{BTreeMap, BTreeSet};

use exec_core::{Error, ErrorKind, Remedy, Result};

use crate::engine::Engine;
use crate::engine::dialect::Dialect;

/// See [`ImageStore::digests`](exec_cell::ImageStore::digests).
pub(super) async fn digests(
    engine: &Engine,
    dialect: Dialect,
    images: &BTreeSet<String>,
) -> Result<BTreeMap<String, String>> {
    let mut digests = BTreeMap::new();
    for name in images {
        let digest = digest(engine, &dialect.image_names(name), name).await;
        digests.insert(name.clone(), digest.map_err(|error| error.with_backend(engine.backend()))?);
    }
    Ok(digests)
}

async fn digest(engine: &Engine, known_as: &[String], name: &str) -> Result<String> {
    let pull = format!("`{} pull {name}`, then try again", engine.backend());
    let mut is_here = false;
    for known in known_as {
        let Some(image) = engine.image(known).await? else { continue };
        is_here = true;
        if let Some(digest) = image.digest.as_deref().and_then(of_registry) {
            return Ok(digest.to_owned());
        }
    }
    let why = if is_here { "was made here and never came from a registry" } else { "is not here" };
    let message = format!("no digest is known of the image `{name}`: it {why}");
    Err(Error::new(ErrorKind::ImageNotFound, "digest", message).with_remedy(Remedy::engine(pull)))
}

/// The digest in `golang@sha256:…`. It is validated, because it ends up in a file.
fn of_registry(name: &str) -> Option<&str> {
    let (_, digest) = name.split_once('@')?;
    let number = digest.strip_prefix("sha256:")?;
    (number.len() == 64 && number.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R72
    #[test]
    fn a_digest_is_a_number_and_nothing_else() {
        let number = "0a".repeat(32);
        assert_eq!(
            of_registry(&format!("golang@sha256:{number}")),
            Some(format!("sha256:{number}").as_str())
        );
        for name in ["golang", "golang@sha256:00", &format!("golang@sha256:{number}\nRUN x"), "golang@md5:00"]
        {
            assert_eq!(of_registry(name), None, "{name}");
        }
    }
}
