import { z } from 'zod'
import { bbox } from '../object.ts'
import { alertPriority } from './alert.ts'
import { route } from './management-route.ts'
import { pagination, recordId, reference, timestamp } from './record-fields.ts'
import { timeExpression } from './time-expression.ts'

/**
 * Incidents in the management API. An incident combines notifications of an alert: it begins with
 * the first one, and ends when the condition has not held for a while.
 */

export const incidentState = z.enum(['open', 'acknowledged', 'resolved']).meta({
  description:
    'open: no person has acknowledged it; acknowledged: a person takes care of it; resolved: it has ended, or a person has resolved it',
})
export type IncidentState = z.infer<typeof incidentState>

const emailOfPersonWho = (hasDone: 'has acknowledged' | 'has resolved') =>
  z
    .string()
    .meta({ description: `E-mail address of the person who ${hasDone} it; empty if no person has` })

export const incident = z
  .object({
    incident_id: recordId,
    incident_state: incidentState,
    incident_count: z.int().meta({ description: 'Number of notifications' }),
    alert_id: recordId.nullable().meta({ description: 'Null if the alert was deleted' }),
    alert_name: z.string(),
    alert_priority: alertPriority,
    channel_id: recordId,
    channel_name: z.string(),
    site_id: recordId,
    usecase_key: z.string(),
    started_at: timestamp.meta({ description: 'Time of the first notification' }),
    last_at: timestamp.meta({ description: 'Time of the latest notification' }),
    ended_at: timestamp
      .nullable()
      .meta({ description: 'When the condition stopped holding; null while the incident goes on' }),
    peak: z
      .number()
      .meta({ description: 'The value of the statistic that is farthest from the threshold' }),
    notification_uuid: recordId
      .nullable()
      .meta({ description: 'The notification with the best picture; null if it was deleted' }),
    image_url: z.string().meta({
      description:
        'Path of the best picture: the one with the largest box or, if there are no boxes, the one of the peak. Empty if there is no picture',
    }),
    bbox: bbox.nullable().meta({
      description: 'Box of the object in this picture; null if no object fired the alert',
    }),
    clip_url: z.string().meta({
      description:
        'Path of the recording of the incident, an MP4 file; 404 if nothing was recorded. Empty if another machine records the channel',
    }),
    notified_at: timestamp
      .nullable()
      .meta({ description: 'Time of the latest notification of which people were informed' }),
    escalation_step: z
      .int()
      .meta({ description: 'Number of steps of the escalation that were carried out' }),
    escalates_at: timestamp.nullable().meta({ description: 'Null if no step follows' }),
    acknowledged_at: timestamp.nullable(),
    acknowledged_by: emailOfPersonWho('has acknowledged'),
    resolved_at: timestamp
      .nullable()
      .meta({ description: 'Null if the incident has ended by itself' }),
    resolved_by: emailOfPersonWho('has resolved'),
  })
  .meta({ id: 'Incident' })
export type Incident = z.infer<typeof incident>

const byId = z.strictObject({ incident_id: reference('incident') })

/** Every operation is a POST request, even if it only reads. */
const post = { method: 'post', status: 200 } as const

export const incidentRoutes = {
  list: route({
    ...post,
    path: '/incident/list',
    readOnly: true,
    summary: 'List incidents',
    description: 'Newest first. Without a start, all of them are listed.',
    access: 'view',
    body: z.strictObject({
      site_id: reference('site').optional(),
      channel_id: reference('channel').optional(),
      alert_id: reference('alert').optional(),
      incident_state: incidentState.optional(),
      start: timeExpression.optional(),
      end: timeExpression.optional(),
      ...pagination('incident'),
    }),
    response: z.array(incident),
  }),

  get: route({
    ...post,
    path: '/incident/id',
    readOnly: true,
    summary: 'Get an incident',
    access: 'view',
    body: byId,
    response: incident,
  }),

  acknowledge: route({
    ...post,
    path: '/incident/acknowledge',
    summary: 'Acknowledge an incident',
    description:
      'Stops its escalation and its messages. acknowledged_by is the first person who has acknowledged it.',
    access: 'manage',
    body: byId,
    response: incident,
  }),

  resolve: route({
    ...post,
    path: '/incident/resolve',
    summary: 'Resolve an incident',
    description:
      'Also acknowledges it. While the condition still holds, further notifications belong to this incident, and no messages are sent.',
    access: 'manage',
    body: byId,
    response: incident,
  }),
}
