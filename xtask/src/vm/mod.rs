//! `cargo xtask vm`: the tests on the kind of machine that most users have, which this one may not be.
//!
//! A Debian system with its own kernel, systemd as PID 1, control groups v2, `AppArmor`, Docker and Podman is made from packages,
//! kept outside the checkout, and booted under qemu. The executables are those that cargo built here, or static ones for another
//! processor. Each suite runs as root, as an ordinary user with a session, and as one without.

mod accelerator;
mod arch;
mod image;
mod machine;
mod places;
mod record;
mod suites;
mod tests_disk;
mod tools;

use anyhow::{Result, bail};

use crate::args::VmOptions;
use crate::steps::{OnFailure, Outcome, Steps};

use image::Image;
use machine::Machine;
use places::PLACES;
use record::{Counts, Subject};
use suites::Suite;

/// The check that runs in every place.
const LIMITS: &str = "limits";

/// Builds what is missing, boots, and runs the suites one after the other: the machine is slow and has two
/// processors.
pub(crate) fn run(options: &VmOptions) -> Result<()> {
    let mut steps = Steps::new(OnFailure::KeepGoing);
    let (mut image, mut machine) = (None, None);
    steps.step("image", || {
        image = Some(Image::prepare(&options.release, options.arch, options.kernel.as_deref())?);
        Ok(Outcome::Passed)
    });
    let Some(image) = image else { return end(&steps) };
    steps.step("boot", || {
        let tests = tests_disk::make(image.directory(), options.arch)?;
        machine = Some(Machine::boot(&image, tests)?);
        Ok(Outcome::Passed)
    });
    let Some(machine) = machine else { return end(&steps) };
    let place = machine.description()?;
    println!("{place}");
    let places = PLACES.iter().map(|place| Chore {
        what: LIMITS.to_owned(),
        user: place.name.to_owned(),
        login: place.login,
        script: place.script(),
        is_whole: true,
    });
    let suites = Suite::all(options.extent, options.arch).into_iter().map(|suite| Chore {
        what: suite.what(),
        user: suite.user.to_string(),
        login: suite.user.login(),
        script: suite.script(&options.filter),
        is_whole: options.filter.is_empty(),
    });
    for chore in places.chain(suites) {
        let name = format!("{}: {}", chore.what, chore.user);
        if options.only.as_ref().is_none_or(|only| name.contains(only.as_str())) {
            steps.step(name, || chore.carry_out(&machine, &place));
        }
    }
    end(&steps)
}

/// Something that runs in the machine and counts the passed cases.
struct Chore {
    what: String,
    /// The user, and the place where that matters.
    user: String,
    /// The user who logs in for it.
    login: &'static str,
    script: String,
    /// Whether its counts go into the table.
    is_whole: bool,
}

impl Chore {
    fn carry_out(self, machine: &Machine, place: &str) -> Result<Outcome> {
        let (output, is_success) = machine.run(self.login, &self.script)?;
        if self.is_whole {
            let subject = Subject { place: place.to_owned(), what: self.what, user: self.user };
            record::write(&subject, Counts::in_output(&output))?;
        }
        if !is_success {
            bail!("see above");
        }
        Ok(Outcome::Passed)
    }
}

fn end(steps: &Steps) -> Result<()> {
    print!("{}", steps.summary());
    match steps.failed() {
        0 => Ok(()),
        failed => bail!("{failed} failed in the virtual machine"),
    }
}
