import { and, eq, inArray } from 'drizzle-orm'
import type { Database, Transaction } from '../../db/database.ts'
import { engineState, pipeline, provision, source } from '../../db/schema/index.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import type { ProvisionedObject } from './reconcile-plan.ts'

/** The kinds of objects that the management service creates on engines. */
export type ResourceKind = 'source' | 'pipeline'

/**
 * Stores the provisions of one engine. A provision records that management has created an object on
 * the engine for a stored record. It contains the id that the engine has assigned (`sid`), and the
 * fields as last written to the engine.
 */
export interface ProvisionStore<Fields> {
  list(): ProvisionedObject<Fields>[]
  get(recordId: string): ProvisionedObject<Fields> | undefined
  /**
   * To be called before an object is created. If the process crashes before `recordApplied`, the
   * object is found again: it has these fields, and an id above `madeAfter`.
   */
  recordIntent(recordId: string, madeAfter: number, fields: Fields): Promise<void>
  /** To be called when the object exists on the engine with these fields. */
  recordApplied(recordId: string, sid: number, fields: Fields): Promise<void>
  /** To be called when the object does not exist on the engine. */
  delete(recordId: string): Promise<void>
}

export interface ProvisionStoreOptions<Fields> {
  kind: ResourceKind
  engine_id: string
  database: Database
  secrets: Secrets
  /** The provisions as stored when the reconciliation starts. */
  initial: readonly ProvisionedObject<Fields>[]
}

/** The name of these transactions in the audit log. */
const OPERATION = 'provision an engine'

export function createProvisionStore<Fields>({
  kind,
  engine_id: engineId,
  database,
  secrets,
  initial,
}: ProvisionStoreOptions<Fields>): ProvisionStore<Fields> {
  const provisions = new Map(initial.map(object => [object.record_id, object]))
  const matchesRecord = (recordId: string) =>
    and(eq(provision.engine_id, engineId), eq(provision.record_id, recordId))
  // The fields of a source contain its password.
  const encryptFields = (fields: Fields) => secrets.encrypt(JSON.stringify(fields))

  return {
    list: () => [...provisions.values()],
    get: recordId => provisions.get(recordId),

    async recordIntent(recordId, madeAfter, fields) {
      await database.system(OPERATION, async tx => {
        const values = { sid: null, made_after: madeAfter, applied: encryptFields(fields) }
        await tx
          .insert(provision)
          .values({ engine_id: engineId, record_id: recordId, kind, ...values })
          .onConflictDoUpdate({ target: [provision.engine_id, provision.record_id], set: values })
      })
      provisions.set(recordId, {
        record_id: recordId,
        sid: null,
        made_after: madeAfter,
        applied: fields,
      })
    },

    async recordApplied(recordId, sid, fields) {
      await database.system(OPERATION, async tx => {
        await tx
          .update(provision)
          .set({ sid, applied: encryptFields(fields) })
          .where(matchesRecord(recordId))
        await writeSid(tx, kind, engineId, recordId, sid)
      })
      provisions.set(recordId, { ...provisions.get(recordId)!, sid, applied: fields })
    },

    async delete(recordId) {
      await database.system(OPERATION, async tx => {
        await tx.delete(provision).where(matchesRecord(recordId))
        await writeSid(tx, kind, engineId, recordId, null)
      })
      provisions.delete(recordId)
    },
  }
}

/**
 * Stores the id of a record on the engine, unless the record has been moved to another
 * engine in the meantime.
 */
async function writeSid(
  tx: Transaction,
  kind: ResourceKind,
  engineId: string,
  recordId: string,
  sid: number | null,
): Promise<void> {
  if (kind === 'source') {
    await tx
      .update(source)
      .set({ source_sid: sid })
      .where(and(eq(source.source_id, recordId), eq(source.engine_id, engineId)))
  } else {
    await tx
      .update(pipeline)
      .set({ pipeline_sid: sid })
      .where(and(eq(pipeline.pipeline_id, recordId), eq(pipeline.engine_id, engineId)))
  }
}

/**
 * Deletes the provisions of objects that the engine has lost, and stores the id of the
 * engine's new output log.
 */
export async function deleteLostProvisions(
  database: Database,
  engineId: string,
  lostIds: readonly string[],
  logId: string,
): Promise<void> {
  const ids = [...lostIds]
  await database.system(OPERATION, async tx => {
    await tx
      .delete(provision)
      .where(and(eq(provision.engine_id, engineId), inArray(provision.record_id, ids)))
    await tx
      .update(source)
      .set({ source_sid: null })
      .where(and(eq(source.engine_id, engineId), inArray(source.source_id, ids)))
    await tx
      .update(pipeline)
      .set({ pipeline_sid: null })
      .where(and(eq(pipeline.engine_id, engineId), inArray(pipeline.pipeline_id, ids)))
    await tx
      .update(engineState)
      .set({ provisioned_log_id: logId })
      .where(eq(engineState.engine_id, engineId))
  })
}
