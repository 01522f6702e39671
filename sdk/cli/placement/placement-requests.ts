import {
  type OperatorPlacement,
  operatorPlacement,
  operatorPlacementApply,
} from '@eyrie/contract/management/operator'
import type { PlacementOverview, PlacementPlan } from '@eyrie/contract/management/placement'
import type { Terminal } from '../command/terminal.ts'
import { requestOperator } from '../user/operator-request.ts'

/** Reads the engines, what runs where, and the plan that distributes it better. */
export const readPlacement = async (terminal: Terminal): Promise<OperatorPlacement> =>
  operatorPlacement.response.parse(await requestOperator(operatorPlacement.path, terminal))

/** Has the management service make the moves of a plan. */
export async function applyPlan(terminal: Terminal, plan: PlacementPlan): Promise<void> {
  const moves = plan.moves.map(({ source_id, from_engine_id, to_engine_id }) => ({
    source_id,
    from_engine_id,
    to_engine_id,
  }))
  await requestOperator(operatorPlacementApply.path, terminal, { moves })
}

/** A record that can be named on the command line. */
interface Named {
  id: string
  name: string
}

export const listSites = ({ sites }: PlacementOverview): Named[] =>
  sites.map(({ site_id, site_name }) => ({ id: site_id, name: site_name }))
export const listSources = ({ sources }: PlacementOverview): Named[] =>
  sources.map(({ source_id, source_name }) => ({ id: source_id, name: source_name }))
export const listEngines = ({ engines }: PlacementOverview): Named[] =>
  engines.map(({ engine_id, engine_name }) => ({ id: engine_id, name: engine_name }))

/**
 * Returns the record with this id or name. Throws an `Error` if there is none, or
 * several have the name.
 */
export function findByName(kind: string, records: readonly Named[], text: string): Named {
  const byId = records.find(({ id }) => id === text)
  if (byId) return byId

  const matches = records.filter(({ name }) => name === text)
  const [match] = matches
  if (!match) {
    const names = records.map(({ name }) => name).join(', ')
    throw new Error(`there is no ${kind} ${text}: choose one of ${names || 'none'}`)
  }
  if (matches.length === 1) return match
  const ids = matches.map(({ id }) => id).join(', ')
  throw new Error(`several have the name ${text}: use one of the ids ${ids}`)
}
