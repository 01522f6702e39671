import type { PlacementPlan } from '@eyrie/contract/management/placement'
import type { Log } from '@eyrie/kit'
import type { Database } from '../db/database.ts'
import { moveSource } from './move-sources.ts'
import { planFailover } from './plan-placement.ts'
import { hasStrandedSources, readPlacementState } from './read-placement-state.ts'

/** Maximum number of sources that an alarm names. */
const MAX_NAMED_SOURCES = 3

/** Moves the sources of lost engines to other engines. */
export interface Failover {
  /** To be called every few seconds, by one of the management services on a database. */
  run(database: Database): Promise<void>
  /** Returns a message if the last run has found sources that fit on no other engine. */
  alarms(): string[]
}

export function createFailover(log: Log): Failover {
  /** Names of the sources that the last run could not move. */
  let unplacedNames: readonly string[] = []

  return {
    async run(database) {
      const { moves, unplaced } = await moveStrandedSources(database)
      // Logged after the transaction, which may be repeated.
      for (const { source_id, source_name, from_engine_id, to_engine_id, reason } of moves) {
        log.warn(
          { source: source_name, source_id, from_engine_id, to_engine_id, reason },
          'moved source',
        )
      }

      const names = unplaced.map(({ source_name }) => source_name)
      const isNews = names.join() !== unplacedNames.join()
      if (names.length > 0 && isNews) {
        log.warn({ sources: names }, 'failed to find an engine for sources')
      }
      unplacedNames = names
    },

    alarms: () => (unplacedNames.length > 0 ? [describeUnplaced(unplacedNames)] : []),
  }
}

/** Moves the sources of lost engines. Returns the moves, and the sources that fit on no engine. */
const moveStrandedSources = (
  database: Database,
): Promise<Pick<PlacementPlan, 'moves' | 'unplaced'>> =>
  database.system('place sources', async tx => {
    if (!(await hasStrandedSources(tx))) return { moves: [], unplaced: [] }
    const plan = planFailover(await readPlacementState(tx))
    for (const move of plan.moves) await moveSource(tx, move)
    return plan
  })

const describeUnplaced = (names: readonly string[]) =>
  `${names.length} sources of unreachable engines fit on no other engine ` +
  `(${names.slice(0, MAX_NAMED_SOURCES).join(', ')}): add an engine, or free capacity`
