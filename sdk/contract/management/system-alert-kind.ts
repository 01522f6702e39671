import { z } from 'zod'
import { recordId, timestamp } from './record-fields.ts'

/** What a system alert is about. */
export const systemAlertKind = z
  .enum([
    'camera_unreachable',
    'picture_black',
    'picture_frozen',
    'picture_defocused',
    'picture_moved',
    'low_frame_rate',
    'recording_stopped',
    'disk_filling',
    'engine_away',
    'events_lost',
    'clock_wrong',
    'certificate_ending',
    'license_ending',
    'backup_overdue',
    'engines_unbalanced',
  ])
  .meta({ id: 'SystemAlertKind' })
export type SystemAlertKind = z.infer<typeof systemAlertKind>

export const systemAlertState = z
  .enum(['open', 'closed'])
  .meta({ description: 'open: the failure lasts; closed: it has ended' })
export type SystemAlertState = z.infer<typeof systemAlertState>

/** A system alert as messages contain it. */
export const systemAlertReport = z.strictObject({
  system_alert_id: recordId,
  system_alert_kind: systemAlertKind,
  system_alert_state: systemAlertState,
  subject: z.string(),
  message: z.string(),
  began_at: timestamp,
  ended_at: timestamp.nullable(),
})
export type SystemAlertReport = z.infer<typeof systemAlertReport>
