import { z } from 'zod'
import { route } from './management-route.ts'
import { jsonObject, pagination, recordId, text, timestamp } from './record-fields.ts'
import { timeExpression } from './time-expression.ts'

/** One change of one record. Secrets show as `***`. */
export const auditEntry = z
  .object({
    audit_id: recordId,
    time: timestamp,
    /** Null: the appliance itself. */
    user_id: recordId.nullable(),
    /** The user's e-mail address at that time. */
    actor: z.string(),
    /** Path of the operation. */
    operation: z.string(),
    /** What kind of record. */
    record: z.string(),
    record_id: z.string(),
    change: z.enum(['create', 'update', 'delete']),
    before: jsonObject.nullable(),
    after: jsonObject.nullable(),
  })
  .meta({ id: 'AuditEntry' })
export type AuditEntry = z.infer<typeof auditEntry>

export const auditRoutes = {
  list: route({
    method: 'get',
    path: '/audit/list',
    summary: 'List changes, the newest first',
    access: 'administer',
    query: z.strictObject({
      ...pagination('audit'),
      record: text.optional(),
      record_id: text.optional(),
      // Not a reference: what a user did stays to be read when the user is gone.
      user_id: z.uuid({ error: 'is no id of a user' }).optional(),
      start: timeExpression.optional(),
      end: timeExpression.optional(),
    }),
    status: 200,
    response: z.array(auditEntry),
  }),
}
