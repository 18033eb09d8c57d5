//! Distinguishes contents, for names. Not a cryptographic hash.

/// Equal bytes have equal fingerprints, on every machine and in every version.
pub(crate) fn fingerprint(bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(BASIS, |hash, word| (hash ^ u64::from_le_bytes(*word)).wrapping_mul(PRIME));
    rest.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bit_makes_another() {
        let one: Vec<u8> = (0..100).collect();
        for index in 0..one.len() {
            let mut other = one.clone();
            other[index] ^= 1;
            assert_ne!(fingerprint(&one), fingerprint(&other), "{index}");
        }
    }
}
