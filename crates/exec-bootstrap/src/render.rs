//! Writes a plan down. Decides nothing.

use std::collections::BTreeMap;

use crate::header;
use crate::part::{Layer, Part};
use crate::plan::{Family, Plan};
use crate::reason::one_line;
use crate::tree::{directory, file_name};

/// More directories than this are copied by way of a stage: an image has 127 layers at the most.
const MOST_COPIES: usize = 24;

const ABOUT: &str = "\
An image to develop and test this project in, not one to ship it: its sources come with the workspace.
In agentctl's sandbox the root file system is read-only, HOME (/home/agent) is empty and in memory, there is
no network, and the project is mounted at the path it has on the host. So whatever is installed here lies outside
of HOME and of /workspace, is found through variables, and can be read by every user.";

const USER: &str = "\
The sandbox runs commands as the owner of the workspace, whoever that is. This user is for running the image
by hand: docker build --build-arg UID=\"$(id -u)\" --build-arg GID=\"$(id -g)\" .";

pub(crate) fn dockerignore(plan: &Plan) -> String {
    let mut lines = header::lines(&plan.wishes).to_vec();
    lines.push(String::new());
    lines.extend(plan.ignored.iter().cloned());
    lines.join("\n") + "\n"
}

pub(crate) fn dockerfile(plan: &Plan) -> String {
    let mut file = Lines(header::lines(&plan.wishes).to_vec());
    file.comment("");
    ABOUT.lines().for_each(|line| file.comment(line));
    file.comment("");
    file.comment("Why it is as it is:");
    plan.reasons().iter().for_each(|reason| file.comment(&format!("  {}: {}", reason.what, reason.why)));
    plan.warnings().iter().for_each(|warning| file.comment(&format!("  NOTE {warning}")));
    let staged: Vec<&Layer> =
        plan.parts.iter().flat_map(|part| &part.layers).filter(|layer| is_staged(layer)).collect();
    if !staged.is_empty() {
        stage(&mut file, &plan.base.image, &staged);
    }
    file.blank();
    file.line(format!("FROM {}", plan.base.image));
    if !plan.base.is_root {
        file.line("USER 0");
    }
    packages(&mut file, plan);
    plan.parts.iter().skip(1).for_each(|part| carried(&mut file, part));
    plan.parts.iter().for_each(|part| language(&mut file, part));
    user(&mut file);
    file.0.join("\n") + "\n"
}

struct Lines(Vec<String>);

impl Lines {
    fn line(&mut self, line: impl Into<String>) {
        self.0.push(line.into());
    }

    fn blank(&mut self) {
        self.line("");
    }

    /// One line, whatever the text holds.
    fn comment(&mut self, text: &str) {
        self.line(format!("# {}", one_line(text)).trim_end());
    }

    fn run(&mut self, mounts: &[String], commands: &[String]) {
        let first = if mounts.is_empty() { String::new() } else { format!("{} \\\n    ", mounts.join(" ")) };
        self.line(format!("RUN {first}{}", commands.join(" \\\n    && ")));
    }

    /// Variables of one kind are one layer.
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
        // The shell people expect, and what makes a user of a number that is taken.
        names.extend(["bash", "shadow"]);
    }
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return;
    }
    file.blank();
    file.comment("Versions are the distribution's: it keeps no old ones, so that a pinned one would soon not be found.");
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

/// A toolchain out of its own image.
fn carried(file: &mut Lines, part: &Part) {
    file.blank();
    file.comment(&format!("{}, from its official image.", part.language.name()));
    for carried in &part.carried {
        file.line(format!("COPY --from={} {} {}", part.image, carried.from, carried.to));
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
    // What changes least comes first: tools, then variables, then what depends on the project's files.
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
    // Another directory of files that are already there needs no way to it.
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

/// A stage with nothing but manifests: what is copied out of it changes only when they do.
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

fn user(file: &mut Lines) {
    file.blank();
    USER.lines().for_each(|line| file.comment(line));
    file.line("ARG UID=1000");
    file.line("ARG GID=1000");
    let commands = [
        "groupadd --non-unique --gid \"$GID\" agent",
        "useradd --non-unique --no-log-init --uid \"$UID\" --gid \"$GID\" --create-home --home-dir /home/agent agent",
        "mkdir -p /workspace",
        "chown \"$UID:$GID\" /workspace",
    ];
    file.run(&[], &commands.map(str::to_owned));
    file.line("USER $UID:$GID");
    file.line("WORKDIR /workspace");
    file.line("CMD [\"bash\"]");
}
