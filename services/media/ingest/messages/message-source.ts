import { isDeepStrictEqual } from 'node:util'
import { minimalView, type SourceStatus, type ViewSpec } from '@eyrie/contract'
import {
  type MessageAddress,
  parseInternalSourceAddress,
  parseSourceAddress,
} from '@eyrie/contract/zmq-messages'
import { getInternalEndpoint } from '@eyrie/kit/paths'
import { RecentCounter } from '@eyrie/kit/recent-counter'
import { Subscriber } from 'zeromq'
import { createDecoding } from '../../decode/decoding.ts'
import type { MessageListener, Source, SourceOptions } from '../../sources/source.ts'
import { initialState, type LifecycleEvent, transition } from '../../sources/source-lifecycle.ts'
import { createSourceVariants } from '../../transcode/source-variants.ts'
import { type FrameMessage, parseFrameMessage } from './frame-message.ts'
import { createMessagePictures } from './message-pictures.ts'
import { createMessageTimeline } from './message-timeline.ts'
import { createTopicFilter } from './topic-filter.ts'

export interface MessageSourceOptions extends SourceOptions {
  /** Folder of the sockets that internal addresses refer to. */
  ringFolder: string
  listener: MessageListener
}

const CHECK_INTERVAL_MS = 1000
const MAX_SILENCE_MS = 5000
/** Older problems are no longer reported. */
const PROBLEM_MEMORY_MS = 60_000
const MAX_QUEUED_MESSAGES = 32
const MAX_MESSAGE_BYTES = 64 << 20
/** After this many consecutive messages without a picture, the sender is considered to send none. */
const MAX_MISSING_PICTURES = 10

/** A source of frames, detections or both that another pipeline or program sends over ZeroMQ. */
export function createMessageSource(options: MessageSourceOptions): Source {
  const { identity, epoch, clock, log, encoders, listener } = options
  const { id, pacing } = identity
  const name = identity.address.url
  const { endpoint, bind, topic } = resolveEndpoint(options)
  const decoding = createDecoding({ source: id, epoch, pacing, rings: options.rings, listener })
  const variants = createSourceVariants({ source: id, epoch, clock, log, encoders, read: decoding.addReader })
  const pictures = createMessagePictures({ decoding, onError: reason => reject(new Error(reason)) })
  const presence = createPicturePresence()
  const timeline = createMessageTimeline(clock.now, options.beginPts)
  const filter = createTopicFilter({ prefix: topic, now: clock.now, memoryMs: PROBLEM_MEMORY_MS })
  const rejected = {
    counts: new RecentCounter(clock.now, PROBLEM_MEMORY_MS),
    lastReason: undefined as string | undefined,
  }
  const received = { packets: 0, lastAt: undefined as number | undefined }
  const stopping = new AbortController()
  const socket = new Subscriber({
    receiveHighWaterMark: MAX_QUEUED_MESSAGES,
    maxMessageSize: MAX_MESSAGE_BYTES,
    reconnectInterval: 100,
    reconnectMaxInterval: 2000,
    linger: 0,
  })
  let status: SourceStatus = { id, state: 'connecting', reason: `${name} has sent nothing yet` }
  let lifecycle = initialState
  let request: { views: Record<string, ViewSpec>; rate: number | undefined } = { views: {}, rate: undefined }

  const tasks = Promise.all([readMessages(), watchSilence()])

  async function readMessages() {
    while (!stopping.signal.aborted && !(await openSocket()))
      await clock.sleep((lifecycle.nextAttemptAt ?? 0) - clock.now(), stopping.signal).catch(() => {})
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

  async function openSocket(): Promise<boolean> {
    socket.subscribe(topic)
    try {
      if (bind) await socket.bind(endpoint)
      else socket.connect(endpoint)
      return true
    } catch (error) {
      const reason = `${name} cannot be ${bind ? 'bound' : 'connected'}: ${(error as Error).message}`
      dispatch({ type: 'lost', reason, transient: true })
      return false
    }
  }

  async function accept(message: FrameMessage) {
    const { header, picture } = message
    if (!filter.accepts(message.topic)) return
    received.packets++
    received.lastAt = clock.now()
    const { pts, discontinuity } = timeline.next(header.pts)
    const timeUs = Date.parse(header.time) * 1000
    if (presence.update(picture !== undefined)) await applyRequest()
    const { width, height } = picture ?? header
    if (picture) variants.setCodec(picture.format.toLowerCase())
    updateStatus({ width, height, codec: picture?.format.toLowerCase(), clock: { source: 'sender' } })
    dispatch({ type: 'data' })
    dispatch({ type: 'degraded', reason: findProblem() })
    const { objects, events } = header
    const isCut = discontinuity || header.discontinuity === true
    listener.onFindings({ pts, time: timeUs, objects, events, discontinuity: isCut })
    if (decoding.hasReaders() && (picture || !presence.isPresent()))
      await pictures.push(message, { pts, timeUs })
  }

  /** Creates the views that are possible. Without pictures, only the minimal view is. */
  async function applyRequest() {
    const { views, rate } = request
    const isPossible = (spec: ViewSpec) => presence.isPresent() || isDeepStrictEqual(spec, minimalView)
    const possible = Object.entries(views).filter(([, spec]) => isPossible(spec))
    const impossible = Object.keys(views).filter(key => !isPossible(views[key]!))
    await decoding.setViews(Object.fromEntries(possible), rate)
    for (const key of impossible)
      listener.onViewFailed(key, `${name} sends no pictures: set payload=jpeg on its sink`)
  }

  function reject(error: Error) {
    if (rejected.counts.recent === 0)
      log.warn({ source: id, address: name, reason: error.message }, 'failed to read message')
    rejected.counts.add()
    rejected.lastReason = error.message
  }

  function findProblem(): string | undefined {
    const { recent } = rejected.counts
    if (recent > 0) return `${recent} messages could not be read; the last one because ${rejected.lastReason}`
    const others = filter.otherTopics()
    return others.length > 0
      ? `other topics are also sent (${others.join(', ')}): select one with ?topic=, or add a source for each`
      : undefined
  }

  async function watchSilence() {
    while (!stopping.signal.aborted) {
      await clock.sleep(CHECK_INTERVAL_MS, stopping.signal).catch(() => {})
      if (stopping.signal.aborted) return
      checkSilence()
    }
  }

  function checkSilence() {
    if (received.lastAt === undefined) {
      if (rejected.lastReason)
        updateStatus({ reason: findProblem() ?? `${name} has sent only unreadable messages` })
      return
    }
    if (clock.now() - received.lastAt < MAX_SILENCE_MS) return
    filter.reset()
    const silence = `${name} has sent nothing for ${MAX_SILENCE_MS / 1000} s: check that its sender runs`
    const reason = findProblem() ?? silence
    if (lifecycle.state !== 'running') return updateStatus({ reason })
    dispatch({ type: 'lost', reason, transient: true })
    // ZeroMQ reconnects by itself.
    dispatch({ type: 'attempt' })
  }

  function dispatch(event: LifecycleEvent) {
    lifecycle = transition(lifecycle, event, { mode: 'endless', now: clock.now(), random: options.random })
    const { state, reason, failures } = lifecycle
    updateStatus({ state, reason, attempts: state === 'reconnecting' ? failures : undefined })
  }

  function updateStatus(change: Partial<SourceStatus>) {
    const next = { ...status, ...change }
    if (isDeepStrictEqual(next, status)) return
    if (next.state !== status.state)
      log.info({ source: id, state: next.state, reason: next.reason }, 'source state changed')
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
    stats: () => ({ ...decoding.stats(), packets: received.packets }),
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

/** Tracks whether a sender sends pictures at all. A few messages without pictures have no effect. */
function createPicturePresence() {
  let missing = 0
  let isPresent = true
  return {
    isPresent: () => isPresent,
    /** Returns whether `isPresent` has changed with this message. */
    update(hasPicture: boolean): boolean {
      missing = hasPicture ? 0 : missing + 1
      const wasPresent = isPresent
      isPresent = hasPicture || (isPresent && missing < MAX_MISSING_PICTURES)
      return isPresent !== wasPresent
    },
  }
}

function resolveEndpoint({ identity, ringFolder }: Pick<MessageSourceOptions, 'identity' | 'ringFolder'>) {
  const { url } = identity.address
  if (identity.type === 'zmqinternal') {
    const { endpoint, query }: MessageAddress<'internalSource'> = parseInternalSourceAddress(url)
    return { endpoint: getInternalEndpoint(ringFolder, endpoint), bind: false, topic: query.topic }
  }
  const { endpoint, query } = parseSourceAddress(url)
  return { endpoint, ...query }
}
