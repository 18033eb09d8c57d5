//! The application's own Dockerfile.

use super::{Lines, about, agents, cache, json, toolchain, user};
use crate::app::{App, RUN_FROM, SOURCES};
use crate::header;
use crate::plan::Plan;

const ABOUT_APP: &str = "\
The application itself, for docker-compose.prod.yml: built with the toolchain of Dockerfile.dev, then run as an
ordinary user. It listens on PORT (8080), keeps lasting data in /app/data, finds its configuration in
/app/config and secrets in /run/secrets.";

const APP_USER: &str = "An ordinary user; scripts/docker-build.sh gives it the id of the project's owner.";

/// The Dockerfile of the application, built with the toolchain layers of the development image.
pub(crate) fn app(plan: &Plan, app: &App) -> String {
    let mut file = Lines(header::lines(&plan.wishes).to_vec());
    about(&mut file, ABOUT_APP, plan);
    toolchain(&mut file, plan, " AS toolchain");
    file.blank();
    file.comment(&format!("Builds it ({}).", app.language.name()));
    file.line("FROM toolchain AS build");
    file.line(format!("WORKDIR {SOURCES}"));
    file.line("COPY . .");
    if !app.place.is_empty() {
        file.line(format!("WORKDIR {SOURCES}/{}", app.place));
    }
    if !app.build.is_empty() {
        let caches: Vec<String> = app.caches.iter().map(|target| cache(target)).collect();
        file.run(&caches, &app.build);
    }
    file.blank();
    file.comment("Runs it, if possible without the tools that built it.");
    file.line(format!(
        "FROM {}",
        app.runtime.as_ref().map_or_else(|| "toolchain".to_owned(), |image| plan.pinned(image))
    ));
    agents(&mut file, plan);
    file.env(&app.env);
    for (from, to) in &app.taken {
        file.line(format!("COPY --from=build {from} {to}"));
    }
    if app.taken.iter().any(|(from, _)| from == "/opt/node") && app.runtime.is_some() {
        file.comment("Node looks for packages in every directory above a file.");
        file.run(&[], &["ln -s /opt/node/node_modules /node_modules".to_owned()]);
    }
    user(&mut file, plan, APP_USER);
    file.line("ENV PORT=8080");
    file.line("USER $UID:$GID");
    let from_sources = app.taken.iter().any(|(_, to)| to == RUN_FROM);
    file.line(format!("WORKDIR {}", if from_sources { RUN_FROM } else { "/workspace" }));
    file.line(format!("CMD {}", json(&app.start)));
    file.finish()
}
