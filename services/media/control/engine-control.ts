import { type MessageFromMedia, type MessageToMedia, messageToMedia } from '@eyrie/contract'
import type { Log } from '@eyrie/kit'
import { Mutex } from 'async-mutex'
import type { AnnotatedStreams } from '../live/annotated/annotated-streams.ts'
import type { Recordings } from '../recording/recordings.ts'
import type { Clock } from '../runtime/clock.ts'
import type { MessageListener } from '../sources/source.ts'
import type { SourceRegistry } from '../sources/source-registry.ts'

/** The engine's side of a control connection. */
export interface Engine {
  send(message: MessageFromMedia): void
  close(code: number, reason: string): void
}

/** Handles the engine's messages and notifies it of changes. Only the newest connection counts. */
export interface Control {
  connect(engine: Engine): void
  receive(engine: Engine, text: string): Promise<void>
  disconnect(engine: Engine): void
  /** A listener that notifies the connected engine of a source's changes. */
  listenerFor(source: number): MessageListener
  /** Sends a message to the connected engine; dropped while none is connected. */
  notify(message: MessageFromMedia): void
  connected(): boolean
  stop(): void
}

export interface ControlOptions {
  sources: SourceRegistry
  hosted: AnnotatedStreams
  recordings: Pick<Recordings, 'apply' | 'addEvent' | 'addResult'>
  clock: Clock
  log: Log
}

/** How long views remain after the engine has disconnected. */
const LEASE_MS = 10_000
const REPLACED = 4000
const NOT_UNDERSTOOD = 4001

export function createControl({ sources, hosted, recordings, clock, log }: ControlOptions): Control {
  /** Handles one message after the other: a grant may refer to a source that the preceding apply creates. */
  const mutex = new Mutex()
  let current: { engine: Engine; hasState: boolean } | undefined
  let lease = new AbortController()

  async function handle(engine: Engine, message: MessageToMedia) {
    if (engine !== current?.engine) return
    if (message.type === 'grant')
      return sources.get(message.source)?.grant(message.view, message.n, message.read)
    if (message.type === 'draw') return hosted.get(message.stream)?.draw(message.n, message.drawing)
    if (message.type === 'event') return recordings.addEvent(message)
    if (message.type === 'result') return recordings.addResult(message)
    await sources.apply(message.sources)
    recordings.apply(message.sources)
    await hosted.apply(message.hosted ?? [])
    sendStateOnce(engine)
    engine.send({ type: 'applied', revision: message.revision })
  }

  /** Sends a new connection the state of the sources and streams that existed before it. */
  function sendStateOnce(engine: Engine) {
    if (engine !== current?.engine || current.hasState) return
    current.hasState = true
    for (const source of sources.all()) {
      const status = source.status()
      engine.send({ type: 'source', status })
      for (const { key, path, generation } of source.rings()) {
        engine.send({ type: 'view', source: status.id, view: key, path, generation })
      }
    }
    for (const stream of hosted.all()) {
      const reason = stream.failure()
      if (stream.isWatched()) engine.send({ type: 'watched', stream: stream.name, watched: true })
      if (reason) engine.send({ type: 'stream', stream: stream.name, reason })
    }
  }

  const removeViews = () =>
    sources
      .removeViews()
      .catch(error => log.error({ err: error }, 'failed to release views of disconnected engine'))

  const notify = (message: MessageFromMedia) => current?.engine.send(message)

  return {
    connect(engine) {
      lease.abort()
      current?.engine.close(REPLACED, 'another engine has connected')
      current = { engine, hasState: false }
    },

    async receive(engine, text) {
      if (engine !== current?.engine) return
      const message = parse(text)
      if ('refusal' in message) {
        log.error({ reason: message.refusal }, 'invalid message from engine')
        engine.close(NOT_UNDERSTOOD, message.refusal)
      } else {
        await mutex
          .runExclusive(() => handle(engine, message))
          .catch(error => log.error({ err: error, type: message.type }, 'failed to handle engine message'))
      }
    },

    disconnect(engine) {
      if (engine !== current?.engine) return
      current = undefined
      lease = new AbortController()
      clock.sleep(LEASE_MS, lease.signal).then(removeViews, () => {})
    },

    listenerFor: source => ({
      status: status => notify({ type: 'source', status }),
      view: (view, { path, generation }) => notify({ type: 'view', source, view, path, generation }),
      findings: found => notify({ type: 'findings', source, ...found }),
      viewFailed: (view, reason) => notify({ type: 'view-failed', source, view, reason }),
      frame: (view, { n, pts, timeUs: time }, discontinuity) =>
        notify({ type: 'frame', source, view, n, pts, time, discontinuity }),
    }),
    notify,
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
