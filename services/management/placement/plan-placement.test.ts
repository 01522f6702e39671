import { describe, expect, it } from 'vitest'
import type { PlacementEngine, PlacementSource } from './placement-state.ts'
import { planFailover, planNewSource, planRebalance } from './plan-placement.ts'

const engine = (engineId: string, more: Partial<PlacementEngine> = {}): PlacementEngine => ({
  engine_id: engineId,
  engine_name: engineId,
  isAvailable: true,
  isLost: false,
  cores: 4,
  otherLoad: 0,
  organization_id: null,
  site_ids: [],
  ...more,
})
const lost = { isAvailable: false, isLost: true }

const source = (
  sourceId: string,
  engineId: string,
  more: Partial<PlacementSource> = {},
): PlacementSource => ({
  source_id: sourceId,
  source_name: sourceId,
  engine_id: engineId,
  site_id: 'yard',
  organization_id: 'own',
  isAutomatic: true,
  isSpread: false,
  cores: 1,
  ...more,
})

const toMoves = ({ moves }: ReturnType<typeof planFailover>) =>
  moves.map(({ source_id, to_engine_id }) => `${source_id} to ${to_engine_id}`)

type Case = [string, PlacementEngine[], PlacementSource[], string[]]

describe('the plan for lost engines', () => {
  it.each<Case>([
    [
      'moves nothing while all engines are there',
      [engine('a'), engine('b')],
      [source('1', 'a')],
      [],
    ],
    [
      'moves the sources to the other engine',
      [engine('a', lost), engine('b')],
      [source('1', 'a')],
      ['1 to b'],
    ],
    [
      'moves nothing of an engine that is unreachable for a shorter time',
      [engine('a', { isAvailable: false }), engine('b')],
      [source('1', 'a')],
      [],
    ],
    [
      'leaves pinned sources where they are',
      [engine('a', lost), engine('b')],
      [source('1', 'a', { isAutomatic: false })],
      [],
    ],
    [
      'chooses the engine with the most free capacity for each',
      [engine('a', lost), engine('b', { cores: 4, otherLoad: 2 }), engine('c', { cores: 4 })],
      [source('1', 'a', { cores: 1.5 }), source('2', 'a'), source('3', 'a', { cores: 0.5 })],
      ['1 to c', '2 to c', '3 to b'],
    ],
    [
      'considers that engines have capacities of their own',
      [
        engine('a', lost),
        engine('b', { cores: 2, otherLoad: 1 }),
        engine('c', { cores: 8, otherLoad: 3 }),
      ],
      [source('1', 'a')],
      ['1 to c'],
    ],
    [
      'moves nothing to an engine without enough capacity',
      [engine('a', lost), engine('b', { cores: 1.5, otherLoad: 1 })],
      [source('1', 'a')],
      [],
    ],
    [
      'assumes the mean of the others for what was not measured',
      [engine('a', lost), engine('b', { cores: 2.5 })],
      [source('1', 'a', { cores: 2 }), source('2', 'a', { cores: undefined })],
      ['1 to b'],
    ],
    [
      'distributes sources that were not measured',
      [engine('a', lost), engine('b'), engine('c')],
      ['1', '2', '3', '4'].map(id => source(id, 'a', { cores: undefined })),
      ['1 to b', '2 to c', '3 to b', '4 to c'],
    ],
    [
      'accepts an engine that does not report its capacity',
      [engine('a', lost), engine('b', { cores: undefined })],
      [source('1', 'a')],
      ['1 to b'],
    ],
    [
      'chooses only engines that serve the site',
      [
        engine('a', lost),
        engine('b', { site_ids: ['other'] }),
        engine('c', { site_ids: ['yard'], otherLoad: 2 }),
      ],
      [source('1', 'a')],
      ['1 to c'],
    ],
    [
      'chooses no engine of another organization',
      [engine('a', lost), engine('b', { organization_id: 'foreign' })],
      [source('1', 'a')],
      [],
    ],
    [
      'distributes a site that is spread, even to fuller engines',
      [engine('a', lost), engine('b', { otherLoad: 1 }), engine('c')],
      ['1', '2'].map(id => source(id, 'a', { isSpread: true, cores: 0.1 })),
      ['1 to c', '2 to b'],
    ],
  ])('%s', (_, engines, sources, moves) => {
    expect(toMoves(planFailover({ engines, sources }))).toEqual(moves)
  })

  it('names the sources that fit nowhere, and shows the loads', () => {
    const engines = [engine('a', lost), engine('b', { cores: 1, otherLoad: 0.5 })]
    const plan = planFailover({
      engines,
      sources: [source('1', 'a'), source('2', 'a', { cores: 0.25 })],
    })
    expect(plan.unplaced).toMatchObject([
      { source_id: '1', reason: expect.stringContaining('free capacity') },
    ])
    expect(plan.engines).toMatchObject([
      { engine_id: 'a', is_available: false, used: 1.25, used_after: 1 },
      { engine_id: 'b', is_available: true, used: 0.5, used_after: 0.75 },
    ])
  })
})

describe('the plan for a better distribution', () => {
  it.each<Case>([
    [
      'moves nothing if the loads are even',
      [engine('a'), engine('b')],
      [source('1', 'a'), source('2', 'b')],
      [],
    ],
    [
      'moves sources to an engine that has joined until the loads are even',
      [engine('a'), engine('b')],
      ['1', '2', '3', '4'].map(id => source(id, 'a', { cores: 0.9 })),
      ['1 to b', '2 to b'],
    ],
    [
      'moves small sources, too, as long as the loads differ much',
      [engine('a'), engine('b')],
      Array.from({ length: 8 }, (_, n) => source(String(n), 'a', { cores: 0.3 })),
      ['0 to b', '1 to b', '2 to b'],
    ],
    [
      'leaves pinned sources where they are',
      [engine('a'), engine('b')],
      [
        source('1', 'a', { isAutomatic: false }),
        source('2', 'a', { isAutomatic: false }),
        source('3', 'a'),
      ],
      ['3 to b'],
    ],
    [
      'moves nothing for a small gain',
      [engine('a', { cores: 16 }), engine('b', { cores: 16 })],
      [source('1', 'a', { cores: 0.5 }), source('2', 'a', { cores: 0.5 })],
      [],
    ],
    [
      'distributes a site that is spread',
      [engine('a', { cores: 16 }), engine('b', { cores: 16 }), engine('c', { cores: 16 })],
      ['1', '2', '3'].map(id => source(id, 'a', { isSpread: true, cores: 0.01 })),
      ['1 to b', '2 to c'],
    ],
    [
      'moves the sources of lost engines first',
      [engine('a', lost), engine('b'), engine('c')],
      [source('1', 'a'), source('2', 'b')],
      ['1 to c'],
    ],
  ])('%s', (_, engines, sources, moves) => {
    expect(toMoves(planRebalance({ engines, sources }))).toEqual(moves)
  })

  it('ends, and proposes nothing more after it was applied a few times', () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      let state = seed
      const random = (limit: number) => {
        state = (state * 48_271) % 2_147_483_647
        return state % limit
      }
      const engines = Array.from({ length: 2 + random(4) }, (_, n) =>
        engine(`e${n}`, { cores: 1 + random(8), otherLoad: random(2) }),
      )
      let sources = Array.from({ length: random(25) }, (_, n) =>
        source(`s${n}`, `e${random(engines.length)}`, {
          cores: random(100) / 100,
          isSpread: random(2) === 0,
          isAutomatic: random(5) > 0,
        }),
      )
      const pinned = sources.filter(({ isAutomatic }) => !isAutomatic)
      for (let round = 0; round < 10; round += 1) {
        const { moves } = planRebalance({ engines, sources })
        if (moves.length === 0) break
        const places = new Map(
          moves.map(({ source_id, to_engine_id }) => [source_id, to_engine_id]),
        )
        sources = sources.map(row => ({
          ...row,
          engine_id: places.get(row.source_id) ?? row.engine_id,
        }))
      }
      expect(planRebalance({ engines, sources }).moves).toEqual([])
      expect(sources.filter(({ isAutomatic }) => !isAutomatic)).toEqual(pinned)
    }
  })
})

describe('the plan for a new source', () => {
  it('chooses the engine with the most free capacity', () => {
    const engines = [engine('a', { otherLoad: 2 }), engine('b', { otherLoad: 1 })]
    expect(planNewSource({ engines, sources: [] }, source('new', 'a'))?.engine_id).toBe('b')
  })

  it('finds none if no engine is available', () => {
    const engines = [engine('a', lost)]
    expect(planNewSource({ engines, sources: [] }, source('new', 'a'))).toBeUndefined()
  })
})
