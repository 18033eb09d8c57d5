//! One setting: an option together with a value of its type.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::RunOption;
use super::described::Described;
use super::value::OptionValue;
use crate::settings::Settings;

/// An option and the value that it was given.
#[derive(Clone)]
pub struct Setting {
    option: &'static Described,
    held: Arc<dyn Held>,
}

/// A value whose type is known to its option only.
trait Held: Any + Send + Sync {
    fn apply(&self, settings: &mut Settings);
    fn show(&self) -> String;
    fn show_in_section(&self) -> String;
    fn slot(&self) -> String;
    fn parts(&self) -> Vec<Setting>;
    fn with(&self, more: &Setting) -> Setting;
}

struct Of<O: RunOption>(O::Value);

impl<O: RunOption> Of<O> {
    const OPTION: &'static Described = &Described::of::<O>();
}

impl<O: RunOption> Held for Of<O> {
    fn apply(&self, settings: &mut Settings) {
        O::apply(settings, self.0.clone());
    }

    fn show(&self) -> String {
        self.0.show()
    }

    fn show_in_section(&self) -> String {
        O::SECTION.map_or_else(|| self.show(), |key| (key.show)(&self.0))
    }

    fn slot(&self) -> String {
        O::slot(&self.0)
    }

    fn parts(&self) -> Vec<Setting> {
        self.0.parts().into_iter().map(Setting::of::<O>).collect()
    }

    fn with(&self, more: &Setting) -> Setting {
        let mut value = self.0.clone();
        if let Some(more) = more.value::<O>() {
            value.append(more.clone());
        }
        Setting::of::<O>(value)
    }
}

impl Setting {
    pub(crate) fn of<O: RunOption>(value: O::Value) -> Self {
        Self { option: Of::<O>::OPTION, held: Arc::new(Of::<O>(value)) }
    }

    /// The description of its option.
    pub fn option(&self) -> &'static Described {
        self.option
    }

    /// The key of its option.
    pub fn name(&self) -> &'static str {
        self.option.name
    }

    /// This setting and one of the same option that was given later on the same command line.
    #[must_use]
    pub fn with(&self, more: &Self) -> Self {
        self.held.with(more)
    }

    /// Its value, if it is one of this option.
    pub(crate) fn value<O: RunOption>(&self) -> Option<&O::Value> {
        let held: &dyn Any = &*self.held;
        held.downcast_ref::<Of<O>>().map(|held| &held.0)
    }

    pub(crate) fn apply(&self, settings: &mut Settings) {
        self.held.apply(settings);
    }

    /// The value as written in the section of a backend.
    pub(crate) fn show_in_section(&self) -> String {
        self.held.show_in_section()
    }

    /// A setting replaces one of a lower layer with the same slot.
    pub(crate) fn slot(&self) -> String {
        self.held.slot()
    }

    /// The settings that another layer can replace one by one.
    pub(crate) fn parts(&self) -> Vec<Self> {
        self.held.parts()
    }
}

/// Formats the value as written in a document.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.held.show())
    }
}

impl fmt::Debug for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {self}", self.name())
    }
}

/// Settings are equal if a document would contain the same for both.
impl PartialEq for Setting {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.to_string() == other.to_string()
    }
}

impl Eq for Setting {}
