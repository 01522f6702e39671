import type { Configuration, Sink } from '@eyrie/contract'
import { syntaxError } from '@eyrie/contract/parse'
import { parseInternalSinkAddress, parseInternalSourceAddress } from '@eyrie/contract/zmq-messages'
import { parseVideoAddress } from '../../sinks/video/video-address.ts'

type ConnectedResources = Pick<Configuration, 'sources' | 'sinks' | 'pipelines'>

/** Names of internal (`inproc://`) endpoints that a pipeline reads from and writes to. */
interface PipelineEndpoints {
  inputs: Set<string>
  outputs: Set<string>
}

/**
 * Throws `EyrieError` (`syntax`) if a pipeline would read its own results, directly or through other pipelines.
 * `locateSinks` returns the JSON pointer to a pipeline's sinks in the body.
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

function listEndpoints({ sources, sinks, pipelines }: ConnectedResources): Map<number, PipelineEndpoints> {
  const inputs = new Map<number, string>()
  for (const { id, type, address } of sources) {
    if (type !== 'zmqinternal') continue
    inputs.set(id, parseInternalSourceAddress(typeof address === 'string' ? address : address.url).endpoint)
  }
  const outputs = new Map<number, string>()
  for (const { id, type, address } of sinks)
    if (type === 'zmqinternal') outputs.set(id, parseInternalSinkAddress(address).endpoint)
  return new Map(
    pipelines.map(pipeline => [
      pipeline.id,
      {
        inputs: new Set(pipeline.sources.flatMap(id => inputs.get(id) ?? [])),
        outputs: new Set(pipeline.sinks.flatMap(id => outputs.get(id) ?? [])),
      },
    ]),
  )
}

/** The ids of all pipelines that receive results of this one. */
function findDownstream(pipeline: number, endpoints: Map<number, PipelineEndpoints>): Set<number> {
  const downstream = new Set<number>()
  const pending = [pipeline]
  for (const id of pending) {
    const { outputs } = endpoints.get(id)!
    for (const [reader, { inputs }] of endpoints) {
      if (downstream.has(reader) || ![...inputs].some(name => outputs.has(name))) continue
      downstream.add(reader)
      pending.push(reader)
    }
  }
  return downstream
}

/**
 * Throws `EyrieError` (`syntax`) if two sinks would record to one file or host one stream.
 * `locateSink` returns the JSON pointer to a sink in the body.
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
    if (other !== undefined)
      throw syntaxError(
        locateSink(sink.id),
        `sink ${other} already writes to ${target}: use another address or connect that sink`,
      )
    sinkByTarget.set(target, sink.id)
  }
}

/** The file or stream that only one sink can write to. */
function findExclusiveTarget({ type, address }: Sink): string | undefined {
  if (type === 'video') return parseVideoAddress(address).path
  return type === 'hosted_video' ? address : undefined
}
