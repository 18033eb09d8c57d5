//! The application itself, for `--compose`: how it is built, what it runs on and how it is started. Pure.

mod language;

use exec_core::Result;

use crate::part::{Language, Part};
use crate::plan::{Base, Family};
use crate::reason::Reason;
use crate::tree::Tree;

/// Where the sources are while the application is built.
pub(crate) const SOURCES: &str = "/src";
/// Where a build leaves what is to be run.
pub(crate) const OUT: &str = "/out";
/// Where that is in the image.
pub(crate) const PROGRAMS: &str = "/app/bin";
/// Where the sources are of an application that runs from them.
pub(crate) const RUN_FROM: &str = "/app/src";

/// How a project becomes something that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct App {
    pub(crate) language: Language,
    /// The directory of the project that it is built in; the top is the empty path.
    pub(crate) place: String,
    /// What is done with the sources.
    pub(crate) build: Vec<String>,
    pub(crate) caches: Vec<&'static str>,
    /// What of the build the image gets.
    pub(crate) taken: Vec<(String, String)>,
    /// A small image to run on; `None` to run on the one it was built with.
    pub(crate) runtime: Option<String>,
    pub(crate) env: Vec<(&'static str, String)>,
    pub(crate) start: Vec<String>,
    /// How it is started from its sources, for who works on them.
    pub(crate) develop: Vec<String>,
    /// Where its debugger would listen.
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

    /// What is run, in the image and from the sources, and what says so.
    fn starts(&mut self, start: &[&str], develop: &[&str], why: &str) {
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
        (self.start, self.develop) = (words(start), words(develop));
        self.reasons.push(Reason::new(format!("the application is `{}`", start.join(" ")), why));
    }
}

/// Which languages are more often an application than a part of one, first.
const ORDER: [Language; 6] =
    [Language::Go, Language::Rust, Language::Java, Language::Python, Language::Ruby, Language::Node];

/// The application of a project.
pub(crate) fn of(tree: &Tree, parts: &[Part], base: &Base, needs_libraries: bool) -> Result<App> {
    let is_at_the_top = |language: Language| language::manifests(language).iter().any(|name| tree.has(name));
    let has = |language: &Language| parts.iter().any(|part| part.language == *language);
    let languages: Vec<Language> = ORDER.into_iter().filter(has).collect();
    let nearest = languages.iter().copied().find(|language| is_at_the_top(*language));
    let language = nearest.or(languages.first().copied()).unwrap_or(Language::Node);
    let mut app = language::app(tree, language)?;
    if languages.len() > 1 {
        let why = format!("of the languages here {} is nearest to the top", language.name());
        app.reasons.push(Reason::new(format!("{} is the application", language.name()), why));
    }
    // What a build linked against must be there when it runs; a small image has none of it.
    let alone = parts.len() == 1 && base.family == Family::Debian && base.is_root && !needs_libraries;
    if alone {
        app.runtime = parts.first().and_then(|part| language::small(language, &part.image));
    }
    let why = match &app.runtime {
        Some(_) => "nothing of what built it is needed to run it",
        None => "it may need libraries or toolchains that a smaller image does not have",
    };
    let on = app.runtime.clone().unwrap_or_else(|| "the image it is built with".to_owned());
    app.reasons.push(Reason::new(format!("it runs on {on}"), why));
    if app.start.is_empty() {
        app.warnings.push(
            "nothing says how the application is started: name it in docker-compose.yml and docker-compose.prod.yml (command)"
                .to_owned(),
        );
        let say = "echo 'nothing says how this application is started: set command in the compose file' >&2; exit 64";
        app.start = ["sh", "-c", say].map(str::to_owned).to_vec();
        app.develop.clone_from(&app.start);
    }
    Ok(app)
}
