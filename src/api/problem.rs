//! What goes wrong at the HTTP edge, as JSON: which code, which field, which value, and what to do (RFC 9457).

use std::any::Any;
use std::ops::{Deref, DerefMut};

use actix_web::http::{StatusCode, header};
use actix_web::{HttpResponse, HttpResponseBuilder, ResponseError};
use cooperage_actors::callbacks::GateError;
use cooperage_actors::cluster::OperateError;
use cooperage_actors::registry::{FindError, TellError};
use cooperage_domain::cluster::{Refusal, RequestFault};
use cooperage_domain::entity::FieldSchema;
use cooperage_domain::id::IdError;
use cooperage_domain::invalid::Invalid;
use cooperage_domain::layout::{NoLayout, RemedyStep};
use cooperage_domain::provider_fields::MissingFields;
use cooperage_domain::quota::OverQuota;
use cooperage_domain::resolve::ResolveError;
use cooperage_plugins::resources::ResourceError;
use cooperage_schema::StoreError;
use serde::Serialize;
use serde_json::{Map, Value};

/// Key of what is missing in a request for the provider; programs read it.
const MISSING_FIELDS: &str = "missingFields";
/// Key of changes of a request that would help; programs read it.
const REMEDY_STEPS: &str = "remedySteps";

/// A problem, as the caller sees it. Boxed, so that results stay small where nothing goes wrong.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct Problem(Box<Body>);

/// What a problem says.
#[derive(Debug, Clone, Serialize)]
pub struct Body {
    /// The HTTP status.
    pub status: u16,
    /// The status in words.
    pub title: String,
    /// What is wrong, in a sentence.
    pub detail: String,
    /// The field at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// More, by kind of problem: `missingFields`, `reasons`.
    #[serde(flatten)]
    pub more: Map<String, Value>,
    /// The status for callers of Coopr, where they are told another one than is right.
    #[serde(skip)]
    pub coopr_status: Option<StatusCode>,
    /// Whether callers of Coopr are told nothing but the status.
    #[serde(skip)]
    pub is_silent: bool,
    /// After how many seconds the same request may succeed.
    #[serde(skip)]
    pub retry_after: Option<u64>,
    /// What is at the bottom of a fault of ours: for the log, never for the caller.
    #[serde(skip)]
    pub cause: Option<String>,
}

impl Problem {
    /// A problem with a status and a sentence.
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self(Box::new(Body {
            status: status.as_u16(),
            title: status.canonical_reason().unwrap_or("Problem").to_owned(),
            detail: detail.into(),
            field: None,
            value: None,
            remedy: None,
            more: Map::new(),
            coopr_status: None,
            is_silent: false,
            retry_after: (status == StatusCode::SERVICE_UNAVAILABLE).then_some(1),
            cause: None,
        }))
    }

    /// There is no such thing, or none that the caller may see.
    pub fn not_found(what: &str, name: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("{what} {name} was not found"))
    }

    /// A fault in the input, with another status than 400.
    #[must_use]
    pub fn of(status: StatusCode, fault: &Invalid) -> Self {
        Self::new(status, format!("{}: {:?} {}", fault.field, fault.value, fault.fault))
            .at(fault.field.as_str(), fault.value.as_str())
            .with_remedy(fault.remedy.as_str())
    }

    /// With the field at fault and its value.
    #[must_use]
    pub fn at(mut self, field: impl Into<String>, value: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self.value = Some(value.into());
        self
    }

    /// With what to do about it.
    #[must_use]
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// With another status for callers of Coopr.
    #[must_use]
    pub fn known_as(mut self, status: StatusCode) -> Self {
        self.coopr_status = Some(status);
        self
    }

    /// With the time to wait before trying again.
    #[must_use]
    pub fn after_seconds(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Without a word for callers of Coopr.
    #[must_use]
    pub fn silently(mut self) -> Self {
        self.is_silent = true;
        self
    }

    /// For callers who ask for JSON (RFC 9457).
    pub fn as_json(&self) -> HttpResponse {
        self.answer(self.status_code())
            .insert_header((header::CONTENT_TYPE, "application/problem+json"))
            .json(self)
    }

    /// For callers of Coopr: one line of text, or what their programs read.
    pub fn as_text(&self) -> HttpResponse {
        let mut answer = self.answer(self.coopr_status.unwrap_or_else(|| self.status_code()));
        if self.is_silent {
            return answer.finish();
        }
        if let Some(missing) = self.more.get(MISSING_FIELDS) {
            return answer.json(Map::from_iter([(MISSING_FIELDS.to_owned(), missing.clone())]));
        }
        let remedy = self.remedy.as_deref().filter(|remedy| !self.detail.contains(remedy));
        let text = match remedy {
            Some(remedy) => format!("{}; {remedy}", self.detail),
            None => self.detail.clone(),
        };
        answer.content_type("text/plain; charset=utf-8").body(text.replace('\n', " "))
    }

    fn answer(&self, status: StatusCode) -> HttpResponseBuilder {
        let mut answer = HttpResponse::build(status);
        if status == StatusCode::UNAUTHORIZED {
            answer.insert_header((header::WWW_AUTHENTICATE, "Bearer"));
        }
        if let Some(seconds) = self.retry_after {
            answer.insert_header((header::RETRY_AFTER, seconds));
        }
        answer
    }

    /// A fault of ours. What it is goes to the log; the caller is told under which id ([`Self::logged_as`]).
    pub fn internal(fault: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "something went wrong on the server").because(fault)
    }

    /// A fault of ours that made a thread panic.
    pub fn panicked(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().map(ToString::to_string);
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Self::internal(format!("a panic: {text}"))
    }

    /// Something the server needs is away for a while. What it is goes to the log.
    pub fn unavailable(fault: impl std::fmt::Display) -> Self {
        let detail = "the server cannot do this right now";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, detail).with_remedy("try again in a moment").because(fault)
    }

    /// What is at the bottom of it, or else what the caller is told.
    pub fn cause(&self) -> &str {
        self.cause.as_deref().unwrap_or(&self.detail)
    }

    fn because(mut self, cause: impl std::fmt::Display) -> Self {
        self.cause = Some(cause.to_string());
        self
    }

    /// With the id under which the cause is in the server's log.
    #[must_use]
    pub fn logged_as(mut self, id: &str) -> Self {
        self.detail = format!("{}; the server's log has the cause under {id}", self.detail);
        self.more.insert("id".to_owned(), id.into());
        self
    }
}

impl Deref for Problem {
    type Target = Body;

    fn deref(&self) -> &Body {
        &self.0
    }
}

impl DerefMut for Problem {
    fn deref_mut(&mut self) -> &mut Body {
        &mut self.0
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.detail)
    }
}

impl ResponseError for Problem {
    fn status_code(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    fn error_response(&self) -> HttpResponse {
        self.as_json()
    }
}

impl From<Invalid> for Problem {
    fn from(fault: Invalid) -> Self {
        Self::of(StatusCode::BAD_REQUEST, &fault)
    }
}

impl From<IdError> for Problem {
    /// An id that is none names nothing.
    fn from(fault: IdError) -> Self {
        Self::new(StatusCode::NOT_FOUND, fault.to_string())
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Invalid(fault) => fault.into(),
            Refusal::WrongState { .. }
            | Refusal::NotReady { .. }
            | Refusal::NoWayBack { .. }
            | Refusal::HasChildren { .. }
            | Refusal::NeededByChildren { .. } => Self::new(StatusCode::CONFLICT, refusal.to_string()),
            Refusal::UnknownService { .. } => Self::new(StatusCode::NOT_FOUND, refusal.to_string()),
            Refusal::NoLayout(ref fault) => Self::with_reasons(StatusCode::BAD_REQUEST, fault),
            Refusal::NoPlan(_) => Self::new(StatusCode::BAD_REQUEST, refusal.to_string()),
            Refusal::StaleAttempt { .. } => Self::new(StatusCode::EXPECTATION_FAILED, refusal.to_string()),
        }
    }
}

impl From<OperateError> for Problem {
    fn from(fault: OperateError) -> Self {
        match fault {
            OperateError::Refused(refusal) => refusal.into(),
            OperateError::Moved { .. } => Self::new(StatusCode::PRECONDITION_FAILED, fault.to_string())
                .with_remedy("get the cluster again, and send the new ETag in If-Match"),
            OperateError::NotLetIn(GateError::Vetoed(ref veto)) => {
                let mut problem = Self::new(StatusCode::CONFLICT, fault.to_string())
                    .with_remedy("settle it with whoever keeps the callback, or have the callback changed");
                problem.more.insert("callback".to_owned(), veto.hook.as_str().into());
                problem.more.insert("reason".to_owned(), veto.reason.as_str().into());
                problem
            }
            OperateError::NotLetIn(GateError::Store(fault)) => fault.into(),
            OperateError::NotRecorded(_) | OperateError::Gone => Self::unavailable(fault),
        }
    }
}

impl From<TellError> for Problem {
    fn from(fault: TellError) -> Self {
        match fault {
            TellError::Find(fault) => fault.into(),
            TellError::Operate(fault) => fault.into(),
        }
    }
}

impl From<FindError> for Problem {
    fn from(fault: FindError) -> Self {
        match fault {
            FindError::Unknown(id) => Self::not_found("cluster", id),
            FindError::Store(fault) => fault.into(),
            FindError::Unreadable(..) => Self::internal(fault),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(fault: StoreError) -> Self {
        match fault {
            StoreError::AlreadyExists { ref name, .. } => Self::new(StatusCode::CONFLICT, fault.to_string())
                .at("name", name.as_str())
                .with_remedy("choose another name, or change the one that is there with PUT"),
            StoreError::InUse { ref remedy, .. } => {
                Self::new(StatusCode::CONFLICT, fault.to_string()).with_remedy(remedy.to_owned())
            }
            StoreError::Done { .. } => Self::new(StatusCode::CONFLICT, fault.to_string())
                .with_remedy("make a new one on the cluster as it is now"),
            StoreError::NotFound { what, name } => Self::not_found(what, name),
            StoreError::Invalid(fault) => fault.into(),
            StoreError::Changed { ref now, .. } => {
                let problem = Self::new(StatusCode::PRECONDITION_FAILED, fault.to_string());
                problem.with_remedy(match now {
                    Some(_) => "get it again, apply your change to that, and send its ETag in If-Match",
                    None => "leave If-Match out to make a new one",
                })
            }
            fault if fault.is_retryable() || fault == StoreError::Closed => Self::unavailable(fault),
            fault => Self::internal(fault),
        }
    }
}

impl From<ResourceError> for Problem {
    fn from(fault: ResourceError) -> Self {
        match fault {
            ResourceError::BadName(_) => Self::new(StatusCode::BAD_REQUEST, fault.to_string()),
            ResourceError::NotActive { .. } => Self::new(StatusCode::NOT_FOUND, fault.to_string()),
            // A fault of ours, but one that can be told, and that the caller can do something about.
            ResourceError::Corrupt { .. } => Self::new(StatusCode::INTERNAL_SERVER_ERROR, fault.to_string())
                .with_remedy("upload it again, stage the new version and sync; look after the disk it is on"),
            ResourceError::Store { .. } => Self::new(StatusCode::SERVICE_UNAVAILABLE, fault.to_string())
                .with_remedy("see that the store of resources answers (resources.store), then try again"),
            ResourceError::Disk { .. } => Self::internal(fault),
        }
    }
}

impl From<RequestFault> for Problem {
    fn from(fault: RequestFault) -> Self {
        match fault {
            RequestFault::Invalid(fault) => fault.into(),
            RequestFault::Size { fault, steps } => Self::from(fault).with_steps(steps.iter()),
            RequestFault::Unknown { field, kind, name, remedy } => {
                let detail = format!("{field}: there is no {} {name:?}", kind.noun());
                Self::new(StatusCode::NOT_FOUND, detail).at(field, name).with_remedy(remedy)
            }
            RequestFault::Unresolvable(fault) => fault.into(),
            RequestFault::MissingFields(missing) => missing.into(),
        }
    }
}

impl From<MissingFields> for Problem {
    fn from(missing: MissingFields) -> Self {
        let mut problem = Self::new(StatusCode::BAD_REQUEST, missing.to_string());
        problem.field = Some("providerFields".to_owned());
        let alternatives = missing.missing_fields.iter().map(|fields| {
            fields.iter().map(|(name, schema)| (name.clone(), missing_field(schema))).collect()
        });
        problem.more.insert(MISSING_FIELDS.to_owned(), alternatives.collect::<Vec<Value>>().into());
        problem.with_remedy("give the missing fields in providerFields")
    }
}

/// The schema of a field; its default goes by two names, since Coopr has another one here than in plugin types.
fn missing_field(schema: &FieldSchema) -> Value {
    let mut shown = serde_json::to_value(schema).unwrap_or_default();
    if let (Some(default), Value::Object(fields)) = (&schema.default, &mut shown) {
        fields.insert("defaultValue".to_owned(), default.clone());
    }
    shown
}

impl From<ResolveError> for Problem {
    fn from(fault: ResolveError) -> Self {
        match fault {
            ResolveError::Invalid(fault) => fault.into(),
            ResolveError::NotFound { .. } => Self::new(StatusCode::NOT_FOUND, fault.to_string()),
            ResolveError::Loop { .. } | ResolveError::Immutable { .. } => {
                Self::new(StatusCode::BAD_REQUEST, fault.to_string())
            }
        }
    }
}

impl From<OverQuota> for Problem {
    fn from(fault: OverQuota) -> Self {
        Self::new(StatusCode::CONFLICT, fault.to_string())
    }
}

impl From<&NoLayout> for Problem {
    fn from(refusal: &NoLayout) -> Self {
        Self::with_reasons(StatusCode::UNPROCESSABLE_ENTITY, refusal)
    }
}

impl Problem {
    /// Why there is no layout, reason by reason.
    fn with_reasons(status: StatusCode, refusal: &NoLayout) -> Self {
        let mut problem = Self::new(status, refusal.to_string());
        problem.remedy = refusal.reasons.first().map(|reason| reason.remedy.clone());
        let reasons = refusal.reasons.iter().map(|reason| format!("{}; {}", reason.fault, reason.remedy));
        problem.more.insert("reasons".to_owned(), reasons.collect());
        problem.with_steps(refusal.steps().into_iter())
    }

    /// With the changes of the request that would help, where there are any.
    fn with_steps<'a>(mut self, steps: impl Iterator<Item = &'a RemedyStep>) -> Self {
        let steps: Vec<_> = steps.collect();
        if !steps.is_empty() {
            self.more.insert(REMEDY_STEPS.to_owned(), serde_json::to_value(steps).unwrap_or_default());
        }
        self
    }
}
