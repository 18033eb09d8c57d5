//! Go: modules, workspaces, and the version from `go.mod`.
//!
//! Precedence: `toolchain` over `go` in a file; the newest over all modules, because a newer Go builds older modules;
//! `.tool-versions` and mise only where no module names a version.

use std::collections::BTreeSet;

use exec_core::Result;

use super::pin::{self, Pin};
use crate::known;
use crate::libraries;
use crate::part::{Carried, Language, Layer, Part};
use crate::tree::{Tree, directory, join};
use crate::version::Version;
use crate::wanted::counts;
use crate::{Reason, document};

const MODULES: &str = "/opt/go/mod";
/// A download cache that outlives builds; the modules of this project are copied from it into the image.
const DOWNLOADS: &str = "/var/cache/go";

pub(super) fn detect(tree: &Tree) -> Result<Option<Part>> {
    let modules = tree.named("go.mod");
    if !modules.iter().any(|path| counts(path)) {
        return Ok(None);
    }
    let choice = version(tree, &modules)?;
    let series = choice.version.series();
    let debian = known::debian(series, known::GO_ON_BOOKWORM);
    let mut part = Part::new(Language::Go, format!("golang:{series}-{debian}"));
    part.because(format!("Go {series}"), choice.why());
    part.carried = vec![Carried::as_it_was("/usr/local/go")];
    part.carried_env = vec![("GOTOOLCHAIN", "local".to_owned())];
    part.carried_path = vec!["/usr/local/go/bin"];
    let dependencies = dependencies(tree, &modules)?;
    part.debian = debian_because(&dependencies);
    libraries::add(&mut part, &dependencies);
    part.env = vec![("GOMODCACHE", MODULES.to_owned())];
    part.layers = layers(tree, &modules, &mut part.reasons);
    Ok(Some(part))
}

fn version(tree: &Tree, modules: &[&str]) -> Result<Pin> {
    let mut newest: Option<Pin> = None;
    let workspaces = tree.named("go.work");
    for path in workspaces.iter().chain(modules).filter(|path| counts(path)) {
        let text = document::text(tree, path)?.unwrap_or_default();
        let (go, toolchain) = (directive(text, "go"), directive(text, "toolchain"));
        let of = |name: &str, said: Option<&str>| {
            let said = said?;
            let version = Version::parse(said.strip_prefix("go").unwrap_or(said))?;
            Some(Pin::new(version, *path, format!("{name} {said}")))
        };
        let (go, toolchain) = (of("go", go), of("toolchain", toolchain));
        if let (Some(go), Some(toolchain)) = (&go, &toolchain)
            && toolchain.version.series() < go.version.series()
        {
            return Err(pin::conflict("Go", &toolchain.why(), &go.why()));
        }
        let wanted = toolchain.or(go);
        let is_newer =
            |pin: &Pin| newest.as_ref().is_none_or(|newest| pin.version.series() > newest.version.series());
        newest = wanted.filter(is_newer).or(newest);
    }
    if let Some(pin) = newest {
        return Ok(pin);
    }
    let named = pin::tool_versions(tree, &["golang", "go"])?.into_iter().next();
    // Go's own default for a module without a `go` line is too old to have a usable image.
    Ok(named.unwrap_or_else(|| {
        Pin::new(known::GO, modules.first().copied().unwrap_or_default(), "nothing about it")
    }))
}

/// The argument of a directive like `go 1.22`.
fn directive<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let words = |line: &'a str| line.split("//").next().unwrap_or_default().split_whitespace();
    text.lines().map(words).find_map(|mut words| {
        let is_it = words.next() == Some(name);
        words.next().filter(|_| is_it)
    })
}

fn dependencies(tree: &Tree, modules: &[&str]) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for path in modules.iter().filter(|path| counts(path)) {
        for line in document::text(tree, path)?.unwrap_or_default().lines() {
            let line = line.trim().trim_start_matches("require ");
            let mut words = line.split_whitespace();
            if let (Some(name), Some(version)) = (words.next(), words.next())
                && version.starts_with('v')
                && name.contains('.')
            {
                names.insert(name.to_owned());
            }
        }
    }
    Ok(names)
}

/// Modules that bind to C, most used first.
const CGO: &[&str] = &[
    "github.com/mattn/go-sqlite3",
    "github.com/confluentinc/confluent-kafka-go",
    "github.com/h2non/bimg",
    "github.com/pebbe/zmq4",
    "github.com/google/gousb",
    "gopkg.in/gographics/imagick",
];

fn debian_because(dependencies: &BTreeSet<String>) -> String {
    let binding = dependencies.iter().find(|name| CGO.iter().any(|cgo| name.starts_with(cgo)));
    match binding {
        Some(name) => format!("{name} is cgo, and this image has gcc and glibc"),
        None => "`go test -race` needs cgo, and this image has gcc and glibc".to_owned(),
    }
}

fn layers(tree: &Tree, modules: &[&str], reasons: &mut Vec<Reason>) -> Vec<Layer> {
    let top = modules.first().map(|path| directory(path)).unwrap_or_default();
    if tree.has(&join(top, "vendor/modules.txt")) {
        reasons.push(Reason::new("no Go modules in the image", "the project has them in vendor/"));
        return Vec::new();
    }
    let why = format!("the sandbox has no network, and finds them in {MODULES}");
    reasons.push(Reason::new("Go modules in the image", why));
    // `go mod download` in a workspace needs all of its modules.
    let in_workspace = tree.has("go.work");
    let ours: Vec<&str> = modules.iter().copied().filter(|path| counts(path) || in_workspace).collect();
    let with_sums = |path: &&str| [(*path).to_owned(), join(directory(path), "go.sum")];
    let files =
        ["go.work", "go.work.sum"].map(str::to_owned).into_iter().chain(ours.iter().flat_map(with_sums));
    let files: Vec<String> = files.filter(|path| tree.has(path)).collect();
    let places: Vec<&str> =
        if in_workspace { vec![""] } else { ours.iter().map(|path| directory(path)).collect() };
    let mut layers: Vec<Layer> = places.into_iter().map(download).collect();
    if let Some(first) = layers.first_mut() {
        first.files = files;
        first.comment = COMMENT.map(str::to_owned).to_vec();
    }
    layers
}

const COMMENT: [&str; 2] = [
    "Modules are part of the image, outside of HOME (which is empty in the sandbox), and every user can read them. They",
    "come out of a download cache that outlives builds. GOCACHE stays in HOME: it must be writable.",
];

fn download(place: &str) -> Layer {
    Layer {
        directory: "/opt/go/src".to_owned(),
        place: place.to_owned(),
        caches: vec![DOWNLOADS],
        commands: vec![
            format!("GOMODCACHE={DOWNLOADS} go mod download"),
            // Modules are still checked against go.sum.
            format!("GOPROXY=file://{DOWNLOADS}/cache/download GOSUMDB=off go mod download"),
        ],
        ..Layer::default()
    }
}
