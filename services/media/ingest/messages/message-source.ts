import { isDeepStrictEqual } from 'node:util'
import type { SourceStatus } from '@eyrie/contract'
import type { Egress } from '@eyrie/kit'
import { createDecoding } from '../../decode/decoding.ts'
import type { MessageListener, Source, SourceOptions } from '../../sources/source.ts'
import { INITIAL_STATE, type LifecycleEvent, transition } from '../../sources/source-lifecycle.ts'
import { createSourceVariants } from '../../transcode/source-variants.ts'
import { type FrameMessage, parseFrameMessage } from './frame-message.ts'
import { createMessagePictures } from './message-pictures.ts'
import { createMessageProblems } from './message-problems.ts'
import { createMessageReceiver } from './message-receiver.ts'
import { createMessageTimeline } from './message-timeline.ts'
import { createMessageViews } from './message-views.ts'
import { createTopicFilter } from './topic-filter.ts'

export interface MessageSourceOptions extends SourceOptions {
  /** Folder with the sockets of internal addresses, which connect pipelines on this appliance. */
  ringFolder: string
  /** Decides to which senders the source connects. */
  egress: Egress
  listener: MessageListener
}

/** How often the source checks whether its sender is silent. */
const CHECK_INTERVAL_MS = 1000
const MAX_SILENCE_MS = 5000
/** Time for which rejected messages and other topics are reported. */
const PROBLEM_MEMORY_MS = 60_000

/**
 * Creates a source that receives messages over ZeroMQ from another pipeline or program. A message
 * has the objects and events that were detected in a frame, and optionally the picture.
 */
export function createMessageSource(options: MessageSourceOptions): Source {
  const { identity, epoch, clock, log, encoders, listener } = options
  const { id, pacing } = identity
  const name = identity.address.url
  const receiver = createMessageReceiver(options)
  const decoding = createDecoding({ source: id, epoch, pacing, rings: options.rings, listener })
  const variants = createSourceVariants({
    source: id,
    epoch,
    clock,
    log,
    encoders,
    read: decoding.addReader,
  })
  const views = createMessageViews({
    decoding,
    onImpossible: key =>
      listener.onViewFailed(key, `${name} sends no pictures: set payload=jpeg on its sink`),
  })
  const timeline = createMessageTimeline(clock.now, options.beginPts)
  const filter = createTopicFilter({
    prefix: receiver.topic,
    now: clock.now,
    memoryMs: PROBLEM_MEMORY_MS,
  })
  const problems = createMessageProblems({
    source: id,
    address: name,
    now: clock.now,
    memoryMs: PROBLEM_MEMORY_MS,
    otherTopics: filter.otherTopics,
    log,
  })
  const pictures = createMessagePictures({ decoding, onError: problems.reject })

  let packetCount = 0
  /** Monotonic time of the last message, in ms. */
  let lastReceivedAt: number | undefined

  const stopping = new AbortController()
  let status: SourceStatus = { id, state: 'connecting', reason: `${name} has sent nothing yet` }
  let lifecycle = INITIAL_STATE

  const tasks = Promise.all([readMessages(), watchSilence()])

  async function readMessages() {
    while (!stopping.signal.aborted && !(await openReceiver())) {
      const waitMs = (lifecycle.nextAttemptAt ?? 0) - clock.now()
      await clock.sleep(waitMs, stopping.signal).catch(() => {})
    }
    if (stopping.signal.aborted) return

    for await (const parts of receiver.messages()) {
      if (stopping.signal.aborted) return
      try {
        await accept(parseFrameMessage(parts))
      } catch (error) {
        problems.reject((error as Error).message)
      }
    }
  }

  /** Returns whether the receiver could be opened. */
  async function openReceiver(): Promise<boolean> {
    try {
      await receiver.open(stopping.signal)
      return true
    } catch (error) {
      const reason = `${name} ${(error as Error).message}`
      dispatch({ type: 'lost', reason, transient: true })
      return false
    }
  }

  /**
   * Passes the contents of a message on: findings to the listener, and the picture to the decoder.
   */
  async function accept(message: FrameMessage) {
    const { header, picture } = message
    if (!filter.accept(message.topic)) return
    packetCount++
    lastReceivedAt = clock.now()
    const { pts, discontinuity } = timeline.next(header.pts)
    const timeUs = Date.parse(header.time) * 1000

    await views.update(picture !== undefined)

    const { width, height } = picture ?? header
    const codec = picture?.format.toLowerCase()
    if (codec) variants.setCodec(codec)
    updateStatus({ width, height, codec, clock: { source: 'sender' } })
    dispatch({ type: 'data' })
    dispatch({ type: 'degraded', reason: problems.describe() })

    const { objects, events } = header
    const isCut = discontinuity || header.discontinuity === true
    listener.onFindings({ pts, time: timeUs, objects, events, discontinuity: isCut })

    // A sender that usually sends pictures may omit one. Its frame is skipped.
    const isSkipped = !picture && views.hasPictures()
    if (decoding.hasReaders() && !isSkipped) await pictures.push(message, { pts, timeUs })
  }

  async function watchSilence() {
    while (!stopping.signal.aborted) {
      await clock.sleep(CHECK_INTERVAL_MS, stopping.signal).catch(() => {})
      if (stopping.signal.aborted) return
      checkSilence()
    }
  }

  function checkSilence() {
    if (lastReceivedAt === undefined) {
      const unreadable = `${name} has sent only unreadable messages`
      if (problems.hasEverRejected()) updateStatus({ reason: problems.describe() ?? unreadable })
      return
    }
    if (clock.now() - lastReceivedAt < MAX_SILENCE_MS) return

    filter.reset()
    const silence = `${name} has sent nothing for ${MAX_SILENCE_MS / 1000} s: check that its sender runs`
    const reason = problems.describe() ?? silence
    if (lifecycle.state !== 'running') return updateStatus({ reason })

    dispatch({ type: 'lost', reason, transient: true })
    // ZeroMQ reconnects by itself.
    dispatch({ type: 'attempt' })
  }

  function dispatch(event: LifecycleEvent) {
    lifecycle = transition(lifecycle, event, {
      mode: 'endless',
      now: clock.now(),
      random: options.random,
    })
    const { state, reason, failures } = lifecycle
    updateStatus({ state, reason, attempts: state === 'reconnecting' ? failures : undefined })
  }

  function updateStatus(change: Partial<SourceStatus>) {
    const next = { ...status, ...change }
    if (isDeepStrictEqual(next, status)) return

    if (next.state !== status.state) {
      log.info({ source: id, state: next.state, reason: next.reason }, 'source state changed')
    }
    status = next
    listener.onStatus(status)
  }

  return {
    stream: variants.h264,
    variants,
    sound: undefined,
    status: () => status,
    setViews: views.request,
    grant: decoding.grant,
    rings: decoding.rings,
    addFrameReader: decoding.addReader,
    stats: () => ({ ...decoding.stats(), packets: packetCount }),
    pictureStatistics: () => undefined,
    endPts: timeline.endPts,
    async stop() {
      stopping.abort()
      receiver.close()
      await tasks
      await pictures.stop()
      await decoding.setViews({}, undefined)
      variants.end('the source was removed')
      await variants.close()
    },
  }
}
