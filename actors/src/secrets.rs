//! Laying the secrets of a cluster over the provider of a task, at the last moment: whoever carries it out needs them, and
//! nobody else.

use cooperage_domain::provider_fields::overlay;
use cooperage_domain::task::TaskOrder;
use cooperage_schema::{StoreError, Vault};

/// Gives a task the secrets of its cluster.
///
/// # Errors
/// When they cannot be read.
pub async fn unlock(vault: &Vault, order: &mut TaskOrder) -> Result<(), StoreError> {
    let (vault, cluster) = (vault.clone(), order.cluster_id);
    let secrets = tokio::task::spawn_blocking(move || vault.secrets(cluster)).await;
    let secrets = secrets.unwrap_or_else(|fault| Err(StoreError::Panicked { cause: fault.to_string() }))?;
    overlay(&mut order.config.provider, &secrets);
    Ok(())
}
