//! Renders a plan. Makes no decisions.

mod app;

use std::collections::BTreeMap;

pub(crate) use app::app;

use exec_core::printable;

use crate::agents::{self, AgentCli};
use crate::header;
use crate::part::{Language, Layer, Part};
use crate::plan::{Family, Plan, Scope};
use crate::reason::one_line;
use crate::tree::{directory, file_name};

/// More directories than this are copied through a stage: an image has at most 127 layers.
const MOST_COPIES: usize = 24;

const ABOUT: &str = "\
An image to develop and test this project in, not one to ship it: its sources come with the workspace.
In agentctl's sandbox the root file system is read-only, HOME (/home/agent) is empty and in memory, there is
no network, and the project is mounted at the path it has on the host. So everything installed here is outside
of HOME and of /workspace, is found through variables, and can be read by every user.";

const USER: &str = "\
The sandbox runs commands as the owner of the workspace. This user is only for running the image
by hand: docker build --build-arg UID=\"$(id -u)\" --build-arg GID=\"$(id -g)\" .";

pub(crate) fn dockerignore(plan: &Plan) -> String {
    let mut lines = header::lines(&plan.wishes).to_vec();
    lines.push(String::new());
    lines.extend(plan.ignored.iter().cloned());
    Lines(lines).finish()
}

pub(crate) fn dockerfile(plan: &Plan) -> String {
    let mut file = Lines(header::lines(&plan.wishes).to_vec());
    about(&mut file, ABOUT, plan);
    toolchain(&mut file, plan, "");
    agents(&mut file, plan);
    user(&mut file, plan, USER);
    file.line("USER $UID:$GID");
    file.line("WORKDIR /workspace");
    file.line("CMD [\"bash\"]");
    file.finish()
}

fn about(file: &mut Lines, text: &str, plan: &Plan) {
    file.comment("");
    text.lines().for_each(|line| file.comment(line));
    file.comment("");
    file.comment("Decisions and their reasons:");
    plan.reasons().iter().for_each(|reason| file.comment(&format!("  {}: {}", reason.what, reason.why)));
    plan.warnings().iter().for_each(|warning| file.comment(&format!("  NOTE {warning}")));
}

/// Everything but the user: compilers, libraries, dependencies.
fn toolchain(file: &mut Lines, plan: &Plan, name: &str) {
    let base = plan.pinned(&plan.base.image);
    let staged: Vec<&Layer> =
        plan.parts.iter().flat_map(|part| &part.layers).filter(|layer| is_staged(layer)).collect();
    if !staged.is_empty() {
        stage(file, &base, &staged);
    }
    file.blank();
    file.line(format!("FROM {base}{name}"));
    if !plan.base.is_root {
        if !name.is_empty() {
            file.comment("hadolint ignore=DL3002");
        }
        file.line("USER 0");
    }
    if plan.parts.iter().any(|part| part.language == Language::Python) {
        file.comment("Compiled Python then holds no time: two builds have the same content.");
        file.line("ARG SOURCE_DATE_EPOCH=315532800");
    }
    packages(file, plan);
    plan.parts.iter().skip(1).for_each(|part| carried(file, part, &plan.pinned(&part.image)));
    plan.parts.iter().for_each(|part| language(file, part));
}

/// The agents' CLIs, in a layer of their own.
fn agents(file: &mut Lines, plan: &Plan) {
    if plan.wishes.agents.is_empty() {
        return;
    }
    file.blank();
    file.comment("Programs of agents, with their own private Node.");
    for line in agents::copies(&plan.pinned(AgentCli::node(plan.base.family))) {
        file.line(line);
    }
    file.run(&[cache(agents::CACHE)], &agents::commands(&plan.wishes.agents));
    file.env(&agents::ENV.map(|(name, value)| (name, value.to_owned())));
}

/// Words as a JSON list, for an instruction.
pub(crate) fn json(words: &[String]) -> String {
    serde_json::Value::from(words).to_string()
}

struct Lines(Vec<String>);

impl Lines {
    fn line(&mut self, line: impl Into<String>) {
        self.0.push(line.into());
    }

    fn blank(&mut self) {
        self.line("");
    }

    /// A comment of exactly one line.
    fn comment(&mut self, text: &str) {
        self.line(format!("# {}", one_line(text)).trim_end());
    }

    fn finish(self) -> String {
        printable::lines(&(self.0.join("\n") + "\n")).into_owned()
    }

    fn run(&mut self, mounts: &[String], commands: &[String]) {
        let first = if mounts.is_empty() { String::new() } else { format!("{} \\\n    ", mounts.join(" ")) };
        self.line(format!("RUN {first}{}", commands.join(" \\\n    && ")));
    }

    /// Sets variables in one layer.
    fn env(&mut self, variables: &[(&str, String)]) {
        let pairs: Vec<String> = variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if !pairs.is_empty() {
            self.line(format!("ENV {}", pairs.join(" \\\n    ")));
        }
    }
}

fn cache(target: &str) -> String {
    format!("--mount=type=cache,target={target},sharing=locked")
}

fn packages(file: &mut Lines, plan: &Plan) {
    let name = |library: &crate::libraries::Library| match plan.base.family {
        Family::Debian => library.debian,
        Family::Alpine => library.alpine,
    };
    let mut names: Vec<&str> = plan.libraries.iter().flat_map(|library| name(library).split(' ')).collect();
    if plan.base.family == Family::Alpine {
        // The expected shell, and tools that create a user whose number is taken.
        names.extend(["bash", "shadow"]);
        // A dependency of Node.
        names.extend((!plan.wishes.agents.is_empty()).then_some("libstdc++"));
    }
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return;
    }
    file.blank();
    file.comment("The distribution chooses the versions: it keeps no old ones, so a pinned version would soon be missing.");
    match plan.base.family {
        Family::Debian => {
            file.comment("hadolint ignore=DL3008");
            file.run(
                &["/var/cache/apt", "/var/lib/apt"].map(cache),
                &[
                    "rm -f /etc/apt/apt.conf.d/docker-clean".to_owned(),
                    "apt-get update".to_owned(),
                    format!("apt-get install -y --no-install-recommends {}", names.join(" ")),
                ],
            );
        }
        Family::Alpine => {
            file.comment("hadolint ignore=DL3018");
            file.run(&[], &[format!("apk add --no-cache {}", names.join(" "))]);
        }
    }
}

/// Copies a toolchain from its own image.
fn carried(file: &mut Lines, part: &Part, image: &str) {
    file.blank();
    file.comment(&format!("{}, from its official image.", part.language.name()));
    for carried in &part.carried {
        file.line(format!("COPY --from={image} {} {}", carried.from, carried.to));
    }
    if !part.carried_commands.is_empty() {
        file.run(&[], &part.carried_commands);
    }
    let mut variables = part.carried_env.clone();
    if !part.carried_path.is_empty() {
        variables.push(("PATH", format!("{}:$PATH", part.carried_path.join(":"))));
    }
    file.env(&variables);
}

fn language(file: &mut Lines, part: &Part) {
    let mut variables = part.env.clone();
    if !part.path.is_empty() {
        variables.push(("PATH", format!("{}:$PATH", part.path.join(":"))));
    }
    if !variables.is_empty() || !part.layers.is_empty() {
        file.blank();
        file.comment(&format!("{}.", part.language.name()));
    }
    let (tools, project): (Vec<&Layer>, Vec<&Layer>) =
        part.layers.iter().partition(|layer| layer.directory.is_empty());
    // What changes least comes first: tools, then variables, then the project's files.
    for layer in tools {
        write_layer(file, layer);
    }
    file.env(&variables);
    for layer in project {
        write_layer(file, layer);
    }
}

fn write_layer(file: &mut Lines, layer: &Layer) {
    layer.comment.iter().for_each(|line| file.comment(line));
    // A layer without files needs only the `WORKDIR` of its place, below.
    if !layer.directory.is_empty() && (!layer.files.is_empty() || layer.place.is_empty()) {
        file.line(format!("WORKDIR {}", layer.directory));
    }
    if is_staged(layer) {
        file.line("COPY --from=manifests /manifests ./");
    } else {
        for (place, files) in by_directory(layer) {
            let to = if place.is_empty() { "./".to_owned() } else { format!("{place}/") };
            file.line(format!("COPY {} {to}", files.join(" ")));
        }
    }
    if !layer.place.is_empty() {
        file.line(format!("WORKDIR {}/{}", layer.directory, layer.place));
    }
    let caches: Vec<String> = layer.caches.iter().map(|target| cache(target)).collect();
    if !layer.commands.is_empty() {
        file.run(&caches, &layer.commands);
    }
}

fn by_directory(layer: &Layer) -> BTreeMap<&str, Vec<&str>> {
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    layer.files.iter().for_each(|path| places.entry(directory(path)).or_default().push(path));
    for files in places.values_mut() {
        files.sort_unstable();
        files.dedup();
    }
    places
}

fn is_staged(layer: &Layer) -> bool {
    by_directory(layer).len() > MOST_COPIES
}

/// A stage with only manifests: copies from it change only when a manifest does.
fn stage(file: &mut Lines, image: &str, layers: &[&Layer]) {
    let mut names: Vec<&str> =
        layers.iter().flat_map(|layer| layer.files.iter().map(|path| file_name(path))).collect();
    names.sort_unstable();
    names.dedup();
    let kept = names.iter().map(|name| format!(" ! -name {name}")).collect::<Vec<_>>().concat();
    file.blank();
    file.comment(
        "Only the files that name dependencies; a layer for each of their directories would be too many.",
    );
    file.line(format!("FROM {image} AS manifests"));
    file.line("WORKDIR /manifests");
    file.line("COPY . .");
    file.run(&[], &[format!("find . -type f{kept} -delete"), "find . -type d -empty -delete".to_owned()]);
}

fn user(file: &mut Lines, plan: &Plan, about: &str) {
    // A volume inherits the owner of its directory in the image.
    let (places, owned) = match plan.wishes.scope {
        Scope::Image => ("/workspace", "/workspace"),
        Scope::Compose => ("/workspace /app/data /app/config", "/workspace /app/data"),
    };
    file.blank();
    about.lines().for_each(|line| file.comment(line));
    file.line("ARG UID=1000");
    file.line("ARG GID=1000");
    let commands = [
        "groupadd --non-unique --gid \"$GID\" agent".to_owned(),
        "useradd --non-unique --no-log-init --uid \"$UID\" --gid \"$GID\" --create-home --home-dir /home/agent agent".to_owned(),
        format!("mkdir -p {places}"),
        format!("chown \"$UID:$GID\" {owned}"),
    ];
    file.run(&[], &commands);
}
