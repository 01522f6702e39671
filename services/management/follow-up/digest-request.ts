import type { AlertAction } from '@eyrie/contract/management/alert'
import type { DeliveryRequest, FiringDetails } from '@eyrie/contract/management/delivery-queue'
import { createRequest } from '../alerts/notification-text.ts'

/** Maximum number of alerts that a digest lists. */
const MAX_LINES = 30

/**
 * Creates a digest: one message in place of several that were suppressed. `action` says how it is
 * sent. There must be at least one suppressed message, and they must be sorted by time.
 *
 * The placeholders in the payload of `action` are replaced with the data of the latest suppressed
 * message, except the names: `{{alert_name}}` becomes the subject of the digest, and
 * `{{channel_name}}` becomes the number of channels if there are several.
 */
export function createDigestRequest(
  action: AlertAction,
  suppressed: readonly DeliveryRequest[],
): DeliveryRequest {
  const firings = suppressed.map(({ details }) => details)
  const firingsByAlert = Map.groupBy(firings, describeAlert)
  const channels = new Set(firings.map(({ channel_name }) => channel_name))
  const latest = firings.at(-1)!

  const amount = formatAmount(firings.length, 'more notification')
  const subject =
    firingsByAlert.size > 1
      ? `${amount} of ${firingsByAlert.size} alerts`
      : `${amount}: ${describeAlert(latest)}`
  const details: FiringDetails = {
    ...latest,
    alert_name: subject,
    channel_name: channels.size > 1 ? `${channels.size} channels` : latest.channel_name,
  }
  return {
    // The digest is due already, so the delay of the action does not apply.
    ...createRequest({ ...action, action_process_delay: 0 }, details),
    subject,
    digest: true,
    message: [
      'These were not sent one by one, because the budget of messages was used up:',
      ...createLines(firingsByAlert),
    ].join('\n'),
  }
}

const describeAlert = ({ alert_name, channel_name }: FiringDetails) =>
  `${alert_name} on ${channel_name}`

/** Returns a line for each alert, such as `3 × Queue on Entrance, 08:00 to 08:30`. */
function createLines(firingsByAlert: ReadonlyMap<string, FiringDetails[]>): string[] {
  const lines = Array.from(firingsByAlert, ([alert, firings]) => {
    const times = firings.map(({ time }) => time).toSorted()
    const period = times.length > 1 ? `${times[0]} to ${times.at(-1)}` : times[0]
    return `${firings.length} × ${alert}, ${period}`
  })
  if (lines.length <= MAX_LINES) return lines
  const omitted = lines.length - MAX_LINES
  return [...lines.slice(0, MAX_LINES), `and ${formatAmount(omitted, 'other alert')}`]
}

/** Returns an amount with its noun in the singular or plural, such as `2 other alerts`. */
const formatAmount = (amount: number, noun: string) => `${amount} ${noun}${amount === 1 ? '' : 's'}`
