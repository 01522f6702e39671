import type { ActionType, AlertAction } from '@eyrie/contract/management/alert'
import type { Transaction } from '../db/database.ts'
import { findActionType } from '../deliveries/action-type.ts'
import type { CopyReceiver, Suppression } from '../deliveries/outbox.ts'
import { type ActiveSnooze, findActiveSnoozes } from './active-snoozes.ts'
import { createReceiverBudgets, type ReceiverBudgets } from './receiver-budgets.ts'
import type { IncidentAlert, IncidentRow } from './running-incidents.ts'

/** Machines such as home automation get every message. Grouping and budgets protect people only. */
const MACHINE_TYPES: readonly ActionType[] = ['mqtt']

/**
 * Decides which messages about the firings of alerts are sent. Messages are suppressed
 * during a snooze, while people know of the incident already, and when the budget of their
 * receiver is used up.
 */
export interface DeliveryGate {
  /**
   * Decides about a new notification of an incident. Must be called before `markNotified`, which
   * changes the incident.
   */
  decide(row: IncidentRow, alert: IncidentAlert, timeMs: number): NotificationDecision
}

export interface NotificationDecision {
  /** Whether people are informed of the notification: now, or later by a digest. */
  isNotified: boolean
  /** Returns why the message of an action is sent to no one; undefined if it is sent. */
  findSuppression(action: AlertAction): Suppression | undefined
  /**
   * Claims a message from the budget of a receiver. Returns a suppression if the budget is used up.
   */
  claimBudget(receiver: CopyReceiver): Promise<Suppression | undefined>
}

export async function createDeliveryGate(
  tx: Transaction,
  alertIds: readonly string[],
): Promise<DeliveryGate> {
  const snoozes = await findActiveSnoozes(tx, alertIds)
  const budgets = createReceiverBudgets(tx)

  return {
    decide(row, { alert_id, policy }, timeMs) {
      const snooze = snoozes.get(alert_id)
      const snoozeReason = snooze && describeSnooze(snooze)
      const groupingReason = findGroupingReason(row, policy.repeat_s, timeMs)
      return {
        isNotified: !snoozeReason && !groupingReason,

        findSuppression(action) {
          if (snoozeReason) return { reason: snoozeReason }
          if (MACHINE_TYPES.includes(findActionType(action))) return undefined
          return groupingReason === undefined ? undefined : { reason: groupingReason }
        },

        async claimBudget(receiver) {
          if (MACHINE_TYPES.includes(receiver.type)) return undefined
          return claimBudget(budgets, receiver, policy.budget_per_hour)
        },
      }
    },
  }
}

const describeSnooze = ({ until, created_by }: ActiveSnooze) =>
  `snoozed until ${until?.toISOString() ?? 'the incident is resolved'}, by ${created_by}`

/**
 * Returns why no further message about an incident is sent; undefined if one is sent. `repeatS` is
 * the minimum number of seconds between two messages, or null if there is only one message.
 */
function findGroupingReason(
  row: IncidentRow,
  repeatS: number | null,
  timeMs: number,
): string | undefined {
  if (row.resolved_at) {
    return `the incident was resolved by ${row.resolved_by}, and its condition goes on to hold`
  }
  if (row.acknowledged_at) return `the incident was acknowledged by ${row.acknowledged_by}`

  const notifiedAt = row.notified_at
  if (!notifiedAt) return undefined
  const isRepeatDue = repeatS !== null && timeMs - notifiedAt.getTime() >= repeatS * 1000
  if (isRepeatDue) return undefined
  return `belongs to the incident that was reported at ${notifiedAt.toISOString()}`
}

async function claimBudget(
  budgets: ReceiverBudgets,
  receiver: CopyReceiver,
  budgetPerHour: number,
): Promise<Suppression | undefined> {
  const isUnlimited = budgetPerHour === 0
  if (isUnlimited) return undefined
  const digestAt = await budgets.claim(receiver, budgetPerHour)
  if (!digestAt) return undefined
  const budget = `the budget of ${budgetPerHour} messages per hour to this receiver`
  return { reason: `${budget} is used up: a digest follows`, digestAt }
}
