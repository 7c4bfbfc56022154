//! What it costs that messages between actors can be looked at: the same actor in actix's own context and in ours, while nobody
//! looks, while somebody watches numbers, and while somebody looks at it closely.

use std::time::{Duration, Instant};

use actix::{Actor, Addr, Handler, Message, System};
use cooperage_actors::console::{Console, Context, Live as _};
use serde::Serialize;

use super::BenchError;

/// Messages that are sent one behind the other without a pause.
const BURST: u32 = 1_000;

/// What it costs to handle a message, in ns: the least of all rounds, which is what nothing else disturbed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageCost {
    /// In actix's own context.
    pub plain_ns: f64,
    /// In ours, while nobody looks.
    pub unseen_ns: f64,
    /// While somebody watches numbers.
    pub watched_ns: f64,
    /// While somebody looks at the actor closely.
    pub examined_ns: f64,
}

#[derive(Message)]
#[rtype(result = "()")]
struct Count;

/// Answered when all before it have been handled.
#[derive(Message)]
#[rtype(result = "u64")]
struct Total;

/// Counts in actix's own context.
#[derive(Default)]
struct Plain(u64);

/// Counts in ours.
#[derive(Default)]
struct Seen(u64);

impl Actor for Plain {
    type Context = actix::Context<Self>;
}

impl Actor for Seen {
    type Context = Context<Self>;
}

impl Handler<Count> for Plain {
    type Result = ();

    fn handle(&mut self, _: Count, _: &mut Self::Context) {
        self.0 += 1;
    }
}

impl Handler<Total> for Plain {
    type Result = u64;

    fn handle(&mut self, _: Total, _: &mut Self::Context) -> u64 {
        self.0
    }
}

impl Handler<Count> for Seen {
    type Result = ();

    fn handle(&mut self, _: Count, _: &mut Self::Context) {
        self.0 += 1;
    }
}

impl Handler<Total> for Seen {
    type Result = u64;

    fn handle(&mut self, _: Total, _: &mut Self::Context) -> u64 {
        self.0
    }
}

/// Sends bursts for a while, and tells the least that one took for each message.
macro_rules! bursts {
    ($to:expr, $period:expr) => {{
        let (begun, mut least) = (Instant::now(), f64::INFINITY);
        while begun.elapsed() < $period {
            let burst = Instant::now();
            (0..BURST).for_each(|_| $to.do_send(Count));
            let asked = $to.send(Total).await;
            asked.map_err(|fault| BenchError::Ended(fault.to_string()))?;
            least = least.min(burst.elapsed().as_nanos() as f64 / f64::from(BURST));
        }
        least
    }};
}

/// Measures each for this long.
///
/// # Errors
/// When an actor ends.
pub fn measure(period: Duration) -> Result<MessageCost, BenchError> {
    System::new().block_on(async {
        let plain: Addr<Plain> = Plain::default().start();
        let console = Console::default();
        let seen = Seen::default().live(&console, "/seen");
        let plain_ns = bursts!(plain, period);
        let unseen_ns = bursts!(seen, period);
        let look = console.look();
        let watched_ns = bursts!(seen, period);
        let close = console.examine("/seen");
        let examined_ns = bursts!(seen, period);
        drop((look, close));
        Ok(MessageCost { plain_ns, unseen_ns, watched_ns, examined_ns })
    })
}
