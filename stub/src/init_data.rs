//! How Telegram seals the initData of a Mini App: hash, signature and encoding, with keys prepared once for each bot.
//! PURE.
//!
//! Who knows the bot's token makes the real `hash`, which any validator accepts. Nobody but Telegram has the key of the
//! third-party `signature`, so that one is made with a [test key](TEST_PUBLIC_KEY): a system that checks it has to be
//! given that public key.
//!
//! The rules are those of <https://core.telegram.org/bots/webapps#validating-data-received-via-the-mini-app>.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signer, SigningKey};
use hmac::{Hmac, KeyInit, Mac};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::Sha256;

/// What `encodeURIComponent` of ECMA-262 escapes: Telegram's clients encode initData with it.
pub const URI_COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

/// The seed of the Ed25519 test key. It is published here on purpose and proves nothing.
const TEST_SEED: [u8; 32] = [
    0xe8, 0x12, 0x07, 0x23, 0xb9, 0xb2, 0xc5, 0xa9, 0xab, 0x93, 0x16, 0x43, 0x71, 0x88, 0xaa, 0x93, 0xa1, 0xe0, 0xbb,
    0xf8, 0x85, 0xcd, 0xb4, 0x33, 0xef, 0x6b, 0xc1, 0xf7, 0x57, 0x5f, 0x6d, 0x17,
];

/// The public half of the Ed25519 test key, in hexadecimal: what a system has to check `signature` with, in place of
/// Telegram's own key, when it validates as a third party.
pub const TEST_PUBLIC_KEY: &str = "acd9234dc0b8b5ffed8af856c89d90107428a37341f6f98e95e5a15a76c91796";

/// A field's name and its value as it is before encoding.
pub type Field<'a> = (&'a str, &'a str);

/// Everything that signs for one bot.
pub struct Keys {
    /// Has taken in the secret key already; every message continues a copy.
    hash: Hmac<Sha256>,
    signature: SigningKey,
    /// The first line of what `signature` covers.
    third_party_line: String,
}

impl Keys {
    /// The keys of the bot with this token.
    pub fn of_bot(token: &str) -> Self {
        // "WebAppData" is the key and the token the message: the other way round is the commonest mistake.
        let secret = hmac(b"WebAppData").chain_update(token).finalize().into_bytes();
        let bot_id = token.split(':').next().unwrap_or_default();
        Self {
            hash: hmac(&secret),
            signature: SigningKey::from_bytes(&TEST_SEED),
            third_party_line: format!("{bot_id}:WebAppData"),
        }
    }

    /// `fields` in their order, then `signature` and `hash`, encoded.
    pub fn seal(&self, fields: &[Field<'_>]) -> String {
        let signature = self.signature(fields);
        let mut fields = fields.to_vec();
        fields.push(("signature", &signature));
        let hash = self.hash(&fields);
        fields.push(("hash", &hash));
        encode(&fields)
    }

    /// Covers all fields, `signature` included.
    fn hash(&self, fields: &[Field<'_>]) -> String {
        let digest = self.hash.clone().chain_update(check_string(None, fields)).finalize();
        hex::encode(digest.into_bytes())
    }

    /// Covers all fields that there are before it.
    fn signature(&self, fields: &[Field<'_>]) -> String {
        let message = check_string(Some(&self.third_party_line), fields);
        URL_SAFE_NO_PAD.encode(self.signature.sign(message.as_bytes()).to_bytes())
    }
}

fn hmac(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes a key of any length")
}

/// The fields as lines, sorted by name, below a first line if there is one.
fn check_string(first: Option<&str>, fields: &[Field<'_>]) -> String {
    let first = first.unwrap_or_default();
    let mut fields = fields.to_vec();
    fields.sort_unstable();
    let mut text = String::with_capacity(first.len() + lines_length(&fields));
    text.push_str(first);
    for (name, value) in fields {
        if !text.is_empty() {
            text.push('\n');
        }
        text.extend([name, "=", value]);
    }
    text
}

/// Each with a sign before it and one in its middle.
fn lines_length(fields: &[Field<'_>]) -> usize {
    fields.iter().map(|(name, value)| name.len() + value.len() + 2).sum()
}

fn encode(fields: &[Field<'_>]) -> String {
    // What is escaped takes three bytes, and that is about half of it.
    let mut encoded = String::with_capacity(2 * lines_length(fields));
    for (name, value) in fields {
        if !encoded.is_empty() {
            encoded.push('&');
        }
        encoded.extend([*name, "="]);
        encoded.extend(utf8_percent_encode(value, URI_COMPONENT));
    }
    encoded
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    /// Made for tests with a token that never existed, and checked with four validators: npm's
    /// `@telegram-apps/init-data-node` and `@tma.js/init-data-node`, and `PyPI`'s `aiogram` and `init-data-py`.
    const VECTORS: &str = include_str!("init_data/vectors.json");

    #[derive(Deserialize)]
    struct Vectors {
        ed25519_seed_hex: String,
        ed25519_public_key_hex: String,
        #[serde(rename = "vectors")]
        all: Vec<Vector>,
    }

    #[derive(Deserialize)]
    struct Vector {
        name: String,
        bot_token: String,
        fields: Vec<(String, String)>,
        data_check_string: String,
        init_data: String,
    }

    impl Vector {
        /// The fields before this one.
        fn before(&self, name: &str) -> Vec<Field<'_>> {
            let fields = self.fields.iter().map(|(name, value)| (&**name, &**value));
            fields.take_while(|field| field.0 != name).collect()
        }

        fn value(&self, name: &str) -> Option<&str> {
            self.fields.iter().find(|field| field.0 == name).map(|field| &*field.1)
        }
    }

    fn vectors() -> Vectors {
        serde_json::from_str(VECTORS).unwrap()
    }

    #[test]
    fn the_hash_of_every_vector_is_reproduced() {
        for vector in vectors().all {
            let fields = vector.before("hash");
            assert_eq!(check_string(None, &fields), vector.data_check_string, "{}", vector.name);
            let hash = Keys::of_bot(&vector.bot_token).hash(&fields);
            assert_eq!(Some(&*hash), vector.value("hash"), "{}", vector.name);
        }
    }

    #[test]
    fn the_signature_of_every_vector_that_has_one_is_reproduced() {
        let vectors: Vec<_> = vectors().all.into_iter().filter(|vector| vector.value("signature").is_some()).collect();
        assert_eq!(vectors.len(), 2);
        for vector in vectors {
            let signature = Keys::of_bot(&vector.bot_token).signature(&vector.before("signature"));
            assert_eq!(Some(&*signature), vector.value("signature"), "{}", vector.name);
        }
    }

    #[test]
    fn a_direct_link_is_sealed_to_the_letter_of_its_vector() {
        let vector = &vectors().all[1];
        assert_eq!(vector.name, "group-direct-link-signed");
        assert_eq!(Keys::of_bot(&vector.bot_token).seal(&vector.before("signature")), vector.init_data);
    }

    #[test]
    fn what_encode_uri_component_leaves_alone_is_left_alone() {
        let encoded = utf8_percent_encode("aZ09-_.!~*'() +&=%/", URI_COMPONENT).to_string();
        assert_eq!(encoded, "aZ09-_.!~*'()%20%2B%26%3D%25%2F");
    }

    #[test]
    fn the_published_public_key_is_that_of_the_seed() {
        let (vectors, keys) = (vectors(), Keys::of_bot("1:A"));
        assert_eq!(hex::encode(keys.signature.verifying_key().as_bytes()), TEST_PUBLIC_KEY);
        assert_eq!(vectors.ed25519_public_key_hex, TEST_PUBLIC_KEY);
        assert_eq!(vectors.ed25519_seed_hex, hex::encode(TEST_SEED));
    }

    #[test]
    fn another_bot_signs_otherwise() {
        let fields = [("auth_date", "1790000000")];
        let (one, other) = (Keys::of_bot("1:A"), Keys::of_bot("2:A"));
        assert_ne!(one.hash(&fields), other.hash(&fields));
        assert_ne!(one.signature(&fields), other.signature(&fields));
    }
}
