import { type MessageFromMedia, type MessageToMedia, messageToMedia } from '@eyrie/contract'
import type { Log } from '@eyrie/kit'
import type { Clock } from '../clock.ts'
import type { MessageListener } from '../ingest/messages/source.ts'
import type { HostedStreams } from '../live/annotated/hosted-streams.ts'
import type { Recordings } from '../record/recordings.ts'
import type { Sources } from './sources.ts'

/** The engine's end of a control connection. */
export interface Engine {
  send(message: MessageFromMedia): void
  close(code: number, reason: string): void
}

/** Carries out what the engine wants, and tells it what becomes of it. The newest connection counts. */
export interface Control {
  connect(engine: Engine): void
  receive(engine: Engine, text: string): Promise<void>
  disconnect(engine: Engine): void
  /** What a source tells goes to the engine that is connected at that moment. */
  listenerFor(source: number): MessageListener
  /** Told to the engine that is connected at that moment. */
  tell(message: MessageFromMedia): void
  connected(): boolean
  stop(): void
}

export interface ControlOptions {
  sources: Sources
  hosted: HostedStreams
  recordings: Pick<Recordings, 'apply' | 'event' | 'result'>
  clock: Clock
  log: Log
}

/** How long views outlive the connection of those who read them. */
const LEASE_MS = 10_000
const REPLACED = 4000
const NOT_UNDERSTOOD = 4001

export function createControl({ sources, hosted, recordings, clock, log }: ControlOptions): Control {
  let current: Engine | undefined
  let informed = false
  let lease = new AbortController()
  let turn: Promise<void> = Promise.resolve()

  async function follow(engine: Engine, message: MessageToMedia) {
    if (engine !== current) return
    if (message.type === 'grant')
      return sources.get(message.source)?.grant(message.view, message.n, message.read)
    if (message.type === 'draw') return hosted.get(message.stream)?.draw(message.n, message.drawing)
    if (message.type === 'event') return recordings.event(message)
    if (message.type === 'result') return recordings.result(message)
    await sources.apply(message.sources)
    recordings.apply(message.sources)
    await hosted.apply(message.hosted ?? [])
    if (!informed) inform(engine)
    informed = true
    engine.send({ type: 'applied', revision: message.revision })
  }

  /** A new connection has heard nothing of what was there before it. */
  function inform(engine: Engine) {
    for (const source of sources.all()) {
      const status = source.status()
      engine.send({ type: 'source', status })
      for (const { key, path, generation } of source.rings()) {
        engine.send({ type: 'view', source: status.id, view: key, path, generation })
      }
    }
    for (const stream of hosted.all()) {
      const reason = stream.failure()
      if (stream.watched()) engine.send({ type: 'watched', stream: stream.name, watched: true })
      if (reason) engine.send({ type: 'stream', stream: stream.name, reason })
    }
  }

  const removeViews = () =>
    sources.removeViews().catch(error => log.error({ err: error }, 'views of an engine that has gone stay'))

  const tell = (message: MessageFromMedia) => current?.send(message)

  return {
    connect(engine) {
      lease.abort()
      current?.close(REPLACED, 'another engine has connected')
      current = engine
      informed = false
    },

    async receive(engine, text) {
      if (engine !== current) return
      const message = parse(text)
      if ('refusal' in message) {
        log.error({ reason: message.refusal }, 'the engine sent what media does not understand')
        engine.close(NOT_UNDERSTOOD, message.refusal)
      } else {
        // One after the other: a grant may be for a source that the apply before it has yet to make.
        turn = turn
          .then(() => follow(engine, message))
          .catch(error => log.error({ err: error, type: message.type }, 'what the engine wants fails'))
        await turn
      }
    },

    disconnect(engine) {
      if (engine !== current) return
      current = undefined
      lease = new AbortController()
      clock.sleep(LEASE_MS, lease.signal).then(removeViews, () => {})
    },

    listenerFor: source => ({
      status: status => tell({ type: 'source', status }),
      view: (view, { path, generation }) => tell({ type: 'view', source, view, path, generation }),
      findings: found => tell({ type: 'findings', source, ...found }),
      viewFailed: (view, reason) => tell({ type: 'view-failed', source, view, reason }),
      frame: (view, { n, pts, timeUs: time }, discontinuity) =>
        tell({ type: 'frame', source, view, n, pts, time, discontinuity }),
    }),
    tell,
    connected: () => current !== undefined,
    stop: () => lease.abort(),
  }
}

function parse(text: string): MessageToMedia | { refusal: string } {
  try {
    const parsed = messageToMedia.safeParse(JSON.parse(text))
    if (parsed.success) return parsed.data
    const [issue] = parsed.error.issues
    return { refusal: `/${issue?.path.join('/')}: ${issue?.message}` }
  } catch (error) {
    return { refusal: (error as Error).message }
  }
}
