import type { Configuration, Sink } from '@eyrie/contract'
import { syntaxError } from '@eyrie/contract/parse'
import { parseInternalSinkAddress, parseInternalSourceAddress } from '@eyrie/contract/zmq-messages'
import { parseVideoAddress } from '../../sinks/video/video-address.ts'

/**
 * Checks of the configuration as a whole: a pipeline must not read its own results, and two sinks
 * must not write to the same target. Pipelines of one engine pass results to each other through
 * internal endpoints, such as `inproc://name`.
 */

type ConnectedResources = Pick<Configuration, 'sources' | 'sinks' | 'pipelines'>

/** The names of the internal endpoints that a pipeline reads from and writes to. */
interface PipelineEndpoints {
  inputs: Set<string>
  outputs: Set<string>
}

/**
 * Throws `EyrieError` (`syntax`) if a pipeline would read its own results, directly or
 * through other pipelines. `locateSinks` returns the JSON pointer to the sinks of a pipeline
 * in the request body.
 */
export function assertNoFeedbackLoop(
  resources: ConnectedResources,
  locateSinks: (pipelineId: number) => string,
): void {
  const endpointsByPipeline = listEndpoints(resources)
  for (const [pipelineId, { outputs }] of endpointsByPipeline) {
    const readsOwnResults = findDownstream(outputs, endpointsByPipeline).has(pipelineId)
    if (!readsOwnResults) continue

    const addresses = [...outputs].map(name => `inproc://${name}`).join(', ')
    throw syntaxError(
      locateSinks(pipelineId),
      `pipeline ${pipelineId} would read its own results from ${addresses}: use different names for source and sink`,
    )
  }
}

/** Returns the internal endpoints of each pipeline, by its id. */
function listEndpoints({
  sources,
  sinks,
  pipelines,
}: ConnectedResources): Map<number, PipelineEndpoints> {
  const endpointBySource = new Map<number, string>()
  for (const { id, type, address } of sources) {
    if (type !== 'zmqinternal') continue
    const url = typeof address === 'string' ? address : address.url
    endpointBySource.set(id, parseInternalSourceAddress(url).endpoint)
  }

  const endpointBySink = new Map<number, string>()
  for (const { id, type, address } of sinks) {
    if (type === 'zmqinternal') endpointBySink.set(id, parseInternalSinkAddress(address).endpoint)
  }

  const endpointsByPipeline = new Map<number, PipelineEndpoints>()
  for (const pipeline of pipelines) {
    endpointsByPipeline.set(pipeline.id, {
      inputs: new Set(pipeline.sources.flatMap(id => endpointBySource.get(id) ?? [])),
      outputs: new Set(pipeline.sinks.flatMap(id => endpointBySink.get(id) ?? [])),
    })
  }
  return endpointsByPipeline
}

/**
 * Returns the ids of all pipelines that read results from these endpoints, directly or through
 * other pipelines.
 */
function findDownstream(
  names: ReadonlySet<string>,
  endpointsByPipeline: ReadonlyMap<number, PipelineEndpoints>,
): Set<number> {
  const downstream = new Set<number>()
  // Iterating a `Set` also visits the names that are added during the loop.
  const reached = new Set(names)
  for (const name of reached) {
    for (const [readerId, { inputs, outputs }] of endpointsByPipeline) {
      if (!inputs.has(name)) continue
      downstream.add(readerId)
      for (const output of outputs) reached.add(output)
    }
  }
  return downstream
}

/**
 * Throws `EyrieError` (`syntax`) if two sinks would record to the same file or host the same
 * stream. `locateSink` returns the JSON pointer to a sink in the request body.
 */
export function assertDistinctSinkTargets(
  sinks: readonly Sink[],
  locateSink: (sinkId: number) => string,
): void {
  const sinkIdByTarget = new Map<string, number>()
  for (const sink of [...sinks].sort((a, b) => a.id - b.id)) {
    const target = findExclusiveTarget(sink)
    if (target === undefined) continue

    const otherId = sinkIdByTarget.get(target)
    if (otherId !== undefined) {
      throw syntaxError(
        locateSink(sink.id),
        `sink ${otherId} already writes to ${target}: use another address or connect that sink`,
      )
    }
    sinkIdByTarget.set(target, sink.id)
  }
}

/**
 * Returns the path of the file, such as `/folder/name.mp4`, or the address of the stream, such as
 * `stream://name`, if this sink must be the only one to write to it.
 */
function findExclusiveTarget({ type, address }: Sink): string | undefined {
  if (type === 'video') return parseVideoAddress(address).path
  return type === 'hosted_video' ? address : undefined
}
