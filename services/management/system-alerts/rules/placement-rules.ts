import type { PlacementPlan } from '@eyrie/contract/management/placement'
import { APPLIANCE, createObservation, type Observation } from './observation.ts'

const UNBALANCED = { kind: 'engines_unbalanced', subject: APPLIANCE } as const

/**
 * Reports that the sources could be distributed better over the engines. Ignores the sources of
 * lost engines, which failover moves by itself.
 */
export function observePlacement({ moves, engines }: PlacementPlan): Observation {
  const enginesById = new Map(engines.map(engine => [engine.engine_id, engine]))
  const offered = moves.filter(
    ({ from_engine_id }) => enginesById.get(from_engine_id)?.is_available,
  )
  const [first] = offered
  if (!first) return createObservation({ ...UNBALANCED, presence: 'absent' })

  const from = enginesById.get(first.from_engine_id)?.engine_name
  const to = enginesById.get(first.to_engine_id)?.engine_name
  const example = `${first.source_name} from ${from} to ${to}`
  const others = offered.length > 1 ? `, and ${offered.length - 1} more` : ''
  const reason = `moving ${example}${others} would distribute the load better`
  return createObservation({ ...UNBALANCED, presence: 'present', reason })
}
