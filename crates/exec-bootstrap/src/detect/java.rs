//! Java: Maven, Gradle and the version of the JDK.
//!
//! Precedence: `.java-version`, `.sdkmanrc`, `.tool-versions` and mise, then the newest that a pom or a Gradle file names:
//! a newer JDK builds for an older one.

use exec_core::Result;

use super::pin::{self, Pin, Wanted};
use crate::document::{self, element};
use crate::known;
use crate::part::{Carried, Language, Layer, Part};
use crate::tree::{Tree, directory, file_name, join};
use crate::version::Version;
use crate::wanted::counts;

const MAVEN_REPOSITORY: &str = "/opt/m2";
const GRADLE_HOME: &str = "/opt/gradle-home";

pub(super) fn detect(tree: &Tree) -> Result<Option<Part>> {
    let all = |names: &[&str]| tree.matching(|path| names.contains(&file_name(path)));
    let poms = all(&["pom.xml"]);
    let scripts = all(&["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"]);
    let has = |paths: &[&str]| paths.iter().any(|path| counts(path));
    let (maven, gradle) = (has(&poms), has(&scripts));
    if !maven && !gradle {
        return Ok(None);
    }
    let choice = wanted(tree, &poms, &scripts)?.choose("Java", known::JAVA)?;
    let jdk = supported(choice.version);
    let image = if maven {
        format!("maven:{}-eclipse-temurin-{jdk}", known::MAVEN)
    } else {
        format!(
            "gradle:{}-jdk{jdk}",
            wrapper(tree)?.map_or(known::GRADLE.to_owned(), |(version, _)| version.to_string())
        )
    };
    let mut part = Part::new(Language::Java, image);
    part.because(format!("Java {jdk}"), choice.why);
    "the official image is Ubuntu's, which has glibc and apt like Debian".clone_into(&mut part.debian);
    part.carried = vec![Carried::as_it_was("/opt/java/openjdk")];
    part.carried_env = vec![("JAVA_HOME", "/opt/java/openjdk".to_owned())];
    part.carried_path = vec!["/opt/java/openjdk/bin"];
    if maven {
        add_maven(&mut part, tree, &poms);
        if gradle {
            part.warnings.push("the project has Gradle files too; the image is for Maven".to_owned());
        }
    } else {
        add_gradle(&mut part, tree, &scripts)?;
    }
    Ok(Some(part))
}

/// The first LTS version at or above it: other versions have no maintained images.
fn supported(version: Version) -> Version {
    let fitting = known::JAVA.iter().copied().filter(|known| known.major >= version.major);
    fitting.min().unwrap_or(version.line())
}

fn wanted(tree: &Tree, poms: &[&str], scripts: &[&str]) -> Result<Wanted> {
    let mut wanted = Wanted::default();
    for path in tree.named(".java-version").into_iter().filter(|path| counts(path)) {
        wanted.pins.extend(document::single_word(tree, path)?.and_then(|said| pin::pin(path, said)));
    }
    for path in tree.named(".sdkmanrc").into_iter().filter(|path| counts(path)) {
        let said = document::text(tree, path)?
            .unwrap_or_default()
            .lines()
            .find_map(|line| line.strip_prefix("java="));
        wanted.pins.extend(said.and_then(|said| pin::pin(path, said)));
    }
    wanted.pins.extend(pin::tool_versions(tree, &["java"])?);
    if wanted.pins.is_empty() {
        wanted.pins.extend(built_for(tree, poms, in_pom)?.or(built_for(tree, scripts, in_script)?));
    }
    wanted.pins.iter_mut().for_each(|pin| pin.version = modern(pin.version));
    Ok(wanted)
}

/// Java 8 and earlier are also called 1.8 and so on.
fn modern(version: Version) -> Version {
    match (version.major, version.minor) {
        (1, Some(minor)) => Version::whole(minor),
        _ => version.line(),
    }
}

fn built_for(tree: &Tree, paths: &[&str], find: fn(&str) -> Option<String>) -> Result<Option<Pin>> {
    let mut newest: Option<Pin> = None;
    for path in paths.iter().filter(|path| counts(path)) {
        let said = find(document::text(tree, path)?.unwrap_or_default());
        let Some(pin) = said.and_then(|said| pin::pin(path, &said)) else { continue };
        if newest.as_ref().is_none_or(|newest| modern(pin.version) > modern(newest.version)) {
            newest = Some(pin);
        }
    }
    Ok(newest)
}

fn in_pom(text: &str) -> Option<String> {
    let names = [
        "maven.compiler.release",
        "release",
        "java.version",
        "maven.compiler.source",
        "maven.compiler.target",
        "source",
    ];
    // A value like `${java.version}` refers to another property.
    names
        .iter()
        .filter_map(|name| element(text, name))
        .find(|said| Version::parse(said).is_some())
        .map(str::to_owned)
}

fn in_script(text: &str) -> Option<String> {
    let marks = ["JavaLanguageVersion.of(", "jvmToolchain(", "JavaVersion.VERSION_", "sourceCompatibility"];
    marks.iter().find_map(|mark| {
        let rest = &text[text.find(mark)? + mark.len()..];
        let rest = rest.trim_start_matches([' ', '=', '\'', '"', '(']).replacen('_', ".", 1);
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        Version::parse(&rest[..end]).map(|version| version.to_string())
    })
}

fn add_maven(part: &mut Part, tree: &Tree, poms: &[&str]) {
    part.because(
        "Maven",
        "the project has a pom.xml; the image's own `mvn` is used, because a wrapper would download one",
    );
    part.carried.push(Carried::as_it_was("/usr/share/maven"));
    part.carried_commands = vec!["ln -s /usr/share/maven/bin/mvn /usr/local/bin/mvn".to_owned()];
    part.env = vec![(
        "MAVEN_ARGS",
        format!(
            "\"-Dmaven.repo.local.tail={MAVEN_REPOSITORY} -Dmaven.repo.local.tail.ignoreAvailability=true\""
        ),
    )];
    let top = poms.iter().find(|path| counts(path)).map_or("", |path| directory(path));
    let mut files: Vec<String> = poms.iter().map(|path| (*path).to_owned()).collect();
    files.extend(
        [".mvn/extensions.xml"].map(|name| join(top, name)).into_iter().filter(|path| tree.has(path)),
    );
    let file = if top.is_empty() { String::new() } else { format!(" -f {top}/pom.xml") };
    part.layers.push(Layer {
        comment: vec![
            "Artifacts are part of the image: a read-only tail of the local repository, whose head is in HOME. Plugins that".to_owned(),
            "are chosen at run time (surefire's providers) may be missing; then run once with --network bridge.".to_owned(),
        ],
        directory: "/opt/java/src".to_owned(),
        files,
        commands: vec![format!("MAVEN_ARGS='' mvn -B{file} -Dmaven.repo.local={MAVEN_REPOSITORY} dependency:go-offline")],
        ..Layer::default()
    });
}

/// The version of Gradle that the wrapper names.
fn wrapper(tree: &Tree) -> Result<Option<(Version, String)>> {
    for path in tree.named("gradle-wrapper.properties").into_iter().filter(|path| counts(path)) {
        let text = document::text(tree, path)?.unwrap_or_default();
        let url = text.lines().find_map(|line| line.strip_prefix("distributionUrl="));
        if let Some(version) =
            url.and_then(|url| url.rsplit_once("gradle-")).and_then(|(_, rest)| Version::parse(rest))
        {
            return Ok(Some((version, path.to_owned())));
        }
    }
    Ok(None)
}

fn add_gradle(part: &mut Part, tree: &Tree, scripts: &[&str]) -> Result<()> {
    let why = match wrapper(tree)? {
        Some((version, path)) => format!(
            "{path} says {version}; the image's own `gradle` is used, because the wrapper would download it"
        ),
        None => format!(
            "the project has Gradle files, and no wrapper that names a version; {} is widely used",
            known::GRADLE
        ),
    };
    part.because("Gradle", why);
    part.carried.push(Carried::as_it_was("/opt/gradle"));
    part.carried_commands = vec!["ln -s /opt/gradle/bin/gradle /usr/local/bin/gradle".to_owned()];
    part.env = vec![("GRADLE_RO_DEP_CACHE", format!("{GRADLE_HOME}/caches"))];
    let mut files: Vec<String> = scripts.iter().map(|path| (*path).to_owned()).collect();
    let settings =
        |path: &str| matches!(file_name(path), "gradle.properties" | "libs.versions.toml") && counts(path);
    files.extend(tree.matching(settings).into_iter().map(str::to_owned));
    let top = scripts.iter().find(|path| counts(path)).map_or("", |path| directory(path));
    let project = if top.is_empty() { String::new() } else { format!(" -p {top}") };
    part.layers.push(Layer {
        comment: vec![
            "Dependencies are part of the image, as a cache that Gradle only reads (GRADLE_RO_DEP_CACHE); its home with".to_owned(),
            "locks and daemons is in HOME. Use `gradle --offline`, not the wrapper.".to_owned(),
        ],
        directory: "/opt/java/src".to_owned(),
        files,
        commands: vec![
            format!("GRADLE_USER_HOME={GRADLE_HOME} gradle --no-daemon{project} dependencies"),
            // Read-only users can't take locks.
            format!("find {GRADLE_HOME}/caches -name '*.lock' -delete"),
        ],
        ..Layer::default()
    });
    Ok(())
}
