import { z } from 'zod'
import { freeForm, instant, paging, recordId, text } from './fields.ts'
import { moment } from './moment.ts'
import { route } from './route.ts'

/** One change of one record. Secrets show as `***`. */
export const auditEntry = z
  .object({
    audit_id: recordId,
    time: instant,
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
    before: freeForm.nullable(),
    after: freeForm.nullable(),
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
      ...paging('audit'),
      record: text.optional(),
      record_id: text.optional(),
      // Not a reference: what a user did stays to be read when the user is gone.
      user_id: z.uuid({ error: 'is no id of a user' }).optional(),
      start: moment.optional(),
      end: moment.optional(),
    }),
    status: 200,
    answer: z.array(auditEntry),
  }),
}
