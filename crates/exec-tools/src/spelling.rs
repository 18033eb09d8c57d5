//! Remedies for a model. It can correct its call; options and repairs are the operator's. Pure.

use std::cell::Cell;

use exec_core::{Remedy, Step};

/// A remedy as a sentence.
pub(crate) fn spelled(remedy: &Remedy) -> String {
    let asks = Cell::new(false);
    remedy.spelled(|step| match step {
        Step::Request(text) => {
            asks.set(false);
            text.clone()
        }
        other if asks.replace(true) => other.to_string(),
        other => format!("ask the operator to {other}"),
    })
}

#[cfg(test)]
mod tests {
    use exec_core::Change;

    use super::*;

    #[test]
    fn a_model_asks_the_operator_for_what_it_cannot_do_itself() {
        let own = Remedy::from("check the spelling");
        assert_eq!(spelled(&own), "check the spelling");
        let both = own.or(Change::raise("pids")).or(Remedy::host("end other programs"));
        assert_eq!(
            spelled(&both),
            "check the spelling, ask the operator to raise the option `pids`, or end other programs"
        );
        assert_eq!(spelled(&Remedy::container()), "ask the operator to use a container");
    }
}
