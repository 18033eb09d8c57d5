//! The application itself, for `--compose`: how to build it, which image to run it on and how to start it. Pure.

mod language;

use exec_core::Result;

use crate::part::{Language, Part};
use crate::plan::{Base, Family};
use crate::reason::Reason;
use crate::tree::Tree;

/// The sources during the build.
pub(crate) const SOURCES: &str = "/src";
/// The build's output directory.
pub(crate) const OUT: &str = "/out";
/// The output in the final image.
pub(crate) const PROGRAMS: &str = "/app/bin";
/// The sources in the final image, for an application that runs from them.
pub(crate) const RUN_FROM: &str = "/app/src";

/// How to build and run a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct App {
    pub(crate) language: Language,
    /// The directory of the project to build in; empty for the top.
    pub(crate) place: String,
    /// The build commands.
    pub(crate) build: Vec<String>,
    pub(crate) caches: Vec<&'static str>,
    /// What the final image takes from the build.
    pub(crate) taken: Vec<(String, String)>,
    /// A small image to run on; `None` to run on the build image.
    pub(crate) runtime: Option<String>,
    pub(crate) env: Vec<(&'static str, String)>,
    pub(crate) start: Vec<String>,
    /// The command that runs it from its sources, for development.
    pub(crate) develop: Vec<String>,
    /// The debugger's port.
    pub(crate) debug_port: u16,
    pub(crate) reasons: Vec<Reason>,
    pub(crate) warnings: Vec<String>,
}

impl App {
    fn new(language: Language, debug_port: u16) -> Self {
        Self {
            language,
            place: String::new(),
            build: Vec::new(),
            caches: Vec::new(),
            taken: Vec::new(),
            runtime: None,
            env: Vec::new(),
            start: Vec::new(),
            develop: Vec::new(),
            debug_port,
            reasons: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Sets the start commands, in the image and from the sources, and their reason.
    fn starts(&mut self, start: &[&str], develop: &[&str], why: &str) {
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
        (self.start, self.develop) = (words(start), words(develop));
        self.reasons.push(Reason::new(format!("the application is `{}`", start.join(" ")), why));
    }
}

/// Languages, those most likely to be the application first.
const ORDER: [Language; 6] =
    [Language::Go, Language::Rust, Language::Java, Language::Python, Language::Ruby, Language::Node];

/// Decides which application a project is.
pub(crate) fn of(tree: &Tree, parts: &[Part], base: &Base, needs_libraries: bool) -> Result<App> {
    let is_at_the_top = |language: Language| language::manifests(language).iter().any(|name| tree.has(name));
    let has = |language: &Language| parts.iter().any(|part| part.language == *language);
    let languages: Vec<Language> = ORDER.into_iter().filter(has).collect();
    let nearest = languages.iter().copied().find(|language| is_at_the_top(*language));
    let language = nearest.or(languages.first().copied()).unwrap_or(Language::Node);
    let mut app = language::app(tree, language)?;
    if languages.len() > 1 {
        let why = format!("of the languages {} is nearest to the top", language.name());
        app.reasons.push(Reason::new(format!("{} is the application", language.name()), why));
    }
    // A small image has none of the libraries that the build linked against.
    let alone = parts.len() == 1 && base.family == Family::Debian && base.is_root && !needs_libraries;
    if alone {
        app.runtime = parts.first().and_then(|part| language::small(language, &part.image));
    }
    let why = match &app.runtime {
        Some(_) => "it runs without the tools that built it",
        None => "it may need libraries or toolchains that a smaller image does not have",
    };
    let on = app.runtime.clone().unwrap_or_else(|| "the image it is built with".to_owned());
    app.reasons.push(Reason::new(format!("it runs on {on}"), why));
    if app.start.is_empty() {
        app.warnings.push(
            "no file shows how the application is started: name it in docker-compose.yml and docker-compose.prod.yml (command)"
                .to_owned(),
        );
        let say = "echo 'no file shows how this application is started: set command in the compose file' >&2; exit 64";
        app.start = ["sh", "-c", say].map(str::to_owned).to_vec();
        app.develop.clone_from(&app.start);
    }
    Ok(app)
}
