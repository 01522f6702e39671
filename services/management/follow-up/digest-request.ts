import type { AlertAction } from '@eyrie/contract/management/alert'
import type { DeliveryRequest, FiringDetails } from '@eyrie/contract/management/delivery-queue'
import { createRequest } from '../alerts/notification-text.ts'

const MAX_LINES = 30

/**
 * Creates one message that replaces suppressed messages, which are sorted by time. `action` sends
 * the digest. Placeholders in its payload are replaced with the data of the latest suppressed
 * message, except the name of the alert, which is replaced with the subject of the digest.
 */
export function createDigestRequest(
  action: AlertAction,
  suppressed: readonly DeliveryRequest[],
): DeliveryRequest {
  const firings = suppressed.map(({ details }) => details)
  const alerts = Map.groupBy(firings, describeAlert)
  const channels = new Set(firings.map(({ channel_name }) => channel_name))
  // There is at least one suppressed message.
  const latest = firings.at(-1)!
  const subject =
    alerts.size > 1
      ? `${firings.length} more notifications of ${alerts.size} alerts`
      : `${firings.length} more notifications: ${describeAlert(latest)}`
  const details: FiringDetails = {
    ...latest,
    alert_name: subject,
    channel_name: channels.size > 1 ? `${channels.size} channels` : latest.channel_name,
  }
  return {
    ...createRequest({ ...action, action_process_delay: 0 }, details),
    subject,
    digest: true,
    message: [
      'These were not sent one by one, because the budget of messages was used up:',
      ...createLines(alerts),
    ].join('\n'),
  }
}

const describeAlert = ({ alert_name, channel_name }: FiringDetails) =>
  `${alert_name} on ${channel_name}`

/** Returns a line for each alert, such as `3 × Queue on Entrance, 08:00 to 08:30`. */
function createLines(alerts: ReadonlyMap<string, FiringDetails[]>): string[] {
  const lines = Array.from(alerts, ([name, firings]) => {
    const times = firings.map(({ time }) => time).toSorted()
    const period = times.length > 1 ? `${times[0]} to ${times.at(-1)}` : times[0]
    return `${firings.length} × ${name}, ${period}`
  })
  if (lines.length <= MAX_LINES) return lines
  return [...lines.slice(0, MAX_LINES), `and ${lines.length - MAX_LINES} other alerts`]
}
