//! Parts of the host are shown without the secrets in them.

use crate::support::assert_secrets_are_masked;

/// A49
#[test]
fn secrets_in_shown_directories_are_masked() {
    assert_secrets_are_masked(&["--sandbox", "local"]);
}
