//! Redacts likely secrets. It errs on the side of redacting too much: the result is for reading, not for running
//! again.

use std::collections::BTreeSet;

/// The replacement for a secret.
pub(crate) const REDACTED: &str = "[redacted]";

/// Parts of names whose values are secrets.
const SECRET_NAMES: [&str; 13] = [
    "token",
    "secret",
    "passw",
    "pwd",
    "passphrase",
    "apikey",
    "api_key",
    "api-key",
    "credential",
    "private_key",
    "private-key",
    "authorization",
    "cookie",
];

/// Prefixes of well-known secrets, with their least length.
const SECRET_PREFIXES: [(&str, usize); 16] = [
    ("sk-", 16),
    ("sk_live_", 12),
    ("sk_test_", 12),
    ("ghp_", 16),
    ("gho_", 16),
    ("ghs_", 16),
    ("github_pat_", 16),
    ("glpat-", 12),
    ("xoxb-", 12),
    ("xoxp-", 12),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("npm_", 20),
    ("pypi-", 20),
    ("eyJ", 30),
];

/// The shortest value of a secret variable that is searched for elsewhere: shorter ones occur everywhere.
const SHORTEST: usize = 5;

/// Whether a variable or an option of this name holds a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let begins_at = |at: usize| {
        SECRET_NAMES
            .iter()
            .any(|part| name.as_bytes().get(at..).is_some_and(|rest| rest.starts_with(part.as_bytes())))
    };
    // Without a searcher for each part: names are short and many, and preparing a search takes longer than
    // comparing.
    name.ends_with("_key") || name.ends_with("-key") || (0..name.len()).any(begins_at)
}

/// Redacts the words of a command line.
#[derive(Debug)]
pub(crate) struct Redactor<'a> {
    secrets: &'a BTreeSet<String>,
    /// The previous word was an option whose value is a secret.
    expects_secret: bool,
}

impl<'a> Redactor<'a> {
    pub(crate) fn new(secrets: &'a BTreeSet<String>) -> Self {
        Self { secrets, expects_secret: false }
    }

    /// Returns the next word, redacted.
    pub(crate) fn word(&mut self, word: &str) -> String {
        let is_option = word.starts_with('-');
        if std::mem::take(&mut self.expects_secret) && !is_option {
            return REDACTED.to_owned();
        }
        self.expects_secret = is_option && !word.contains('=') && is_secret_name(word);
        let known = self.secrets.iter().filter(|secret| secret.len() >= SHORTEST);
        let without = known.fold(word.to_owned(), |text, secret| text.replace(secret.as_str(), REDACTED));
        script(&without)
    }
}

/// A word may be a whole script: its own words are redacted one by one, and the text between them stays.
fn script(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    let mut expects = Expects::Nothing;
    while !rest.is_empty() {
        let end = rest.find(is_between).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if !word.is_empty() {
            shown.push_str(&token(word, &mut expects));
        }
        let gap = after.find(|c| !is_between(c)).unwrap_or(after.len());
        let (between, after) = after.split_at(gap);
        shown.push_str(between);
        rest = after;
    }
    shown
}

fn is_between(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\'' | '"' | ';' | '|' | '&' | '(' | ')' | '`' | ',' | '{' | '}')
}

/// What the previous words imply for the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expects {
    Nothing,
    /// After `Authorization:` and the like: a scheme may come first.
    SchemeOrSecret,
    Secret,
}

fn token(word: &str, expects: &mut Expects) -> String {
    let before = std::mem::replace(expects, Expects::Nothing);
    if before == Expects::SchemeOrSecret && is_scheme(word) {
        *expects = Expects::Secret;
        return word.to_owned();
    }
    if before != Expects::Nothing && !word.starts_with('-') && !word.starts_with('$') {
        return REDACTED.to_owned();
    }
    if is_scheme(word) {
        *expects = Expects::Secret;
        return word.to_owned();
    }
    if let Some((name, value)) = word.split_once(['=', ':'])
        && is_secret_name(name)
        && !value.starts_with("//")
    {
        let separator = &word[name.len()..=name.len()];
        if value.is_empty() {
            *expects = Expects::SchemeOrSecret;
            return word.to_owned();
        }
        // A reference to a variable is not a secret.
        let shown = if value.starts_with('$') { value } else { REDACTED };
        return format!("{name}{separator}{shown}");
    }
    if word.starts_with("--") && is_secret_name(word) {
        *expects = Expects::Secret;
        return word.to_owned();
    }
    let word = without_user_info(word);
    match secret_part(&word) {
        Some(at) => format!("{}{REDACTED}", &word[..at]),
        None => word,
    }
}

fn is_scheme(word: &str) -> bool {
    ["bearer", "basic", "token"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// Removes the password from `https://user:password@host`.
fn without_user_info(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else { return word.to_owned() };
    let authority = rest.split('/').next().unwrap_or_default();
    match authority.rsplit_once('@') {
        Some((info, _)) if info.contains(':') || secret_part(info).is_some() => {
            format!("{scheme}://{REDACTED}{}", &rest[info.len()..])
        }
        _ => word.to_owned(),
    }
}

/// The start of what looks like a well-known kind of secret.
fn secret_part(word: &str) -> Option<usize> {
    let found = SECRET_PREFIXES.iter().filter_map(|(prefix, length)| {
        let at = word.find(prefix)?;
        let starts_a_word = !word[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
        (starts_a_word && word.len() - at >= *length).then_some(at)
    });
    found.min()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn shown(words: &[&str]) -> String {
        let secrets = BTreeSet::new();
        let mut redactor = Redactor::new(&secrets);
        words.iter().map(|word| redactor.word(word)).collect::<Vec<_>>().join(" ")
    }

    /// R91
    #[rstest]
    #[case::option_with_value(&["x", "--token=abc"], "x --token=[redacted]")]
    #[case::option_then_value(&["x", "--password", "abc", "y"], "x --password [redacted] y")]
    #[case::option_then_option(&["x", "--password", "--verbose"], "x --password --verbose")]
    #[case::assignment(&["env", "GITHUB_TOKEN=abc", "make"], "env GITHUB_TOKEN=[redacted] make")]
    #[case::in_a_script(&["sh", "-c", "export API_KEY='abc'; make"], "sh -c export API_KEY='[redacted]'; make")]
    #[case::a_reference_is_none(&["sh", "-c", "TOKEN=$T make"], "sh -c TOKEN=$T make")]
    #[case::header(&["curl", "-H", "Authorization: Bearer abc.def"], "curl -H Authorization: Bearer [redacted]")]
    #[case::bare_header(&["curl", "-H", "X-Api-Key: abc"], "curl -H X-Api-Key: [redacted]")]
    #[case::url(&["git", "clone", "https://u:p@h/r"], "git clone https://[redacted]@h/r")]
    #[case::url_with_a_name(&["git", "clone", "ssh://git@h/r"], "git clone ssh://git@h/r")]
    #[case::well_known(&["x", "sk-0123456789abcdefghij"], "x [redacted]")]
    #[case::within_a_word(&["x", "k:ghp_0123456789abcdef"], "x k:[redacted]")]
    #[case::harmless(&["cargo", "test", "--", "task-1", "a=b", "http://x/y"], "cargo test -- task-1 a=b http://x/y")]
    #[case::risk_is_no_key(&["x", "risk-assessment-of-the-year"], "x risk-assessment-of-the-year")]
    fn what_is_shown(#[case] words: &[&str], #[case] expected: &str) {
        assert_eq!(shown(words), expected);
    }

    proptest! {
        /// Redaction returns for any text.
        #[test]
        fn any_text_can_be_looked_at(text in "\\PC{0,80}") {
            shown(&[&text]);
        }

        #[test]
        fn what_a_secret_option_says_never_shows(value in "[a-z0-9]{6,30}") {
            let words = ["x".to_owned(), format!("--api-token={value}"), "--secret".to_owned(), value.clone()];
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            prop_assert!(!shown(&words).contains(&value));
        }
    }
}
