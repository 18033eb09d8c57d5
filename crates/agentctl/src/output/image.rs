//! The progress of an image: a line for each fetched layer, for the complete image, and for each step of a
//! build, none for the bytes in between. A terminal shows a build as one line with a bar.

use std::io::{IsTerminal, stderr};
use std::sync::Mutex;

use agent_exec::{BuildStep, ImageStep, Progress, PullStep};
use exec_core::printable;

use super::{Line, Voice, say, transient};

/// Cells of the bar.
const WIDTH: u32 = 20;
/// The width of an instruction beside the bar.
const SHOWN: usize = 48;

/// Prints progress that is worth waiting for.
pub(crate) fn image_progress(voice: Voice) -> Progress {
    let last = Mutex::new(String::new());
    let bar = voice == Voice::Person && stderr().is_terminal();
    Progress::new(move |step| {
        if let ImageStep::Build(step) = &step
            && bar
            && step.of > 0
        {
            return transient(&drawn(step));
        }
        let Some(line) = line(&step) else { return };
        // Engines repeat themselves.
        if let Ok(mut last) = last.lock()
            && *last != line
        {
            say(voice, &Line::info(&line));
            *last = line;
        }
    })
}

fn line(step: &ImageStep) -> Option<String> {
    match step {
        ImageStep::Pull(step) => pulled(step),
        ImageStep::Build(BuildStep { number: 0, what, .. }) => Some(what.clone()),
        ImageStep::Build(BuildStep { number, of, what }) => Some(format!("{number}/{of} {what}")),
    }
}

fn pulled(step: &PullStep) -> Option<String> {
    // Podman reports nothing about a layer but its download.
    let news = ["Pulling from", "Download complete", "Pull complete", "Already exists", "Digest:", "Status:"];
    let is_news = news.iter().any(|news| step.status.starts_with(news));
    let layer = step.layer.as_deref().map_or_else(String::new, |layer| format!("{layer}: "));
    is_news.then(|| format!("{layer}{}", step.status))
}

/// A bar, the step and as much of the instruction as fits.
fn drawn(step: &BuildStep) -> String {
    let done = (step.number.min(step.of) * WIDTH / step.of.max(1)) as usize;
    let (done, left) = ("=".repeat(done), " ".repeat(WIDTH as usize - done));
    let what: String = printable::line(&step.what).chars().take(SHOWN).collect();
    format!("[{done}{left}] {}/{} {what}", step.number, step.of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_news_is_printed() {
        let step = |status: &str| {
            ImageStep::Pull(PullStep { layer: Some("ab12".into()), status: status.into(), bytes: None })
        };
        assert_eq!(line(&step("Downloading")), None);
        assert_eq!(line(&step("Pull complete")).as_deref(), Some("ab12: Pull complete"));
    }

    /// R76
    #[test]
    fn a_build_is_a_bar() {
        let step = BuildStep { number: 2, of: 5, what: "RUN \u{1b}[2Jmake".into() };
        assert_eq!(drawn(&step), "[========            ] 2/5 RUN \\u{1b}[2Jmake");
        assert_eq!(line(&ImageStep::Build(step)).as_deref(), Some("2/5 RUN \u{1b}[2Jmake"));
        let odd = BuildStep { number: 9, of: 5, what: String::new() };
        assert!(drawn(&odd).starts_with("[====================]"));
    }
}
