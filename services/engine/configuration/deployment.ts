import type { Deployment, Recording, Sink, SinkInput, Source, SourceInput } from '@eyrie/contract'
import { syntaxError, toJsonPointer } from '@eyrie/contract/parse'
import type { Catalog } from '../catalog/catalog.ts'
import { hideSecrets, restoreSecrets } from './checks/address-secrets.ts'
import { checkSinkAddress, checkSourceAddress, type Roots } from './checks/addresses.ts'
import { assertDistinctSinkTargets, assertNoFeedbackLoop } from './checks/sink-conflicts.ts'
import { mapSourceKeys } from './checks/source-keys.ts'
import type { ConfigurationState } from './configuration-state.ts'
import { assignPipelineIds, canonicalJson, createIdAssigner } from './entity-identity.ts'
import { checkElements } from './pipeline-definition.ts'

/** Whether a deployment replaces the recording settings of its sources, or keeps the stored ones (v1 and v2). */
export type RecordingPolicy = 'replace' | 'keep'

/**
 * The configuration that results from a deployment. Objects that equal stored ones keep their ids and continue to run.
 * In the deployment, keys of configs and filters of sinks are positions in the `sources` of the same object; they are
 * replaced by ids. Throws `EyrieError` (`syntax`) at the invalid place.
 */
export async function applyDeployment(
  state: ConfigurationState,
  deployment: Deployment,
  roots: Roots,
  catalog: Catalog,
  recordingPolicy: RecordingPolicy = 'replace',
): Promise<ConfigurationState> {
  await checkDeployment(deployment, roots, catalog)
  const restoreSourceSecrets = createSecretRestorer(state.sources)
  const restoreSinkSecrets = createSecretRestorer(state.sinks)

  // Recording settings are compared separately: changing them must not restart the channels of a source.
  const sourceIds = createIdAssigner(state.sources.map(withoutRecording), state.next.source)
  const sinkIds = createIdAssigner<Sink>(state.sinks, state.next.sink)
  const recordings = new Map<number, Recording>()
  if (recordingPolicy === 'keep')
    for (const { id, recording } of state.sources) if (recording) recordings.set(id, recording)

  const pipelineContents = deployment.map((object, index) => {
    const sources = object.sources.map(({ recording, ...source }, position) => {
      const id = sourceIds.assign(restoreSourceSecrets(source, `/${index}/sources/${position}/address`))
      if (recording) recordings.set(id, recording)
      return id
    })
    const sinks = object.sinks.map((sink, position) =>
      sinkIds.assign({
        ...restoreSinkSecrets(sink, `/${index}/sinks/${position}/address`),
        filter: unique(sink.filter.map(source => sources[source]!)),
      }),
    )
    return {
      ...object,
      elements: mapSourceKeys(object.elements, catalog, position => sources[position], `/${index}/elements`),
      sources: unique(sources),
      sinks: unique(sinks),
    }
  })
  const { pipelines, nextId } = assignPipelineIds(pipelineContents, state.pipelines, state.next.pipeline)

  const sources = sourceIds.all().map((source): Source => {
    const recording = recordings.get(source.id)
    return recording ? { ...source, recording } : source
  })
  const deployedIds = new Set(sources.map(source => source.id))
  const deployed = {
    ...state,
    next: { ...state.next, source: sourceIds.nextId(), sink: sinkIds.nextId(), pipeline: nextId },
    sources,
    sinks: sinkIds.all(),
    pipelines,
    ended: state.ended.filter(id => deployedIds.has(id)),
  }
  assertDistinctSinkTargets(
    deployed.sinks,
    sink => `/${pipelines.findIndex(({ sinks }) => sinks.includes(sink))}/sinks`,
  )
  assertNoFeedbackLoop(deployed, pipeline => `/${pipelines.findIndex(({ id }) => id === pipeline)}/sinks`)
  return deployed
}

async function checkDeployment(deployment: Deployment, roots: Roots, catalog: Catalog): Promise<void> {
  for (const [index, { sources, sinks, elements }] of deployment.entries()) {
    const isSource = (position: number) => position < sources.length
    for (const [position, { type, address }] of sources.entries())
      await checkSourceAddress(type, address, toJsonPointer([index, 'sources', position, 'address']), roots)
    for (const [position, { type, address, filter }] of sinks.entries()) {
      await checkSinkAddress(type, address, toJsonPointer([index, 'sinks', position, 'address']), roots)
      const invalid = filter.findIndex(source => !isSource(source))
      if (invalid >= 0)
        throw syntaxError(
          toJsonPointer([index, 'sinks', position, 'filter', invalid]),
          `there is no source at position ${filter[invalid]}`,
        )
    }
    checkElements(elements, catalog, `/${index}/elements`, isSource)
  }
}

/** Replaces `***` by the secrets of the stored source or sink with the same type and the same address apart from them. */
function createSecretRestorer(stored: (Source | Sink)[]) {
  const toKey = ({ type, address }: Pick<Source | Sink, 'type' | 'address'>) =>
    canonicalJson({ type, address })
  const addresses = new Map(stored.map(item => [toKey(hideSecrets(item)), item.address]))
  return <Input extends SourceInput | SinkInput>(input: Input, path: string): Input => ({
    ...input,
    address: restoreSecrets(input.address, addresses.get(toKey(input)), path),
  })
}

const withoutRecording = ({ recording: _, ...source }: Source) => source
const unique = (ids: number[]) => [...new Set(ids)]
