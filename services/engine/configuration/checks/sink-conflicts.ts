import type { Configuration, Sink, Source } from '@eyrie/contract'
import { syntaxError } from '@eyrie/contract/parse'
import { parseInternalSinkAddress, parseInternalSourceAddress } from '@eyrie/contract/zmq-messages'
import { parseVideoAddress } from '../../sinks/video/video-address.ts'

type Configured = Pick<Configuration, 'sources' | 'sinks' | 'pipelines'>

/**
 * Throws EyrieError `syntax` if a pipeline would read, by whatever way, what it sends itself under an internal name.
 * `place` says where in the body a pipeline gets its sinks.
 */
export function requireNoOwnResults(configured: Configured, place: (pipeline: number) => string): void {
  const names = namesOf(configured)
  const after = (sent: Set<string>) =>
    [...names].filter(([, { read }]) => [...read].some(name => sent.has(name)))
  for (const [pipeline, { sent }] of names) {
    const reached = new Set<number>()
    const next = after(sent)
    for (const [id, other] of next) {
      if (reached.has(id)) continue
      reached.add(id)
      next.push(...after(other.sent))
    }
    if (!reached.has(pipeline)) continue
    const name = [...sent].map(each => `inproc://${each}`).join(', ')
    throw syntaxError(
      place(pipeline),
      `pipeline ${pipeline} would read its own results, which it sends to ${name}: take another name for one of them`,
    )
  }
}

/** The internal names that each pipeline reads and sends to. */
function namesOf({ sources, sinks, pipelines }: Configured) {
  const read = new Map(sources.filter(isInternal).map(({ id, address }) => [id, sourceName(address)]))
  const sent = new Map(sinks.filter(isInternal).map(({ id, address }) => [id, sinkName(address)]))
  const named = (ids: readonly number[], names: Map<number, string>) =>
    new Set(ids.flatMap(id => names.get(id) ?? []))
  return new Map(
    pipelines.map(pipeline => [
      pipeline.id,
      { read: named(pipeline.sources, read), sent: named(pipeline.sinks, sent) },
    ]),
  )
}

const isInternal = ({ type }: { type: string }) => type === 'zmqinternal'
const sourceName = (address: Source['address']) =>
  parseInternalSourceAddress(typeof address === 'string' ? address : address.url).endpoint
const sinkName = (address: Sink['address']) => parseInternalSinkAddress(address).endpoint

/** Throws EyrieError `syntax` if two sinks would record to one file or host one stream. `place` says where one stands. */
export function requireDistinctSinks(sinks: readonly Sink[], place: (sink: number) => string): void {
  const taken = new Map<string, number>()
  for (const sink of [...sinks].sort((a, b) => a.id - b.id)) {
    const target = targetOf(sink)
    if (target === undefined) continue
    const other = taken.get(target)
    if (other !== undefined)
      throw syntaxError(place(sink.id), `sink ${other} has ${target} already: take another, or use that sink`)
    taken.set(target, sink.id)
  }
}

function targetOf({ type, address }: Sink): string | undefined {
  if (type === 'video') return parseVideoAddress(address).path
  return type === 'hosted_video' ? address : undefined
}
