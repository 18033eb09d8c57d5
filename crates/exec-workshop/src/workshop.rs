//! A workshop: its sandbox and its workers. Pure.

use std::path::{Path, PathBuf};

use exec_config::tree::{Base, Data, Fault, Node, image, items, mounts, parsed, size, text};
use exec_config::{Sandbox, Setting};
use exec_core::{ByteSize, Cpus, Limit, MountSpec, Network};

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
    pub(crate) container: Container,
}

/// The kind of a workshop's sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// A container.
    Docker,
    /// This machine's own namespaces.
    Process,
}

/// The settings of the container.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Container {
    image: Option<String>,
    network: Option<Network>,
    mounts: Vec<MountSpec>,
    memory: Option<Limit<ByteSize>>,
    cpus: Option<Limit<Cpus>>,
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

    /// The settings of its sandbox.
    pub fn settings(&self) -> Vec<Setting> {
        let sandbox = match self.isolation {
            Isolation::Docker => Sandbox::Docker,
            Isolation::Process => Sandbox::Local,
        };
        let container = &self.container;
        let mounts = (!container.mounts.is_empty()).then(|| Setting::Mounts(container.mounts.clone()));
        let more = [
            container.image.clone().map(Setting::Image),
            container.network.map(Setting::Network),
            mounts,
            container.memory.map(Setting::Memory),
            container.cpus.map(Setting::Cpus),
        ];
        std::iter::once(Setting::Executor(sandbox)).chain(more.into_iter().flatten()).collect()
    }
}

/// The contents of the workshop's own file.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) name: Option<String>,
    pub(crate) isolation: Option<Isolation>,
    pub(crate) container: Container,
    pub(crate) workers: Vec<Place>,
}

pub(crate) fn read(root: &Node, base: &Base, faults: &mut Vec<Fault>) -> Draft {
    let mut table = Table::new(root, "");
    let name = table.require("name", faults, worker::name);
    let isolation = table.require("isolation", faults, isolation);
    let container = table.member("container");
    let workers = table.require("workers", faults, |node| items(node, "a list of workers"));
    if let Some(sandbox) = root_member(root, "sandbox") {
        // A known key, so that only this mistake is reported.
        let _ = table.member("sandbox");
        faults.push(Fault::new(sandbox.at, conversion(&sandbox.value)));
    }
    table.finish(faults);
    if let (Some(member), Some(Isolation::Process)) = (container, isolation) {
        let message =
            "`container` says something only with `isolation: docker`; leave it out, or change the isolation";
        faults.push(Fault::new(member.at, message));
    }
    let container = container.map(|member| read_container(&member.value, base, faults)).unwrap_or_default();
    let workers =
        workers.unwrap_or_default().iter().filter_map(|item| place(item, &base.directory, faults)).collect();
    Draft { name, isolation, container, workers }
}

fn root_member<'a>(root: &'a Node, name: &str) -> Option<&'a exec_config::tree::Member> {
    match &root.data {
        Data::Table(members) => members.iter().find(|member| member.name == name),
        _ => None,
    }
}

fn isolation(node: &Node) -> Result<Isolation, Fault> {
    parsed(node, "`docker` or `process`", |word| match word {
        "docker" => Ok(Isolation::Docker),
        "process" => Ok(Isolation::Process),
        other => Err(format!("`{}` is no isolation: use `docker` or `process`", other.escape_debug())),
    })
}

fn read_container(node: &Node, base: &Base, faults: &mut Vec<Fault>) -> Container {
    let mut table = Table::new(node, "container.");
    let image = table.take("image", faults, image);
    let network = table.take("network", faults, |node| parsed(node, "a network, like `none`", str::parse));
    let mounts = table.take("mounts", faults, |node| mounts(node, base)).unwrap_or_default();
    let resources = table.member("resources");
    table.finish(faults);
    let mut container = Container { image, network, mounts, ..Container::default() };
    if let Some(member) = resources {
        let mut table = Table::new(&member.value, "container.resources.");
        container.memory = table.take("memory", faults, size);
        let cpus = |node| parsed(node, "a number of CPUs, like 2 or 0.5", exec_config::values::limit);
        container.cpus = table.take("cpu", faults, cpus);
        table.finish(faults);
    }
    container
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
