//! Drives cells in states that a real sandbox can't be put into: dead, lying, hanging, counted.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod broken;
mod fake;
mod handles;
mod planning;
mod pool;
