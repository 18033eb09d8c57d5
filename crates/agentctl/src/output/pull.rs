//! How the pull of an image goes: one line when a layer is there, none for the bytes in between.

use std::sync::Mutex;

use agent_exec::docker::{Progress, PullStep};

use super::{Line, Voice, say};

/// Tells the user what is worth waiting for.
pub(crate) fn pull_progress(voice: Voice) -> Progress {
    let last = Mutex::new(String::new());
    Progress::new(move |step| {
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

fn line(step: &PullStep) -> Option<String> {
    let is_news = ["Pulling from", "Pull complete", "Already exists", "Digest:", "Status:"]
        .iter()
        .any(|news| step.status.starts_with(news));
    let layer = step.layer.as_deref().map_or_else(String::new, |layer| format!("{layer}: "));
    is_news.then(|| format!("{layer}{}", step.status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_news_is_told() {
        let step = |status: &str| PullStep { layer: Some("ab12".into()), status: status.into(), bytes: None };
        assert_eq!(line(&step("Downloading")), None);
        assert_eq!(line(&step("Pull complete")).as_deref(), Some("ab12: Pull complete"));
    }
}
