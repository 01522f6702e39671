import { z } from 'zod'
import { route } from './management-route.ts'
import { recordId, reference, text, timestamp } from './record-fields.ts'

/**
 * Snoozes in the management API. During a snooze nothing is sent; notifications and incidents
 * are stored as usual.
 */

export const snoozeDuration = z.enum(['hour', 'day', 'resolved']).meta({
  description: 'resolved: until the incidents that are open now have ended or are resolved',
})
export type SnoozeDuration = z.infer<typeof snoozeDuration>

/** A snooze in a response. */
export const snooze = z
  .object({
    snooze_id: recordId,
    site_id: recordId,
    channel_id: recordId.nullable().meta({ description: 'Null for all channels of the site' }),
    alert_id: recordId.nullable().meta({ description: 'Null for all alerts of the channel' }),
    until: timestamp.nullable().meta({ description: 'Null: until the incidents are resolved' }),
    reason: z.string(),
    created_by: z.string().meta({ description: 'E-mail address of the person' }),
    created_at: timestamp,
  })
  .meta({ id: 'Snooze' })
export type Snooze = z.infer<typeof snooze>

const byId = z.strictObject({ snooze_id: reference('snooze') })

/** Every operation is a POST request, even if it only reads. */
const post = { method: 'post', status: 200 } as const

export const snoozeRoutes = {
  create: route({
    method: 'post',
    path: '/snooze/create',
    summary: 'Snooze the alerts of a site, of a channel, or one alert',
    access: 'manage',
    body: z
      .strictObject({
        site_id: reference('site').optional(),
        channel_id: reference('channel').optional(),
        alert_id: reference('alert').optional(),
        duration: snoozeDuration,
        reason: text.default(''),
      })
      .refine(body => [body.site_id, body.channel_id, body.alert_id].filter(Boolean).length === 1, {
        error: 'send one of site_id, channel_id and alert_id',
        path: ['site_id'],
      }),
    status: 201,
    response: null,
    readBack: { path: '/snooze/id', by: 'snooze_id' },
  }),

  delete: route({
    ...post,
    path: '/snooze/delete',
    summary: 'End a snooze',
    access: 'manage',
    body: byId,
    response: null,
  }),

  get: route({
    ...post,
    path: '/snooze/id',
    readOnly: true,
    summary: 'Get a snooze',
    access: 'view',
    body: byId,
    response: snooze,
  }),

  list: route({
    ...post,
    path: '/snooze/list',
    readOnly: true,
    summary: 'List the current snoozes',
    description: 'Newest first.',
    access: 'view',
    body: z.strictObject({ site_id: reference('site').optional() }),
    response: z.array(snooze),
  }),
}
