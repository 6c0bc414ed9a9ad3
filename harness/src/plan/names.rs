//! What players may be called. Real crowds write in every script and put markup, quotes and separators into their
//! names; a system that breaks on one of these breaks in production.

/// Plain enough.
pub(super) const FIRST: &[&str] = &[
    "Ada",
    "Юля",
    "Олександр",
    "José",
    "Zoë",
    "Мария",
    "Иван",
    "李",
    "さくら",
    "민준",
    "محمد",
    "שרה",
    "Ngọc",
    "Αλέξης",
    "Дмитро",
    "Fatima",
    "Łukasz",
    "Søren",
    "Anaïs",
    "प्रिया",
    "ณัฐ",
    "Bob",
    "Chloe",
    "Владимир",
];

/// Plain enough.
pub(super) const LAST: &[&str] = &[
    "Lovelace",
    "Коваленко",
    "O'Brien",
    "García Márquez",
    "Müller",
    "Иванова",
    "Nguyễn",
    "van der Berg",
    "山田",
    "Öztürk",
    "Smith-Jones",
    "Ковальчук",
];

/// What breaks templates, parsers and encoders.
pub(super) const AWKWARD: &[&str] = &[
    "<script>alert(1)</script>",
    "&=+%",
    "\"quoted\" 'twice'",
    "back\\slash/slash",
    "😀",
    "👩‍👩‍👧‍👦",
    "🇺🇦 Слава",
    "a+b=c&d;e%20f",
    "_*[`~>#|{}.!-",
    "𝓕𝓪𝓷𝓬𝔂",
    "e\u{301} as two code points",
    "\u{202e}right to left",
    "  spaces  ",
    ".",
    "Ё",
    "Wolfeschlegelsteinhausenbergerdorff-Wolfeschlegelsteinhausenberg",
];

/// Parts of usernames.
pub(super) const HANDLES: &[&str] =
    &["ada", "word_fan", "puzzler", "x", "green_tile", "guess_who", "five_letters", "late_again"];

/// IETF tags as clients send them.
pub(super) const LANGUAGES: &[&str] = &["en", "ru", "uk", "es", "pt-br", "de", "fa", "ar", "id", "zh-hans", "tr", "hi"];
