//! A bot's token, read as the server's gate reads it: any well-formed one is a bot.

use crate::answer::Refusal;

/// Longer ones are refused (<https://github.com/tdlib/telegram-bot-api>, `ClientManager.cpp`).
const LONGEST: usize = 80;
/// Ids of users and bots lie below this one.
const ID_BOUND: i64 = 1 << 54;

/// The bot's id: the number before the colon.
pub(crate) fn bot_of(token: &str) -> Result<i64, Refusal> {
    let (id, secret) = token.split_once(':').ok_or_else(Refusal::invalid_token)?;
    if secret.is_empty() || id.starts_with('0') || token.len() > LONGEST {
        return Err(Refusal::invalid_token());
    }
    match id.parse::<i64>() {
        Ok(id) if (1..ID_BOUND).contains(&id) => Ok(id),
        Ok(_) => Err(Refusal::invalid_token()),
        Err(_) => Err(Refusal::unallowed_token()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_a_colon_and_a_secret_are_a_token() {
        assert_eq!(bot_of("123:abc"), Ok(123));
        assert_eq!(bot_of("18014398509481983:a"), Ok((1 << 54) - 1));
    }

    #[test]
    fn what_is_no_token_is_refused_in_the_words_of_the_server() {
        for wrong in ["123", "0123:a", "-1:a", "18014398509481984:a", "123:", &format!("1:{}", "a".repeat(79))] {
            assert_eq!(bot_of(wrong), Err(Refusal::invalid_token()), "{wrong}");
        }
        assert_eq!(bot_of("abc:def"), Err(Refusal::unallowed_token()));
    }
}
