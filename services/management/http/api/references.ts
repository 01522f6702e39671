import { EyrieError } from '@eyrie/contract'
import type { ManagementRoute, RecordName } from '@eyrie/contract/management/index'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { z } from 'zod'
import type { Transaction } from '../../db/database.ts'
import * as tables from '../../db/schema/index.ts'
import { isAnyOf } from '../../db/text-array.ts'
import { missingRecords } from '../../errors/field-errors.ts'

const idColumns: Record<RecordName, PgColumn> = {
  alert: tables.alert.alert_id,
  api_token: tables.apiToken.token_id,
  channel: tables.channel.channel_id,
  customer: tables.customer.customer_id,
  device: tables.device.device_id,
  engine: tables.engine.engine_id,
  image: tables.image.image_id,
  notification: tables.notification.notification_uuid,
  organization: tables.organization.organization_id,
  pipeline: tables.pipeline.pipeline_id,
  role: tables.role.role_id,
  schedule: tables.schedule.schedule_id,
  session: tables.session.session_id,
  site: tables.site.site_id,
  source: tables.source.source_id,
  static_content: tables.staticContent.static_content_id,
  usecase: tables.usecase.usecase_id,
  user: tables.user.user_id,
}

/** Returns those of the ids whose records the caller sees. */
async function findVisibleIds(tx: Transaction, column: PgColumn, ids: string[]): Promise<Set<string>> {
  const rows = await tx
    .select({ id: column })
    .from(column.table)
    .where(isAnyOf(column, ids))
    .prepare('visible_ids')
    .execute()
  return new Set(rows.map(({ id }) => id as string))
}

interface Reference {
  record: RecordName
  field: string
  id: string
}

/**
 * Throws EyrieError `id`, naming every field that refers to a record which does not exist or which the caller may not
 * see: the transaction sees no more than the caller's rights reach, so that nothing tells one from the other.
 */
export async function findReferences(tx: Transaction, route: ManagementRoute, input: unknown): Promise<void> {
  const byRecord = Map.groupBy(referencesOf(route, input), ({ record }) => record)
  const missing: Reference[] = []
  for (const [record, references] of byRecord) {
    const ids = await findVisibleIds(tx, idColumns[record], [...new Set(references.map(({ id }) => id))])
    missing.push(...references.filter(({ id }) => !ids.has(id.toLowerCase())))
  }
  if (missing.length > 0) throw missingRecords(missing.map(({ field, record }) => ({ field, record })))
}

/**
 * Returns the row that an update or delete has changed. Throws `EyrieError` (`rights`) when it changed none: the caller
 * may read the record, otherwise `findReferences` would have thrown, but not change it.
 */
export function assertChanged<Row>([row]: Row[]): Row {
  if (row === undefined) throw new EyrieError('rights', 'you may read this record but not change it')
  return row
}

/** The records that an input names, and where. */
export function referencesOf({ body, query }: ManagementRoute, input: unknown): Reference[] {
  const schema = body ?? query
  return schema ? referencesIn(schema, input, '') : []
}

function referencesIn(schema: z.ZodType, value: unknown, field: string): Reference[] {
  if (value === undefined || value === null) return []
  const { def } = schema as {
    def: { type: string; innerType?: z.ZodType; element?: z.ZodType; out?: z.ZodType }
  }
  if (def.innerType) return referencesIn(def.innerType, value, field)
  if (def.out) return referencesIn(def.out, value, field)
  if (def.type === 'array')
    return (value as unknown[]).flatMap((item, n) => referencesIn(def.element!, item, `${field}.${n}`))
  if (def.type === 'object') {
    const { shape } = schema as z.ZodObject
    return Object.entries(shape).flatMap(([key, part]) =>
      referencesIn(
        part as z.ZodType,
        (value as Record<string, unknown>)[key],
        field ? `${field}.${key}` : key,
      ),
    )
  }
  const record = schema.meta()?.record as RecordName | undefined
  return record ? [{ record, field, id: value as string }] : []
}
