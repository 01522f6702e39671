import type {
  Deployment,
  PipelineInput,
  Recording,
  Sink,
  SinkInput,
  Source,
  SourceInput,
} from '@eyrie/contract'
import { syntaxError, toJsonPointer } from '@eyrie/contract/parse'
import type { Catalog } from '../catalog/catalog.ts'
import { hideSecrets, restoreSecrets } from './checks/address-secrets.ts'
import { checkSinkAddress, checkSourceAddress, type Roots } from './checks/addresses.ts'
import { assertDistinctSinkTargets, assertNoFeedbackLoop } from './checks/sink-conflicts.ts'
import { mapSourceKeys } from './checks/source-keys.ts'
import type { ConfigurationState } from './configuration-state.ts'
import { assignPipelineIds, canonicalJson, createIdAssigner } from './entity-identity.ts'
import { checkElements } from './pipeline-definition.ts'

/**
 * Whether a deployment replaces the recording settings of its sources, or keeps the stored ones.
 * Deployments of v1 and v2 of the API keep them, because sources have no recording settings there.
 */
export type RecordingPolicy = 'replace' | 'keep'

export interface DeploymentContext {
  roots: Roots
  catalog: Catalog
  /** Defaults to `replace`. */
  recordingPolicy?: RecordingPolicy | undefined
}

/**
 * Replaces the whole configuration by a deployment: a list of objects, each with the sources, sinks
 * and elements of one pipeline. Sources, sinks and pipelines that equal stored ones keep their ids,
 * so their channels continue to run.
 *
 * The sources in a deployment have no ids. Element configs and sink filters refer to a source by
 * its position in the object. The positions are replaced by ids here. Throws `EyrieError`
 * (`syntax`) at the invalid place.
 */
export async function applyDeployment(
  state: ConfigurationState,
  deployment: Deployment,
  { roots, catalog, recordingPolicy = 'replace' }: DeploymentContext,
): Promise<ConfigurationState> {
  await checkDeployment(deployment, roots, catalog)
  const sources = createSourceAssigner(state, recordingPolicy)
  const sinks = createSinkAssigner(state)

  const pipelineInputs = deployment.map((object, index): PipelineInput => {
    const sourceIds = object.sources.map((source, position) =>
      sources.assign(source, `/${index}/sources/${position}/address`),
    )
    const toSourceId = (position: number) => sourceIds[position]!
    const sinkIds = object.sinks.map((sink, position) => {
      const filter = removeDuplicates(sink.filter.map(toSourceId))
      return sinks.assign({ ...sink, filter }, `/${index}/sinks/${position}/address`)
    })

    return {
      ...object,
      elements: mapSourceKeys(object.elements, catalog, toSourceId, `/${index}/elements`),
      sources: removeDuplicates(sourceIds),
      sinks: removeDuplicates(sinkIds),
    }
  })

  const { pipelines, nextId } = assignPipelineIds(
    pipelineInputs,
    state.pipelines,
    state.next.pipeline,
  )
  const deployedSources = sources.list()
  const deployed = {
    ...state,
    next: { ...state.next, source: sources.nextId(), sink: sinks.nextId(), pipeline: nextId },
    sources: deployedSources,
    sinks: sinks.list(),
    pipelines,
    ended: state.ended.filter(endedId => deployedSources.some(({ id }) => id === endedId)),
  }
  assertNoConflicts(deployed)
  return deployed
}

/** Throws `EyrieError` (`syntax`) at the first invalid address, filter or element. */
async function checkDeployment(
  deployment: Deployment,
  roots: Roots,
  catalog: Catalog,
): Promise<void> {
  for (const [index, { sources, sinks, elements }] of deployment.entries()) {
    const isSourcePosition = (position: number) => position < sources.length

    for (const [position, source] of sources.entries()) {
      const pointer = toJsonPointer([index, 'sources', position, 'address'])
      await checkSourceAddress(source, pointer, roots)
    }

    for (const [position, sink] of sinks.entries()) {
      const pointer = toJsonPointer([index, 'sinks', position, 'address'])
      await checkSinkAddress(sink, pointer, roots)

      const invalidIndex = sink.filter.findIndex(source => !isSourcePosition(source))
      if (invalidIndex >= 0) {
        throw syntaxError(
          toJsonPointer([index, 'sinks', position, 'filter', invalidIndex]),
          `source position ${sink.filter[invalidIndex]} does not exist: the object has ${sources.length} sources`,
        )
      }
    }

    const positions = sources.length === 1 ? 'position 0' : `positions 0 to ${sources.length - 1}`
    const description = `the keys of a deployed config are positions in sources, here ${positions}`
    checkElements(elements, catalog, `/${index}/elements`, { has: isSourcePosition, description })
  }
}

/**
 * Assigns ids to sources. Recording settings are ignored in the comparison with stored sources: a
 * source whose recording settings change keeps its id, so that its channels continue to run.
 */
function createSourceAssigner(state: ConfigurationState, recordingPolicy: RecordingPolicy) {
  const withoutRecording = ({ recording: _, ...source }: Source) => source
  const ids = createIdAssigner(state.sources.map(withoutRecording), state.next.source)
  const restoreStoredSecrets = createSecretRestorer(state.sources)

  const recordings = new Map<number, Recording>()
  if (recordingPolicy === 'keep') {
    for (const { id, recording } of state.sources) {
      if (recording) recordings.set(id, recording)
    }
  }

  return {
    assign: ({ recording, ...source }: SourceInput, path: string): number => {
      const id = ids.assign(restoreStoredSecrets(source, path))
      if (recording) recordings.set(id, recording)
      return id
    },
    list: () =>
      ids.list().map((source): Source => {
        const recording = recordings.get(source.id)
        return recording ? { ...source, recording } : source
      }),
    nextId: ids.nextId,
  }
}

/** Assigns ids to sinks. */
function createSinkAssigner(state: ConfigurationState) {
  const ids = createIdAssigner<Sink>(state.sinks, state.next.sink)
  const restoreStoredSecrets = createSecretRestorer(state.sinks)
  return {
    assign: (sink: SinkInput, path: string): number => ids.assign(restoreStoredSecrets(sink, path)),
    list: ids.list,
    nextId: ids.nextId,
  }
}

/**
 * Returns a function that replaces each `***` in the address of a source or sink by the stored
 * secret. The stored address is found by the type and the address without secrets, because the
 * sources and sinks of a deployment have no ids.
 */
function createSecretRestorer(stored: (Source | Sink)[]) {
  const toKey = ({ type, address }: Pick<Source | Sink, 'type' | 'address'>) =>
    canonicalJson({ type, address })
  const storedAddresses = new Map(
    stored.map(resource => [toKey(hideSecrets(resource)), resource.address]),
  )
  return <Input extends SourceInput | SinkInput>(input: Input, path: string): Input => ({
    ...input,
    address: restoreSecrets(input.address, storedAddresses.get(toKey(input)), path),
  })
}

/** Throws `EyrieError` (`syntax`) if pipelines or sinks conflict. */
function assertNoConflicts(deployed: ConfigurationState): void {
  const { pipelines, sinks } = deployed
  // An object of the deployment has the same position as its pipeline.
  const toPointer = (position: number) => `/${position}/sinks`
  assertDistinctSinkTargets(sinks, sink =>
    toPointer(pipelines.findIndex(pipeline => pipeline.sinks.includes(sink))),
  )
  assertNoFeedbackLoop(deployed, id =>
    toPointer(pipelines.findIndex(pipeline => pipeline.id === id)),
  )
}

const removeDuplicates = (ids: number[]) => [...new Set(ids)]
