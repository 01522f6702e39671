import type { ViewSpec } from '@eyrie/contract'
import type { FrameReader } from '../../decode/decoding.ts'
import type { PipelineSource } from '../pipeline-source.ts'
import type { StreamName } from './stream-addresses.ts'

/**
 * The stream of a camera that is analysed, which may change from the sub stream to the main stream and back. Its views and frame
 * readers then move to the other stream. Its frames and packets are counted consecutively across both.
 */
export interface AnalysedStream {
  name(): StreamName
  source(): PipelineSource
  /** Must not be called again, and views must not be set, before the promise is resolved. */
  switchTo(next: StreamName): Promise<void>
  setViews: PipelineSource['setViews']
  addFrameReader: PipelineSource['addFrameReader']
  countPackets(): number
}

/** The analysis begins with the sub stream. */
export function createAnalysedStream(streams: Readonly<Record<StreamName, PipelineSource>>): AnalysedStream {
  let name: StreamName = 'sub'
  let requested: { views: Record<string, ViewSpec>; rate: number | undefined } = {
    views: {},
    rate: undefined,
  }
  /** The frame readers, with the functions that remove them from the current stream. */
  const readers = new Map<FrameReader, () => Promise<void>>()
  /** Packets of the current stream to subtract, and packets of the earlier ones to add. */
  let packetOffset = 0

  const countPackets = () => streams[name].stats().packets + packetOffset

  return {
    name: () => name,
    source: () => streams[name],

    async switchTo(nextName) {
      const [previous, next] = [streams[name], streams[nextName]]
      packetOffset = countPackets() - next.stats().packets
      name = nextName

      await previous.setViews({}, undefined)
      await Promise.all([...readers.values()].map(removeReader => removeReader()))
      next.continueFrom(previous.position())
      for (const reader of readers.keys()) readers.set(reader, next.addFrameReader(reader))
      await next.setViews(requested.views, requested.rate)
    },

    setViews(views, rate) {
      requested = { views, rate }
      return streams[name].setViews(views, rate)
    },

    addFrameReader(reader) {
      readers.set(reader, streams[name].addFrameReader(reader))
      return async () => {
        const removeReader = readers.get(reader)
        readers.delete(reader)
        await removeReader?.()
      }
    },

    countPackets,
  }
}
