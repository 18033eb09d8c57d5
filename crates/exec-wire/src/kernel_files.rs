//! Files of the kernel below `/proc` that no command needs, the same in every kind of cell.

/// Empty in every cell: they reveal the host's hardware, its keys, or the addresses of its kernel.
pub const MASKED_PROC: [&str; 11] = [
    "acpi",
    "asound",
    "interrupts",
    "kallsyms",
    "kcore",
    "keys",
    "latency_stats",
    "sched_debug",
    "scsi",
    "timer_list",
    "timer_stats",
];

/// Empty where commands run as user 0: only that user can use them, and needs no capability to do so.
pub const MASKED_PROC_FOR_ROOT: [&str; 10] = [
    "allocinfo",
    "dynamic_debug/control",
    "kmsg",
    "kpagecgroup",
    "kpagecount",
    "kpageflags",
    "pagetypeinfo",
    "slabinfo",
    "tty/driver",
    "vmallocinfo",
];
