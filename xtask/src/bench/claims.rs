//! Our claims about speed, and whether the figures agree. Pure.

use std::borrow::Cow;
use std::fmt;

use super::estimates::Medians;

/// The size of a run of the group `stream-1gib`.
const STREAM_BYTES: f64 = 1024.0 * 1024.0 * 1024.0;

/// One claim about speed. Benches are named `group/function`.
#[derive(Debug)]
pub(crate) struct Claim {
    what: Cow<'static, str>,
    subject: Cow<'static, str>,
    base: Cow<'static, str>,
    limit: Limit,
}

impl Claim {
    const fn new(what: &'static str, subject: &'static str, base: &'static str, limit: Limit) -> Self {
        let (what, subject, base) = (Cow::Borrowed(what), Cow::Borrowed(subject), Cow::Borrowed(base));
        Self { what, subject, base, limit }
    }
}

/// The condition on the subject, relative to its base.
#[derive(Debug, Clone, Copy)]
enum Limit {
    /// It takes at most this many times as long as the base.
    Times(f64),
    /// It carries at least this many bytes a second, or this share of the base's throughput, whichever is
    /// lower.
    Throughput { bytes_per_second: f64, share: f64 },
    /// It takes at most this many milliseconds longer than the base.
    Plus(f64),
    /// At least this many a second, independent of the base.
    PerSecond(f64),
    /// It takes at most this many milliseconds, independent of the base.
    Within(f64),
    /// No condition; the figure is shown for comparison.
    Free,
}

/// All claims, in the order they are printed.
pub(crate) const CLAIMS: &[Claim] = &[
    Claim::new(
        "a command in a warm cell, next to a bare spawn",
        "spawn/warm-local",
        "spawn/tokio",
        Limit::Times(1.5),
    ),
    Claim::new(
        "a command in a session, next to a bare spawn",
        "spawn/session-local",
        "spawn/tokio",
        Limit::Free,
    ),
    Claim::new("a command in a cold cell, next to bubblewrap", "cold/local", "cold/bwrap", Limit::Times(1.0)),
    Claim::new(
        "agentctl run as a whole, next to bubblewrap",
        "cold/agentctl-run",
        "cold/bwrap",
        Limit::Times(2.0),
    ),
    Claim::new(
        "1 GiB of output, next to a plain pipe",
        "stream-1gib/local",
        "stream-1gib/tokio-pipe",
        Limit::Throughput { bytes_per_second: 1e9, share: 0.7 },
    ),
    Claim::new(
        "a Dockerfile for a project of 50,000 files",
        "bootstrap/50000-files",
        "bootstrap/50000-files",
        Limit::Within(300.0),
    ),
    Claim::new(
        "agentctl kill --all: 20 runs on all sandboxes, 10 fork bombs",
        "stop/kill-all",
        "stop/kill-all",
        Limit::Within(2000.0),
    ),
];

/// Claims about finding a sandbox on a machine with Docker.
pub(crate) const OF_CHOOSING: &[Claim] = &[
    Claim::new(
        "finding Docker when nothing is known",
        "choose/unknown-docker",
        "choose/known",
        Limit::Within(60.0),
    ),
    Claim::new(
        "finding Docker when the answer is known",
        "choose/known",
        "choose/unknown-docker",
        Limit::Within(5.0),
    ),
];

/// Claims about the tools for models on a machine with Docker.
pub(crate) const OF_TOOLS: &[Claim] = &[Claim::new(
    "run_command through MCP on Docker, next to the library",
    "docker-mcp/run-command",
    "docker-mcp/library",
    Limit::Plus(5.0),
)];

/// Claims about a container engine: the same for all, except how close to a bare spawn a warm container
/// comes.
pub(crate) fn of_engine(engine: &str) -> Vec<Claim> {
    let warm = if engine == "docker" { 2.0 } else { 3.0 };
    let claims = [
        ("a command in a warm container, next to a bare spawn", "/warm", "/bare-spawn", Limit::Times(warm)),
        ("a command in a warm container, next to {} run", "/warm", "/run", Limit::Times(0.01)),
        ("a command in a warm container, next to {} exec", "/warm", "/exec", Limit::Times(0.025)),
        ("a command in a session, next to a bare spawn", "/session", "/bare-spawn", Limit::Free),
        (
            "commands of eight callers in one session",
            "-callers/session-of-8",
            "/bare-spawn",
            Limit::PerSecond(500.0),
        ),
        ("a command in a new container, next to {} run", "/cold", "/run", Limit::Times(0.8)),
        (
            "agentctl run --sandbox {}, next to {} run",
            "/agentctl-run",
            "/run",
            Limit::Times(if engine == "docker" { 0.7 } else { 0.8 }),
        ),
        (
            "a build that computes, next to the same outside",
            "-build-cpu/inside",
            "-build-cpu/outside",
            Limit::Times(1.05),
        ),
        (
            "a build that works on files, next to the same outside",
            "-build-files/inside",
            "-build-files/outside",
            Limit::Times(1.05),
        ),
        (
            "256 MiB of output from a container, next to {} run",
            "-stream-256mib/cell",
            "-stream-256mib/client-run",
            Limit::Free,
        ),
    ];
    let claim = |(what, subject, base, limit): (&str, &str, &str, Limit)| Claim {
        what: format!("{engine}: {}", what.replace("{}", engine)).into(),
        subject: format!("{engine}{subject}").into(),
        base: format!("{engine}{base}").into(),
        limit,
    };
    claims.map(claim).into()
}

/// A claim with its measurements.
#[derive(Debug)]
pub(crate) struct Row {
    what: String,
    measured: String,
    ratio: String,
    limit: Limit,
    pub(crate) verdict: Verdict,
}

/// Whether a claim holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Holds,
    Broken,
    NotMeasured,
    NoLimit,
}

impl Verdict {
    /// Whether the claim must not be made. An unmeasured claim must not be made either.
    pub(crate) fn is_broken(self) -> bool {
        matches!(self, Self::Broken | Self::NotMeasured)
    }
}

/// Judges every claim by the round with its median ratio: a machine that slows down for a while slows only
/// one side of a comparison.
pub(crate) fn judge(claims: &[Claim], rounds: &[Medians]) -> Vec<Row> {
    claims.iter().map(|claim| judge_one(claim, &typical_round(claim, rounds))).collect()
}

fn typical_round(claim: &Claim, rounds: &[Medians]) -> Medians {
    let ratio = |round: &Medians| Some(round.get(&*claim.subject)? / round.get(&*claim.base)?);
    let mut measured: Vec<&Medians> = rounds.iter().filter(|round| ratio(round).is_some()).collect();
    measured.sort_by(|a, b| ratio(a).partial_cmp(&ratio(b)).unwrap_or(std::cmp::Ordering::Equal));
    let typical = measured.get(measured.len() / 2).copied().or_else(|| rounds.first());
    typical.cloned().unwrap_or_default()
}

fn judge_one(claim: &Claim, medians: &Medians) -> Row {
    let (what, limit) = (claim.what.to_string(), claim.limit);
    let figures = medians.get(&*claim.subject).zip(medians.get(&*claim.base));
    let Some((&subject, &base)) = figures else {
        let absent: Vec<_> = [&*claim.subject, &*claim.base]
            .into_iter()
            .filter(|bench| !medians.contains_key(*bench))
            .collect();
        let measured = format!("no {}", absent.join(", no "));
        let verdict = if matches!(limit, Limit::Free) { Verdict::NoLimit } else { Verdict::NotMeasured };
        return Row { what, measured, ratio: "-".to_owned(), limit, verdict };
    };
    let (measured, ratio, verdict) = match limit {
        Limit::Times(most) => {
            (both(subject, base, duration), subject / base, verdict(subject <= most * base))
        }
        Limit::Plus(most) => {
            (both(subject, base, duration), subject / base, verdict(subject <= base + most * 1e6))
        }
        Limit::Throughput { bytes_per_second, share } => {
            let (subject, base) = (per_second(subject), per_second(base));
            let holds = subject >= bytes_per_second.min(share * base);
            (both(subject, base, rate), subject / base, verdict(holds))
        }
        Limit::PerSecond(least) => {
            let (subject_rate, base_rate) = (1e9 / subject, 1e9 / base);
            (
                both(subject_rate, base_rate, frequency),
                subject_rate / base_rate,
                verdict(subject_rate >= least),
            )
        }
        Limit::Within(most) => {
            (both(subject, base, duration), subject / base, verdict(subject <= most * 1e6))
        }
        Limit::Free => (both(subject, base, duration), subject / base, Verdict::NoLimit),
    };
    let ratio = if ratio < 0.1 { format!("{ratio:.4}") } else { format!("{ratio:.2}") };
    Row { what, measured, ratio, limit, verdict }
}

fn verdict(holds: bool) -> Verdict {
    if holds { Verdict::Holds } else { Verdict::Broken }
}

fn per_second(nanoseconds: f64) -> f64 {
    STREAM_BYTES / (nanoseconds / 1e9)
}

fn both(subject: f64, base: f64, show: fn(f64) -> String) -> String {
    format!("{} / {}", show(subject), show(base))
}

fn duration(nanoseconds: f64) -> String {
    format!("{:.3} ms", nanoseconds / 1e6)
}

fn frequency(per_second: f64) -> String {
    format!("{per_second:.0}/s")
}

fn rate(bytes_per_second: f64) -> String {
    format!("{:.2} GB/s", bytes_per_second / 1e9)
}

/// The rows as text, with a header.
pub(crate) fn table(rows: &[Row]) -> Vec<[String; 5]> {
    let head = ["claim", "measured (p50)", "ratio", "limit", "holds"].map(str::to_owned);
    let rows = rows.iter().map(|row| {
        let limit = row.limit.to_string();
        [row.what.clone(), row.measured.clone(), row.ratio.clone(), limit, row.verdict.to_string()]
    });
    std::iter::once(head).chain(rows).collect()
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Times(most) => write!(f, "≤ {most}"),
            Self::Plus(most) => write!(f, "≤ + {most} ms"),
            Self::PerSecond(least) => write!(f, "≥ {least:.0}/s"),
            Self::Within(most) => write!(f, "≤ {most} ms"),
            Self::Throughput { bytes_per_second, share } => {
                write!(f, "≥ {share:.1} or ≥ {:.0} GB/s", bytes_per_second / 1e9)
            }
            Self::Free => write!(f, "-"),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Holds => "yes",
            Self::Broken => "NO",
            Self::NotMeasured => "NO: not measured",
            Self::NoLimit => "-",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: f64 = 1e6;
    const S: f64 = 1e9;

    fn verdict_of(limit: Limit, subject: f64, base: f64) -> Verdict {
        let claim = Claim::new("", "g/subject", "g/base", limit);
        let medians = Medians::from([("g/subject".into(), subject), ("g/base".into(), base)]);
        judge(&[claim], &[medians])[0].verdict
    }

    #[test]
    fn times_includes_its_limit() {
        assert_eq!(verdict_of(Limit::Times(1.5), 1.5 * MS, MS), Verdict::Holds);
        assert_eq!(verdict_of(Limit::Times(1.5), 1.51 * MS, MS), Verdict::Broken);
    }

    #[test]
    fn plus_is_a_difference() {
        assert_eq!(verdict_of(Limit::Plus(5.0), 6.0 * MS, MS), Verdict::Holds);
        assert_eq!(verdict_of(Limit::Plus(5.0), 6.1 * MS, MS), Verdict::Broken);
    }

    #[test]
    fn throughput_takes_the_lower_of_both_limits() {
        let limit = Limit::Throughput { bytes_per_second: 1e9, share: 0.7 };
        // With a fast pipe, a gigabyte a second is enough.
        assert_eq!(verdict_of(limit, 1.0 * S, 0.2 * S), Verdict::Holds);
        assert_eq!(verdict_of(limit, 1.2 * S, 0.2 * S), Verdict::Broken);
        // On a slow machine, a share of its pipe is enough.
        assert_eq!(verdict_of(limit, 2.8 * S, 2.0 * S), Verdict::Holds);
        assert_eq!(verdict_of(limit, 3.0 * S, 2.0 * S), Verdict::Broken);
    }

    #[test]
    fn an_unmeasured_claim_does_not_hold() {
        let rows = judge(CLAIMS, &[Medians::from([("cold/local".into(), MS)])]);
        let cold = rows.iter().find(|row| row.what.contains("cold cell")).unwrap();
        assert_eq!(cold.verdict, Verdict::NotMeasured);
        assert!(cold.verdict.is_broken());
        assert_eq!(cold.measured, "no cold/bwrap");
    }

    #[test]
    fn claims_about_an_engine_name_it() {
        for engine in ["docker", "podman"] {
            for claim in of_engine(engine) {
                assert!(claim.what.starts_with(engine) && !claim.what.contains('{'), "{claim:?}");
                assert!(claim.subject.starts_with(engine) && claim.base.starts_with(engine), "{claim:?}");
            }
        }
    }

    #[test]
    fn a_free_figure_breaks_nothing() {
        assert_eq!(verdict_of(Limit::Free, 9.0 * MS, MS), Verdict::NoLimit);
        assert!(!Verdict::NoLimit.is_broken());
    }

    #[test]
    fn the_table_shows_figures_and_limits() {
        let medians = [
            ("spawn/tokio", 0.8 * MS),
            ("spawn/warm-local", 1.0 * MS),
            ("spawn/session-local", 0.6 * MS),
            ("cold/bwrap", 6.0 * MS),
            ("cold/local", 7.5 * MS),
            ("cold/agentctl-run", 9.0 * MS),
            ("stream-1gib/tokio-pipe", 0.5 * S),
            ("stream-1gib/local", 0.8 * S),
            ("bootstrap/50000-files", 0.1 * S),
            ("stop/kill-all", 2.5 * S),
        ];
        let medians = medians.into_iter().map(|(bench, median)| (bench.to_owned(), median)).collect();
        let rows = table(&judge(CLAIMS, &[medians]));
        let columns: Vec<[&str; 4]> =
            rows[1..].iter().map(|row| [&row[1], &row[2], &row[3], &row[4]].map(|c| &**c)).collect();
        let expected = [
            ["1.000 ms / 0.800 ms", "1.25", "≤ 1.5", "yes"],
            ["0.600 ms / 0.800 ms", "0.75", "-", "-"],
            ["7.500 ms / 6.000 ms", "1.25", "≤ 1", "NO"],
            ["9.000 ms / 6.000 ms", "1.50", "≤ 2", "yes"],
            ["1.34 GB/s / 2.15 GB/s", "0.62", "≥ 0.7 or ≥ 1 GB/s", "yes"],
            ["100.000 ms / 100.000 ms", "1.00", "≤ 300 ms", "yes"],
            ["2500.000 ms / 2500.000 ms", "1.00", "≤ 2000 ms", "NO"],
        ];
        assert_eq!(columns, expected);
    }

    #[test]
    fn the_round_in_the_middle_counts() {
        let round = |subject: f64| {
            Medians::from([("spawn/warm-local".to_owned(), subject), ("spawn/tokio".to_owned(), 1.0)])
        };
        let claim = &CLAIMS[..1];
        let verdict = |rounds: &[Medians]| judge(claim, rounds)[0].verdict;
        assert_eq!(verdict(&[round(9.0), round(1.2), round(1.4)]), Verdict::Holds);
        assert_eq!(verdict(&[round(9.0), round(1.2), round(1.6)]), Verdict::Broken);
        assert_eq!(verdict(&[]), Verdict::NotMeasured);
    }
}
