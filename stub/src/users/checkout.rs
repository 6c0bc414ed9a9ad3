//! Paying: the user confirms, the bot is asked whether it can deliver, and only then is anything paid.
//!
//! An invoice that was sent with `is_flexible` asks for the way of shipping first; the user takes the first one that
//! the bot offers (<https://core.telegram.org/bots/payments#6-pre-checkout>).

use std::time::Duration;

use serde_json::{Value, json};

use super::{Moment, Scene};
use crate::methods::payments;
use crate::stub::NotPushed;
use crate::telegram::Telegram;
use crate::world::{Shelf, User};

/// What a user is about to pay.
#[derive(Debug, Clone)]
pub(crate) struct Basket {
    pub(super) chat: i64,
    pub(super) user: i64,
    pub(super) currency: String,
    pub(super) total: i64,
    pub(super) payload: String,
    /// The way of shipping, of a flexible invoice.
    pub(super) shipping: Option<String>,
}

/// Baskets whose bots were asked, by bot and query.
#[derive(Debug)]
pub(crate) struct Checkouts(Shelf<(i64, String), Open>);

#[derive(Debug)]
enum Open {
    Waiting { basket: Basket, until: Duration },
    Closed,
}

/// The query is not open any more.
#[derive(Debug)]
pub(crate) struct TooOld;

/// A bot has so long to answer (<https://core.telegram.org/bots/api#answerprecheckoutquery>); of shipping queries nothing
/// is said, and they get the same.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many are remembered.
const MOST: usize = 10_000;
/// Where everybody lives.
const ADDRESS: [(&str, &str); 6] = [
    ("country_code", "NL"),
    ("state", ""),
    ("city", "Utrecht"),
    ("street_line1", "Stub 1"),
    ("street_line2", ""),
    ("post_code", "3511 AA"),
];

impl Checkouts {
    pub(crate) fn new() -> Self {
        Self(Shelf::bounded(MOST))
    }

    fn ask(&mut self, at: Moment, id: &str, basket: Basket) {
        let open = Open::Waiting { basket, until: at.now + PATIENCE };
        self.0.insert((at.bot, id.to_owned()), open, 1);
    }

    /// Closes a query; none: it was none of ours, but one that somebody made up.
    fn close(&mut self, at: Moment, id: &str) -> Result<Option<Basket>, TooOld> {
        let key = (at.bot, id.to_owned());
        let basket = match self.0.get(&key) {
            None => return Ok(None),
            Some(Open::Waiting { basket, until }) if at.now <= *until => basket.clone(),
            Some(Open::Waiting { .. } | Open::Closed) => return Err(TooOld),
        };
        self.0.insert(key, Open::Closed, 1);
        Ok(Some(basket))
    }
}

impl Scene<'_> {
    /// The user confirms; the id of the update that asks the bot.
    pub(super) fn pay(&mut self, basket: Basket) -> Result<i64, NotPushed> {
        if payments::is_flexible(self.telegram, self.at.bot, &basket.payload) {
            let query = json!({ "invoice_payload": basket.payload, "shipping_address": address() });
            return self.query("shipping_query", query, basket);
        }
        self.check_out(basket)
    }

    fn check_out(&mut self, basket: Basket) -> Result<i64, NotPushed> {
        let mut query = bought(&basket);
        if let Some(shipping) = &basket.shipping {
            query["shipping_option_id"] = json!(shipping);
            query["order_info"] = json!({ "shipping_address": address() });
        }
        self.query("pre_checkout_query", query, basket)
    }

    fn query(&mut self, kind: &'static str, mut query: Value, basket: Basket) -> Result<i64, NotPushed> {
        let id = self.fresh_id();
        query["id"] = json!(id);
        query["from"] = self.person(basket.user);
        let update = self.push(kind, &query)?;
        self.telegram.checkouts.ask(self.at, &id, basket);
        Ok(update)
    }

    fn paid(&mut self, basket: &Basket) {
        let charge = self.fresh_id();
        let (bot, user) = (self.at.bot, basket.user);
        if basket.currency == STARS {
            let payer = self.telegram.world.people.show(User::Person(user));
            let payment = payments::transaction(&charge, &payer, basket.total, self.at.date, "source");
            payments::paid(self.telegram, bot, payment);
        }
        let mut paid = bought(basket);
        paid["telegram_payment_charge_id"] = json!(charge);
        paid["provider_payment_charge_id"] = json!(charge);
        if let Some(shipping) = &basket.shipping {
            paid["shipping_option_id"] = json!(shipping);
            paid["order_info"] = json!({ "shipping_address": address() });
        }
        // It is paid even when the bot takes no messages.
        drop(self.service(basket.chat, user, "successful_payment", &paid));
    }
}

/// Telegram Stars.
const STARS: &str = "XTR";

/// The bot says whether it can deliver.
pub(crate) fn checked_out(telegram: &mut Telegram, at: Moment, id: &str, agreed: bool) -> Result<(), TooOld> {
    let basket = telegram.checkouts.close(at, id)?;
    if let Some(basket) = basket.filter(|_| agreed) {
        Scene { telegram, at }.paid(&basket);
    }
    Ok(())
}

/// The bot says how it can ship; `option`: the id of the first way, and what it costs.
pub(crate) fn shipped(
    telegram: &mut Telegram,
    at: Moment,
    id: &str,
    option: Option<(String, i64)>,
) -> Result<(), TooOld> {
    let basket = telegram.checkouts.close(at, id)?;
    if let (Some(basket), Some((shipping, price))) = (basket, option) {
        let basket = Basket { total: basket.total.saturating_add(price), shipping: Some(shipping), ..basket };
        // A bot that takes no such query is never paid.
        drop(Scene { telegram, at }.check_out(basket));
    }
    Ok(())
}

fn bought(Basket { currency, total, payload, .. }: &Basket) -> Value {
    json!({ "currency": currency, "total_amount": total, "invoice_payload": payload })
}

fn address() -> Value {
    Value::Object(ADDRESS.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(millis: u64) -> Moment {
        Moment { now: Duration::from_millis(millis), date: 0, bot: 1 }
    }

    fn asked() -> Checkouts {
        let (currency, payload) = (STARS.to_owned(), "p".to_owned());
        let mut checkouts = Checkouts::new();
        let basket = Basket { chat: 5, user: 5, currency, total: 9, payload, shipping: None };
        checkouts.ask(after(5000), "q", basket);
        checkouts
    }

    #[test]
    fn a_bot_has_ten_seconds_to_answer() {
        assert!(matches!(asked().close(after(15_000), "q"), Ok(Some(basket)) if basket.total == 9));
        assert!(asked().close(after(15_001), "q").is_err());
    }

    #[test]
    fn a_query_is_answered_once_and_by_the_bot_that_was_asked() {
        let mut checkouts = asked();
        assert!(checkouts.close(after(6000), "q").is_ok_and(|basket| basket.is_some()));
        assert!(checkouts.close(after(6000), "q").is_err());
        let other = Moment { bot: 2, ..after(6000) };
        assert!(asked().close(other, "q").is_ok_and(|basket| basket.is_none()), "it was asked nothing");
    }
}
