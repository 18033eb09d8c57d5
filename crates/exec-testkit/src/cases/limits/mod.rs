//! Limits enforced by the kernel, where they are claimed.

mod counts;
mod cpu;
mod memory;
mod space;

use super::Group;

pub(super) const GROUPS: &[Group] = &[
    ("limits::memory", memory::CASES),
    ("limits::counts", counts::CASES),
    ("limits::space", space::CASES),
    ("limits::cpu", cpu::CASES),
];
