//! Rows of the actor console.

use cooperage_domain::access::Area::Operation as Running;
use cooperage_domain::access::Role::Superadmin;
use cooperage_domain::access::Rule;

use super::Operation;
use super::table::{get, post};

pub(super) fn console() -> Vec<Operation> {
    let (see, change) = (Rule::read(Superadmin, Running), Rule::write(Superadmin, Running));
    vec![
        get("/console/actors", see, "The actors of this server: what each does, and clusters at rest")
            .gives("ActorTree")
            .query(&[
                ("under", "only at and below this path: `/clusters/ID`"),
                ("filter", "only those whose path or kind has this text"),
                ("limit", "at most so many; 1000 unless said otherwise, 10000 at most"),
            ]),
        get("/console/actors/{path:.*}", see, "One actor, and how long its messages wait and take")
            .gives("ActorDetail")
            .query(&[(
                "seconds",
                "measured for so long, 30 at most; a quarter of a second unless said otherwise",
            )]),
        post("/console/actions", change, "Pause, resume or restart an actor, or have something go wrong")
            .takes("ActorOrder")
            .gives("ActorOrdered")
            .refuses(&[404, 409]),
        // Whoever opens it may ask for messages of all tenants: a session must come from a page of this server.
        get("/console", change, "A WebSocket: numbers each second, and messages as they are handled")
            .refuses(&[426, 503]),
    ]
}
