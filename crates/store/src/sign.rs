//! Signatures of checkpoints: Ed25519 with the store's own key, which is made when it is first needed.
//!
//! *Invariant:* the key never leaves here but to be kept; a store has one for ever.

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use zeroize::Zeroizing;

use crate::entropy::{Entropy, random};
use crate::error::StoreError;
use crate::keys::Keys;

/// A signature and the key that checks it, both in hex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// The signature.
    pub signature: String,
    /// The public half of the key.
    pub public_key: String,
}

/// Signs bytes with the store's key.
pub fn sign(keys: &dyn Keys, entropy: &dyn Entropy, bytes: &[u8]) -> Result<Signed, StoreError> {
    let key = signing_key(keys, entropy)?;
    let (signature, public_key) = (hex(&key.sign(bytes).to_bytes()), hex(key.verifying_key().as_bytes()));
    Ok(Signed { signature, public_key })
}

/// The public half of the store's key in hex, if there is one.
pub fn public_key(keys: &dyn Keys) -> Result<Option<String>, StoreError> {
    Ok(keys.audit()?.map(|key| hex(key.verifying_key().as_bytes())))
}

/// Whether a signature over these bytes is good.
pub fn is_signed(bytes: &[u8], signed: &Signed) -> bool {
    let read = || {
        let key = VerifyingKey::from_bytes(&unhex(&signed.public_key)?).ok()?;
        key.verify_strict(bytes, &Signature::from_bytes(&unhex(&signed.signature)?)).ok()
    };
    read().is_some()
}

fn signing_key(keys: &dyn Keys, entropy: &dyn Entropy) -> Result<SigningKey, StoreError> {
    if let Some(key) = keys.audit()? {
        return Ok(key);
    }
    let key = SigningKey::from_bytes(&Zeroizing::new(random(entropy)));
    match keys.save_audit(&key) {
        Ok(()) => Ok(key),
        // Somebody else made it meanwhile.
        Err(StoreError::Conflict) => keys.audit()?.ok_or(StoreError::Conflict),
        Err(error) => Err(error),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let (mut bytes, digits) = ([0; N], text.as_bytes());
    if digits.len() != 2 * N {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::keys::MemoryKeys;

    struct Ones;

    impl Entropy for Ones {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(1);
        }
    }

    #[test]
    fn only_the_bytes_that_were_signed_have_the_signature() {
        let keys = MemoryKeys::new();
        assert_eq!(public_key(&keys).unwrap(), None);
        let signed = sign(&keys, &Ones, b"a").unwrap();
        assert_eq!(public_key(&keys).unwrap(), Some(signed.public_key.clone()));
        assert_eq!(sign(&keys, &Ones, b"a").unwrap(), signed);
        assert!(is_signed(b"a", &signed));
        assert!(!is_signed(b"b", &signed));
        assert!(!is_signed(b"a", &Signed { signature: "00".repeat(64), ..signed.clone() }));
        assert!(!is_signed(b"a", &Signed { public_key: "00".repeat(32), ..signed.clone() }));
        assert!(!is_signed(b"a", &Signed { signature: String::new(), ..signed }));
    }
}
