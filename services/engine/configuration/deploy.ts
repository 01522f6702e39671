import type { Deployment, Sink, Source, SourceInput } from '@eyrie/contract'
import { pointer, syntaxError } from '@eyrie/contract/parse'
import type { Catalog } from '../ports.ts'
import { checkSinkAddress, checkSourceAddress, type Roots } from './addresses.ts'
import { canonical } from './canonical.ts'
import { identify, identifyPipelines, withoutId } from './identify.ts'
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
  const withSecrets = createSecretKeeper(state.sources)
  const sources = identify<Source>(state.sources, state.next.source)
  const sinks = identify<Sink>(state.sinks, state.next.sink)
  const pipelines = deployment.map((object, index) => {
    const ids = object.sources.map((source, position) =>
      sources.idOf(withSecrets(source, `/${index}/sources/${position}/address`)),
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

/** Puts stored secrets in place of `***`: those of the stored source that looks the same. */
function createSecretKeeper(stored: Source[]) {
  const byLook = new Map(stored.map(source => [canonical(withoutId(hideSecrets(source))), source.address]))
  return (input: SourceInput, at: string): SourceInput => ({
    ...input,
    address: keepSecrets(input.address, byLook.get(canonical(input)), at),
  })
}

const unique = (ids: number[]) => [...new Set(ids)]
