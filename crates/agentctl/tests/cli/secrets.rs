//! What of the host is shown without what is secret in it.

use crate::support::assert_secrets_are_masked;

/// A49
#[test]
fn secrets_within_what_is_shown_are_masked() {
    assert_secrets_are_masked(&["--sandbox", "local"]);
}
