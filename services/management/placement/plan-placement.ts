import type { PlacementPlan } from '@eyrie/contract/management/placement'
import {
  createCostEstimate,
  isEligible,
  type PlacementEngine,
  type PlacementSource,
  type PlacementState,
} from './placement-state.ts'

/**
 * A move that lowers the share of the capacity that is used on the fuller engine by at least
 * this is worth its pause.
 */
const MIN_GAIN = 0.1
/**
 * So is a smaller one if the shares of the two engines differ by at least this: many small sources
 * make a large load, too.
 */
const MIN_DIFFERENCE = 0.25

/** Smaller shares are rounding errors. */
const MIN_COST = 1e-6

/** The engines while a plan is made: each move changes what follows. */
interface Board {
  engines: readonly PlacementEngine[]
  /** The engine of each source. */
  places: Map<string, string>
  getUsed(engineId: string): number
  /** How many sources of a site are on an engine. */
  countOfSite(engineId: string, siteId: string): number
  countSources(engineId: string): number
  estimate(source: PlacementSource): number
  place(source: PlacementSource, engineId: string): void
}

/**
 * Plans new engines for the automatically placed sources of lost engines, the most
 * expensive sources first.
 */
export function planFailover(state: PlacementState): PlacementPlan {
  const board = createBoard(state)
  const lost = new Set(
    state.engines.filter(({ isLost }) => isLost).map(({ engine_id }) => engine_id),
  )
  const stranded = state.sources
    .filter(({ isAutomatic, engine_id }) => isAutomatic && lost.has(engine_id))
    .toSorted((a, b) => board.estimate(b) - board.estimate(a) || compare(a.source_id, b.source_id))
  const moves: PlacementPlan['moves'] = []
  const unplaced: PlacementPlan['unplaced'] = []
  for (const source of stranded) {
    const target = chooseEngine(board, source)
    if (target) {
      moves.push(move(board, source, target, 'its engine is unreachable'))
    } else {
      unplaced.push(
        toUnplaced(source, 'no other engine serves its site and has enough free capacity'),
      )
    }
  }
  return toPlan(state, board, moves, unplaced)
}

/**
 * Plans a better distribution: spreads the sources of sites that ask for it, then
 * evens out the loads.
 */
export function planRebalance(state: PlacementState): PlacementPlan {
  const failover = planFailover(state)
  const board = createBoard(state)
  const moves: PlacementPlan['moves'] = []
  const movedIds = new Set<string>()
  const apply = (source: PlacementSource, target: PlacementEngine, reason: string) => {
    moves.push(move(board, source, target, reason))
    movedIds.add(source.source_id)
  }
  const sourcesById = new Map(state.sources.map(source => [source.source_id, source]))
  const enginesById = new Map(state.engines.map(engine => [engine.engine_id, engine]))
  for (const { source_id: sourceId, to_engine_id: toEngineId, reason } of failover.moves) {
    apply(sourcesById.get(sourceId)!, enginesById.get(toEngineId)!, reason)
  }

  // Every round moves a source, and none twice, so that the plan ends.
  const movable = () =>
    state.sources.filter(({ source_id, isAutomatic }) => isAutomatic && !movedIds.has(source_id))
  for (let next = findSpread(board, movable()); next; next = findSpread(board, movable())) {
    apply(next.source, next.target, 'the sources of its site are distributed over the engines')
  }
  for (let next = findRelief(board, movable()); next; next = findRelief(board, movable())) {
    apply(next.source, next.target, 'the other engine has more free capacity')
  }
  return toPlan(state, board, moves, failover.unplaced)
}

/**
 * Chooses the engine for a new source. Undefined if no engine serves its site and has
 * enough free capacity.
 */
export const planNewSource = (
  state: PlacementState,
  source: PlacementSource,
): PlacementEngine | undefined => chooseEngine(createBoard(state), source)

/**
 * Returns the engine with the fewest sources of the site, if those are to be spread, and else with
 * the most free capacity.
 */
function chooseEngine(board: Board, source: PlacementSource): PlacementEngine | undefined {
  const candidates = board.engines.filter(
    engine => isEligible(engine, source) && hasRoom(board, engine, board.estimate(source)),
  )
  const rank = (engine: PlacementEngine) => [
    source.isSpread ? board.countOfSite(engine.engine_id, source.site_id) : 0,
    getShare(board, engine),
    board.countSources(engine.engine_id),
  ]
  return candidates.toSorted(
    (a, b) => compareRanks(rank(a), rank(b)) || compare(a.engine_id, b.engine_id),
  )[0]
}

/**
 * Finds a source of a site whose sources are to be spread, and an engine with at least two
 * sources of this site fewer.
 */
function findSpread(board: Board, movable: readonly PlacementSource[]) {
  for (const source of movable) {
    if (!source.isSpread) continue
    const target = chooseEngine(board, source)
    const from = board.places.get(source.source_id)!
    const count = (engineId: string) => board.countOfSite(engineId, source.site_id)
    if (target && count(from) - count(target.engine_id) >= 2) return { source, target }
  }
  return undefined
}

/**
 * Finds the source whose move relieves a full engine the most, without making another one as full.
 */
function findRelief(board: Board, movable: readonly PlacementSource[]) {
  let best: { source: PlacementSource; target: PlacementEngine; gain: number } | undefined
  const shares = new Map(board.engines.map(engine => [engine.engine_id, getShare(board, engine)]))
  const enginesById = new Map(board.engines.map(engine => [engine.engine_id, engine]))
  for (const source of movable) {
    const from = enginesById.get(board.places.get(source.source_id)!)
    if (!from?.cores) continue
    const share = shares.get(from.engine_id)!
    const cost = board.estimate(source)
    for (const target of board.engines) {
      if (target === from || !target.cores) continue
      const targetShare = shares.get(target.engine_id)!
      const gain = share - Math.max(targetShare + cost / target.cores, share - cost / from.cores)
      const isWorthwhile = gain >= MIN_GAIN || share - targetShare >= MIN_DIFFERENCE
      if (!isWorthwhile || gain <= (best?.gain ?? MIN_COST)) continue
      const count = ({ engine_id }: PlacementEngine) => board.countOfSite(engine_id, source.site_id)
      if (source.isSpread && count(target) >= count(from)) continue
      if (isEligible(target, source) && hasRoom(board, target, cost)) {
        best = { source, target, gain }
      }
    }
  }
  return best
}

function createBoard(state: PlacementState): Board {
  const estimate = createCostEstimate(state)
  const places = new Map<string, string>()
  const used = new Map(state.engines.map(({ engine_id, otherLoad }) => [engine_id, otherLoad]))
  /** The sources by engine, and by engine and site. */
  const counts = new Map<string, number>()
  const toSiteKey = (engineId: string, siteId: string) => `${engineId} ${siteId}`

  function count(source: PlacementSource, engineId: string, change: 1 | -1) {
    used.set(engineId, (used.get(engineId) ?? 0) + change * estimate(source))
    for (const key of [engineId, toSiteKey(engineId, source.site_id)]) {
      counts.set(key, (counts.get(key) ?? 0) + change)
    }
  }

  function place(source: PlacementSource, engineId: string) {
    const previous = places.get(source.source_id)
    if (previous !== undefined) count(source, previous, -1)
    count(source, engineId, 1)
    places.set(source.source_id, engineId)
  }

  for (const source of state.sources) place(source, source.engine_id)
  return {
    engines: state.engines,
    places,
    estimate,
    place,
    getUsed: engineId => used.get(engineId) ?? 0,
    countOfSite: (engineId, siteId) => counts.get(toSiteKey(engineId, siteId)) ?? 0,
    countSources: engineId => counts.get(engineId) ?? 0,
  }
}

const hasRoom = (board: Board, { engine_id: engineId, cores }: PlacementEngine, cost: number) =>
  cores === undefined || board.getUsed(engineId) + cost <= cores

/** The share of the capacity that is used. */
const getShare = (board: Board, { engine_id, cores }: PlacementEngine) =>
  board.getUsed(engine_id) / (cores || 1)

function move(
  board: Board,
  source: PlacementSource,
  target: PlacementEngine,
  reason: string,
): PlacementPlan['moves'][number] {
  const { source_id: sourceId, source_name: sourceName } = source
  const fromEngineId = board.places.get(sourceId)!
  board.place(source, target.engine_id)
  const cores = round(board.estimate(source))
  return {
    source_id: sourceId,
    source_name: sourceName,
    from_engine_id: fromEngineId,
    to_engine_id: target.engine_id,
    cores,
    reason,
  }
}

const toUnplaced = ({ source_id, source_name, engine_id }: PlacementSource, reason: string) => ({
  source_id,
  source_name,
  engine_id,
  reason,
})

function toPlan(
  state: PlacementState,
  board: Board,
  moves: PlacementPlan['moves'],
  unplaced: PlacementPlan['unplaced'],
): PlacementPlan {
  const before = createBoard(state)
  const engines = state.engines.map(
    ({ engine_id: engineId, engine_name: engineName, isAvailable, cores }) => ({
      engine_id: engineId,
      engine_name: engineName,
      is_available: isAvailable,
      cores: cores ?? null,
      used: round(before.getUsed(engineId)),
      used_after: round(board.getUsed(engineId)),
    }),
  )
  return { moves, unplaced, engines }
}

const round = (cores: number) => Math.round(cores * 1000) / 1000
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

function compareRanks(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((value, position) => value !== b[position])
  return index < 0 ? 0 : a[index]! - b[index]!
}
