//! What a path asks for.

use percent_encoding::percent_decode_str;

use crate::answer::Refusal;
use crate::token;

/// A path of the Bot API.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// The method's name may be empty: then a parameter of that name says it.
    Method {
        bot: i64,
        name: String,
    },
    File {
        path: String,
    },
}

/// Reads a path as the server does: decoded, and the method is everything after the token.
pub(super) fn route(path: &str) -> Result<Route, Refusal> {
    let path = percent_decode_str(path).decode_utf8_lossy();
    if let Some(rest) = path.strip_prefix("/file/bot") {
        let (token, path) = rest.split_once('/').ok_or_else(Refusal::not_found)?;
        token::bot_of(token)?;
        return Ok(Route::File { path: path.to_owned() });
    }
    let rest = path.strip_prefix("/bot").ok_or_else(Refusal::not_found)?;
    let (token, name) = rest.split_once('/').ok_or_else(Refusal::not_found)?;
    // The test environment is the same world here.
    let name = match name.strip_prefix("test") {
        Some(rest) => rest.strip_prefix('/').ok_or_else(Refusal::not_found)?,
        None => name,
    };
    Ok(Route::Method { bot: token::bot_of(token)?, name: name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn method(path: &str) -> Option<String> {
        match route(path) {
            Ok(Route::Method { bot: 1, name }) => Some(name),
            Ok(Route::Method { .. } | Route::File { .. }) | Err(_) => None,
        }
    }

    #[test]
    fn a_method_stands_after_the_token_with_or_without_the_test_environment() {
        assert_eq!(method("/bot1:a/getMe").as_deref(), Some("getMe"));
        assert_eq!(method("/bot1:a/test/getMe").as_deref(), Some("getMe"));
        assert_eq!(method("/bot1%3Aa/getMe").as_deref(), Some("getMe"));
        assert_eq!(method("/bot1:a/").as_deref(), Some(""));
    }

    #[test]
    fn a_file_stands_after_the_token_too() {
        assert_eq!(route("/file/bot1:a/photos/file_1.jpg"), Ok(Route::File { path: "photos/file_1.jpg".to_owned() }));
    }

    #[test]
    fn other_paths_are_not_found_and_wrong_tokens_are_said_to_be() {
        for path in ["/", "/bot1:a", "/boss/1", "/bot1:a/testX", "/file/bot1:a"] {
            assert_eq!(route(path).map_err(|refusal| refusal.code), Err(404), "{path}");
        }
        assert_eq!(route("/bot1/getMe"), Err(Refusal::invalid_token()));
    }
}
