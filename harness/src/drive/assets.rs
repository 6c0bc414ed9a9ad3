//! What a document names that belongs to its page, as a browser would fetch it at once. Pure.
//!
//! Styles, scripts, icons, preloads and pictures of the document's own origin, each once and in order. Left out is what a
//! browser would fetch later or never: pictures that are loaded lazily, alternative styles, links to other pages, and
//! whatever a script or a style asks for in its turn.

use std::convert::Infallible;

use html5gum::emitters::default::{DefaultEmitter, StartTag};
use html5gum::{Token, Tokenizer};
use url::Url;

/// What `rel` says of links that are fetched with the page.
const FETCHED: [&str; 5] = ["stylesheet", "icon", "preload", "modulepreload", "manifest"];

/// More than a page of a Mini App has; a document that names more is taken as far as this.
const MOST_ASSETS: usize = 1000;

/// Path and query of everything that the document at this path names.
pub(super) fn assets(document: &[u8], path: &str) -> Vec<String> {
    // Only what is of this origin is kept, so its name is of no account.
    let Ok(origin) = Url::parse("http://page.invalid") else { return Vec::new() };
    let mut base = origin.join(path).unwrap_or_else(|_| origin.clone());
    let mut found: Vec<String> = Vec::new();
    for tag in start_tags(document) {
        if tag.name.as_slice() == b"base" {
            base = attribute(&tag, "href").and_then(|href| base.join(&href).ok()).unwrap_or(base);
        }
        let Some(named) = named_by(&tag).and_then(|reference| base.join(reference.trim()).ok()) else { continue };
        let path = named[url::Position::BeforePath..url::Position::AfterQuery].to_owned();
        if named.origin() == origin.origin() && !found.contains(&path) && found.len() < MOST_ASSETS {
            found.push(path);
        }
    }
    found
}

fn start_tags(document: &[u8]) -> impl Iterator<Item = StartTag<()>> {
    let mut emitter = DefaultEmitter::default();
    // What stands in a script or a title is no markup.
    emitter.naively_switch_states(true);
    Tokenizer::new_with_emitter(document, emitter).filter_map(|token: Result<Token, Infallible>| match token {
        Ok(Token::StartTag(tag)) => Some(tag),
        Ok(Token::EndTag(_) | Token::String(_) | Token::Comment(_) | Token::Doctype(_) | Token::Error(_)) | Err(_) => {
            None
        }
    })
}

/// What a tag has the browser fetch with the page.
fn named_by(tag: &StartTag<()>) -> Option<String> {
    let reference = match tag.name.as_slice() {
        b"script" => attribute(tag, "src"),
        b"img" if attribute(tag, "loading").is_none_or(|when| !when.eq_ignore_ascii_case("lazy")) => {
            attribute(tag, "src")
        }
        b"link" if is_fetched(&attribute(tag, "rel").unwrap_or_default()) => attribute(tag, "href"),
        _ => None,
    };
    reference.filter(|reference| !reference.trim().is_empty())
}

fn is_fetched(rel: &str) -> bool {
    let has = |wanted: &str| rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case(wanted));
    FETCHED.into_iter().any(has) && !has("alternate")
}

fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    let value = tag.attributes.get(name.as_bytes())?;
    Some(String::from_utf8_lossy(value).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn names(document: &str, expected: &[&str]) {
        assert_eq!(assets(document.as_bytes(), "/app/index.html?v=1"), expected, "{document}");
    }

    #[test]
    fn styles_scripts_icons_and_pictures_are_fetched_each_once_and_in_order() {
        names(
            "<!doctype html><head><link rel=\"stylesheet\" href=\"main.css\"><link rel='shortcut ICON' href=/icon.png>
             <script type=module src=../js/app.js?v=2#x></script></head><img src=\"logo a.png\"><IMG SRC=main.css>",
            &["/app/main.css", "/icon.png", "/js/app.js?v=2", "/app/logo%20a.png"],
        );
    }

    #[test]
    fn other_origins_other_pages_and_what_comes_later_are_left_out() {
        names(
            "<script src=https://telegram.org/js/telegram-web-app.js></script><script src=//cdn.test/x.js></script>
             <link rel=canonical href=/canonical><link rel='alternate stylesheet' href=/dark.css><a href=/next>next</a>
             <img loading=lazy src=/later.png><img src=data:image/png;base64,AA==><img src=''><script>x()</script>",
            &[],
        );
    }

    #[test]
    fn what_looks_like_a_tag_in_a_script_or_a_comment_is_none() {
        names("<script>'<img src=/a.png>'</script><!-- <img src=/b.png> --><title><img src=/c.png></title>", &[]);
    }

    #[test]
    fn a_base_moves_what_comes_after_it() {
        names("<base href=/static/><script src=a.js></script>", &["/static/a.js"]);
        names("<base href=https://cdn.test/><script src=a.js></script><img src=/app/b.png>", &[]);
    }

    #[test]
    fn anything_at_all_can_be_read() {
        names("", &[]);
        assert!(assets(&[0xff, b'<', b's', b'c', 0, b'<'], "/").is_empty());
        let many: Vec<String> = (0..=MOST_ASSETS).map(|nth| format!("<img src={nth}>")).collect();
        assert_eq!(assets(many.concat().as_bytes(), "/").len(), MOST_ASSETS);
    }
}
