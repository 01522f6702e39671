import { isDeepStrictEqual } from 'node:util'
import { type MessageFromMedia, minimalView, type SourceStatus, type ViewSpec } from '@eyrie/contract'
import {
  type MessageAddress,
  parseInternalSourceAddress,
  parseSourceAddress,
} from '@eyrie/contract/zmq-messages'
import { getInternalEndpoint } from '@eyrie/kit/paths'
import { RecentCounter } from '@eyrie/kit/recent-counter'
import { Subscriber } from 'zeromq'
import { createDecoding } from '../../decode/decoding.ts'
import { createVariants } from '../../transcode/variants.ts'
import { born, type LifeEvent, step } from '../lifecycle.ts'
import type { Source, SourceListener, SourceOptions } from '../source.ts'
import { type Message, readMessage } from './message.ts'
import { createShowing } from './showing.ts'
import { createMessageTimeline } from './timeline.ts'
import { createTopicFilter } from './topic.ts'

export interface MessageListener extends SourceListener {
  /** What the sender has found in the frame of this `pts`. */
  findings(found: Omit<Extract<MessageFromMedia, { type: 'findings' }>, 'type' | 'source'>): void
}

export interface MessageSourceOptions
  extends Pick<
    SourceOptions,
    'wanted' | 'epoch' | 'beginPts' | 'rings' | 'encoders' | 'clock' | 'random' | 'log'
  > {
  /** Folder in which the sockets of internal names lie. */
  ringFolder: string
  listener: MessageListener
}

const CHECK_MS = 1000
const SILENCE_MS = 5000
/** What has not happened for so long is not complained of any more. */
const REMEMBERED_MS = 60_000
const QUEUED_MESSAGES = 32
const MOST_MESSAGE_BYTES = 64 << 20
/** So many messages without pictures in a row are no accident. */
const NO_ACCIDENT = 10

/** Frames that another pipeline, or anybody else, sends by ZeroMQ. */
export function createMessageSource(options: MessageSourceOptions): Source {
  const { wanted, epoch, clock, log, encoders, listener } = options
  const { id, pacing } = wanted
  const name = wanted.address.url
  const { endpoint, bind, topic } = endpointOf(options)
  const decoding = createDecoding({ source: id, epoch, pacing, rings: options.rings, listener })
  const variants = createVariants({ source: id, epoch, clock, log, encoders, read: decoding.read })
  const showing = createShowing({ decoding, onTrouble: reason => refuse(new Error(reason)) })
  const timeline = createMessageTimeline(clock.now, options.beginPts)
  const filter = createTopicFilter({ wanted: topic, now: clock.now, rememberedMs: REMEMBERED_MS })
  const stopping = new AbortController()
  const socket = new Subscriber({
    receiveHighWaterMark: QUEUED_MESSAGES,
    maxMessageSize: MOST_MESSAGE_BYTES,
    reconnectInterval: 100,
    reconnectMaxInterval: 2000,
    linger: 0,
  })
  let status: SourceStatus = { id, state: 'connecting', reason: `${name} has sent nothing yet` }
  let life = born
  let views: Record<string, ViewSpec> = {}
  let rate: number | undefined
  let packets = 0
  let heardAt: number | undefined
  const refused = new RecentCounter(clock.now, REMEMBERED_MS)
  let lastRefusal: string | undefined
  let withoutPicture = 0
  let pictured = true

  const reading = read()
  const watching = watch()

  async function read() {
    while (!stopping.signal.aborted && !(await open()))
      await clock.sleep((life.nextTryAt ?? 0) - clock.now(), stopping.signal).catch(() => {})
    if (stopping.signal.aborted) return
    for await (const parts of socket) {
      if (stopping.signal.aborted) return
      try {
        await take(readMessage(parts))
      } catch (error) {
        refuse(error as Error)
      }
    }
  }

  async function open(): Promise<boolean> {
    socket.subscribe(topic)
    try {
      if (bind) await socket.bind(endpoint)
      else socket.connect(endpoint)
      return true
    } catch (error) {
      const reason = `${name} cannot be ${bind ? 'bound' : 'reached'}: ${(error as Error).message}`
      happen({ type: 'lost', reason, transient: true })
      return false
    }
  }

  async function take(message: Message) {
    const { header, picture } = message
    if (!filter.takes(message.topic)) return
    packets++
    heardAt = clock.now()
    const { pts, discontinuity } = timeline.next(header.pts)
    const timeUs = Date.parse(header.time) * 1000
    await see(picture !== undefined)
    const { width, height } = picture ?? header
    if (picture) variants.show(picture.format.toLowerCase())
    tell({ width, height, codec: picture?.format.toLowerCase(), clock: { source: 'sender' } })
    happen({ type: 'heard' })
    happen({ type: 'ails', reason: complaint() })
    const { objects, events } = header
    const isCut = discontinuity || header.discontinuity === true
    listener.findings({ pts, time: timeUs, objects, events, discontinuity: isCut })
    if (decoding.wanted() && (picture || !pictured)) await showing.show(message, { pts, timeUs })
  }

  /** Whether the sender sends pictures: one that is missing is no change, and without any some views cannot be had. */
  async function see(isPictured: boolean) {
    withoutPicture = isPictured ? 0 : withoutPicture + 1
    const now = isPictured || (pictured && withoutPicture < NO_ACCIDENT)
    if (now === pictured) return
    pictured = now
    await want()
  }

  async function want() {
    const possible = Object.entries(views).filter(
      ([, spec]) => pictured || isDeepStrictEqual(spec, minimalView),
    )
    await decoding.want(Object.fromEntries(possible), rate)
    for (const key of Object.keys(views))
      if (!possible.some(([each]) => each === key))
        listener.viewFailed(key, `${name} sends no pictures: let its sink send payload=jpeg`)
  }

  function refuse(error: Error) {
    if (refused.recent === 0)
      log.warn(`source ${id}: a message from ${name} cannot be read: ${error.message}`)
    refused.add()
    lastRefusal = error.message
  }

  function complaint(): string | undefined {
    if (refused.recent > 0)
      return `${refused.recent} messages could not be read, the last since ${lastRefusal}`
    const others = filter.others()
    return others.length > 0
      ? `there are other topics too (${others.join(', ')}): choose by ?topic=, or take a source for each`
      : undefined
  }

  async function watch() {
    while (!stopping.signal.aborted) {
      await clock.sleep(CHECK_MS, stopping.signal).catch(() => {})
      if (stopping.signal.aborted) return
      if (heardAt === undefined) {
        if (lastRefusal) tell({ reason: complaint() ?? `${name} has sent nothing that can be read` })
        continue
      }
      if (clock.now() - heardAt < SILENCE_MS) continue
      filter.forget()
      const silence = `${name} has sent nothing for ${SILENCE_MS / 1000} s: check that its sender runs`
      const reason = complaint() ?? silence
      if (life.state !== 'running') {
        tell({ reason })
        continue
      }
      happen({ type: 'lost', reason, transient: true })
      // ZeroMQ sees to the connection itself.
      happen({ type: 'tried' })
    }
  }

  function happen(event: LifeEvent) {
    life = step(life, event, { nature: 'endless', now: clock.now(), random: options.random })
    const { state, reason, failures } = life
    tell({ state, reason, attempts: state === 'reconnecting' ? failures : undefined })
  }

  function tell(change: Partial<SourceStatus>) {
    const next = { ...status, ...change }
    if (isDeepStrictEqual(next, status)) return
    if (next.state !== status.state)
      log.info(`source ${id} is ${next.state}${next.reason ? `: ${next.reason}` : ''}`)
    status = next
    listener.status(status)
  }

  return {
    stream: variants.h264,
    variants,
    sound: undefined,
    status: () => status,
    want(wantedViews, wantedRate) {
      views = wantedViews
      rate = wantedRate
      return want()
    },
    grant: decoding.grant,
    rings: decoding.rings,
    readFrames: decoding.read,
    stats: () => ({ ...decoding.stats(), packets }),
    endPts: timeline.endPts,
    async stop() {
      stopping.abort()
      socket.close()
      await Promise.all([reading, watching])
      await showing.stop()
      await decoding.want({}, undefined)
      variants.end('the source was removed')
      await variants.close()
    },
  }
}

function endpointOf({ wanted, ringFolder }: Pick<MessageSourceOptions, 'wanted' | 'ringFolder'>) {
  if (wanted.type === 'zmqinternal') {
    const { endpoint, query }: MessageAddress<'internalSource'> = parseInternalSourceAddress(
      wanted.address.url,
    )
    return { endpoint: getInternalEndpoint(ringFolder, endpoint), bind: false, topic: query.topic }
  }
  const { endpoint, query } = parseSourceAddress(wanted.address.url)
  return { endpoint, ...query }
}
