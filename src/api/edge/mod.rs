//! What every request goes through on either port, before and after the handler.
//!
//! From the outside in; each layer sees what the ones below it answer:
//!
//! | layer | on the way in | on the way out |
//! |---|---|---|
//! | `NormalizePath` | no slash at the end | |
//! | [`measure`] | | how many requests there were, and how long they took |
//! | [`headers`] | | what browsers and caches are told; `Connection: close` while the server stops |
//! | [`methods`] | `HEAD` becomes `GET` | `OPTIONS` is answered; `Allow` names them |
//! | [`audit`] | | who changed what is recorded, and then answered |
//! | [`tell`] | | every refusal in the caller's language; causes of our own faults go to the log |
//! | [`limits`] | heads too large, encodings unknown, bodies too slow | |
//! | `Compress` | | bodies as gzip for those who accept it |
//! | [`conditional`] | | `ETag`; 304 for who has it already |
//! | [`authorize`] | who may not is refused; who may is told to the handler | |
//! | [`idempotency`] | a request that was answered is not carried out again | the answer is kept |
//!
//! Refusals of the layers below `tell` are told by it; `limits` is above `Compress` so that a refused request costs nothing;
//! `conditional` and `idempotency` are below it since they read whole bodies as they are, not as they are packed. `audit` sees
//! what was refused, too; `idempotency` asks whom `authorize` let in.

mod conditional;
mod headers;
mod idempotency;
mod limits;
mod measure;
mod methods;
mod ready;

pub use conditional::{IfMatch, StateTag, expected_sequences};
pub use idempotency::Keyed;
pub use ready::ready;

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::middleware::{Compress, NormalizePath, from_fn};
use actix_web::{App, Error, web};
use cooperage_schema::RequestKey;

use super::error_language::tell;
use super::operations::Port;
use super::state::AppState;
use super::{audit, authorize, serve};

/// One port's routes with everything around them.
pub fn app(
    state: web::Data<AppState>,
    port: Port,
) -> App<
    impl ServiceFactory<
        ServiceRequest,
        Config = (),
        Response = ServiceResponse<impl MessageBody>,
        Error = Error,
        InitError = (),
    >,
> {
    // What is wrapped last is outermost.
    App::new()
        .app_data(state)
        .app_data(port)
        .wrap(from_fn(idempotency::once))
        .wrap(from_fn(authorize::let_in))
        .wrap(from_fn(conditional::tag))
        .wrap(Compress::default())
        .wrap(from_fn(limits::check))
        .wrap(from_fn(tell))
        .wrap(from_fn(audit::record))
        .wrap(from_fn(methods::method))
        .wrap(from_fn(headers::add))
        .wrap(from_fn(measure::request))
        .wrap(NormalizePath::trim())
        .configure(move |config| serve(port, config))
}

/// What the edge remembers between requests.
#[derive(Debug, Default)]
pub struct Edge {
    /// Keys of requests that are being carried out.
    in_hand: Mutex<HashSet<RequestKey>>,
}

impl Edge {
    fn in_hand(&self) -> MutexGuard<'_, HashSet<RequestKey>> {
        // Nobody panics while holding it: keys are only put in and taken out.
        self.in_hand.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The state of the server, which every request carries.
fn state_of(request: &ServiceRequest) -> Option<web::Data<AppState>> {
    request.app_data::<web::Data<AppState>>().cloned()
}

/// An answer whose body is known as a whole.
type Answer = ServiceResponse<BoxBody>;
