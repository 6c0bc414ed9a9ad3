//! What every bot does, asked of teloxide. `Bot::set_api_url`, or TELOXIDE_API_URL, names the server.
//!
//! usage: ROOT=http://127.0.0.1:8081 clients-teloxide BOT quick|limiter

mod checks;
mod report;
mod running;
mod user;

use std::process::ExitCode;
use std::time::Duration;

use teloxide::Bot;

use crate::report::Report;
use crate::running::Running;
use crate::user::Users;

const SOON: Duration = Duration::from_secs(30);
/// What its throttle may take: two minutes' worth, and some.
const LATER: Duration = Duration::from_secs(200);

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(bot), Some(part)) = (arguments.next(), arguments.next()) else { return ExitCode::from(2) };
    let root = std::env::var("ROOT").expect("ROOT names the stub");
    let mut report = Report::default();
    match part.as_str() {
        "quick" => quick(&root, &bot, &mut report).await,
        _ => {
            let bot = bot_of(&root, &bot);
            report.check("its rate limiter, 40 messages to a group", LATER, checks::limiter(bot)).await;
        }
    }
    ExitCode::from(u8::from(report.failed))
}

async fn quick(root: &str, id: &str, report: &mut Report) {
    let bot = bot_of(root, id);
    let users = Users { root: root.to_owned(), token: bot.token().to_owned() };
    let mut running = Running::polling(&bot);
    report.check("start-up", SOON, checks::start_up(&bot, &running)).await;
    report.check("long polling", SOON, checks::long_polling(&users, &mut running)).await;
    report.check("callback", SOON, checks::callback(&bot, &users, &mut running)).await;
    report.check("stop", SOON, running.stop()).await;
    report.check("webhook with secret", SOON, checks::webhook(&bot, &users)).await;
    report.check("text with entities", SOON, checks::entities(&bot)).await;
    report.check("edit", SOON, checks::edit(&bot)).await;
    report.check("photo by bytes, file_id and URL", SOON, checks::photo(&bot)).await;
    report.check("album", SOON, checks::album(&bot)).await;
    report.check("3 MB document there and back", SOON, checks::document(&bot)).await;
    report.check("profile photos", SOON, checks::profile_photos(&bot)).await;
    // A bot of its own, so that what the other checks sent does not count.
    report.check("25 messages to a group at once", SOON, checks::burst(bot_of(root, &format!("{id}1")))).await;
}

fn bot_of(root: &str, id: &str) -> Bot {
    let token = format!("{id}:AAFakeTokenOfTheClientsBattery-0001");
    Bot::new(token).set_api_url(root.parse().expect("ROOT is a URL"))
}
