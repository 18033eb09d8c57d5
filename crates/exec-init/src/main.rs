//! `exec-init`: PID 1 of a cell.
//!
//! Without arguments it serves the host on descriptors 0 and 1. With `container` it first checks what the
//! engine built around it; with `local` it builds the cell itself, as the host specifies. With `reaper` it is
//! not a cell: it outlives the host to remove the host's containers. With `tied` it runs a program that ends
//! with the host. `--version` prints its version.

#[cfg(target_os = "linux")]
mod cell;
#[cfg(target_os = "linux")]
mod cgroup;
#[cfg(target_os = "linux")]
mod container;
#[cfg(target_os = "linux")]
mod fence;
#[cfg(target_os = "linux")]
mod fifo_channel;
#[cfg(target_os = "linux")]
mod helper;
#[cfg(target_os = "linux")]
mod identity;
#[cfg(target_os = "linux")]
mod jail;
#[cfg(target_os = "linux")]
mod preface;
#[cfg(target_os = "linux")]
mod quota;
#[cfg(target_os = "linux")]
mod reaper;
#[cfg(target_os = "linux")]
mod records;
#[cfg(target_os = "linux")]
mod stat;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod tied;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match (arguments.next(), arguments.next()) {
        (None, _) => cell::serve(cell::Config {
            fifo_channel: None,
            landlock: None,
            cgroup: cgroup::Cgroup::discover(),
            notes: Vec::new(),
            kill_scope: cell::KillScope::of_this_process(),
            home: None,
        }),
        (Some(word), None) if word == "container" => container::run(),
        (Some(word), None) if word == "local" => jail::run(),
        (Some(word), None) if word == "reaper" => reaper::run(),
        (Some(word), Some(program)) if word == "tied" => tied::run(&program, arguments),
        (Some(word), None) if word == "--version" => say(&format!(
            "exec-init {} (protocol {})\n",
            env!("CARGO_PKG_VERSION"),
            exec_wire::PROTOCOL_VERSION
        )),
        _ => {
            let _ = rustix::io::write(
                rustix::stdio::stderr(),
                b"usage: exec-init [container | local | reaper | tied PROGRAM ARGUMENTS... | --version]
",
            );
            std::process::ExitCode::from(2)
        }
    }
}

#[cfg(target_os = "linux")]
fn say(text: &str) -> std::process::ExitCode {
    match rustix::io::write(rustix::stdio::stdout(), text.as_bytes()) {
        Ok(_) => std::process::ExitCode::SUCCESS,
        Err(_) => std::process::ExitCode::FAILURE,
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    // Cells need Linux; elsewhere the package exists for its library.
    std::process::ExitCode::FAILURE
}
