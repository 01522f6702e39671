import { z } from 'zod'
import { alertAction } from './alert.ts'
import { route } from './management-route.ts'
import { recordId, reference, SECONDS_PER_DAY } from './record-fields.ts'

/**
 * Policies in the management API. The policy of an alert decides which of its notifications people
 * are informed of. The notifications themselves are stored in any case.
 */

const MINUTES_PER_DAY = 1440
const MAX_STEPS = 10
const MAX_ACTIONS = 32

/** A step of an escalation: whom to inform if no person has acknowledged the incident in time. */
export const escalationStep = z
  .strictObject({
    after_minutes: z.int().min(1).max(MINUTES_PER_DAY).meta({
      description: 'Minutes after the previous step, or after the first message about the incident',
    }),
    actions: z.array(alertAction).min(1).max(MAX_ACTIONS),
  })
  .meta({ id: 'EscalationStep' })
export type EscalationStep = z.infer<typeof escalationStep>

/** Default of `quiet_s`: the seconds without the condition after which an incident ends. */
export const DEFAULT_QUIET_S = 300
/** Default of `budget_per_hour`: the maximum number of messages to one receiver in an hour. */
export const DEFAULT_BUDGET_PER_HOUR = 20

/** A policy in a request. Fields that are omitted have their defaults. */
const policyInput = z.strictObject({
  alert_id: reference('alert'),
  release_threshold: z.number().nullable().default(null).meta({
    description:
      'The value beyond which the statistic must return before the incident can end. With 3 and the condition `gt 5`, it must fall below 3. Null: the threshold of the alert',
  }),
  quiet_s: z.int().min(0).max(SECONDS_PER_DAY).default(DEFAULT_QUIET_S).meta({
    description: 'Seconds without the condition after which the incident ends',
  }),
  repeat_s: z.int().min(0).max(SECONDS_PER_DAY).nullable().default(null).meta({
    description:
      'Minimum number of seconds between two messages about one incident. With 0, there is a message for each notification; with null, only for the first one',
  }),
  budget_per_hour: z
    .int()
    .min(0)
    .max(1000)
    .optional()
    .meta({
      description: `Maximum number of messages to one receiver in an hour; 0: no maximum. Default: ${DEFAULT_BUDGET_PER_HOUR}, but 0 for the priority critical`,
    }),
  escalation: z.array(escalationStep).max(MAX_STEPS).default([]).meta({
    description: 'The steps that follow until a person acknowledges the incident',
  }),
})

/** A policy in a response. */
export const alertPolicy = z
  .object({ ...policyInput.shape, alert_id: recordId, budget_per_hour: z.int() })
  .meta({ id: 'AlertPolicy' })
export type AlertPolicy = z.infer<typeof alertPolicy>

export const alertPolicyRoutes = {
  getPolicy: route({
    method: 'post',
    path: '/alert/policy/id',
    readOnly: true,
    summary: 'Get the policy of an alert',
    access: 'view',
    body: z.strictObject({ alert_id: reference('alert') }),
    status: 200,
    response: alertPolicy,
  }),

  updatePolicy: route({
    method: 'post',
    path: '/alert/policy/update',
    summary: 'Update the policy of an alert',
    description: 'Fields that are omitted get their defaults.',
    access: 'manage',
    body: policyInput,
    status: 200,
    response: alertPolicy,
  }),
}
