import type { SystemAlertKind } from '@eyrie/contract/management/system-alert-kind'
import { advance, type Condition, type HoldOff } from './condition.ts'
import type { Observation, Subject } from './observation.ts'

/** A condition with what it is about. */
export interface TrackedCondition {
  kind: SystemAlertKind
  subject: Subject
  /** Why it was present when it was observed last; empty if it was absent. */
  reason: string
  condition: Condition
}

/** The observed failures, by `toConditionKey`. */
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

export const toConditionKey = (kind: SystemAlertKind, subject: string): string => `${kind} ${subject}`

/**
 * Advances all conditions by one round of observations. A failure that was not observed is absent, because its source was removed,
 * unless nothing is known about its engine.
 */
export function advanceConditions(input: AdvanceInput): {
  conditions: Conditions
  changes: ConditionChange[]
} {
  const { previous, unknownEngines, nowMs, getHoldOff } = input
  const conditions = new Map<string, TrackedCondition>()
  const changes: ConditionChange[] = []

  const observed = new Set(input.observations.map(({ kind, subject }) => toConditionKey(kind, subject.key)))
  const unobserved = [...previous.values()]
    .filter(({ kind, subject }) => !observed.has(toConditionKey(kind, subject.key)))
    .map(({ kind, subject }): Observation => {
      const isUnknown = subject.engine_id !== null && unknownEngines.has(subject.engine_id)
      return { kind, subject, isPresent: isUnknown ? undefined : false, reason: '' }
    })

  for (const observation of [...input.observations, ...unobserved]) {
    const { kind, subject, isPresent } = observation
    const key = toConditionKey(kind, subject.key)
    const before = previous.get(key)?.condition
    const { condition, change } = advance(before, isPresent, nowMs, getHoldOff(kind))
    if (condition) conditions.set(key, { kind, subject, reason: observation.reason, condition })
    // A closed condition is no longer remembered.
    const last = condition ?? before
    if (change && last) changes.push({ change, observation, condition: last })
  }
  return { conditions, changes }
}
