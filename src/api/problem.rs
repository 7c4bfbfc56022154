//! What goes wrong at the HTTP edge, as JSON: which code, which field, which value, and what to do (RFC 9457).

use std::ops::{Deref, DerefMut};

use actix_web::http::{StatusCode, header};
use actix_web::{HttpResponse, ResponseError};
use cooperage_actors::cluster::OperateError;
use cooperage_actors::registry::FindError;
use cooperage_domain::cluster::{Refusal, RequestFault};
use cooperage_domain::id::IdError;
use cooperage_domain::invalid::Invalid;
use cooperage_domain::layout::NoLayout;
use cooperage_plugins::resources::ResourceError;
use cooperage_schema::StoreError;
use serde::Serialize;
use serde_json::{Map, Value};

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

    /// A fault of ours; the caller is told no more than that.
    pub fn internal(fault: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, format!("something went wrong here: {fault}"))
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
        HttpResponse::build(self.status_code())
            .insert_header((header::CONTENT_TYPE, "application/problem+json"))
            .json(self)
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
            Refusal::WrongState { .. } | Refusal::NotReady { .. } => {
                Self::new(StatusCode::CONFLICT, refusal.to_string())
            }
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
            OperateError::NotRecorded(_) | OperateError::Gone => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, fault.to_string())
                    .with_remedy("try again in a moment")
            }
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
        if fault.is_retryable() {
            Self::new(StatusCode::SERVICE_UNAVAILABLE, fault.to_string()).with_remedy("try again in a moment")
        } else {
            Self::internal(fault)
        }
    }
}

impl From<ResourceError> for Problem {
    fn from(fault: ResourceError) -> Self {
        match fault {
            ResourceError::BadName(_) => Self::new(StatusCode::BAD_REQUEST, fault.to_string()),
            ResourceError::NotActive { .. } => Self::new(StatusCode::NOT_FOUND, fault.to_string()),
            ResourceError::Disk { .. } => Self::internal(fault),
        }
    }
}

impl From<RequestFault> for Problem {
    fn from(fault: RequestFault) -> Self {
        match fault {
            RequestFault::Invalid(fault) => fault.into(),
            RequestFault::Unknown { field, kind, name, remedy } => {
                let detail = format!("{field}: there is no {} {name:?}", kind.noun());
                Self::new(StatusCode::NOT_FOUND, detail).at(field, name).with_remedy(remedy)
            }
            RequestFault::MissingFields(missing) => {
                let mut problem = Self::new(StatusCode::BAD_REQUEST, missing.to_string());
                problem.field = Some("providerFields".to_owned());
                if let Ok(Value::Object(more)) = serde_json::to_value(&missing) {
                    problem.more = more;
                }
                problem.with_remedy("give the missing fields in providerFields")
            }
        }
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
        problem
    }
}
