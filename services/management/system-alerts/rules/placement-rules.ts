import type { PlacementPlan } from '@eyrie/contract/management/placement'
import { APPLIANCE, createObservation, type Observation } from './observation.ts'

/**
 * Reports that the sources could be distributed better over the engines. Failover moves those of
 * lost engines by itself.
 */
export function observePlacement({ moves, engines }: PlacementPlan): Observation {
  const enginesById = new Map(engines.map(engine => [engine.engine_id, engine]))
  const offered = moves.filter(
    ({ from_engine_id }) => enginesById.get(from_engine_id)?.is_available,
  )
  const [first] = offered
  if (!first) return createObservation('engines_unbalanced', APPLIANCE, false)

  const nameOf = (engineId: string) => enginesById.get(engineId)?.engine_name
  const example = `${first.source_name} from ${nameOf(first.from_engine_id)} to ${nameOf(first.to_engine_id)}`
  const others = offered.length > 1 ? `, and ${offered.length - 1} more` : ''
  const reason = `moving ${example}${others} would distribute the load better`
  return createObservation('engines_unbalanced', APPLIANCE, true, reason)
}
