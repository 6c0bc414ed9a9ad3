//! A system for tests: a small HTTP server on one thread, with a pool of connections to a real Postgres.
//!
//! `PORT`, `DATABASE_URL`, `POOL` and `QUERY_MS` say how. Every act runs one query of that length on one connection of
//! the pool; `/healthz` needs none.

#![expect(clippy::disallowed_methods, reason = "a system is told its port and its database by its environment")]

use std::error::Error;
use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;
use tokio_postgres::{Client, NoTls};

/// Clients that nobody uses at the moment; whoever waits for one is served in order.
struct Pool {
    free: tokio::sync::mpsc::UnboundedSender<Client>,
    next: Mutex<tokio::sync::mpsc::UnboundedReceiver<Client>>,
    query: String,
}

impl Pool {
    async fn query(&self) -> Result<(), Box<dyn Error + Send + Sync>> {
        let client = self.next.lock().await.recv().await.ok_or("the pool is gone")?;
        let answered = client.batch_execute(&self.query).await;
        self.free.send(client)?;
        Ok(answered?)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let setting = |name: &str| std::env::var(name).map_err(|_| format!("{name} is not set"));
    let (size, query_ms): (usize, u32) = (setting("POOL")?.parse()?, setting("QUERY_MS")?.parse()?);
    let (free, next) = tokio::sync::mpsc::unbounded_channel();
    for _ in 0..size {
        let (client, connection) = tokio_postgres::connect(&setting("DATABASE_URL")?, NoTls).await?;
        tokio::spawn(connection);
        free.send(client)?;
    }
    let query = format!("select pg_sleep({})", f64::from(query_ms) / 1e3);
    let pool = Arc::new(Pool { free, next: Mutex::new(next), query });
    let listener = TcpListener::bind(("127.0.0.1", setting("PORT")?.parse()?)).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(serve(stream, Arc::clone(&pool)));
    }
}

async fn serve(mut stream: TcpStream, pool: Arc<Pool>) -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut request = vec![0; 8192];
    loop {
        // The rig sends an act that has no body in one piece.
        let read = stream.read(&mut request).await?;
        if read == 0 {
            return Ok(());
        }
        let asks_for_health = request.starts_with(b"GET /healthz ");
        let status = if asks_for_health || pool.query().await.is_ok() { "200 OK" } else { "500 Failed" };
        stream.write_all(format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nok").as_bytes()).await?;
    }
}
