import { EyrieError } from '@eyrie/contract'
import type { ManagementRoute, RecordName } from '@eyrie/contract/management/index'
import { sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { z } from 'zod'
import { asked } from '../../db/asked.ts'
import type { Transaction } from '../../db/open.ts'
import * as tables from '../../db/schema/index.ts'
import { missingRecords } from '../../errors/field-errors.ts'

/** Returns a query that resolves to the ids that exist and are visible to the caller. */
const findBy = (column: PgColumn) => {
  const find = asked({ ids: column }, (tx, condition) =>
    tx
      .select({ id: sql<string>`${column}::text` })
      .from(column.table as PgTable)
      .where(condition),
  )
  return async (tx: Transaction, ids: string[]) => (await find(tx, { ids })).map(({ id }) => id)
}

const finders: Record<RecordName, (tx: Transaction, ids: string[]) => Promise<string[]>> = {
  alert: findBy(tables.alert.alert_id),
  api_token: findBy(tables.apiToken.token_id),
  channel: findBy(tables.channel.channel_id),
  customer: findBy(tables.customer.customer_id),
  device: findBy(tables.device.device_id),
  engine: findBy(tables.engine.engine_id),
  image: findBy(tables.image.image_id),
  notification: findBy(tables.notification.notification_uuid),
  organization: findBy(tables.organization.organization_id),
  pipeline: findBy(tables.pipeline.pipeline_id),
  role: findBy(tables.role.role_id),
  schedule: findBy(tables.schedule.schedule_id),
  session: findBy(tables.session.session_id),
  site: findBy(tables.site.site_id),
  source: findBy(tables.source.source_id),
  static_content: findBy(tables.staticContent.static_content_id),
  usecase: findBy(tables.usecase.usecase_id),
  user: findBy(tables.user.user_id),
}

interface Reference {
  record: RecordName
  field: string
  id: string
}

/**
 * Throws `EyrieError` (`id`) listing every field that refers to a record that does not exist or is invisible to the caller.
 * The answer is the same for both, because the transaction sees only what the caller may see.
 */
export async function assertReferencesExist(
  tx: Transaction,
  route: ManagementRoute,
  input: unknown,
): Promise<void> {
  const byRecord = Map.groupBy(listReferences(route, input), ({ record }) => record)
  const missing: Reference[] = []
  for (const [record, references] of byRecord) {
    const ids = new Set(await finders[record](tx, [...new Set(references.map(({ id }) => id))]))
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

/** Returns the records that an input refers to, each with its field. */
export function listReferences({ body, query }: ManagementRoute, input: unknown): Reference[] {
  const schema = body ?? query
  return schema ? collectReferences(schema, input, '') : []
}

function collectReferences(schema: z.ZodType, value: unknown, field: string): Reference[] {
  if (value === undefined || value === null) return []
  const { def } = schema as {
    def: { type: string; innerType?: z.ZodType; element?: z.ZodType; out?: z.ZodType }
  }
  if (def.innerType) return collectReferences(def.innerType, value, field)
  if (def.out) return collectReferences(def.out, value, field)
  if (def.type === 'array')
    return (value as unknown[]).flatMap((item, n) => collectReferences(def.element!, item, `${field}.${n}`))
  if (def.type === 'object') {
    const { shape } = schema as z.ZodObject
    return Object.entries(shape).flatMap(([key, part]) =>
      collectReferences(
        part as z.ZodType,
        (value as Record<string, unknown>)[key],
        field ? `${field}.${key}` : key,
      ),
    )
  }
  const record = schema.meta()?.record as RecordName | undefined
  return record ? [{ record, field, id: value as string }] : []
}
