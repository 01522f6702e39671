import { z } from 'zod'
import { type AlertAction, actionType, alertCondition } from './alert.ts'
import { smsSettings, smtpSettings } from './delivery-settings.ts'
import { systemAlertReport } from './system-alert-kind.ts'

/**
 * The internal API by which the scheduler sends messages, such as e-mails about alerts. Each
 * message to a receiver is a delivery. Management stores the deliveries in a queue. The scheduler
 * claims due deliveries, sends them, and reports the results.
 */

/**
 * One firing of an alert. Messages of the alert contain placeholders, which are replaced with these
 * values.
 */
export const firingDetails = z.object({
  alert_name: z.string(),
  alert_priority: z.string(),
  alert_threshold: z.string(),
  alert_threshold_condition: alertCondition,
  alert_threshold_key: z.string(),
  channel_name: z.string(),
  usecase_key: z.string(),
  /** Value of the statistic when the alert fired. */
  value: z.number(),
  /** RFC 3339. */
  time: z.string(),
})
export type FiringDetails = z.infer<typeof firingDetails>

/** The file of a scheduled report. */
export const reportFile = z.object({
  report_id: z.uuid(),
  file_name: z.string(),
  media_type: z.string(),
})
export type ReportFile = z.infer<typeof reportFile>

/** What to send, with all placeholders replaced. */
export const deliveryRequest = z.object({
  /**
   * The action of an alert, such as an e-mail with its receivers. Its texts are not validated here:
   * with replaced placeholders, they may be longer than the schema of actions permits.
   */
  action: z.custom<AlertAction>(value => typeof value === 'object' && value !== null),
  subject: z.string(),
  message: z.string(),
  details: firingDetails,
  /** The system alerts that the message is about. Absent for the firing of an alert. */
  system_alerts: z.array(systemAlertReport).optional(),
  /** The file of a scheduled report, the attachment of an e-mail. */
  report: reportFile.optional(),
  /**
   * Mail programs show messages with the same key as one thread. By default, all messages about an
   * incident are one thread.
   */
  thread_key: z.string().optional(),
  /**
   * Whether this is a digest, a daily summary or a report. The receiver of an e-mail can
   * unsubscribe from them.
   */
  digest: z.boolean().optional(),
})
export type DeliveryRequest = z.infer<typeof deliveryRequest>

/** Why a message is sent. */
export const deliveryKind = z
  .enum(['notification', 'escalation', 'digest', 'test', 'system_alert', 'report'])
  .meta({
    description: [
      'notification: an alert has fired',
      'escalation: no person has acknowledged the incident in time',
      'digest: a summary of messages that were suppressed by the budget of the receiver',
      'test: a person has requested a test',
      'system_alert: the appliance has failed or recovered',
      'report: a scheduled report',
    ].join('; '),
  })
export type DeliveryKind = z.infer<typeof deliveryKind>

/** A browser that receives push messages (Push API). `p256dh` and `auth` are keys in base64url. */
export const pushReceiver = z.strictObject({
  endpoint: z.string(),
  p256dh: z.string(),
  auth: z.string(),
})

/**
 * The private key with which the appliance identifies itself to push services (VAPID, RFC 8292), as
 * a JSON Web Key.
 */
export const vapidKey = z.strictObject({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: z.string(),
  y: z.string(),
  d: z.string(),
})
export type VapidKey = z.infer<typeof vapidKey>

/**
 * A delivery that the scheduler has claimed. It has to report the result before the lease of the
 * claim ends.
 */
export const claimedDelivery = z.strictObject({
  delivery_id: z.uuid(),
  /**
   * Number of this attempt to send the delivery, from 1. The result contains the same number. A
   * result with a lower number belongs to an earlier claim.
   */
  attempt: z.int().min(1),
  type: actionType,
  kind: deliveryKind,
  /** Identifies the server that receives the message. While it fails, its deliveries wait. */
  target: z.string(),
  is_test: z.boolean(),
  /** Null unless the message is about a channel. */
  channel_id: z.uuid().nullable(),
  notification_uuid: z.uuid().nullable(),
  /** Null unless the message is about an incident. */
  incident_id: z.uuid().nullable(),
  /** SHA-256 of the picture, which may not be stored yet. Null without a picture. */
  picture: z.string().nullable(),
  request: deliveryRequest,
  /**
   * The browser that receives a push message. Null if its user may not view the channel, or has
   * switched messages off.
   */
  push: pushReceiver.nullable(),
  /** The token with which the receiver of a digest unsubscribes. Null for other messages. */
  unsubscribe_token: z.string().nullable(),
  /** Whether the receiver has unsubscribed from digests since the message was queued. */
  is_unsubscribed: z.boolean(),
})
export type ClaimedDelivery = z.infer<typeof claimedDelivery>

const MAX_BATCH = 1000
const MAX_LEASE_S = 3600

/** Claims due deliveries. Responds at once, with an empty list if none is due. */
export const deliveryClaimRoute = {
  path: '/scheduler/deliveries/claim',
  body: z.strictObject({
    /** Maximum number of deliveries. */
    limit: z.int().min(1).max(MAX_BATCH),
    /** Length of the lease in seconds. Deliveries without a result are due again after it. */
    lease_s: z.number().positive().max(MAX_LEASE_S),
    /** Maximum number of deliveries to each target that is missing in `target_limits`. */
    target_limit: z.int().min(1).max(MAX_BATCH),
    /** Maximum number of deliveries to single targets, by target. */
    target_limits: z.record(z.string(), z.int().min(0)),
  }),
  response: z.strictObject({
    deliveries: z.array(claimedDelivery),
    /** Milliseconds until another delivery becomes due; null if none is waiting. */
    next_due_ms: z.number().nullable(),
    // Settings with their secrets. Each is null unless one of the deliveries needs it.
    smtp: smtpSettings.nullable(),
    sms: smsSettings.nullable(),
    vapid_key: vapidKey.nullable(),
  }),
}
export type ClaimRequest = z.infer<typeof deliveryClaimRoute.body>
export type ClaimedBatch = z.infer<typeof deliveryClaimRoute.response>

const MAX_REASON_LENGTH = 1000

/** The result of an attempt to send a delivery. */
export const deliveryResult = z.strictObject({
  delivery_id: z.uuid(),
  attempt: z.int().min(1),
  /**
   * - `sent`: accepted by a server that passes it on
   * - `delivered`: accepted by the receiver
   * - `failed`: another attempt follows
   * - `dead`: no further attempt follows
   */
  state: z.enum(['sent', 'delivered', 'failed', 'dead']),
  /** The response of the receiver, or the cause of the failure. */
  reason: z.string().max(MAX_REASON_LENGTH),
  /** Milliseconds until the next attempt, if this one failed. */
  retry_ms: z.number().min(0).optional(),
  /** Whether the browser has unsubscribed. Management then deletes its subscription. */
  is_receiver_gone: z.literal(true).optional(),
})
export type DeliveryResult = z.infer<typeof deliveryResult>

/** Reports results of claimed deliveries. */
export const deliveryResultsRoute = {
  path: '/scheduler/deliveries/results',
  body: z.strictObject({ results: z.array(deliveryResult).max(MAX_BATCH) }),
}

/**
 * Waits until deliveries were added since `version`, for a few seconds at most. Returns the current
 * version.
 */
export const deliveryChangesRoute = {
  path: '/scheduler/deliveries/changes',
  query: z.strictObject({ version: z.coerce.number().int() }),
  response: z.strictObject({ version: z.int() }),
}

/** Returns the path of the file of a scheduled report. */
export const deliveryReportPath = (reportId: string): string => `/scheduler/reports/${reportId}`

/** Returns the path of a picture, a JPEG file. */
export const deliveryPicturePath = (sha256: string): string => `/scheduler/pictures/${sha256}`
