//! How each language becomes an application.

use exec_core::Result;
use serde_json::Value;

use super::{App, OUT, PROGRAMS, RUN_FROM};
use crate::document;
use crate::part::Language;
use crate::tree::{Tree, directory, file_name};
use crate::wanted::counts;

pub(super) fn manifests(language: Language) -> &'static [&'static str] {
    match language {
        Language::Go => &["go.mod"],
        Language::Rust => &["Cargo.toml"],
        Language::Java => &["pom.xml", "build.gradle", "build.gradle.kts"],
        Language::Python => &["pyproject.toml", "requirements.txt", "Pipfile", "setup.py"],
        Language::Ruby => &["Gemfile"],
        Language::Node => &["package.json"],
    }
}

/// A runtime image without build tools.
pub(super) fn small(language: Language, image: &str) -> Option<String> {
    let (name, debian) = image.rsplit_once('-')?;
    match language {
        Language::Go | Language::Rust => Some(format!("debian:{debian}-slim")),
        Language::Python => Some(format!("{name}-slim-{debian}")),
        Language::Node => Some(format!("{name}-{debian}-slim")),
        Language::Java | Language::Ruby => None,
    }
}

pub(super) fn app(tree: &Tree, language: Language) -> Result<App> {
    match language {
        Language::Go => go(tree),
        Language::Rust => rust(tree),
        Language::Java => Ok(java(tree)),
        Language::Python => python(tree),
        Language::Ruby => Ok(ruby(tree)),
        Language::Node => node(tree),
    }
}

/// The manifest nearest to the top.
fn first<'a>(tree: &'a Tree, name: &str) -> &'a str {
    tree.named(name).into_iter().find(|path| counts(path)).unwrap_or_default()
}

/// A program name that is safe in a command.
fn word(text: &str) -> Option<&str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    (!text.is_empty() && !text.starts_with(['-', '.']) && text.chars().all(is_plain)).then_some(text)
}

fn programs(app: &mut App) {
    app.taken = vec![(OUT.to_owned(), PROGRAMS.to_owned())];
}

fn go(tree: &Tree) -> Result<App> {
    let mut app = App::new(Language::Go, 2345);
    let path = first(tree, "go.mod");
    let place = directory(path);
    let text = document::text(tree, path)?.unwrap_or_default();
    let module = text.lines().find_map(|line| line.strip_prefix("module ")).unwrap_or_default();
    let is_version = |part: &&str| part.starts_with('v') && part[1..].parse::<u32>().is_ok();
    let module = module.trim().split('/').rfind(|part| !is_version(part)).and_then(word).unwrap_or("app");
    let commands = tree.directories_in(&crate::tree::join(place, "cmd"));
    let command =
        commands.iter().find(|name| **name == module).or(commands.first()).and_then(|name| word(name));
    if commands.len() > 1 {
        app.warnings.push(format!(
            "cmd/ has several programs; the application is {}, change it in the compose files (command)",
            command.unwrap_or(module)
        ));
    }
    app.build = vec![format!("mkdir -p {OUT}"), format!("go build -trimpath -o {OUT}/ ./...")];
    place.clone_into(&mut app.place);
    app.caches = vec!["/root/.cache/go-build"];
    programs(&mut app);
    let start = format!("{PROGRAMS}/{}", command.unwrap_or(module));
    let sources = command.map_or_else(|| ".".to_owned(), |name| format!("./cmd/{name}"));
    let sources =
        if place.is_empty() { sources } else { format!("./{place}/{}", sources.trim_start_matches("./")) };
    let why =
        if command.is_some() { "cmd/ has it".to_owned() } else { format!("{path} names the module so") };
    app.starts(&[&start], &["go", "run", &sources], &why);
    Ok(app)
}

fn rust(tree: &Tree) -> Result<App> {
    let mut app = App::new(Language::Rust, 2345);
    let locked = if tree.has("Cargo.lock") { " --locked" } else { "" };
    app.build = vec![
        format!("CARGO_TARGET_DIR=/tmp/target cargo build --release{locked}"),
        format!("mkdir -p {OUT}"),
        format!("find /tmp/target/release -maxdepth 1 -type f -perm -100 -exec cp '{{}}' {OUT}/ ';'"),
        "rm -rf /tmp/target".to_owned(),
    ];
    programs(&mut app);
    for path in tree.named("Cargo.toml").into_iter().filter(|path| counts(path)) {
        let manifest = document::toml(tree, path)?.unwrap_or_default();
        let text = |table: &str, key: &str| manifest.get(table)?.get(key)?.as_str().map(str::to_owned);
        let binary =
            manifest.get("bin").and_then(|bins| bins.get(0)?.get("name")?.as_str().map(str::to_owned));
        let name = text("package", "default-run").or(binary).or_else(|| text("package", "name"));
        if let Some(name) = name.as_deref().and_then(word) {
            app.starts(
                &[&format!("{PROGRAMS}/{name}")],
                &["cargo", "run", "--bin", name],
                &format!("{path} names it"),
            );
            break;
        }
    }
    Ok(app)
}

fn java(tree: &Tree) -> App {
    let mut app = App::new(Language::Java, 5005);
    let (build, from, develop) = if tree.has("pom.xml") {
        ("mvn --batch-mode package -DskipTests", "target", ["mvn", "--offline", "compile", "exec:java"])
    } else {
        ("gradle --no-daemon assemble", "build/libs", ["gradle", "--offline", "--no-daemon", "run"])
    };
    let jars = format!(
        "find {from} -maxdepth 1 -name '*.jar' ! -name '*-plain.jar' ! -name '*-sources.jar' ! -name 'original-*'"
    );
    app.build = vec![
        build.to_owned(),
        format!("mkdir -p {OUT}"),
        format!("{jars} -exec cp '{{}}' {OUT}/app.jar ';'"),
    ];
    programs(&mut app);
    app.starts(&["java", "-jar", &format!("{PROGRAMS}/app.jar")], &develop, &format!("{build} makes it"));
    app
}

fn python(tree: &Tree) -> Result<App> {
    let mut app = App::new(Language::Python, 5678);
    app.taken = vec![("/opt/venv".to_owned(), "/opt/venv".to_owned())];
    app.env = vec![
        ("VIRTUAL_ENV", "/opt/venv".to_owned()),
        ("PATH", "/opt/venv/bin:$PATH".to_owned()),
        ("PYTHONUNBUFFERED", "1".to_owned()),
    ];
    let project = document::toml(tree, "pyproject.toml")?.unwrap_or_default();
    let scripts = project.get("project").and_then(|project| project.get("scripts")?.as_table());
    if let Some(name) = scripts.and_then(|scripts| scripts.keys().find_map(|name| word(name)))
        && project.contains_key("build-system")
    {
        app.build = vec!["python3 -m pip --python /opt/venv install --no-deps .".to_owned()];
        app.caches = vec!["/root/.cache/pip"];
        app.starts(&[name], &["sh", "-c", &format!("pip install --quiet --no-deps --target /tmp/app . && PYTHONPATH=/tmp/app /tmp/app/bin/{name}")], "pyproject.toml has it as a script");
        return Ok(app);
    }
    run_from_sources(&mut app);
    if tree.has("manage.py") {
        let serve = ["python", "manage.py", "runserver", "0.0.0.0:8080"];
        app.starts(&serve, &serve, "manage.py is there; put a server for production in its place");
    } else if let Some(path) = ["main.py", "app.py"].into_iter().find(|path| tree.has(path)) {
        app.starts(&["python", path], &["python", path], &format!("{path} is there"));
    }
    Ok(app)
}

/// For a project that needs no build, or whose build output needs files beside it.
fn run_from_sources(app: &mut App) {
    app.taken.push((super::SOURCES.to_owned(), RUN_FROM.to_owned()));
}

fn ruby(tree: &Tree) -> App {
    let mut app = App::new(Language::Ruby, 12345);
    run_from_sources(&mut app);
    if tree.has("config.ru") {
        let serve = ["bundle", "exec", "rackup", "--host", "0.0.0.0", "--port", "8080"];
        app.starts(&serve, &serve, "config.ru is there");
    }
    app
}

fn node(tree: &Tree) -> Result<App> {
    let mut app = App::new(Language::Node, 9229);
    let path = first(tree, "package.json");
    let manifest = document::json(tree, path)?.unwrap_or_default();
    directory(path).clone_into(&mut app.place);
    app.build = vec!["npm run build --if-present".to_owned()];
    app.taken = vec![("/opt/node".to_owned(), "/opt/node".to_owned())];
    run_from_sources(&mut app);
    app.env = vec![("NODE_ENV", "production".to_owned())];
    let script = |name: &str| manifest.get("scripts").and_then(|scripts| scripts.get(name)).is_some();
    let place = directory(path);
    let prefix = if place.is_empty() { "." } else { place };
    let own = manifest
        .get("main")
        .and_then(Value::as_str)
        .filter(|main| main.split('/').all(|part| word(part).is_some()));
    let seen = ["server.js", "index.js"].into_iter().find(|name| tree.has(name));
    let develop = if script("dev") { "dev" } else { "start" };
    if script("start") {
        let why = format!("{path} has it as a script");
        app.starts(&["npm", "--prefix", prefix, "start"], &["npm", "--prefix", prefix, "run", develop], &why);
    } else if let Some(main) = own.or(seen) {
        let file = crate::tree::join(place, main);
        let why = if own.is_some() {
            format!("{path} names it as main")
        } else {
            format!("{} is there", file_name(&file))
        };
        app.starts(&["node", &file], &["node", &file], &why);
    }
    Ok(app)
}
