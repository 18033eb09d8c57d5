//! Two builds: one uses the CPU, one works on files.

use std::process::Command;

use exec_core::{Cmd, ExecOpts};

use crate::rig::{EngineRig, succeeds};

/// A build as a line of shell in the workspace.
pub(crate) struct Build {
    pub(crate) name: &'static str,
    script: &'static str,
}

pub(crate) const ALL: [Build; 2] = [
    Build {
        name: "build-cpu",
        script: "python3 -c 'print(sum(i * i % 7 for i in range(4000000)))' > sum.txt",
    },
    Build {
        name: "build-files",
        script: "set -e; rm -rf tree copy; mkdir tree; i=0; while [ $i -lt 800 ]; do d=tree/$((i % 40)); \
                 [ -d $d ] || mkdir $d; echo \"int f$i(void) { return $i; }\" > $d/f$i.c; i=$((i + 1)); done; \
                 cp -r tree copy; grep -rl 'return 7' copy > found.txt; tar cf tree.tar tree; find copy -name '*.c' \
                 -exec touch {} +; rm -rf tree copy tree.tar",
    },
];

impl Build {
    pub(crate) fn outside(&self, rig: &EngineRig) {
        succeeds(Command::new("sh").args(["-c", self.script]).current_dir(rig.workspace.path()));
    }

    pub(crate) fn inside(&self, rig: &EngineRig, opts: &ExecOpts) {
        let result = rig.runtime.block_on(rig.executor.run(&Cmd::shell(self.script), opts)).expect("a run");
        assert!(result.success(), "{}", result.stderr.text());
    }
}
