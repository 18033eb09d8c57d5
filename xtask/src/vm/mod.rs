//! `cargo xtask vm`: the tests on the kind of machine that most users have, which the one at hand may not be.
//!
//! A Debian system with its own kernel, systemd as PID 1, control groups v2, `AppArmor`, Docker and Podman is made from packages,
//! kept outside the checkout, and booted under qemu. The executables are those that cargo built here. Each suite runs as root,
//! as an ordinary user with a session, and as one without.

mod accelerator;
mod image;
mod machine;
mod places;
mod suites;
mod tests_disk;

use anyhow::{Result, bail};

use crate::args::VmOptions;
use crate::steps::{OnFailure, Outcome, Steps};

use image::Image;
use machine::Machine;
use places::PLACES;
use suites::Suite;

/// Builds what is missing, boots, and runs the suites one after the other: the machine is slow and has two processors.
pub(crate) fn run(options: &VmOptions) -> Result<()> {
    let mut steps = Steps::new(OnFailure::KeepGoing);
    let (mut image, mut machine) = (None, None);
    steps.step("image", || {
        image = Some(Image::prepare(&options.release, options.kernel.as_deref())?);
        Ok(Outcome::Passed)
    });
    let Some(image) = image else { return end(&steps) };
    steps.step("boot", || {
        let tests = tests_disk::make(image.directory())?;
        machine = Some(Machine::boot(&image, tests)?);
        Ok(Outcome::Passed)
    });
    let Some(machine) = machine else { return end(&steps) };
    let places = PLACES.iter().map(|place| (place.name.to_owned(), place.login, place.script()));
    let suites = Suite::all(options.extent);
    let suites =
        suites.iter().map(|suite| (suite.to_string(), suite.who.login(), suite.script(&options.filter)));
    for (name, login, script) in places.chain(suites) {
        if options.only.as_ref().is_none_or(|only| name.contains(only.as_str())) {
            steps.step(name, || machine.run(login, &script).map(|()| Outcome::Passed));
        }
    }
    end(&steps)
}

fn end(steps: &Steps) -> Result<()> {
    print!("{}", steps.summary());
    match steps.failed() {
        0 => Ok(()),
        failed => bail!("{failed} failed in the virtual machine"),
    }
}
