import type { SystemAlertKind } from '@eyrie/contract/management/system-alert-kind'
import { advance, type Condition, type HoldOff } from './condition.ts'
import { createObservation, type Observation, type Subject } from './observation.ts'

/** The condition of one kind of failure of one subject, such as a camera that is unreachable. */
export interface TrackedCondition {
  kind: SystemAlertKind
  subject: Subject
  /** The reason in the last observation; empty if the failure was absent. */
  reason: string
  condition: Condition
}

/** All tracked conditions, by `toConditionKey`. */
export type Conditions = ReadonlyMap<string, TrackedCondition>

export interface ConditionChange {
  change: 'opened' | 'closed'
  observation: Observation
  /** The condition at the change. */
  condition: Condition
}

export interface AdvanceInput {
  previous: Conditions
  observations: readonly Observation[]
  /** The engines about whose sources nothing is known at present. */
  unknownEngines: ReadonlySet<string>
  nowMs: number
  getHoldOff(kind: SystemAlertKind): HoldOff
}

export const toConditionKey = (kind: SystemAlertKind, subject: string): string =>
  `${kind} ${subject}`

/**
 * Advances all conditions by one round of observations, and returns the changes that
 * open or close an alert.
 */
export function advanceConditions(input: AdvanceInput): {
  conditions: Conditions
  changes: ConditionChange[]
} {
  const { previous, nowMs, getHoldOff } = input
  const conditions = new Map<string, TrackedCondition>()
  const changes: ConditionChange[] = []

  for (const observation of [...input.observations, ...inferObservations(input)]) {
    const { kind, subject, presence } = observation
    const key = toConditionKey(kind, subject.key)
    const before = previous.get(key)?.condition
    const holdOff = getHoldOff(kind)
    const { condition, change } = advance(before, { presence, nowMs, holdOff })
    if (condition) conditions.set(key, { kind, subject, reason: observation.reason, condition })
    // A condition that closes is no longer tracked: the change reports how it was before.
    const changedCondition = condition ?? before
    if (change && changedCondition) {
      changes.push({ change, observation, condition: changedCondition })
    }
  }
  return { conditions, changes }
}

/**
 * Returns observations of the tracked failures that were not observed in this round. Such a failure
 * is absent, because its source was removed, unless nothing is known about its engine.
 */
function inferObservations({
  previous,
  observations,
  unknownEngines,
}: AdvanceInput): Observation[] {
  const observed = new Set(
    observations.map(({ kind, subject }) => toConditionKey(kind, subject.key)),
  )
  const unobserved = [...previous].filter(([key]) => !observed.has(key))
  return unobserved.map(([, { kind, subject }]) => {
    const isUnknown = subject.engine_id !== null && unknownEngines.has(subject.engine_id)
    return createObservation({ kind, subject, presence: isUnknown ? 'unknown' : 'absent' })
  })
}
