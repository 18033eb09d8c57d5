//! `agentctl images`: our images on the engines.

use std::time::Duration;

use agent_exec::Backends;
use agent_exec::control::SweepMode;
use agent_exec::control::images::{self, Image, Policy};
use exec_core::Result;

use super::print;
use crate::args::{ImagesArgs, ImagesCommand};
use crate::output::ps::{age, memory};
use crate::output::{Line, Voice, image_progress, say, table, to_line};

/// The default age of an old image.
const A_WEEK: Duration = Duration::from_secs(7 * 24 * 3600);

/// Runs the command.
pub(crate) async fn images(args: ImagesArgs) -> Result<u8> {
    let backends = Backends::default();
    match args.command {
        ImagesCommand::Ls { sandbox, json } => {
            let images = images::images(&backends, sandbox.as_deref()).await?;
            show(&images, json, "agentctl has no images")
        }
        ImagesCommand::Pull { image, sandbox } => {
            let progress = image_progress(Voice::Person);
            let pulled = images::pull(&backends, sandbox.as_deref(), &image, &progress).await?;
            let known_as = pulled.digest.unwrap_or(image);
            say(Voice::Person, &Line::info(format!("{} has {known_as}", pulled.engine)));
            Ok(0)
        }
        ImagesCommand::Prune { older_than, keep_size, dry_run, sandbox, json } => {
            let default = if keep_size.is_none() { Some(A_WEEK) } else { None };
            let policy = Policy {
                older_than: older_than.or(default),
                keep_bytes: keep_size.map(exec_core::ByteSize::get),
            };
            let mode = if dry_run { SweepMode::Look } else { SweepMode::Remove };
            let gone = images::prune(&backends, sandbox.as_deref(), policy, mode).await?;
            let done = if dry_run { "would remove" } else { "removed" };
            if !json && !gone.is_empty() {
                let bytes = gone.iter().map(|image| image.size_bytes).sum();
                say(Voice::Person, &Line::info(format!("{done} {} images, {}", gone.len(), memory(bytes))));
            }
            show(&gone, json, "there is nothing to remove")
        }
    }
}

fn show(images: &[Image], json: bool, nothing: &str) -> Result<u8> {
    if json {
        return print(to_line(&images).as_bytes());
    }
    if images.is_empty() {
        say(Voice::Person, &Line::info(nothing));
        return Ok(0);
    }
    let row = |image: &Image| {
        let name = if image.names.is_empty() { "<none>".to_owned() } else { image.names.join(" ") };
        let id: String = image.id.trim_start_matches("sha256:").chars().take(12).collect();
        [image.engine.clone(), id, age(Duration::from_secs(image.age_s)), memory(image.size_bytes), name]
    };
    print(table(&["SANDBOX", "ID", "AGE", "SIZE", "NAME"], images.iter().map(row)).as_bytes())
}
