//! What all tasks of a cluster printed last.

use cooperage_domain::id::{ClusterId, JobId, TaskId};
use diesel::prelude::*;

use crate::engine::Engine;
use crate::error::StoreError;
use crate::output::{OutputChunk, StoredOutput, Stream};
use crate::store::Store;
use crate::tables::task_output;

type Columns = (i64, i64, i64, i64, i64, String, String);

impl Store {
    /// The newest chunks of a cluster over all its tasks, at most `limit`, oldest first. Chunks of one task keep their order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn latest_output(&self, cluster: ClusterId, limit: u32) -> Result<Vec<StoredOutput>, StoreError> {
        self.output_before(cluster, None, limit)
    }

    /// As [`Self::latest_output`], of those before one in the order of time: its time, the number of its task, its own number.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn output_before(
        &self,
        cluster: ClusterId,
        before: Option<(i64, u32, u64)>,
        limit: u32,
    ) -> Result<Vec<StoredOutput>, StoreError> {
        let mut rows: Vec<Columns> = self.read(|engine| {
            let mut query = task_output::table
                .filter(task_output::cluster.eq(cluster.0.cast_signed()))
                .into_boxed::<<Engine as Connection>::Backend>();
            if let Some((at_ms, task, sequence)) = before {
                let (task, sequence) = (i64::from(task), sequence.cast_signed());
                let same_task = task_output::task.eq(task).and(task_output::sequence.lt(sequence));
                let same_time = task_output::at_ms.eq(at_ms).and(task_output::task.lt(task).or(same_task));
                query = query.filter(task_output::at_ms.lt(at_ms).or(same_time));
            }
            Ok(query
                .order((task_output::at_ms.desc(), task_output::task.desc(), task_output::sequence.desc()))
                .limit(limit.into())
                .select((
                    task_output::job,
                    task_output::task,
                    task_output::sequence,
                    task_output::attempt,
                    task_output::at_ms,
                    task_output::stream,
                    task_output::text,
                ))
                .load(engine)?)
        })?;
        rows.reverse();
        rows.into_iter().map(|row| stored(cluster, row)).collect()
    }
}

fn stored(cluster: ClusterId, row: Columns) -> Result<StoredOutput, StoreError> {
    let (job, task, sequence, attempt, at_ms, stream, text) = row;
    let small = |what: &'static str, number: i64| {
        u32::try_from(number).map_err(|fault| StoreError::corrupt(what, fault))
    };
    let job = JobId { cluster, number: small("a job", job)? };
    let chunk = OutputChunk {
        task: TaskId { job, number: small("a task", task)? },
        attempt: small("an attempt", attempt)?,
        at_ms,
        stream: Stream::parse(&stream)?,
        text,
    };
    Ok(StoredOutput { sequence: sequence.cast_unsigned(), chunk })
}
