import type { AlertAction } from '@eyrie/contract/management/alert'
import type { DeliveryRequest, FiringDetails } from '@eyrie/contract/management/delivery-queue'
import type { SystemAlertReport } from '@eyrie/contract/management/system-alert-kind'
import { createRequest } from '../alerts/notification-text.ts'
import { getTitle } from './alert-texts.ts'

/** Why a message is sent. */
export type Occasion = 'began' | 'lasts' | 'ended' | 'summary'

/**
 * Creates what an action sends about system alerts. An action without a subject or message
 * uses the default texts.
 */
export function createAlertRequest(
  action: AlertAction,
  occasion: Occasion,
  alerts: readonly SystemAlertReport[],
  now: Date,
): DeliveryRequest {
  const subject = createSubject(occasion, alerts)
  const request = createRequest(action, createDetails(alerts, now))
  return {
    ...request,
    subject: action.action_subject ? request.subject : subject,
    message: action.action_message ? request.message : createMessage(alerts),
    system_alerts: [...alerts],
    // Receivers can unsubscribe from the summary, but not from single alerts.
    ...(occasion === 'summary' && { digest: true }),
  }
}

function createSubject(occasion: Occasion, alerts: readonly SystemAlertReport[]): string {
  switch (occasion) {
    case 'began':
      return nameAlerts(alerts)
    case 'lasts':
      return `${nameAlerts(alerts)} (not acknowledged yet)`
    case 'ended':
      return `${nameAlerts(alerts)} (ended)`
    case 'summary':
      return `Daily summary: ${summarizeKinds(alerts)}`
  }
}

/** Returns the kind and the subject of one alert, or the number of alerts and their kinds. */
function nameAlerts(alerts: readonly SystemAlertReport[]): string {
  const [first] = alerts
  if (first && alerts.length === 1) return `${getTitle(first.system_alert_kind)}: ${first.subject}`
  return summarizeKinds(alerts)
}

/** Returns a text such as `3 system alerts (2 × camera offline, 1 × disk full)`. */
function summarizeKinds(alerts: readonly SystemAlertReport[]): string {
  if (alerts.length === 0) return 'no system alerts'
  const byTitle = Map.groupBy(alerts, ({ system_alert_kind }) =>
    getTitle(system_alert_kind).toLowerCase(),
  )
  const kinds = [...byTitle].map(([title, { length }]) => `${length} × ${title}`)
  const total = alerts.length === 1 ? '1 system alert' : `${alerts.length} system alerts`
  return `${total} (${kinds.join(', ')})`
}

const createMessage = (alerts: readonly SystemAlertReport[]) =>
  alerts.map(describeAlert).join('\n\n')

function describeAlert({
  system_alert_kind: systemAlertKind,
  subject,
  message,
  began_at: beganAt,
  ended_at: endedAt,
}: SystemAlertReport): string {
  const period = endedAt
    ? `from ${formatTime(beganAt)} to ${formatTime(endedAt)}`
    : `since ${formatTime(beganAt)}`
  return `${getTitle(systemAlertKind)}: ${subject}, ${period}\n${message}`
}

const formatTime = (time: string) => `${time.slice(0, 19).replace('T', ' ')} UTC`

/**
 * Returns the values of the placeholders in the texts of an action. Their names stem from the
 * alerts of channels: here, the channel is the subject of the system alert, and the value is
 * the number of alerts.
 */
const createDetails = (alerts: readonly SystemAlertReport[], now: Date): FiringDetails => ({
  alert_name: alerts.length === 1 ? getTitle(alerts[0]!.system_alert_kind) : 'System alerts',
  alert_priority: 'high',
  alert_threshold: '1',
  alert_threshold_condition: 'gte',
  alert_threshold_key: alerts[0]?.system_alert_kind ?? '',
  channel_name: alerts.map(({ subject }) => subject).join(', '),
  usecase_key: 'system',
  value: alerts.length,
  time: now.toISOString(),
})
