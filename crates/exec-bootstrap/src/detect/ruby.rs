//! Ruby: bundles and the version.
//!
//! Precedence: `.ruby-version`, `.tool-versions` and mise, `ruby` in the Gemfile, `RUBY VERSION` in Gemfile.lock.

use std::collections::BTreeSet;

use exec_core::Result;

use super::pin::{self, Wanted};
use crate::document;
use crate::known;
use crate::libraries;
use crate::part::{Carried, Language, Layer, Part};
use crate::tree::{Tree, directory, join};
use crate::version::Version;
use crate::wanted::counts;

const GEMS: &str = "/usr/local/bundle";

pub(super) fn detect(tree: &Tree) -> Result<Option<Part>> {
    let gemfiles: Vec<&str> = tree.named("Gemfile").into_iter().filter(|path| counts(path)).collect();
    if gemfiles.is_empty() {
        return Ok(None);
    }
    let choice = wanted(tree, &gemfiles)?.choose("Ruby", known::RUBY)?;
    let debian = known::debian(choice.version, known::RUBY_ON_BOOKWORM);
    let mut part = Part::new(Language::Ruby, format!("ruby:{}-{debian}", choice.version));
    part.because(format!("Ruby {}", choice.version), choice.why);
    "precompiled gems are for glibc, and this image can build the others".clone_into(&mut part.debian);
    part.carried = vec![Carried::as_it_was("/usr/local")];
    part.env = vec![("GEM_HOME", GEMS.to_owned()), ("BUNDLE_APP_CONFIG", GEMS.to_owned())];
    part.path = vec!["/usr/local/bundle/bin"];
    let mut gems = BTreeSet::new();
    for path in gemfiles {
        gems.extend(add(&mut part, tree, path)?);
    }
    libraries::add(&mut part, &gems);
    Ok(Some(part))
}

fn wanted(tree: &Tree, gemfiles: &[&str]) -> Result<Wanted> {
    let mut wanted = Wanted::default();
    for path in tree.named(".ruby-version").into_iter().filter(|path| counts(path)) {
        wanted.pins.extend(document::single_word(tree, path)?.and_then(|said| pin::pin(path, said)));
    }
    wanted.pins.extend(pin::tool_versions(tree, &["ruby"])?);
    for path in gemfiles {
        let said = document::text(tree, path)?
            .unwrap_or_default()
            .lines()
            .find_map(|line| line.strip_prefix("ruby "));
        let said: Vec<&str> = said.unwrap_or_default().split(['"', '\'']).skip(1).step_by(2).collect();
        if said.iter().any(|said| said.ends_with("ruby-version")) {
            continue;
        }
        // Bundler accepts no other patch version than the named one.
        let exact =
            said.first().and_then(|said| Version::parse(said)).filter(|version| version.patch.is_some());
        wanted.pins.extend(exact.map(|version| pin::Pin::new(version, *path, format!("ruby {version}"))));
        let range = said.join(", ");
        wanted.limit(path, "ruby", Some(range.as_str()).filter(|range| !range.is_empty()));
    }
    for path in tree.named("Gemfile.lock").into_iter().filter(|path| counts(path)) {
        let mut lines = document::text(tree, path)?
            .unwrap_or_default()
            .lines()
            .skip_while(|line| *line != "RUBY VERSION");
        wanted.pins.extend(lines.nth(1).and_then(|said| pin::pin(path, said.trim())));
    }
    Ok(wanted)
}

fn add(part: &mut Part, tree: &Tree, gemfile: &str) -> Result<BTreeSet<String>> {
    let place = directory(gemfile);
    let text = document::text(tree, gemfile)?.unwrap_or_default();
    let lock = join(place, "Gemfile.lock");
    let locked = document::text(tree, &lock)?.unwrap_or_default();
    if text.lines().any(|line| line.trim() == "gemspec") {
        part.warnings.push(format!(
            "the gems of {gemfile} are not in the image: it takes them from a gemspec, which needs the sources; `bundle config set --local path vendor/bundle`, then `agentctl run --network bridge -- bundle install`"
        ));
        return Ok(BTreeSet::new());
    }
    part.because("Bundler", format!("{gemfile} is there"));
    let mut commands = Vec::new();
    let mut bundled = locked.lines().skip_while(|line| *line != "BUNDLED WITH");
    if let Some(version) = bundled.nth(1).and_then(Version::parse) {
        part.because(format!("Bundler {version}"), format!("{lock} was written by it"));
        commands.push(format!("gem install bundler:{version}"));
    }
    let frozen = if tree.has(&lock) { "BUNDLE_FROZEN=true " } else { "" };
    commands.push(format!("{frozen}bundle install"));
    let names = ["Gemfile", "Gemfile.lock", ".ruby-version", ".tool-versions"].map(|name| join(place, name));
    part.layers.push(Layer {
        comment: vec![
            "Gems are part of the image; GEM_HOME is where they are found, by bundler too.".to_owned(),
        ],
        directory: "/opt/ruby".to_owned(),
        place: place.to_owned(),
        files: names.into_iter().filter(|path| tree.has(path)).collect(),
        caches: vec!["/usr/local/bundle/cache"],
        commands,
    });
    let gem = |line: &str| {
        line.trim().strip_prefix("gem ").and_then(|rest| rest.split(['"', '\'']).nth(1)).map(str::to_owned)
    };
    // In the lock file a gem is indented by four spaces, its dependencies by six.
    let is_gem = |line: &&str| line.starts_with("    ") && !line.starts_with("     ");
    let locked =
        locked.lines().filter(is_gem).filter_map(|line| line.split_whitespace().next()).map(str::to_owned);
    Ok(text.lines().filter_map(gem).chain(locked).collect())
}
