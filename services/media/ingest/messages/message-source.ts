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
  /** Folder of the sockets that internal names refer to. */
  ringFolder: string
  listener: MessageListener
}

const CHECK_INTERVAL_MS = 1000
const MAX_SILENCE_MS = 5000
/** Older problems are no longer reported. */
const PROBLEM_MEMORY_MS = 60_000
const MAX_QUEUED_MESSAGES = 32
const MAX_MESSAGE_BYTES = 64 << 20
/** After this many messages in a row without a picture, the sender counts as one that sends none. */
const MAX_MISSING_PICTURES = 10

/** A source of frames, detections or both that another pipeline or program sends over ZeroMQ. */
export function createMessageSource(options: MessageSourceOptions): Source {
  const { wanted, epoch, clock, log, encoders, listener } = options
  const { id, pacing } = wanted
  const name = wanted.address.url
  const { endpoint, bind, topic } = resolveEndpoint(options)
  const decoding = createDecoding({ source: id, epoch, pacing, rings: options.rings, listener })
  const variants = createSourceVariants({ source: id, epoch, clock, log, encoders, read: decoding.read })
  const pictures = createMessagePictures({ decoding, onTrouble: reason => reject(new Error(reason)) })
  const presence = createPicturePresence()
  const timeline = createMessageTimeline(clock.now, options.beginPts)
  const filter = createTopicFilter({ wanted: topic, now: clock.now, rememberedMs: PROBLEM_MEMORY_MS })
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
  let life = initialState
  let request: { views: Record<string, ViewSpec>; rate: number | undefined } = { views: {}, rate: undefined }

  const reading = readMessages()
  const watching = watchSilence()

  async function readMessages() {
    while (!stopping.signal.aborted && !(await openSocket()))
      await clock.sleep((life.nextTryAt ?? 0) - clock.now(), stopping.signal).catch(() => {})
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
      const reason = `${name} cannot be ${bind ? 'bound' : 'reached'}: ${(error as Error).message}`
      dispatch({ type: 'lost', reason, transient: true })
      return false
    }
  }

  async function accept(message: FrameMessage) {
    const { header, picture } = message
    if (!filter.takes(message.topic)) return
    received.packets++
    received.lastAt = clock.now()
    const { pts, discontinuity } = timeline.next(header.pts)
    const timeUs = Date.parse(header.time) * 1000
    if (presence.update(picture !== undefined)) await applyRequest()
    const { width, height } = picture ?? header
    if (picture) variants.setCodec(picture.format.toLowerCase())
    updateStatus({ width, height, codec: picture?.format.toLowerCase(), clock: { source: 'sender' } })
    dispatch({ type: 'heard' })
    dispatch({ type: 'degraded', reason: findProblem() })
    const { objects, events } = header
    const isCut = discontinuity || header.discontinuity === true
    listener.findings({ pts, time: timeUs, objects, events, discontinuity: isCut })
    if (decoding.wanted() && (picture || !presence.isPresent())) await pictures.show(message, { pts, timeUs })
  }

  /** Requests the views that are possible. Without pictures, that is only the view that carries nothing but ticks. */
  async function applyRequest() {
    const { views, rate } = request
    const possible = Object.entries(views).filter(
      ([, spec]) => presence.isPresent() || isDeepStrictEqual(spec, minimalView),
    )
    await decoding.want(Object.fromEntries(possible), rate)
    for (const key of Object.keys(views))
      if (!possible.some(([each]) => each === key))
        listener.viewFailed(key, `${name} sends no pictures: let its sink send payload=jpeg`)
  }

  function reject(error: Error) {
    if (rejected.counts.recent === 0)
      log.warn({ source: id, address: name, reason: error.message }, 'failed to read message')
    rejected.counts.add()
    rejected.lastReason = error.message
  }

  function findProblem(): string | undefined {
    const { recent } = rejected.counts
    if (recent > 0) return `${recent} messages could not be read, the last since ${rejected.lastReason}`
    const others = filter.others()
    return others.length > 0
      ? `there are other topics too (${others.join(', ')}): choose by ?topic=, or take a source for each`
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
        updateStatus({ reason: findProblem() ?? `${name} has sent nothing that can be read` })
      return
    }
    if (clock.now() - received.lastAt < MAX_SILENCE_MS) return
    filter.forget()
    const silence = `${name} has sent nothing for ${MAX_SILENCE_MS / 1000} s: check that its sender runs`
    const reason = findProblem() ?? silence
    if (life.state !== 'running') return updateStatus({ reason })
    dispatch({ type: 'lost', reason, transient: true })
    // ZeroMQ reconnects by itself.
    dispatch({ type: 'tried' })
  }

  function dispatch(event: LifecycleEvent) {
    life = transition(life, event, { nature: 'endless', now: clock.now(), random: options.random })
    const { state, reason, failures } = life
    updateStatus({ state, reason, attempts: state === 'reconnecting' ? failures : undefined })
  }

  function updateStatus(change: Partial<SourceStatus>) {
    const next = { ...status, ...change }
    if (isDeepStrictEqual(next, status)) return
    if (next.state !== status.state)
      log.info({ source: id, state: next.state, reason: next.reason }, 'source state changed')
    status = next
    listener.status(status)
  }

  return {
    stream: variants.h264,
    variants,
    sound: undefined,
    status: () => status,
    want(views, rate) {
      request = { views, rate }
      return applyRequest()
    },
    grant: decoding.grant,
    rings: decoding.rings,
    readFrames: decoding.read,
    stats: () => ({ ...decoding.stats(), packets: received.packets }),
    endPts: timeline.endPts,
    async stop() {
      stopping.abort()
      socket.close()
      await Promise.all([reading, watching])
      await pictures.stop()
      await decoding.want({}, undefined)
      variants.end('the source was removed')
      await variants.close()
    },
  }
}

/** Tracks whether a sender sends pictures at all. A few messages without one change nothing. */
function createPicturePresence() {
  let missing = 0
  let isPresent = true
  return {
    isPresent: () => isPresent,
    /** Returns whether the answer has changed with this message. */
    update(hasPicture: boolean): boolean {
      missing = hasPicture ? 0 : missing + 1
      const before = isPresent
      isPresent = hasPicture || (isPresent && missing < MAX_MISSING_PICTURES)
      return isPresent !== before
    },
  }
}

function resolveEndpoint({ wanted, ringFolder }: Pick<MessageSourceOptions, 'wanted' | 'ringFolder'>) {
  if (wanted.type === 'zmqinternal') {
    const { endpoint, query }: MessageAddress<'internalSource'> = parseInternalSourceAddress(
      wanted.address.url,
    )
    return { endpoint: getInternalEndpoint(ringFolder, endpoint), bind: false, topic: query.topic }
  }
  const { endpoint, query } = parseSourceAddress(wanted.address.url)
  return { endpoint, ...query }
}
