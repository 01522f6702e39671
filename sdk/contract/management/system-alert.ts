import { z } from 'zod'
import { alertAction } from './alert.ts'
import { route } from './management-route.ts'
import { pagination, recordId, reference, SECONDS_PER_DAY, timestamp } from './record-fields.ts'
import { timezone } from './site.ts'
import { systemAlertKind, systemAlertState } from './system-alert-kind.ts'

/**
 * System alerts in the management API: failures of cameras, of engines and of the appliance itself.
 * They are detected without any configuration by the user.
 */

export const systemAlert = z
  .object({
    system_alert_id: recordId,
    system_alert_kind: systemAlertKind,
    system_alert_state: systemAlertState,
    system_alert_subject: z
      .string()
      .meta({ description: 'Name of the camera or engine when the alert began' }),
    system_alert_message: z.string().meta({ description: 'What is wrong, and what to do' }),
    site_id: recordId.nullable(),
    engine_id: recordId
      .nullable()
      .meta({ description: 'Null if the alert is about the appliance itself' }),
    source_id: recordId.nullable().meta({ description: 'Null unless the alert is about a camera' }),
    began_at: timestamp,
    last_seen_at: timestamp.meta({
      description: 'When the failure was observed for the last time',
    }),
    ended_at: timestamp.nullable().meta({ description: 'Null while the alert is open' }),
    interruptions: z.int().meta({
      description: 'How often the failure was interrupted for a time too short to end the alert',
    }),
    notified_at: timestamp
      .nullable()
      .meta({ description: 'When messages about the alert were created' }),
    acknowledged_at: timestamp.nullable(),
    acknowledged_by: recordId
      .nullable()
      .meta({ description: 'The user who acknowledged the alert' }),
  })
  .meta({ id: 'SystemAlert' })
export type SystemAlert = z.infer<typeof systemAlert>

/** Whether, when and how system alerts of one kind are reported. */
const kindSettings = z.strictObject({
  is_enabled: z.boolean(),
  delivery: z.enum(['immediate', 'daily_summary']).meta({
    description:
      'immediate: a message when an alert begins and ends; daily_summary: a part of one message a day',
  }),
  hold_s: z
    .int()
    .min(0)
    .max(SECONDS_PER_DAY)
    .meta({ description: 'Seconds for which a failure must last before the alert begins' }),
})
export type KindSettings = z.infer<typeof kindSettings>

/** Limits beyond which a measured value is a failure. */
const thresholds = z.strictObject({
  black_brightness: z.number().min(0).max(255).meta({
    description: 'Mean brightness below which a picture without contrast counts as black',
  }),
  frozen_s: z
    .int()
    .min(10)
    .max(SECONDS_PER_DAY)
    .meta({ description: 'Seconds after which a picture that does not change counts as frozen' }),
  sharpness_percent: z.number().min(1).max(99).meta({
    description: 'Share of the usual sharpness below which a picture counts as defocused',
  }),
  similarity_percent: z
    .number()
    .min(1)
    .max(99)
    .meta({ description: 'Similarity to the usual edges below which a picture counts as moved' }),
  frame_rate_percent: z.number().min(1).max(100).meta({
    description: 'Share of the expected frame rate below which the frame rate counts as low',
  }),
  disk_free_percent: z
    .number()
    .min(0)
    .max(99)
    .meta({ description: 'Share of free space below which a disk counts as filling' }),
  clock_s: z
    .number()
    .min(1)
    .max(SECONDS_PER_DAY)
    .meta({ description: 'Seconds by which a clock may differ before it counts as wrong' }),
  ending_days: z.int().min(1).max(365).meta({
    description: 'Days before its end from which on a certificate or license is reported',
  }),
  backup_days: z.int().min(0).max(365).meta({
    description:
      'Days after which the newest backup counts as overdue; 0: never. Without any backup, the first scheduled one counts as overdue when its time has passed',
  }),
})

export const systemAlertSettings = z
  .strictObject({
    kinds: z.record(systemAlertKind, kindSettings),
    actions: z.array(alertAction).max(32).meta({
      description:
        'How to notify people, as in alert_actions. Empty: an e-mail to the first administrator',
    }),
    is_end_reported: z
      .boolean()
      .meta({ description: 'Whether a message is sent when an alert ends' }),
    repeat_hours: z.int().min(0).max(720).meta({
      description:
        'Hours after which an open alert without acknowledgement is sent again; 0: never',
    }),
    summary_time: z
      .string()
      .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 07:30')
      .meta({ description: 'Local time of the daily summary' }),
    summary_timezone: z.union([timezone, z.literal('')]).meta({
      description: 'IANA time zone of summary_time. Empty: the time zone of the first site',
    }),
    thresholds,
  })
  .meta({ id: 'SystemAlertSettings' })
export type SystemAlertSettings = z.infer<typeof systemAlertSettings>

/** Changes of the settings. Kinds and thresholds that are omitted remain unchanged. */
const settingsChange = systemAlertSettings.partial().extend({
  kinds: z.partialRecord(systemAlertKind, kindSettings.partial()).optional(),
  thresholds: thresholds.partial().optional(),
})
export type SystemAlertSettingsChange = z.infer<typeof settingsChange>

const byId = z.strictObject({ system_alert_id: reference('system_alert') })

export const systemAlertRoutes = {
  get: route({
    method: 'get',
    path: '/system-alert/id',
    summary: 'Get a system alert',
    access: 'view',
    query: byId,
    status: 200,
    response: systemAlert,
  }),

  list: route({
    method: 'get',
    path: '/system-alert/list',
    summary: 'List system alerts',
    description: 'Newest first. Alerts about the appliance itself are visible to superadmins.',
    access: 'view',
    query: z.strictObject({
      system_alert_kind: systemAlertKind.optional(),
      system_alert_state: systemAlertState.optional(),
      site_id: reference('site').optional(),
      engine_id: reference('engine').optional(),
      source_id: reference('source').optional(),
      ...pagination('system_alert'),
    }),
    status: 200,
    response: z.array(systemAlert),
  }),

  acknowledge: route({
    method: 'post',
    path: '/system-alert/acknowledge',
    summary: 'Acknowledge a system alert',
    description:
      'No more messages are sent about it until it ends. The present picture of a camera that was reported as moved or defocused becomes the usual one.',
    access: 'manage',
    body: byId,
    status: 200,
    response: systemAlert,
  }),

  getSettings: route({
    method: 'get',
    path: '/system-alert/settings',
    summary: 'Get the settings of system alerts',
    description: 'Secrets in actions are hidden.',
    access: 'own',
    status: 200,
    response: systemAlertSettings,
  }),

  updateSettings: route({
    method: 'post',
    path: '/system-alert/settings/update',
    summary: 'Update the settings of system alerts',
    description: 'Omitted fields are preserved.',
    access: 'own',
    body: settingsChange,
    status: 200,
    response: null,
  }),
}
