//! Command-line arguments as values. Pure: it runs nothing and prints nothing.

use crate::steps::OnFailure;

/// The default duration of the fuzzer.
const FUZZ_SECONDS: u32 = 60;

/// The default number of rounds.
const BENCH_ROUNDS: usize = 3;

/// One verb with its options.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Test(TestOptions),
    Engines,
    Program,
    Tidy,
    Bench(BenchOptions),
    Vm(VmOptions),
    Soak,
    Fuzz { seconds: u32 },
    Help,
}

/// Options of `test`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TestOptions {
    pub(crate) scope: Scope,
    pub(crate) on_failure: OnFailure,
}

/// How much `test` checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    Everything,
    /// Without formatting, clippy and documentation.
    Fast,
}

/// Options of `vm`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct VmOptions {
    pub(crate) extent: VmExtent,
    /// Debian's name of the release.
    pub(crate) release: String,
    pub(crate) arch: Arch,
    /// The package with the kernel, unless it is the default one.
    pub(crate) kernel: Option<String>,
    /// Part of the names of the suites to run.
    pub(crate) only: Option<String>,
    /// Passed to the tests: names of cases.
    pub(crate) filter: Vec<String>,
}

/// A processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arch {
    X86_64,
    Aarch64,
}

/// How much runs in the virtual machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VmExtent {
    Full,
    /// A few minutes of tests that show whether limits hold and cells can be stopped.
    Smoke,
}

/// Options of `bench`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BenchOptions {
    pub(crate) broken_claim: BrokenClaim,
    /// The number of rounds: odd, so that one is in the middle.
    pub(crate) rounds: usize,
    /// Passed to criterion unchanged.
    pub(crate) criterion: Vec<String>,
}

/// How a claim that does not hold affects the exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BrokenClaim {
    Fails,
    IsReported,
}

/// Parses the arguments after the program's name. The error is a sentence that names the bad argument.
pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Result<Verb, String> {
    let mut args = args.into_iter();
    let Some(verb) = args.next() else { return Ok(Verb::Help) };
    let rest: Vec<String> = args.collect();
    if rest.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--help" || arg == "-h") {
        return Ok(Verb::Help);
    }
    match verb.as_str() {
        "test" => parse_test(&rest).map(Verb::Test),
        "engines" => nothing_more("engines", &rest).map(|()| Verb::Engines),
        "program" => nothing_more("program", &rest).map(|()| Verb::Program),
        "tidy" => nothing_more("tidy", &rest).map(|()| Verb::Tidy),
        "bench" => parse_bench(rest).map(Verb::Bench),
        "vm" => parse_vm(rest).map(Verb::Vm),
        "soak" => nothing_more("soak", &rest).map(|()| Verb::Soak),
        "fuzz" => parse_fuzz(&rest),
        "help" | "--help" | "-h" => Ok(Verb::Help),
        other => Err(format!(
            "unknown verb `{other}`; there are test, engines, program, tidy, bench, vm, soak, fuzz and help"
        )),
    }
}

fn parse_test(rest: &[String]) -> Result<TestOptions, String> {
    let mut options = TestOptions { scope: Scope::Everything, on_failure: OnFailure::Stop };
    for arg in rest {
        match arg.as_str() {
            "--fast" => options.scope = Scope::Fast,
            "--keep-going" => options.on_failure = OnFailure::KeepGoing,
            other => return Err(format!("`test` does not know `{other}`; it knows --fast and --keep-going")),
        }
    }
    Ok(options)
}

fn parse_bench(rest: Vec<String>) -> Result<BenchOptions, String> {
    let (mut broken_claim, mut rounds) = (BrokenClaim::Fails, BENCH_ROUNDS);
    let mut rest = rest.into_iter();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--report-only" => broken_claim = BrokenClaim::IsReported,
            "--rounds" => rounds = parse_rounds(rest.next())?,
            "--" => break,
            other => {
                return Err(format!("`bench` does not know `{other}`; criterion's options go after `--`"));
            }
        }
    }
    Ok(BenchOptions { broken_claim, rounds, criterion: rest.collect() })
}

fn parse_vm(rest: Vec<String>) -> Result<VmOptions, String> {
    let mut options = VmOptions {
        extent: VmExtent::Full,
        release: "bookworm".to_owned(),
        arch: Arch::X86_64,
        kernel: None,
        only: None,
        filter: Vec::new(),
    };
    let mut rest = rest.into_iter();
    while let Some(arg) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| format!("`{arg}` needs a value"));
        match arg.as_str() {
            "--smoke" => options.extent = VmExtent::Smoke,
            "--suite" => options.release = value()?,
            "--arch" => options.arch = parse_arch(&value()?)?,
            "--kernel" => options.kernel = Some(value()?),
            "--only" => options.only = Some(value()?),
            "--" => break,
            other => {
                return Err(format!(
                    "`vm` does not know `{other}`; it knows --smoke, --suite, --arch, --kernel and --only"
                ));
            }
        }
    }
    options.filter = rest.collect();
    Ok(options)
}

fn parse_arch(word: &str) -> Result<Arch, String> {
    match word {
        "x86_64" => Ok(Arch::X86_64),
        "aarch64" => Ok(Arch::Aarch64),
        other => Err(format!("`--arch` takes x86_64 or aarch64, not `{other}`")),
    }
}

fn parse_rounds(word: Option<String>) -> Result<usize, String> {
    let word = word.unwrap_or_default();
    let rounds = word.parse().ok().filter(|rounds| rounds % 2 == 1);
    rounds.ok_or_else(|| format!("`--rounds` takes an odd number, not `{word}`"))
}

fn parse_fuzz(rest: &[String]) -> Result<Verb, String> {
    match rest {
        [] => Ok(Verb::Fuzz { seconds: FUZZ_SECONDS }),
        [seconds] => match seconds.parse() {
            Ok(seconds) if seconds > 0 => Ok(Verb::Fuzz { seconds }),
            _ => Err(format!("`fuzz` takes a number of seconds above 0, not `{seconds}`")),
        },
        [_, surplus, ..] => Err(format!("`fuzz` takes one number of seconds; `{surplus}` is too much")),
    }
}

fn nothing_more(verb: &str, rest: &[String]) -> Result<(), String> {
    match rest {
        [] => Ok(()),
        [surplus, ..] => Err(format!("`{verb}` takes no arguments, not `{surplus}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_line(line: &str) -> Result<Verb, String> {
        parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn no_arguments_print_help() {
        for line in ["", "help", "--help", "test --help", "fuzz -h"] {
            assert_eq!(parse_line(line), Ok(Verb::Help), "{line}");
        }
    }

    #[test]
    fn test_stops_at_the_first_failure_by_default() {
        let options = TestOptions { scope: Scope::Everything, on_failure: OnFailure::Stop };
        assert_eq!(parse_line("test"), Ok(Verb::Test(options)));
        let options = TestOptions { scope: Scope::Fast, on_failure: OnFailure::KeepGoing };
        assert_eq!(parse_line("test --keep-going --fast"), Ok(Verb::Test(options)));
    }

    #[test]
    fn arguments_after_two_dashes_go_to_criterion() {
        let options = BenchOptions {
            broken_claim: BrokenClaim::IsReported,
            rounds: 1,
            criterion: vec!["--quick".into(), "--help".into()],
        };
        let line = "bench --report-only --rounds 1 -- --quick --help";
        assert_eq!(parse_line(line), Ok(Verb::Bench(options)));
    }

    #[test]
    fn a_virtual_machine_runs_everything_on_the_usual_release_by_default() {
        let Ok(Verb::Vm(options)) =
            parse_line("vm --smoke --suite trixie --arch aarch64 --only local -- limits::")
        else {
            panic!()
        };
        assert_eq!((options.extent, options.release.as_str()), (VmExtent::Smoke, "trixie"));
        assert_eq!(
            (options.only.as_deref(), options.filter.as_slice()),
            (Some("local"), &["limits::".into()][..])
        );
        let Ok(Verb::Vm(options)) = parse_line("vm") else { panic!() };
        assert_eq!((options.extent, options.release.as_str()), (VmExtent::Full, "bookworm"));
    }

    #[test]
    fn fuzz_takes_seconds() {
        assert_eq!(parse_line("fuzz"), Ok(Verb::Fuzz { seconds: 60 }));
        assert_eq!(parse_line("fuzz 5"), Ok(Verb::Fuzz { seconds: 5 }));
    }

    #[test]
    fn a_mistake_is_named() {
        let mistakes = [
            ("tets", "`tets`"),
            ("test --quick", "`--quick`"),
            ("tidy up", "`up`"),
            ("engines all", "`all`"),
            ("bench --quick", "`--quick`"),
            ("bench --rounds 2", "`2`"),
            ("vm --quick", "`--quick`"),
            ("vm --suite", "`--suite`"),
            ("vm --arch mips", "`mips`"),
            ("fuzz 0", "`0`"),
            ("fuzz -5", "`-5`"),
            ("fuzz 5 6", "`6`"),
        ];
        for (line, named) in mistakes {
            let problem = parse_line(line).unwrap_err();
            assert!(problem.contains(named), "{line}: {problem}");
        }
    }
}
