import { isDeepStrictEqual } from 'node:util'
import type { SourceStatus } from '@eyrie/contract'
import { Mutex } from 'async-mutex'
import type { Source } from '../../sources/source.ts'
import { createSwitchedVariants } from '../../transcode/switched-variants.ts'
import {
  createPipelineSource,
  type PipelineSource,
  type PipelineSourceOptions,
} from '../pipeline-source.ts'
import { createStreamPosition } from '../stream-position.ts'
import { calculateRealignment } from '../timing/stream-alignment.ts'
import { createAnalysedStream } from './analysed-stream.ts'
import { mergeStatus, selectAnalysed } from './merged-status.ts'
import { type StreamName, toStreamAddresses } from './stream-addresses.ts'

/**
 * Creates a source with two streams of one camera. The main stream is for full live views and
 * recordings. The sub stream, which is smaller, is for the analysis and for small live views. While
 * the sub stream is lost, the main stream takes its place.
 *
 * Both streams have the same stream time: that of the main stream. Each has its own
 * connection to the camera and its own reconnects. The frames of the analysis are numbered
 * consecutively across both.
 */
export function createMainAndSubSource(options: PipelineSourceOptions): Source {
  const { identity, clock, listener } = options
  const addresses = toStreamAddresses(identity.address)
  const position = createStreamPosition(options.beginPts, clock)
  const statuses: Record<StreamName, SourceStatus> = {
    main: { id: identity.id, state: 'connecting' },
    sub: { id: identity.id, state: 'connecting' },
  }
  /** The status that the listener was notified of last. */
  let reported: SourceStatus | undefined
  /** Serializes changes of the views and of the analysed stream. */
  const mutex = new Mutex()

  const createStreamSource = (name: StreamName, onTiming?: () => void): PipelineSource =>
    createPipelineSource({
      ...options,
      identity: { ...identity, address: addresses[name] },
      log: options.log.child({ stream: name }),
      position,
      isMuted: name === 'sub',
      onTiming,
      listener: {
        ...listener,
        onStatus(status) {
          statuses[name] = status
          onStatusChange()
        },
      },
    })
  const main = createStreamSource('main')
  const sub = createStreamSource('sub', align)
  const streams = { main, sub }
  const analysed = createAnalysedStream(streams)
  const smallVariants = createSwitchedVariants(sub.variants)

  const status = () => mergeStatus(statuses, selectAnalysed(statuses, analysed.name()))

  function onStatusChange() {
    const merged = status()
    if (!isDeepStrictEqual(merged, reported)) listener.onStatus(merged)
    reported = merged
    void mutex.runExclusive(switchIfNeeded).catch(error => {
      options.log.error({ err: error, source: identity.id }, 'failed to switch the analysed stream')
    })
  }

  /**
   * Continues the analysis and the small live views with the stream that the
   * statuses of both require.
   */
  async function switchIfNeeded() {
    const selected = selectAnalysed(statuses, analysed.name())
    if (selected === analysed.name()) return
    smallVariants.switchTo(streams[selected].variants)
    await analysed.switchTo(selected)
  }

  /**
   * Gives the pictures of the sub stream the stream time that the main stream has at their capture.
   */
  function align() {
    const mainTiming = main.timing()
    const subTiming = sub.timing()
    if (!mainTiming || !subTiming) return
    const ptsOffset = calculateRealignment(mainTiming, subTiming)
    if (ptsOffset !== undefined) sub.realign(ptsOffset)
  }

  return {
    stream: main.stream,
    variants: {
      ...main.variants,
      viewerCount: () => main.variants.viewerCount() + sub.variants.viewerCount(),
      isTranscoding: () => main.variants.isTranscoding() || sub.variants.isTranscoding(),
    },
    smallVariants,
    sound: main.sound,
    status,
    setViews: (views, rate) => mutex.runExclusive(() => analysed.setViews(views, rate)),
    grant: (key, n, read) => analysed.source().grant(key, n, read),
    rings: () => analysed.source().rings(),
    addFrameReader: analysed.addFrameReader,

    stats() {
      const mainStats = main.stats()
      const subStats = sub.stats()
      return {
        ...analysed.source().stats(),
        written: mainStats.written + subStats.written,
        dropped: mainStats.dropped + subStats.dropped,
        packets: analysed.countPackets(),
      }
    },

    pictureStatistics: () => analysed.source().pictureStatistics(),
    endPts: position.endPts,
    async stop() {
      await Promise.all([main.stop(), sub.stop()])
    },
  }
}
