//! A small image that needs no registry, with odd values for every setting: none of them may matter.

use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The image's name on the engine; the number rises with every change of its contents or settings.
const NAME: &str = "exec-testkit/odd:3";

/// Programs of busybox that the cases use.
const APPLETS: &str = "sh cat chmod cp cut date dd df echo env false find grep head id kill ln ls mkdir mknod mount \
    nc nohup printf ps pwd readlink rm seq setsid sleep sort stat stty tail tee test touch tr true tty uname wc yes";

/// Settings as hostile and as broken as an image can have them.
const SETTINGS: [&str; 8] = [
    r#"ENTRYPOINT ["/bin/false"]"#,
    r#"CMD ["--nonsense"]"#,
    "USER 4242:4242",
    "WORKDIR /no/such/place",
    "VOLUME /volume",
    "ENV ODD=yes HOME=/no/such/home PATH=/bin",
    r#"HEALTHCHECK --interval=1s CMD ["/bin/false"]"#,
    "LABEL dev.agentctl.owner=another",
];

/// Imports the image into the engine that this program (`docker`, `podman`) talks to, if missing, and returns
/// its name.
///
/// # Errors
///
/// Fails if the host has no busybox, or if the import fails.
pub fn odd_image(engine: &str) -> io::Result<&'static str> {
    let mut inspect = Command::new(engine);
    inspect.args(["image", "inspect", NAME]).stdout(Stdio::null()).stderr(Stdio::null());
    if inspect.status()?.success() {
        return Ok(NAME);
    }
    import(engine).map(|()| NAME)
}

fn import(engine: &str) -> io::Result<()> {
    let root = file_system()?;
    let mut archive = Command::new("tar")
        .args(["--owner=0", "--group=0", "--mtime=@0", "--sort=name", "-C"])
        .arg(root.path())
        .args(["-c", "."])
        .stdout(Stdio::piped())
        .spawn()?;
    let mut import = Command::new(engine);
    import.arg("import");
    // Podman's import refuses this one setting, although its images can have it.
    let settings =
        SETTINGS.iter().filter(|setting| engine != "podman" || !setting.starts_with("HEALTHCHECK"));
    for setting in settings {
        import.args(["--change", setting]);
    }
    let stdin = archive.stdout.take().map_or_else(Stdio::null, Stdio::from);
    let imported = import.args(["-", NAME]).stdin(stdin).stdout(Stdio::null()).status()?;
    let archived = archive.wait()?;
    if imported.success() && archived.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("{engine} import ended with {imported}, tar with {archived}")))
}

fn file_system() -> io::Result<TempDir> {
    let root = tempfile::tempdir()?;
    let bin = root.path().join("bin");
    for directory in ["bin", "etc", "tmp", "run", "usr", "usr/bin", "volume"] {
        std::fs::create_dir(root.path().join(directory))?;
    }
    // Some runtimes give a fresh file system the mode of the directory it is mounted on.
    for directory in ["tmp", "run"] {
        std::fs::set_permissions(root.path().join(directory), std::fs::Permissions::from_mode(0o1777))?;
    }
    let busybox = ["/bin/busybox", "/usr/bin/busybox"].into_iter().find(|path| Path::new(path).exists());
    let busybox = busybox.ok_or_else(|| io::Error::other("busybox is missing; install busybox-static"))?;
    std::fs::copy(busybox, bin.join("busybox"))?;
    for applet in APPLETS.split_whitespace() {
        std::os::unix::fs::symlink("busybox", bin.join(applet))?;
    }
    let mut passwd = std::fs::File::create(root.path().join("etc/passwd"))?;
    passwd.write_all(b"root:x:0:0:root:/root:/bin/sh\nodd:x:4242:4242::/no/such/home:/bin/false\n")?;
    Ok(root)
}
