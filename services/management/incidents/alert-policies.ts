import {
  type AlertPolicy,
  DEFAULT_BUDGET_PER_HOUR,
  DEFAULT_QUIET_S,
} from '@eyrie/contract/management/alert-policy'
import type { alertPolicy } from '../db/schema/index.ts'

type PolicyRow = typeof alertPolicy.$inferSelect

/** The part of an alert that its policy depends on. */
interface AlertFields {
  alert_id: string
  alert_priority: string
}

/** Returns the policy of an alert, from its row if it has one. */
export function toPolicy(
  { alert_id: alertId, alert_priority: alertPriority }: AlertFields,
  row: PolicyRow | null,
): AlertPolicy {
  // A fire must not stay unknown because parked cars have used up the budget.
  const defaultBudget = alertPriority === 'critical' ? 0 : DEFAULT_BUDGET_PER_HOUR
  return {
    alert_id: alertId,
    release_threshold: row?.release_threshold ?? null,
    quiet_s: row?.quiet_s ?? DEFAULT_QUIET_S,
    repeat_s: row?.repeat_s ?? null,
    budget_per_hour: row?.budget_per_hour ?? defaultBudget,
    escalation: row?.escalation ?? [],
  }
}
