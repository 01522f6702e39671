import type { Deployment, Recording, Sink, SinkInput, Source, SourceInput } from '@eyrie/contract'
import { syntaxError, toJsonPointer } from '@eyrie/contract/parse'
import type { Catalog } from '../catalog/catalog.ts'
import { hideSecrets, keepSecrets } from './checks/address-secrets.ts'
import { checkSinkAddress, checkSourceAddress, type Roots } from './checks/addresses.ts'
import { requireDistinctSinks, requireNoOwnResults } from './checks/sink-conflicts.ts'
import { renameSources } from './checks/source-keys.ts'
import type { State } from './configuration-state.ts'
import { canonical, identify, identifyPipelines } from './entity-identity.ts'
import { checkElements } from './pipeline-kind.ts'

/** Whether a deployment says how its sources are recorded, or cannot say it, so that what is stored is kept. */
export type Recordings = 'said' | 'keep'

/**
 * The state that a deployment describes. What equals something that is there keeps its id, so that it goes on running.
 * Keys of configs and filters of sinks are positions in the `sources` of their object and become ids.
 */
export async function deploy(
  state: State,
  deployment: Deployment,
  roots: Roots,
  catalog: Catalog,
  recordings: Recordings = 'said',
): Promise<State> {
  await check(deployment, roots, catalog)
  const withSecrets = createSecretKeeper(state.sources)
  const withSinkSecrets = createSecretKeeper(state.sinks)
  // Whether it is recorded makes no other source: its channels go on.
  const sources = identify(state.sources.map(unrecorded), state.next.source)
  const recorded = new Map<number, Recording>()
  for (const { id, recording } of state.sources)
    if (recordings === 'keep' && recording) recorded.set(id, recording)
  const sinks = identify<Sink>(state.sinks, state.next.sink)
  const pipelines = deployment.map((object, index) => {
    const ids = object.sources.map(({ recording, ...source }, position) => {
      const id = sources.idOf(withSecrets(source, `/${index}/sources/${position}/address`))
      if (recording) recorded.set(id, recording)
      return id
    })
    return {
      ...object,
      elements: renameSources(object.elements, catalog, position => ids[position], `/${index}/elements`),
      sources: unique(ids),
      sinks: unique(
        object.sinks.map((sink, n) =>
          sinks.idOf({
            ...withSinkSecrets(sink, `/${index}/sinks/${n}/address`),
            filter: unique(sink.filter.map(p => ids[p]!)),
          }),
        ),
      ),
    }
  })
  const identified = identifyPipelines(pipelines, state.pipelines, state.next.pipeline)
  const kept = new Set(sources.all().map(source => source.id))
  const deployed = {
    ...state,
    next: { ...state.next, source: sources.next(), sink: sinks.next(), pipeline: identified.next },
    sources: sources.all().map((source): Source => {
      const recording = recorded.get(source.id)
      return recording ? { ...source, recording } : source
    }),
    sinks: sinks.all(),
    pipelines: identified.all,
    ended: state.ended.filter(id => kept.has(id)),
  }
  requireDistinctSinks(
    deployed.sinks,
    sink => `/${identified.all.findIndex(({ sinks }) => sinks.includes(sink))}/sinks`,
  )
  requireNoOwnResults(deployed, pipeline => `/${identified.all.findIndex(({ id }) => id === pipeline)}/sinks`)
  return deployed
}

async function check(deployment: Deployment, roots: Roots, catalog: Catalog): Promise<void> {
  for (const [index, { sources, sinks, elements }] of deployment.entries()) {
    const exists = (position: number) => position < sources.length
    for (const [n, { type, address }] of sources.entries())
      await checkSourceAddress(type, address, toJsonPointer([index, 'sources', n, 'address']), roots)
    for (const [n, { type, address, filter }] of sinks.entries()) {
      await checkSinkAddress(type, address, toJsonPointer([index, 'sinks', n, 'address']), roots)
      const wrong = filter.findIndex(position => !exists(position))
      if (wrong >= 0)
        throw syntaxError(
          toJsonPointer([index, 'sinks', n, 'filter', wrong]),
          'there is no source at this position',
        )
    }
    checkElements(elements, catalog, `/${index}/elements`, exists)
  }
}

/** Puts stored secrets in place of `***`: those of the stored source or sink whose type and address look the same. */
function createSecretKeeper(stored: (Source | Sink)[]) {
  const look = ({ type, address }: Pick<Source | Sink, 'type' | 'address'>) => canonical({ type, address })
  const byLook = new Map(stored.map(each => [look(hideSecrets(each)), each.address]))
  return <Input extends SourceInput | SinkInput>(input: Input, at: string): Input => ({
    ...input,
    address: keepSecrets(input.address, byLook.get(look(input)), at),
  })
}

const unrecorded = ({ recording: _, ...source }: Source) => source
const unique = (ids: number[]) => [...new Set(ids)]
