import { type MessageFromMedia, type MessageToMedia, messageToMedia } from '@eyrie/contract'
import type { Log } from '@eyrie/kit'
import { Mutex } from 'async-mutex'
import type { AnnotatedStreams } from '../live/annotated/annotated-streams.ts'
import type { Recordings } from '../recording/recordings.ts'
import type { Clock } from '../runtime/clock.ts'
import type { MessageListener } from '../sources/source.ts'
import type { SourceRegistry } from '../sources/source-registry.ts'

/** A WebSocket connection from the engine. */
export interface EngineConnection {
  send(message: MessageFromMedia): void
  close(code: number, reason: string): void
}

/**
 * Handles messages of the engine, the program that analyses the decoded frames, and notifies the
 * engine of changes. A new connection replaces the previous one.
 *
 * The engine reads the frames of a source from views: a view has one size and format, and its
 * frames are in a file, the ring.
 */
export interface EngineControl {
  connect(engine: EngineConnection): void
  receive(engine: EngineConnection, text: string): Promise<void>
  disconnect(engine: EngineConnection): void
  /** Returns a listener that notifies the engine of changes of a source. */
  listenerFor(source: number): MessageListener
  /** Sends a message to the engine. Without a connection, the message is dropped. */
  notify(message: MessageFromMedia): void
  isConnected(): boolean
  stop(): void
}

export interface EngineControlOptions {
  sources: Pick<SourceRegistry, 'apply' | 'get' | 'list' | 'removeViews'>
  /** Live views into which the results of the engine are drawn. */
  annotated: Pick<AnnotatedStreams, 'apply' | 'get' | 'list'>
  recordings: Pick<Recordings, 'apply' | 'addEvent' | 'addResult'>
  clock: Clock
  log: Log
}

type ApplyMessage = Extract<MessageToMedia, { type: 'apply' }>

/**
 * Time for which views are retained after the engine has disconnected, so that it can continue
 * after a short interruption.
 */
const VIEW_LEASE_MS = 10_000
// Close codes from the range for applications, 4000 to 4999 (RFC 6455, section 7.4.2).
const CLOSE_REPLACED = 4000
const CLOSE_INVALID_MESSAGE = 4001

export function createEngineControl(options: EngineControlOptions): EngineControl {
  const { sources, annotated, recordings, clock, log } = options
  /**
   * Messages are handled one at a time, because a `grant` may refer to a source that the
   * preceding `apply` creates.
   */
  const mutex = new Mutex()
  /** The connected engine, and whether the state of the sources was sent to it. */
  let current: { engine: EngineConnection; hasState: boolean } | undefined
  /** Cancels the removal of the views, which follows some time after a disconnect. */
  let viewLease = new AbortController()

  async function handleMessage(engine: EngineConnection, message: MessageToMedia) {
    if (engine !== current?.engine) return

    switch (message.type) {
      case 'grant':
        // If the engine must not miss a frame, frames are only written up to the
        // number that it allows.
        return sources.get(message.source)?.grant(message.view, message.n, message.read)
      case 'draw':
        return annotated.get(message.stream)?.draw(message.n, message.drawing)
      case 'event':
        return recordings.addEvent(message)
      case 'result':
        return recordings.addResult(message)
      case 'apply':
        return applyConfiguration(engine, message)
    }
  }

  async function applyConfiguration(
    engine: EngineConnection,
    { sources: desired, hosted = [], revision }: ApplyMessage,
  ) {
    await sources.apply(desired)
    recordings.apply(desired)
    await annotated.apply(hosted)
    // Once per connection, unless another connection has replaced this one meanwhile.
    if (engine === current?.engine && !current.hasState) {
      current.hasState = true
      sendState(engine, { sources, annotated })
    }
    engine.send({ type: 'applied', revision })
  }

  function removeViews() {
    sources
      .removeViews()
      .catch(error => log.error({ err: error }, 'failed to release views of disconnected engine'))
  }

  const notify = (message: MessageFromMedia) => current?.engine.send(message)

  return {
    connect(engine) {
      viewLease.abort()
      current?.engine.close(CLOSE_REPLACED, 'another engine has connected')
      current = { engine, hasState: false }
    },

    async receive(engine, text) {
      if (engine !== current?.engine) return
      const message = parseMessage(text)
      if ('error' in message) {
        log.error({ reason: message.error }, 'invalid message from engine')
        engine.close(CLOSE_INVALID_MESSAGE, message.error)
        return
      }

      try {
        await mutex.runExclusive(() => handleMessage(engine, message))
      } catch (error) {
        log.error({ err: error, type: message.type }, 'failed to handle engine message')
      }
    },

    disconnect(engine) {
      if (engine !== current?.engine) return
      current = undefined
      viewLease = new AbortController()
      clock.sleep(VIEW_LEASE_MS, viewLease.signal).then(removeViews, () => {})
    },

    listenerFor: source => ({
      onStatus: status => notify({ type: 'source', status }),
      onView: (view, { path, generation }) =>
        notify({ type: 'view', source, view, path, generation }),
      onFindings: findings => notify({ type: 'findings', source, ...findings }),
      onViewFailed: (view, reason) => notify({ type: 'view-failed', source, view, reason }),
      onFrame: (view, { n, pts, timeUs }, discontinuity) =>
        notify({ type: 'frame', source, view, n, pts, time: timeUs, discontinuity }),
    }),

    notify,
    isConnected: () => current !== undefined,
    stop: () => viewLease.abort(),
  }
}

/** Sends the state of all sources and annotated streams. */
function sendState(
  engine: EngineConnection,
  { sources, annotated }: Pick<EngineControlOptions, 'sources' | 'annotated'>,
): void {
  for (const source of sources.list()) {
    const status = source.status()
    engine.send({ type: 'source', status })
    for (const { key, path, generation } of source.rings()) {
      engine.send({ type: 'view', source: status.id, view: key, path, generation })
    }
  }

  for (const stream of annotated.list()) {
    if (stream.isWatched()) engine.send({ type: 'watched', stream: stream.name, watched: true })
    const reason = stream.failure()
    if (reason) engine.send({ type: 'stream', stream: stream.name, reason })
  }
}

/** Parses a message of the engine. Returns the problem if the message is invalid. */
function parseMessage(text: string): MessageToMedia | { error: string } {
  try {
    const parsed = messageToMedia.safeParse(JSON.parse(text))
    if (parsed.success) return parsed.data
    const [issue] = parsed.error.issues
    return { error: `/${issue?.path.join('/')}: ${issue?.message}` }
  } catch (error) {
    return { error: (error as Error).message }
  }
}
