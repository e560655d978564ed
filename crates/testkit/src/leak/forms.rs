//! The forms that a text may take: as it is, encoded, or hashed.

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use sha2::{Digest as _, Sha256};

/// Every form of a text, with its name. Letters are compared without case by who searches.
pub(super) fn of(text: &str) -> Vec<(&'static str, Vec<u8>)> {
    let mut forms = vec![("raw", text.as_bytes().to_vec()), ("hex", hex(text.as_bytes()))];
    forms.extend(base64(text.as_bytes()).into_iter().map(|bytes| ("base64", bytes)));
    let escaped: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    forms.push(("escaped", escaped.into_bytes()));
    forms.push(("utf-16", text.encode_utf16().flat_map(u16::to_le_bytes).collect()));
    forms.push(("utf-16", text.encode_utf16().flat_map(u16::to_be_bytes).collect()));
    for hashed in [text.to_owned(), format!("\"{text}\""), format!("{text}\n")] {
        let digest = Sha256::digest(hashed.as_bytes());
        forms.push(("sha-256", hex(&digest)));
        forms.extend(base64(&digest).into_iter().take(2).map(|bytes| ("sha-256", bytes)));
        forms.push(("sha-256", digest.to_vec()));
    }
    forms
}

fn hex(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect()
}

/// What is the same whatever stands before and after, for the three places in a group of three bytes.
fn base64(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for before in 0..3_usize {
        for alphabet in [&STANDARD, &URL_SAFE] {
            let engine = GeneralPurpose::new(alphabet, GeneralPurposeConfig::new().with_encode_padding(false));
            let padded = [&vec![0; before], bytes].concat();
            let text = engine.encode(&padded).into_bytes();
            // Letters that hold bits of a neighbour are left out.
            let (first, last) = ((before * 8).div_ceil(6), padded.len() * 8 / 6);
            let sure = text[first..last].to_vec();
            if !found.contains(&sure) {
                found.push(sure);
            }
        }
    }
    found
}
