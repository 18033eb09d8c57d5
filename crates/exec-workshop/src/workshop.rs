//! A workshop: its sandbox and its workers. Pure.

use std::path::{Path, PathBuf};

use exec_config::tree::{Base, Data, Fault, Node, items, parsed, text};
use exec_config::{Setting, option};

use crate::table::Table;
use crate::worker::{self, Worker};

/// A workshop whose files are all valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workshop {
    /// Its name.
    pub name: String,
    /// The kind of its sandbox.
    pub isolation: Isolation,
    /// Its workers; names are unique.
    pub workers: Vec<Worker>,
    /// The files it was read from.
    pub files: Vec<PathBuf>,
    /// The settings of its sandbox.
    pub settings: Vec<Setting>,
}

/// The kind of a workshop's sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// A container.
    Docker,
    /// This machine's own namespaces.
    Process,
}

/// Where a worker is described.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    File(PathBuf, exec_config::tree::Position),
    Here(Box<Worker>, exec_config::tree::Position),
}

impl Workshop {
    /// The worker of this name.
    pub fn worker(&self, name: &str) -> Option<&Worker> {
        self.workers.iter().find(|worker| worker.name == name)
    }
}

/// The contents of the workshop's own file.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) name: Option<String>,
    pub(crate) isolation: Option<Isolation>,
    pub(crate) settings: Vec<Setting>,
    pub(crate) workers: Vec<Place>,
}

pub(crate) fn read(root: &Node, base: &Base, faults: &mut Vec<Fault>) -> Draft {
    let mut table = Table::new(root, "");
    let name = table.require("name", faults, worker::name);
    let isolation = table.require("isolation", faults, |node| isolation(node, base));
    let container = table.member("container");
    let workers = table.require("workers", faults, |node| items(node, "a list of workers"));
    if let Some(sandbox) = root_member(root, "sandbox") {
        // A known key, so that only this mistake is reported.
        let _ = table.member("sandbox");
        faults.push(Fault::new(sandbox.at, conversion(&sandbox.value)));
    }
    table.finish(faults);
    if let (Some(member), Some((Isolation::Process, _))) = (container, &isolation) {
        let message = "`container` needs `isolation: docker`; leave it out, or change the isolation";
        faults.push(Fault::new(member.at, message));
    }
    let mut settings = Vec::new();
    let (isolation, sandbox) = isolation.unzip();
    settings.extend(sandbox.flatten());
    if let Some(member) = container {
        settings.extend(read_container(&member.value, base, faults));
    }
    let workers =
        workers.unwrap_or_default().iter().filter_map(|item| place(item, &base.directory, faults)).collect();
    Draft { name, isolation, settings, workers }
}

fn root_member<'a>(root: &'a Node, name: &str) -> Option<&'a exec_config::tree::Member> {
    match &root.data {
        Data::Table(members) => members.iter().find(|member| member.name == name),
        _ => None,
    }
}

/// The isolation, and the sandbox that it asks for.
fn isolation(node: &Node, base: &Base) -> Result<(Isolation, Option<Setting>), Fault> {
    let (isolation, backend) = parsed(node, "`docker` or `process`", |word| match word {
        "docker" => Ok((Isolation::Docker, "docker")),
        "process" => Ok((Isolation::Process, "local")),
        other => Err(format!("`{}` is not an isolation: use `docker` or `process`", other.escape_debug())),
    })?;
    let sandbox = option("executor").map(|option| option.parse(backend.as_ref(), base)).transpose();
    Ok((isolation, sandbox.map_err(|message| Fault::new(node.at, message))?))
}

/// The keys of `container` and of its `resources`, and the options that they set.
const CONTAINER: [(&str, &str); 3] = [("image", "image"), ("network", "network"), ("mounts", "mounts")];
const RESOURCES: [(&str, &str); 2] = [("memory", "memory"), ("cpu", "cpus")];

fn read_container(node: &Node, base: &Base, faults: &mut Vec<Fault>) -> Vec<Setting> {
    let mut table = Table::new(node, "container.");
    let mut settings = take_options(&mut table, &CONTAINER, base, faults);
    let resources = table.member("resources");
    table.finish(faults);
    if let Some(member) = resources {
        let mut table = Table::new(&member.value, "container.resources.");
        settings.extend(take_options(&mut table, &RESOURCES, base, faults));
        table.finish(faults);
    }
    settings
}

fn take_options(
    table: &mut Table<'_>,
    keys: &[(&'static str, &str)],
    base: &Base,
    faults: &mut Vec<Fault>,
) -> Vec<Setting> {
    let known = keys.iter().filter_map(|(key, name)| option(name).map(|option| (key, option)));
    known.filter_map(|(key, option)| table.take(key, faults, |node| option.read(node, base))).collect()
}

/// A worker's file, by its path or by the worker's name; or the worker itself.
fn place(node: &Node, directory: &Path, faults: &mut Vec<Fault>) -> Option<Place> {
    if let Data::Table(_) = node.data {
        return Some(Place::Here(Box::new(worker::read(node, faults)), node.at));
    }
    let word = text(node, "a worker's file or name").map_err(|fault| faults.push(fault)).ok()?;
    let path = Path::new(word);
    let path = if path.extension().is_some() {
        path.to_owned()
    } else {
        Path::new("workers").join(word).with_extension("md")
    };
    Some(Place::File(directory.join(path), node.at))
}

/// What to write instead of the old form, ready to copy.
fn conversion(old: &Node) -> String {
    let paths: Vec<String> = match &old.data {
        Data::Table(members) => members
            .iter()
            .filter(|member| member.name == "paths")
            .flat_map(|member| match &member.value.data {
                Data::List(items) => items.iter().filter_map(|item| text(item, "").ok()).collect(),
                _ => Vec::new(),
            })
            .map(|path| format!("\"{path}:{path}:rw\""))
            .collect(),
        _ => Vec::new(),
    };
    let mounts = if paths.is_empty() { "\"SRC:DST:ro\"".to_owned() } else { paths.join(", ") };
    format!(
        "`sandbox.paths` is the old form: write `isolation: docker` and `container: {{mounts: [{mounts}]}}`; the workspace itself \
         needs no mount, and `:ro` is enough for what is only read"
    )
}
