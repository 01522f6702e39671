import type { FrameReader } from '../../decode/decoding.ts'
import type { PipelineSource } from '../pipeline-source.ts'
import type { StreamName } from './stream-addresses.ts'

/**
 * The stream of a camera that is analysed, which may change from the sub stream to the main stream
 * and back. Its views and frame readers then move to the other stream. Its frames and packets are
 * counted consecutively across both.
 */
export interface AnalysedStream {
  name(): StreamName
  source(): PipelineSource
  /**
   * Continues with the other stream. Until the promise is resolved, neither this method nor
   * `setViews` may be called.
   */
  switchTo(next: StreamName): Promise<void>
  setViews: PipelineSource['setViews']
  addFrameReader: PipelineSource['addFrameReader']
  countPackets(): number
}

/** The sub stream is analysed first. */
export function createAnalysedStream(
  streams: Readonly<Record<StreamName, PipelineSource>>,
): AnalysedStream {
  let name: StreamName = 'sub'
  let requestedViews: Parameters<PipelineSource['setViews']> = [{}, undefined]
  /** The frame readers, with the functions that remove them from the current stream. */
  const readers = new Map<FrameReader, () => Promise<void>>()
  /**
   * Number of packets of the earlier streams, less what the current stream had counted
   * before it was analysed.
   */
  let packetOffset = 0

  const countPackets = () => streams[name].stats().packets + packetOffset

  return {
    name: () => name,
    source: () => streams[name],

    async switchTo(nextName) {
      const [previous, next] = [streams[name], streams[nextName]]
      packetOffset = countPackets() - next.stats().packets
      name = nextName

      // The previous stream stops numbering frames before the next one continues with its numbers.
      await previous.setViews({}, undefined)
      await Promise.all([...readers.values()].map(removeReader => removeReader()))
      next.continueFrom(previous.position())
      for (const reader of readers.keys()) readers.set(reader, next.addFrameReader(reader))
      await next.setViews(...requestedViews)
    },

    setViews(...views) {
      requestedViews = views
      return streams[name].setViews(...views)
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
