import { z } from 'zod'
import { type AlertAction, actionType, alertCondition } from './alert.ts'
import { smsSettings, smtpSettings } from './delivery-settings.ts'

/**
 * The internal API by which the scheduler receives due deliveries from management and reports their results. Management
 * stores the deliveries; the scheduler sends them.
 */

/** The data of one firing of an alert, with which the placeholders in its messages are replaced. */
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

/** What to send, with all placeholders replaced. */
export const deliveryRequest = z.object({
  /** Was validated when it was stored. Replaced placeholders may make its texts longer than those of an alert. */
  action: z.custom<AlertAction>(value => typeof value === 'object' && value !== null),
  subject: z.string(),
  message: z.string(),
  details: firingDetails,
})
export type DeliveryRequest = z.infer<typeof deliveryRequest>

/** A delivery that the scheduler has claimed, to send it before the lease ends. */
export const claimedDelivery = z.strictObject({
  delivery_id: z.uuid(),
  /** Number of this attempt, from 1. Identifies the claim. */
  attempt: z.int().min(1),
  type: actionType,
  /** Identifies the server that receives the message. Deliveries to one target share its fate. */
  target: z.string(),
  is_test: z.boolean(),
  channel_id: z.uuid(),
  notification_uuid: z.uuid().nullable(),
  /** SHA-256 of the picture, which may not be stored yet. */
  picture: z.string().nullable(),
  request: deliveryRequest,
})
export type ClaimedDelivery = z.infer<typeof claimedDelivery>

const MAX_BATCH = 1000

export const deliveryClaim = {
  path: '/scheduler/deliveries/claim',
  body: z.strictObject({
    limit: z.int().min(1).max(MAX_BATCH),
    /** Time after which deliveries without a result are due again. */
    lease_s: z.number().positive().max(3600),
    /** Maximum number of deliveries to each target that `target_limits` does not name. */
    target_limit: z.int().min(1).max(MAX_BATCH),
    target_limits: z.record(z.string(), z.int().min(0)),
  }),
  response: z.strictObject({
    deliveries: z.array(claimedDelivery),
    /** Time until another delivery becomes due; null if none is waiting. */
    next_due_ms: z.number().nullable(),
    /** Settings with their secrets, if the deliveries need them. */
    smtp: smtpSettings.nullable(),
    sms: smsSettings.nullable(),
  }),
}
export type DeliveryClaim = z.infer<typeof deliveryClaim.body>
export type ClaimedBatch = z.infer<typeof deliveryClaim.response>

const MAX_REASON_LENGTH = 1000

export const deliveryResult = z.strictObject({
  delivery_id: z.uuid(),
  attempt: z.int().min(1),
  state: z.enum(['sent', 'delivered', 'failed', 'dead']),
  reason: z.string().max(MAX_REASON_LENGTH),
  /** Time until the next attempt, after a failed one. */
  retry_ms: z.number().min(0).optional(),
})
export type DeliveryResult = z.infer<typeof deliveryResult>

export const deliveryResults = {
  path: '/scheduler/deliveries/results',
  body: z.strictObject({ results: z.array(deliveryResult).max(MAX_BATCH) }),
}

/** Answers when `version` is outdated, because deliveries were added, or after some seconds. */
export const deliveryChanges = {
  path: '/scheduler/deliveries/changes',
  query: z.strictObject({ version: z.coerce.number().int() }),
  response: z.strictObject({ version: z.int() }),
}

/** Path of a picture, a JPEG file. */
export const deliveryPicturePath = (sha256: string): string => `/scheduler/pictures/${sha256}`
