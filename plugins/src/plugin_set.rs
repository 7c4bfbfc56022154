//! The plugins of a provisioner, and which of them carries out a task.

use std::collections::BTreeMap;
use std::sync::Arc;

use cooperage_domain::entity::{AutomatorType, Entity, ProviderType};
use cooperage_domain::health::Finding;
use cooperage_domain::task::{TaskName, TaskReport};

use crate::automator::Automator;
use crate::context::{Context, TaskFault};
use crate::output::Stream;
use crate::provider::Provider;

/// The plugins of a provisioner, by the names of their types.
#[derive(Default, Clone)]
pub struct PluginSet {
    providers: BTreeMap<String, Arc<dyn Provider>>,
    automators: BTreeMap<String, Arc<dyn Automator>>,
}

impl PluginSet {
    /// With one more provider; one of the same name is replaced.
    #[must_use]
    pub fn with_provider(mut self, provider: Arc<dyn Provider>) -> Self {
        self.providers.insert(provider.descriptor().base().name.clone(), provider);
        self
    }

    /// With one more automator; one of the same name is replaced.
    #[must_use]
    pub fn with_automator(mut self, automator: Arc<dyn Automator>) -> Self {
        self.automators.insert(automator.descriptor().base().name.clone(), automator);
        self
    }

    /// What the providers are called and which fields they take.
    #[must_use]
    pub fn provider_types(&self) -> Vec<ProviderType> {
        self.providers.values().map(|plugin| plugin.descriptor()).collect()
    }

    /// What the automators are called and which fields they take.
    #[must_use]
    pub fn automator_types(&self) -> Vec<AutomatorType> {
        self.automators.values().map(|plugin| plugin.descriptor()).collect()
    }

    /// The provider of this type.
    ///
    /// # Errors
    /// When there is none; names those there are.
    pub fn provider(&self, name: &str) -> Result<&Arc<dyn Provider>, TaskFault> {
        self.providers.get(name).ok_or_else(|| unknown("provider", name, self.providers.keys()))
    }

    fn automator(&self, name: &str) -> Result<&Arc<dyn Automator>, TaskFault> {
        self.automators.get(name).ok_or_else(|| unknown("automator", name, self.automators.keys()))
    }

    /// Carries a task out. Every failure becomes a report.
    pub async fn execute(&self, task: Context) -> TaskReport {
        match self.dispatch(&task).await {
            Ok(report) => report,
            Err(fault) => {
                task.output.line(Stream::Progress, &fault.message);
                fault.into()
            }
        }
    }

    async fn dispatch(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        let name = task.order.task_name;
        match name {
            TaskName::Create => self.provider(&task.order.config.provider.providertype)?.create(task).await,
            TaskName::Confirm => self.provider(&task.order.config.provider.providertype)?.confirm(task).await,
            TaskName::Delete => self.provider(&task.order.config.provider.providertype)?.delete(task).await,
            TaskName::Bootstrap => self.bootstrap(task).await,
            TaskName::Probe => self.probe_service(task).await,
            TaskName::Install
            | TaskName::Configure
            | TaskName::Initialize
            | TaskName::Start
            | TaskName::Stop
            | TaskName::Remove
            | TaskName::Errand => {
                let service = task.order.config.service.as_ref();
                let (Some(service), Some(action)) = (service, name.service_action()) else {
                    return Err(TaskFault::new(format!("task {} is about no service", task.order.task_id)));
                };
                self.automator(&service.action.automator)?.act(action, task).await
            }
        }
    }

    /// Finds out how a machine is, or a service when the order is about one. Outside of any job; nothing is kept of it.
    pub async fn probe(&self, task: &Context) -> Finding {
        let config = &task.order.config;
        if config.service.is_some() {
            return match self.probe_service(task).await {
                Ok(report) if report.succeeded() => Finding::Up,
                Ok(report) => Finding::Down(last_words(&report)),
                Err(fault) => Finding::Unknown(fault.message),
            };
        }
        match self.provider(&config.provider.providertype) {
            Ok(provider) => provider.probe(task).await,
            Err(fault) => Finding::Unknown(fault.message),
        }
    }

    async fn probe_service(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        let Some(service) = &task.order.config.service else {
            return Err(TaskFault::new(format!("task {} is about no service", task.order.task_id)));
        };
        self.automator(&service.action.automator)?.probe(task).await
    }

    /// Every automator of the node, in order; what they report is merged, later ones win.
    async fn bootstrap(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        let mut merged = TaskReport::success();
        for name in &task.order.config.node.automators {
            let report = self.automator(name)?.bootstrap(task).await?;
            if !report.succeeded() {
                return Ok(report);
            }
            merged.result.extend(report.result);
        }
        Ok(merged)
    }
}

/// Why a service is not well: the last line that its probe printed.
fn last_words(report: &TaskReport) -> String {
    let last = |text: &str| text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned);
    let said = last(&report.stderr).or_else(|| last(&report.stdout)).unwrap_or_default();
    match said.as_str() {
        "" => format!("its probe ended with {}", report.status),
        said => format!("its probe ended with {}: {said}", report.status),
    }
}

fn unknown<'a>(kind: &str, name: &str, known: impl Iterator<Item = &'a String>) -> TaskFault {
    let known: Vec<_> = known.map(String::as_str).collect();
    TaskFault::nothing_made(format!(
        "There is no {kind} plugin {name:?} here; this provisioner has: {}.",
        if known.is_empty() { "none".to_owned() } else { known.join(", ") }
    ))
}
