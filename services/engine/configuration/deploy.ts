import type { Deployment, Pipeline, Sink, Source, SourceInput } from '@eyrie/contract'
import { pointer, syntaxError } from '@eyrie/contract/parse'
import type { Catalog } from '../ports.ts'
import { checkSinkAddress, checkSourceAddress, type Roots } from './addresses.ts'
import { canonical } from './canonical.ts'
import { checkElements } from './pipelines.ts'
import { hideSecrets, keepSecrets } from './secrets.ts'
import { renameSources } from './source-keys.ts'
import type { State } from './state.ts'

/**
 * The state that a deployment describes. What equals something that is there keeps its id, so that it goes on running.
 * Keys of configs and filters of sinks are positions in the `sources` of their object and become ids.
 */
export async function deploy(
  state: State,
  deployment: Deployment,
  roots: Roots,
  catalog: Catalog,
): Promise<State> {
  await check(deployment, roots, catalog)
  const sources = identify<Source>(state.sources, state.next.source)
  const sinks = identify<Sink>(state.sinks, state.next.sink)
  const pipelines = deployment.map((object, index) => {
    const ids = object.sources.map((source, position) =>
      sources.idOf(withSecrets(source, state.sources, `/${index}/sources/${position}/address`)),
    )
    return {
      ...object,
      elements: renameSources(object.elements, catalog, position => ids[position]),
      sources: unique(ids),
      sinks: unique(
        object.sinks.map(sink => sinks.idOf({ ...sink, filter: unique(sink.filter.map(p => ids[p]!)) })),
      ),
    }
  })
  const identified = identifyPipelines(pipelines, state.pipelines, state.next.pipeline)
  const kept = new Set(sources.all().map(source => source.id))
  return {
    ...state,
    next: { ...state.next, source: sources.next(), sink: sinks.next(), pipeline: identified.next },
    sources: sources.all(),
    sinks: sinks.all(),
    pipelines: identified.all,
    ended: state.ended.filter(id => kept.has(id)),
  }
}

async function check(deployment: Deployment, roots: Roots, catalog: Catalog): Promise<void> {
  for (const [index, { sources, sinks, elements }] of deployment.entries()) {
    const exists = (position: number) => position < sources.length
    for (const [n, { type, address }] of sources.entries())
      await checkSourceAddress(type, address, pointer([index, 'sources', n, 'address']), roots)
    for (const [n, { type, address, filter }] of sinks.entries()) {
      await checkSinkAddress(type, address, pointer([index, 'sinks', n, 'address']), roots)
      const wrong = filter.findIndex(position => !exists(position))
      if (wrong >= 0)
        throw syntaxError(
          pointer([index, 'sinks', n, 'filter', wrong]),
          'there is no source at this position',
        )
    }
    checkElements(elements, catalog, `/${index}/elements`, exists)
  }
}

/** A source whose secrets were sent as `***` takes them from the stored source that looks the same. */
function withSecrets(input: SourceInput, stored: Source[], at: string): SourceInput {
  const look = canonical(input)
  const same = stored.find(
    ({ id, ...source }) => canonical(withoutId(hideSecrets({ id, ...source }))) === look,
  )
  return { ...input, address: keepSecrets(input.address, same?.address, at) }
}

/** Gives each object the id of an equal one that is there, or a new one; equal objects get the same. */
function identify<Stored extends { id: number }>(present: Stored[], firstFree: number) {
  const free = new Map(present.map(stored => [canonical(withoutId(stored)), stored]))
  const taken = new Map<string, Stored>()
  let next = firstFree
  return {
    idOf: (wanted: Omit<Stored, 'id'>): number => {
      const key = canonical(wanted)
      const known = taken.get(key) ?? free.get(key) ?? ({ id: next++, ...wanted } as Stored)
      taken.set(key, known)
      return known.id
    },
    all: () => [...taken.values()],
    next: () => next,
  }
}

/** As for sources, but equal pipelines stay two; one with other sources or sinks is still the same by its elements. */
function identifyPipelines(wanted: Omit<Pipeline, 'id'>[], present: Pipeline[], firstFree: number) {
  const ids = new Map<Omit<Pipeline, 'id'>, number>()
  for (const likeness of [whole, byElements]) {
    const taken = new Set(ids.values())
    const free = Map.groupBy(
      present.filter(({ id }) => !taken.has(id)),
      likeness,
    )
    for (const pipeline of wanted.filter(pipeline => !ids.has(pipeline))) {
      const same = free.get(likeness(pipeline))?.shift()
      if (same) ids.set(pipeline, same.id)
    }
  }
  let next = firstFree
  const all = wanted.map(pipeline => ({ id: ids.get(pipeline) ?? next++, ...pipeline }))
  return { all, next }
}

const whole = ({ elements, sources, sinks }: Omit<Pipeline, 'id'>) => canonical({ elements, sources, sinks })
const byElements = ({ elements }: Omit<Pipeline, 'id'>) => canonical(elements)

function withoutId<Stored extends { id: number }>({ id: _, ...rest }: Stored): Omit<Stored, 'id'> {
  return rest
}

const unique = (ids: number[]) => [...new Set(ids)]
