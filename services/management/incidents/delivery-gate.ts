import type { ActionType } from '@eyrie/contract/management/alert'
import type { DeliveryRequest } from '@eyrie/contract/management/delivery-queue'
import type { Transaction } from '../db/database.ts'
import { findReceiver, type Suppression } from '../deliveries/outbox.ts'
import { findActiveSnoozes } from './active-snoozes.ts'
import { createReceiverBudgets } from './receiver-budgets.ts'
import type { IncidentAlert, IncidentRow } from './running-incidents.ts'

/** Machines such as home automation need every message; incidents and budgets protect people. */
const MACHINE_TYPES: readonly ActionType[] = ['mqtt']

/** Decides which messages of a notification are sent. */
export interface NotificationGate {
  /** Whether people are informed of the notification, now or by a digest. */
  isNotified: boolean
  /** Returns why a message is not sent; undefined if it is. */
  findSuppression(request: DeliveryRequest): Promise<Suppression | undefined>
}

/** Decides which messages of alerts are sent. */
export interface DeliveryGate {
  /** Call it before `markNotified`, which changes the incident. */
  open(row: IncidentRow, alert: IncidentAlert, timeMs: number): NotificationGate
}

export async function createDeliveryGate(
  tx: Transaction,
  alertIds: readonly string[],
): Promise<DeliveryGate> {
  const snoozes = await findActiveSnoozes(tx, alertIds)
  const budgets = createReceiverBudgets(tx)

  return {
    open(row, alert, timeMs) {
      const { repeat_s, budget_per_hour } = alert.policy
      const snooze = snoozes.get(alert.alert_id)
      const snoozeReason =
        snooze &&
        `snoozed until ${snooze.until?.toISOString() ?? 'the incident is resolved'}, by ${snooze.created_by}`
      const groupingReason = findGroupingReason(row, repeat_s, timeMs)
      return {
        isNotified: !snoozeReason && !groupingReason,
        async findSuppression(request) {
          const { type, ...receiver } = findReceiver(request.action)
          if (snoozeReason) return { reason: snoozeReason }
          if (MACHINE_TYPES.includes(type)) return undefined
          if (groupingReason) return { reason: groupingReason }
          if (budget_per_hour === 0) return undefined
          const digestAt = await budgets.claim(receiver, budget_per_hour)
          return (
            digestAt && {
              reason: `the budget of ${budget_per_hour} messages per hour to this receiver is used up: a digest follows`,
              digestAt,
            }
          )
        },
      }
    },
  }
}

/** Returns why no further message about an incident is sent. */
function findGroupingReason(row: IncidentRow, repeat_s: number | null, timeMs: number): string | undefined {
  const { notified_at, acknowledged_at, acknowledged_by, resolved_at, resolved_by } = row
  if (resolved_at) return `the incident was resolved by ${resolved_by}, and its condition goes on to hold`
  if (acknowledged_at) return `the incident was acknowledged by ${acknowledged_by}`
  if (!notified_at) return undefined
  const isRepeatDue = repeat_s !== null && timeMs - notified_at.getTime() >= repeat_s * 1000
  return isRepeatDue ? undefined : `belongs to the incident that was reported at ${notified_at.toISOString()}`
}
