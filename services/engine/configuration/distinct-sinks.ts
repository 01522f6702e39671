import type { Sink } from '@eyrie/contract'
import { syntaxError } from '@eyrie/contract/parse'
import { parseVideoAddress } from '../sinks/video/video-address.ts'

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
