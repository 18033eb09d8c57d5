//! Limits that the preset fills in: `memory`, `cpus`, `pids`, `open_files`, `tmp_size`, `max_output`, `timeout`.

use std::time::Duration;

use exec_core::{ByteSize, Cpus, Limit, Limits, ResolvedLimits};

use super::prelude::*;
use crate::tmpfs;

/// A limit on a resource: its place among the limits of a run, as given and as resolved.
pub(crate) trait PresetLimit: Send + Sync + 'static {
    type Amount: PartialOrd + Copy;

    const DOCS: Docs;
    const SECTION: Option<SectionKey<Limit<Self::Amount>>> = None;

    fn given(limits: &mut Limits) -> &mut Limit<Self::Amount>;
    fn resolved(limits: &ResolvedLimits) -> Option<Self::Amount>;
}

impl<L: PresetLimit> RunOption for L
where
    Limit<L::Amount>: OptionValue,
{
    type Value = Limit<L::Amount>;

    const DOCS: Docs = <L as PresetLimit>::DOCS;
    const SECTION: Option<SectionKey<Self::Value>> = <L as PresetLimit>::SECTION;

    fn apply(settings: &mut Settings, limit: Self::Value) {
        *L::given(&mut settings.opts.limits) = limit;
    }

    fn unset(settings: &Settings, machine: Machine) -> Unset {
        match L::resolved(&settings.resolved_limits(machine)) {
            None => Unset::fixed(Limit::<L::Amount>::Unlimited.show()),
            Some(amount) => Unset {
                value: Limit::Exactly(amount).show(),
                from: Some(format!("preset {}", settings.opts.limits.preset.show())),
            },
        }
    }

    fn is_looser(before: &Settings, after: &Settings, machine: Machine) -> bool {
        let amount = |settings: &Settings| L::resolved(&settings.resolved_limits(machine));
        is_larger(amount(before), amount(after))
    }
}

/// Memory of all processes.
pub(crate) struct Memory;

impl PresetLimit for Memory {
    type Amount = ByteSize;

    const DOCS: Docs = Docs {
        name: "memory",
        flag: "--memory",
        short: Some('m'),
        value_name: "SIZE",
        heading: Heading::Limits,
        summary: "Limit the memory of all processes together, like `512m` or `2g`",
        details: "The private /tmp counts too.",
        example: "\"2g\"",
    };

    fn given(limits: &mut Limits) -> &mut Limit<ByteSize> {
        &mut limits.memory
    }

    fn resolved(limits: &ResolvedLimits) -> Option<ByteSize> {
        limits.memory
    }
}

/// CPU time per wall time.
pub(crate) struct CpuTime;

impl PresetLimit for CpuTime {
    type Amount = Cpus;

    const DOCS: Docs = Docs {
        name: "cpus",
        flag: "--cpus",
        value_name: "N",
        heading: Heading::Limits,
        summary: "Limit CPU time to that of N CPUs, like `2` or `0.5`",
        example: "2",
        ..Docs::EMPTY
    };

    fn given(limits: &mut Limits) -> &mut Limit<Cpus> {
        &mut limits.cpus
    }

    fn resolved(limits: &ResolvedLimits) -> Option<Cpus> {
        limits.cpus
    }
}

/// Processes and threads at once.
pub(crate) struct Pids;

impl PresetLimit for Pids {
    type Amount = u32;

    const DOCS: Docs = Docs {
        name: "pids",
        flag: "--pids",
        value_name: "N",
        heading: Heading::Limits,
        summary: "Limit the processes and threads at once",
        example: "1024",
        ..Docs::EMPTY
    };

    fn given(limits: &mut Limits) -> &mut Limit<u32> {
        &mut limits.pids
    }

    fn resolved(limits: &ResolvedLimits) -> Option<u32> {
        limits.pids
    }
}

/// Open files per process.
pub(crate) struct OpenFiles;

impl PresetLimit for OpenFiles {
    type Amount = u32;

    const DOCS: Docs = Docs {
        name: "open_files",
        flag: "--open-files",
        value_name: "N",
        heading: Heading::Limits,
        summary: "Limit the open files of each process",
        example: "1024",
        ..Docs::EMPTY
    };

    fn given(limits: &mut Limits) -> &mut Limit<u32> {
        &mut limits.open_files
    }

    fn resolved(limits: &ResolvedLimits) -> Option<u32> {
        limits.open_files
    }
}

/// Size of the private `/tmp`.
pub(crate) struct TmpSize;

impl PresetLimit for TmpSize {
    type Amount = ByteSize;

    const DOCS: Docs = Docs {
        name: "tmp_size",
        flag: "--tmp-size",
        value_name: "SIZE",
        heading: Heading::Limits,
        summary: "Limit the size of the private /tmp",
        example: "\"1g\"",
        ..Docs::EMPTY
    };

    const SECTION: Option<SectionKey<Limit<ByteSize>>> = Some(SectionKey {
        name: "tmpfs",
        about: "The private /tmp and its size, like {\"/tmp\": \"1g\"}. /run always has 10m.",
        needs_images: false,
        read: |node, _| tmpfs::size_of_tmp(node),
        show: Limit::show,
        schema: |_| tmpfs::schema(),
    });

    fn given(limits: &mut Limits) -> &mut Limit<ByteSize> {
        &mut limits.tmp_size
    }

    fn resolved(limits: &ResolvedLimits) -> Option<ByteSize> {
        Some(limits.tmp_size)
    }
}

/// Bytes of output after which a run is ended.
pub(crate) struct MaxOutput;

impl PresetLimit for MaxOutput {
    type Amount = ByteSize;

    const DOCS: Docs = Docs {
        name: "max_output",
        flag: "--max-output",
        value_name: "SIZE",
        heading: Heading::Limits,
        summary: "Stop a run that writes more output than this",
        example: "\"100m\"",
        ..Docs::EMPTY
    };

    fn given(limits: &mut Limits) -> &mut Limit<ByteSize> {
        &mut limits.output
    }

    fn resolved(limits: &ResolvedLimits) -> Option<ByteSize> {
        limits.output
    }
}

/// Longest run.
pub(crate) struct Timeout;

impl PresetLimit for Timeout {
    type Amount = Duration;

    const DOCS: Docs = Docs {
        name: "timeout",
        flag: "--timeout",
        value_name: "TIME",
        heading: Heading::Limits,
        summary: "Stop a run after this long: `30s`, `5m`, `1h 30m`, or seconds",
        example: "\"5m\"",
        ..Docs::EMPTY
    };

    fn given(limits: &mut Limits) -> &mut Limit<Duration> {
        &mut limits.timeout
    }

    fn resolved(limits: &ResolvedLimits) -> Option<Duration> {
        limits.timeout
    }
}
