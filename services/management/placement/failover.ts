import type { Log } from '@eyrie/kit'
import type { Database } from '../db/database.ts'
import { moveSource } from './move-sources.ts'
import { planFailover } from './plan-placement.ts'
import { hasStrandedSources, readPlacementState } from './read-placement-state.ts'

/**
 * Moves the sources of lost engines to others. Called every few seconds, by one management service.
 */
export interface Failover {
  run(database: Database): Promise<void>
  /** Returns a line about the sources that fit on no engine, if there are any. */
  alarms(): string[]
}

export function createFailover(log: Log): Failover {
  let unplacedNames: string[] = []

  return {
    async run(database) {
      const plan = await database.system('place sources', async tx => {
        if (!(await hasStrandedSources(tx))) return { moves: [], unplaced: [] }
        const planned = planFailover(await readPlacementState(tx))
        for (const move of planned.moves) await moveSource(tx, move)
        return planned
      })
      for (const {
        source_id: sourceId,
        source_name: sourceName,
        from_engine_id: fromEngineId,
        to_engine_id: toEngineId,
        reason,
      } of plan.moves) {
        log.warn(
          {
            source: sourceName,
            source_id: sourceId,
            from_engine_id: fromEngineId,
            to_engine_id: toEngineId,
            reason,
          },
          'moved source',
        )
      }
      const names = plan.unplaced.map(({ source_name }) => source_name)
      if (names.length > 0 && names.join() !== unplacedNames.join()) {
        log.warn({ sources: names }, 'failed to find an engine for sources')
      }
      unplacedNames = names
    },

    alarms: () =>
      unplacedNames.length === 0
        ? []
        : [
            `${unplacedNames.length} sources of unreachable engines fit on no other engine (${unplacedNames.slice(0, 3).join(', ')}): add an engine, or free capacity`,
          ],
  }
}
