//! The project's own chores, run as `cargo xtask VERB`.
//!
//! One file per verb. Nothing here is part of the product: no crate depends on this one, and it knows the
//! others only by name.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people at a terminal")]
#![cfg_attr(
    not(unix),
    allow(dead_code, reason = "changing the user is the larger part of `test`, and Unix only")
)]

mod args;
mod bench;
mod cargo;
mod case_times;
mod engines;
mod fuzz;
mod host;
mod mcp_client;
#[cfg(unix)]
mod ordinary_user;
mod program;
mod scratch;
mod setup;
mod soak;
mod steps;
mod strangers;
mod suites;
mod table;
mod test;
mod test_tools;
mod tidy;
#[cfg(unix)]
mod vm;

use std::process::ExitCode;

use args::Verb;

const HELP: &str = "\
The project's chores.

usage: cargo xtask VERB [OPTIONS]

  test [--fast] [--keep-going]
        Set up what the tests need (Debian/Ubuntu, as root or with sudo), then run formatting, clippy,
        tidy, all tests side by side (and once more, as an ordinary user, those that must pass without
        privileges) and the documentation. Ends with the slowest suites and cases.
        --fast         leave out formatting, clippy and documentation
        --keep-going   run the remaining steps after one has failed

  engines
        Install and prepare Podman for the tests, for root and for the test user, say which engines
        work (Debian/Ubuntu, as root or with sudo), and install the MCP client that tests use. `test`
        does this too.

  program
        Build agentctl as it is meant to be installed: for speed, and linked statically, so that it
        starts at once amid a fork bomb too. Prints where it is.

  tidy
        Check the project's own rules: where unsafe and printing are allowed, which crate may depend
        on which, module documentation, file sizes, leftovers.

  bench [--report-only] [--rounds N] [-- CRITERION-OPTIONS]
        Run the benches and print each claim about speed as a ratio measured in this run. Fails when
        a claim does not hold. Installs bubblewrap, which one of the claims is measured against.
        --report-only  print the table and succeed all the same
        --rounds N     measure everything N times and take the middle [default: 3]

  vm [--smoke] [--suite RELEASE] [--arch ARCH] [--kernel PACKAGE] [--only SUITE] [-- CASE...]
        Boot a Debian system (systemd, control groups v2, AppArmor, Docker, Podman) under qemu and run
        there, as root, as a user with a session and as one without, the conformance suites and the
        program's tests of control, audit and forbidden things. The system is made once, as root, and
        kept in $XDG_CACHE_HOME/agentctl-vm. Whole suites write their counts into README_SANDBOX.md.
        --smoke            only what shows in minutes whether limits hold and cells can be stopped
        --suite RELEASE    of Debian [default: bookworm]
        --arch ARCH        of the processor: x86_64 or aarch64 [default: x86_64]; another than this
                           machine's runs the wire's and local tests only, and root makes this machine's
                           kernel run executables of that processor in qemu while the system is made
        --kernel PACKAGE   the kernel to boot [default: Debian's for cloud machines]
        --only SUITE       only suites with this in their name, such as \"exec-local\"

  soak
        Run the stress tests of exec-local and agentctl at full length (EXEC_TEST_SOAK=1, release).

  fuzz [SECONDS]
        Fuzz the frame decoder, for 60 seconds by default. Needs nightly and cargo-fuzz.

  help
        Print this.

environment:
  EXEC_TEST_REQUIRE=local[,local:memory_limit,…]
        a backend or claim named here may not be missing; CI sets it
  CARGO_TARGET_DIR, CARGO_BUILD_JOBS and the like are passed on to cargo
";

fn main() -> ExitCode {
    let verb = match args::parse(std::env::args().skip(1)) {
        Ok(verb) => verb,
        Err(problem) => {
            eprintln!("{problem}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    let done = match verb {
        Verb::Help => {
            print!("{HELP}");
            Ok(())
        }
        Verb::Test(options) => test::run(options),
        Verb::Engines => {
            engines::run();
            Ok(())
        }
        Verb::Program => program::run(),
        Verb::Tidy => tidy::run(),
        Verb::Bench(options) => bench::run(&options),
        #[cfg(unix)]
        Verb::Vm(options) => vm::run(&options),
        #[cfg(not(unix))]
        Verb::Vm(_) => Err(anyhow::anyhow!("the virtual machine is made on Linux only")),
        Verb::Soak => soak::run(),
        Verb::Fuzz { seconds } => fuzz::run(seconds),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
