import { isDeepStrictEqual } from 'node:util'
import type { SourceStatus, ViewSpec } from '@eyrie/contract'
import { Mutex } from 'async-mutex'
import type { FrameReader } from '../../decode/decoding.ts'
import type { Source } from '../../sources/source.ts'
import { createSwitchedVariants } from '../../transcode/switched-variants.ts'
import { createPipelineSource, type PipelineSource, type PipelineSourceOptions } from '../pipeline-source.ts'
import { createStreamPosition } from '../stream-position.ts'
import { calculateRealignment } from '../timing/stream-alignment.ts'
import { mergeStatus, selectAnalysed } from './merged-status.ts'
import { type StreamName, toStreamAddresses } from './stream-addresses.ts'

/**
 * Creates a source with two streams of one camera. The main stream is for full live views and recordings. The sub stream, which is
 * smaller, is for the analysis and for small live views. While the sub stream is lost, the main stream takes its place.
 *
 * Both streams have the same stream time: that of the main stream. Each has its own connection to the camera and its own
 * reconnects. The frames of the analysis are numbered consecutively across both.
 */
export function createMainAndSubSource(options: PipelineSourceOptions): Source {
  const { identity, clock, listener } = options
  const addresses = toStreamAddresses(identity.address)
  const position = createStreamPosition(options.beginPts, clock)
  const statuses: Record<StreamName, SourceStatus> = {
    main: { id: identity.id, state: 'connecting' },
    sub: { id: identity.id, state: 'connecting' },
  }

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
  const streams: Record<StreamName, PipelineSource> = {
    main: createStreamSource('main'),
    sub: createStreamSource('sub', align),
  }

  /** Serializes changes of the views and of the analysed stream. */
  const mutex = new Mutex()
  let analysed: StreamName = 'sub'
  let request: { views: Record<string, ViewSpec>; rate: number | undefined } = { views: {}, rate: undefined }
  /** Readers of the analysed frames, with the functions that remove them from the analysed stream. */
  const readers = new Map<FrameReader, () => Promise<void>>()
  const packets = createPacketCounter(() => streams[analysed].stats().packets)
  const small = createSwitchedVariants(streams.sub.variants)

  /** The status that the listener was notified of last. */
  let reported: SourceStatus | undefined

  function onStatusChange() {
    const merged = status()
    if (!isDeepStrictEqual(merged, reported)) listener.onStatus(merged)
    reported = merged
    void mutex.runExclusive(switchAnalysis).catch(error => {
      options.log.error({ err: error, source: identity.id }, 'failed to switch the analysed stream')
    })
  }

  const status = () => mergeStatus(statuses, selectAnalysed(statuses, analysed))

  /** Continues the analysis and the small live views with the selected stream. */
  async function switchAnalysis() {
    const selected = selectAnalysed(statuses, analysed)
    if (selected === analysed) return

    const [previous, next] = [streams[analysed], streams[selected]]
    packets.rebase(next.stats().packets)
    analysed = selected
    small.switchTo(next.variants)

    await previous.setViews({}, undefined)
    await Promise.all([...readers.values()].map(leave => leave()))
    next.continueFrom(previous.position())
    for (const reader of readers.keys()) readers.set(reader, next.addFrameReader(reader))
    await next.setViews(request.views, request.rate)
  }

  /** Gives the pictures of the sub stream the stream time that the main stream has at their capture. */
  function align() {
    const [main, sub] = [streams.main.timing(), streams.sub.timing()]
    const ptsOffset = main && sub && calculateRealignment(main, sub)
    if (ptsOffset !== undefined) streams.sub.realign(ptsOffset)
  }

  const { main, sub } = streams
  return {
    stream: main.stream,
    variants: {
      ...main.variants,
      viewerCount: () => main.variants.viewerCount() + sub.variants.viewerCount(),
      isTranscoding: () => main.variants.isTranscoding() || sub.variants.isTranscoding(),
    },
    smallVariants: small,
    sound: main.sound,
    status,
    setViews: (views, rate) =>
      mutex.runExclusive(() => {
        request = { views, rate }
        return streams[analysed].setViews(views, rate)
      }),
    grant: (key, n, read) => streams[analysed].grant(key, n, read),
    rings: () => streams[analysed].rings(),

    addFrameReader(reader) {
      readers.set(reader, streams[analysed].addFrameReader(reader))
      return async () => {
        const leave = readers.get(reader)
        readers.delete(reader)
        await leave?.()
      }
    },

    stats() {
      const [ofMain, ofSub] = [main.stats(), sub.stats()]
      return {
        ...(analysed === 'main' ? ofMain : ofSub),
        written: ofMain.written + ofSub.written,
        dropped: ofMain.dropped + ofSub.dropped,
        packets: packets.count(),
      }
    },

    pictureStatistics: () => streams[analysed].pictureStatistics(),
    endPts: position.endPts,
    async stop() {
      await Promise.all([main.stop(), sub.stop()])
    },
  }
}

/** Counts the packets of the analysed stream, which may change. `countCurrent` returns the number of packets of that stream. */
function createPacketCounter(countCurrent: () => number) {
  let offset = 0
  const count = () => offset + countCurrent()
  return {
    count,
    /** Must be called before the stream changes, with the number of packets of the new stream. */
    rebase(countNext: number) {
      offset = count() - countNext
    },
  }
}
