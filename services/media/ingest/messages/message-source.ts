import { isDeepStrictEqual } from 'node:util'
import { MINIMAL_VIEW, type SourceStatus, type ViewSpec } from '@eyrie/contract'
import {
  type MessageAddress,
  parseInternalSourceAddress,
  parseSourceAddress,
} from '@eyrie/contract/zmq-messages'
import { type Egress, pinEndpoint } from '@eyrie/kit'
import { getInternalEndpoint } from '@eyrie/kit/paths'
import { RecentCounter } from '@eyrie/kit/recent-counter'
import { Subscriber } from 'zeromq'
import { createDecoding } from '../../decode/decoding.ts'
import type { MessageListener, Source, SourceOptions } from '../../sources/source.ts'
import { INITIAL_STATE, type LifecycleEvent, transition } from '../../sources/source-lifecycle.ts'
import { createSourceVariants } from '../../transcode/source-variants.ts'
import { type FrameMessage, parseFrameMessage } from './frame-message.ts'
import { createMessagePictures } from './message-pictures.ts'
import { createMessageTimeline } from './message-timeline.ts'
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
const MAX_QUEUED_MESSAGES = 32
const MAX_MESSAGE_BYTES = 64 << 20
/**
 * Number of consecutive messages without a picture after which the sender is assumed
 * to send no pictures.
 */
const MAX_MISSING_PICTURES = 10

/**
 * Creates a source that receives messages over ZeroMQ from another pipeline or program. A message
 * has the objects and events that were detected in a frame, and optionally the picture.
 */
export function createMessageSource(options: MessageSourceOptions): Source {
  const { identity, epoch, clock, log, encoders, listener } = options
  const { id, pacing } = identity
  const name = identity.address.url
  const { endpoint, bind, topic } = resolveEndpoint(options)
  const decoding = createDecoding({ source: id, epoch, pacing, rings: options.rings, listener })
  const variants = createSourceVariants({
    source: id,
    epoch,
    clock,
    log,
    encoders,
    read: decoding.addReader,
  })
  const pictures = createMessagePictures({ decoding, onError: reason => reject(new Error(reason)) })

  const presence = createPicturePresence()
  const timeline = createMessageTimeline(clock.now, options.beginPts)
  const filter = createTopicFilter({ prefix: topic, now: clock.now, memoryMs: PROBLEM_MEMORY_MS })
  const rejections = createRejectionCounter(clock.now)
  let packetCount = 0
  /** Monotonic time of the last message, in ms. */
  let lastReceivedAt: number | undefined

  const socket = createSocket()
  const stopping = new AbortController()
  let status: SourceStatus = { id, state: 'connecting', reason: `${name} has sent nothing yet` }
  let lifecycle = INITIAL_STATE
  let request: { views: Record<string, ViewSpec>; rate: number | undefined } = {
    views: {},
    rate: undefined,
  }

  const tasks = Promise.all([readMessages(), watchSilence()])

  async function readMessages() {
    while (!stopping.signal.aborted && !(await openSocket())) {
      const waitMs = (lifecycle.nextAttemptAt ?? 0) - clock.now()
      await clock.sleep(waitMs, stopping.signal).catch(() => {})
    }
    if (stopping.signal.aborted) return

    for await (const parts of socket) {
      if (stopping.signal.aborted) return
      try {
        await accept(parseFrameMessage(parts))
      } catch (error) {
        reject(error as Error)
      }
    }
  }

  /** Connects or binds the socket. Returns whether this succeeded. */
  async function openSocket(): Promise<boolean> {
    socket.subscribe(topic)
    try {
      if (bind) await socket.bind(endpoint)
      else socket.connect(await pinEndpoint(options.egress, endpoint, stopping.signal))
      return true
    } catch (error) {
      const reason = `${name} cannot be ${bind ? 'bound' : 'connected'}: ${(error as Error).message}`
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

    const hasPresenceChanged = presence.update(picture !== undefined)
    if (hasPresenceChanged) await applyRequest()

    const { width, height } = picture ?? header
    const codec = picture?.format.toLowerCase()
    if (codec) variants.setCodec(codec)
    updateStatus({ width, height, codec, clock: { source: 'sender' } })
    dispatch({ type: 'data' })
    dispatch({ type: 'degraded', reason: findProblem() })

    const { objects, events } = header
    const isCut = discontinuity || header.discontinuity === true
    listener.onFindings({ pts, time: timeUs, objects, events, discontinuity: isCut })

    // A sender that usually sends pictures may omit one. Its frame is skipped.
    const isSkipped = !picture && presence.isPresent()
    if (decoding.hasReaders() && !isSkipped) await pictures.push(message, { pts, timeUs })
  }

  /**
   * Creates the requested views. Without pictures from the sender, only the minimal view is
   * possible.
   */
  async function applyRequest() {
    const { views, rate } = request
    const isPossible = (spec: ViewSpec) =>
      presence.isPresent() || isDeepStrictEqual(spec, MINIMAL_VIEW)
    const possible = Object.entries(views).filter(([, spec]) => isPossible(spec))
    const impossible = Object.keys(views).filter(key => !isPossible(views[key]!))

    await decoding.setViews(Object.fromEntries(possible), rate)
    for (const key of impossible) {
      listener.onViewFailed(key, `${name} sends no pictures: set payload=jpeg on its sink`)
    }
  }

  /**
   * Counts a message that could not be read. Logs only the first one, because the others usually
   * have the same problem.
   */
  function reject({ message: reason }: Error) {
    if (rejections.recentCount() === 0) {
      log.warn({ source: id, address: name, reason }, 'failed to read message')
    }
    rejections.add(reason)
  }

  function findProblem(): string | undefined {
    return rejections.describe() ?? describeOtherTopics(filter.otherTopics())
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
      if (rejections.hasAny()) {
        updateStatus({ reason: findProblem() ?? `${name} has sent only unreadable messages` })
      }
      return
    }
    if (clock.now() - lastReceivedAt < MAX_SILENCE_MS) return

    filter.reset()
    const silence = `${name} has sent nothing for ${MAX_SILENCE_MS / 1000} s: check that its sender runs`
    const reason = findProblem() ?? silence
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
    setViews(views, rate) {
      request = { views, rate }
      return applyRequest()
    },
    grant: decoding.grant,
    rings: decoding.rings,
    addFrameReader: decoding.addReader,
    stats: () => ({ ...decoding.stats(), packets: packetCount }),
    pictureStatistics: () => undefined,
    endPts: timeline.endPts,
    async stop() {
      stopping.abort()
      socket.close()
      await tasks
      await pictures.stop()
      await decoding.setViews({}, undefined)
      variants.end('the source was removed')
      await variants.close()
    },
  }
}

function createSocket(): Subscriber {
  return new Subscriber({
    receiveHighWaterMark: MAX_QUEUED_MESSAGES,
    maxMessageSize: MAX_MESSAGE_BYTES,
    reconnectInterval: 100,
    reconnectMaxInterval: 2000,
    linger: 0,
  })
}

/** Counts the messages that could not be read. `now` returns monotonic time in ms. */
function createRejectionCounter(now: () => number) {
  const counter = new RecentCounter(now, PROBLEM_MEMORY_MS)
  let lastReason: string | undefined
  return {
    add(reason: string) {
      counter.add()
      lastReason = reason
    },
    hasAny: () => lastReason !== undefined,
    recentCount: () => counter.recent,
    /** Describes the recently rejected messages; undefined if there are none. */
    describe(): string | undefined {
      const { recent } = counter
      if (recent === 0) return undefined
      return `${recent} messages could not be read; the last one because ${lastReason}`
    },
  }
}

function describeOtherTopics(topics: readonly string[]): string | undefined {
  if (topics.length === 0) return undefined
  return `other topics are also sent (${topics.join(', ')}): select one with ?topic=, or add a source for each`
}

/**
 * Tracks whether a sender sends pictures at all. A few messages without a picture do
 * not change the result.
 */
function createPicturePresence() {
  let missingCount = 0
  let isPresent = true
  return {
    isPresent: () => isPresent,
    /** Records whether a message had a picture. Returns whether `isPresent` has changed. */
    update(hasPicture: boolean): boolean {
      missingCount = hasPicture ? 0 : missingCount + 1
      const wasPresent = isPresent
      isPresent = hasPicture || (isPresent && missingCount < MAX_MISSING_PICTURES)
      return isPresent !== wasPresent
    },
  }
}

/**
 * Returns the ZeroMQ endpoint of an address, whether to bind or connect to it, and the
 * topic to subscribe to.
 */
function resolveEndpoint({
  identity,
  ringFolder,
}: Pick<MessageSourceOptions, 'identity' | 'ringFolder'>) {
  const { url } = identity.address
  if (identity.type === 'zmqinternal') {
    const { endpoint, query }: MessageAddress<'internalSource'> = parseInternalSourceAddress(url)
    return { endpoint: getInternalEndpoint(ringFolder, endpoint), bind: false, topic: query.topic }
  }
  const { endpoint, query } = parseSourceAddress(url)
  return { endpoint, ...query }
}
