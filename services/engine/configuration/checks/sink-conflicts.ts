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
  locateSinks: (pipeline: number) => string,
): void {
  const endpoints = listEndpoints(resources)
  for (const [pipeline, { outputs }] of endpoints) {
    if (!findDownstream(pipeline, endpoints).has(pipeline)) continue
    const addresses = [...outputs].map(name => `inproc://${name}`).join(', ')
    throw syntaxError(
      locateSinks(pipeline),
      `pipeline ${pipeline} would read its own results from ${addresses}: use different names for source and sink`,
    )
  }
}

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

  const endpoints = new Map<number, PipelineEndpoints>()
  for (const pipeline of pipelines) {
    endpoints.set(pipeline.id, {
      inputs: new Set(pipeline.sources.flatMap(id => endpointBySource.get(id) ?? [])),
      outputs: new Set(pipeline.sinks.flatMap(id => endpointBySink.get(id) ?? [])),
    })
  }
  return endpoints
}

/**
 * Returns the ids of all pipelines that receive results of this pipeline, directly or
 * through other pipelines.
 */
function findDownstream(pipeline: number, endpoints: Map<number, PipelineEndpoints>): Set<number> {
  const downstream = new Set<number>()
  // The loop also visits the pipelines that it appends.
  const pending = [pipeline]
  for (const id of pending) {
    const { outputs } = endpoints.get(id)!
    for (const [reader, { inputs }] of endpoints) {
      const readsResults = [...inputs].some(name => outputs.has(name))
      if (!readsResults || downstream.has(reader)) continue
      downstream.add(reader)
      pending.push(reader)
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
  locateSink: (sink: number) => string,
): void {
  const sinkByTarget = new Map<string, number>()
  for (const sink of [...sinks].sort((a, b) => a.id - b.id)) {
    const target = findExclusiveTarget(sink)
    if (target === undefined) continue
    const other = sinkByTarget.get(target)
    if (other !== undefined) {
      throw syntaxError(
        locateSink(sink.id),
        `sink ${other} already writes to ${target}: use another address or connect that sink`,
      )
    }
    sinkByTarget.set(target, sink.id)
  }
}

/** Returns the file or stream that this sink writes to, if no other sink can share it. */
function findExclusiveTarget({ type, address }: Sink): string | undefined {
  if (type === 'video') return parseVideoAddress(address).path
  return type === 'hosted_video' ? address : undefined
}
