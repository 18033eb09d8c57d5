//! Drops capabilities, in the order that leaves no way back.
//!
//! Knows neither the caller nor its reasons.

use rustix::io::Errno;
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, capability_is_in_bounding_set,
    clear_ambient_capability_set, remove_capability_from_bounding_set, set_capabilities,
    set_capabilities_secure_bits,
};

/// More than any kernel has; the kernel reports where its own end.
const MOST: u32 = 64;

fn each() -> impl Iterator<Item = CapabilitySet> {
    (0..MOST).map(|number| CapabilitySet::from_bits_retain(1 << number))
}

/// Empties the bounding set, so that no program can gain a capability, and removes user 0's claim to them.
///
/// Call before the identity changes: an ordinary user may not. If refused, the set stays as it is and is
/// reported so.
pub(crate) fn drop_bounding_set() {
    for capability in each() {
        match remove_capability_from_bounding_set(capability) {
            Ok(()) => {}
            // Past the kernel's last capability, or not allowed: the rest would fail the same way.
            Err(_) => break,
        }
    }
    let bits = CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
    // Needs the same privilege; with an empty bounding set this is only a second barrier.
    let _ = set_capabilities_secure_bits(bits);
}

/// Empties the capability sets of this process.
pub(super) fn drop_all() -> Result<(), Errno> {
    clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}

/// The current bounding set.
pub(super) fn bounding_set() -> u64 {
    each()
        .map_while(|capability| Some((capability, capability_is_in_bounding_set(capability).ok()?)))
        .filter(|(_, is_in)| *is_in)
        .fold(0, |bits, (capability, _)| bits | capability.bits())
}
