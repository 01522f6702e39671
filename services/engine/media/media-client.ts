import { isDeepStrictEqual } from 'node:util'
import type {
  DesiredSource,
  Drawing,
  HostedStream,
  MessageFromMedia,
  MessageToMedia,
  SourceStatus,
} from '@eyrie/contract/media'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { ViewSpec } from '@eyrie/contract/view'
import { viewKey } from '../frames/views.ts'
import type { SourcePlan } from '../plan/plan.ts'
import { AnnotatedStreams } from './annotated-streams.ts'
import { FrameFeed, type FrameFeedListener } from './frame-feed.ts'
import { MediaConnection, type MediaConnectionOptions } from './media-connection.ts'
import { SourceView } from './source-view.ts'
import { UpstreamResults } from './upstream-results.ts'

type Hello = Extract<MessageFromMedia, { type: 'hello' }>
type FindingsMessage = Extract<MessageFromMedia, { type: 'findings' }>
type ViewMessage = Extract<MessageFromMedia, { view: string }>
type CostMessage = Extract<MessageFromMedia, { type: 'cost' }>

/** `fps`: frames received per second, before the source's rate applies. CPU time in ms per received frame, and per frame of a view. */
export interface SourceCost {
  fps: number
  decodeMs: number
  scaleMs?: number | undefined
}

export interface MediaListener {
  onStatus(status: SourceStatus): void
  onCost(source: SourcePlan, cost: SourceCost): void
}

/** The state that media should be in. */
interface DesiredState {
  sources: DesiredSource[]
  hosted: HostedStream[]
}

/** Annotated streams: media serves them and draws into each frame the drawing that it receives for it. */
export interface StreamHost {
  /** Replaces the streams of `owner`. */
  setHostedStreams(owner: object, streams: readonly HostedStream[]): void
  isWatched(stream: string): boolean
  /** Why media cannot serve the stream. */
  streamFailure(stream: string): string | undefined
  draw(stream: string, n: number, drawing: Drawing): void
}

/**
 * The engine's client of media. It sends the complete desired state after every change and reconnect, tracks the status of
 * sources and opens frame feeds for channels.
 */
export class MediaClient implements StreamHost {
  readonly #connection: MediaConnection
  readonly #views = new Map<number, Map<string, SourceView>>()
  readonly #feeds = new Set<FrameFeed>()
  readonly #statuses = new Map<number, SourceStatus>()
  /** Number of each source's newest frame. It continues when a ring is replaced and restarts with the source. */
  readonly #newestFrames = new Map<number, number>()
  readonly #upstreamResults = new Map<number, UpstreamResults>()
  readonly #listener: MediaListener
  readonly #annotated = new AnnotatedStreams()
  #sources: readonly SourcePlan[] = []
  #server: Hello | undefined
  #outage: string | undefined = 'media has not answered yet'
  #revision = 0
  #sentState: DesiredState | undefined
  #isSendScheduled = false

  constructor(options: MediaConnectionOptions & MediaListener) {
    this.#listener = options
    this.#connection = new MediaConnection(options, {
      onConnect: () => {
        this.#sentState = undefined
        this.#sendDesiredState()
      },
      onMessage: message => this.#handleMessage(message),
      onDisconnect: reason => this.#handleDisconnect(reason),
    })
  }

  /** The greeting of media; undefined while it is disconnected. */
  get server(): Hello | undefined {
    return this.#outage === undefined ? this.#server : undefined
  }

  /** Why media is disconnected; undefined while it is connected. */
  get outage(): string | undefined {
    return this.#outage
  }

  status(source: number): SourceStatus | undefined {
    return this.#statuses.get(source)
  }

  /** Replaces the sources that media should play. */
  setSources(sources: readonly SourcePlan[]): void {
    this.#sources = sources
    const ids = new Set(sources.map(({ id }) => id))
    for (const bySource of [this.#statuses, this.#newestFrames, this.#upstreamResults])
      for (const id of bySource.keys()) if (!ids.has(id)) bySource.delete(id)
    for (const [id, views] of this.#views) if (!ids.has(id)) for (const view of views.values()) view.close()
    this.#scheduleSend()
  }

  setHostedStreams(owner: object, streams: readonly HostedStream[]): void {
    this.#annotated.setStreams(owner, streams)
    this.#scheduleSend()
  }

  isWatched(stream: string): boolean {
    return this.#annotated.isWatched(stream)
  }

  streamFailure(stream: string): string | undefined {
    return this.#annotated.findFailure(stream)
  }

  draw(stream: string, n: number, drawing: Drawing): void {
    this.#connection.send({ type: 'draw', stream, n, drawing })
  }

  isRecorded(source: number): boolean {
    return this.#sources.some(({ id, recording }) => id === source && recording !== undefined)
  }

  send(message: MessageToMedia): void {
    this.#connection.send(message)
  }

  /** Opens a feed of the frames of `source` in all of `views`. It starts when media has made them. */
  openFeed(source: number, views: readonly ViewSpec[], listener: FrameFeedListener): FrameFeed {
    const feed = new FrameFeed(source, this.#openViews(source, views), listener, {
      newestFrame: () => this.#newestFrames.get(source) ?? 0,
      upstreamResults: () => this.#upstreamResults.get(source),
      openViews: specs => this.#openViews(source, specs),
      onConsumed: view => this.#sendGrant(source, view),
      pruneViews: () => this.#pruneViews(source),
      onClose: () => {
        this.#feeds.delete(feed)
        this.#pruneViews(source)
      },
    })
    this.#feeds.add(feed)
    return feed
  }

  stop(): void {
    this.#connection.stop()
    for (const views of this.#views.values()) for (const view of views.values()) view.close()
  }

  #viewsOf(source: number): Map<string, SourceView> {
    const views = this.#views.get(source) ?? new Map<string, SourceView>()
    this.#views.set(source, views)
    return views
  }

  #openViews(source: number, specs: readonly ViewSpec[]): SourceView[] {
    const views = this.#viewsOf(source)
    this.#scheduleSend()
    return specs.map(spec => {
      const view = views.get(viewKey(spec)) ?? new SourceView(spec)
      views.set(viewKey(spec), view)
      return view
    })
  }

  #pruneViews(source: number): void {
    const views = this.#viewsOf(source)
    for (const [key, view] of views) {
      // The closed feed may have been the slowest reader.
      if (view.readers.size > 0) this.#sendGrant(source, view)
      else {
        view.close()
        views.delete(key)
      }
    }
    this.#scheduleSend()
  }

  /** Sends changes of the same turn of the event loop as one message. */
  #scheduleSend(): void {
    if (this.#isSendScheduled) return
    this.#isSendScheduled = true
    queueMicrotask(() => {
      this.#isSendScheduled = false
      this.#sendDesiredState()
    })
  }

  #sendDesiredState(): void {
    const sources = this.#sources.map(plan => this.#toWantedSource(plan))
    const ids = new Set(sources.map(({ id }) => id))
    const hosted = this.#annotated.streams.filter(({ source }) => ids.has(source))
    if (isDeepStrictEqual({ sources, hosted }, this.#sentState)) return
    this.#sentState = { sources, hosted }
    this.#connection.send({ type: 'apply', revision: ++this.#revision, sources, hosted })
  }

  #toWantedSource({ id, type, address, decoder, rate, recording, pacing }: SourcePlan): DesiredSource {
    const views = Object.fromEntries([...this.#viewsOf(id)].map(([key, { spec }]) => [key, spec]))
    // No stream has more than one frame per tick. Media's arithmetic breaks down far above that rate.
    const maxRate = rate && Math.min(rate, TICKS_PER_SECOND)
    const optional = { ...(maxRate !== undefined && { rate: maxRate }), ...(recording && { recording }) }
    return { id, type, address, decoder, ...optional, pacing, views }
  }

  #sendGrant(source: number, view: SourceView): void {
    if (this.#sources.find(({ id }) => id === source)?.pacing !== 'all') return
    const grant = view.nextGrant()
    if (grant) this.#connection.send({ type: 'grant', source, view: viewKey(view.spec), ...grant })
  }

  #handleMessage(message: MessageFromMedia): void {
    switch (message.type) {
      case 'hello':
        this.#handleHello(message)
        break
      case 'source':
        this.#handleStatus(message.status)
        break
      case 'cost':
        this.#handleCost(message)
        break
      case 'findings':
        this.#handleFindings(message)
        break
      case 'watched':
        this.#annotated.update(message)
        break
      case 'stream':
        this.#annotated.update(message)
        this.#notifyFeeds()
        break
      case 'applied':
        break
      default:
        this.#handleViewMessage(message)
    }
  }

  #handleHello(hello: Hello): void {
    if (hello.epoch !== this.#server?.epoch) {
      this.#statuses.clear()
      this.#newestFrames.clear()
      this.#upstreamResults.clear()
    }
    this.#server = hello
    this.#outage = undefined
    this.#notifyFeeds()
  }

  #handleStatus(status: SourceStatus): void {
    this.#statuses.set(status.id, status)
    if (status.state === 'ended') for (const view of this.#viewsOf(status.id).values()) view.catchUp()
    this.#notifyFeeds(status.id)
    this.#listener.onStatus(status)
  }

  #handleCost({ source, fps, decode_ms: decodeMs, scale_ms: scaleMs }: CostMessage): void {
    const plan = this.#sources.find(({ id }) => id === source)
    if (plan) this.#listener.onCost(plan, { fps, decodeMs, scaleMs })
  }

  #handleFindings({ type: _, source, ...result }: FindingsMessage): void {
    const results = this.#upstreamResults.get(source) ?? new UpstreamResults()
    this.#upstreamResults.set(source, results)
    results.add(result)
  }

  #handleViewMessage(message: ViewMessage): void {
    const view = this.#views.get(message.source)?.get(message.view)
    // The view may have been closed while the message was in transit.
    if (!view) return
    if (message.type === 'frame') {
      this.#newestFrames.set(message.source, message.n)
      view.notifyFrame(message.n, message.discontinuity)
      return
    }
    if (message.type === 'view-failed') view.failure = message.reason
    else {
      view.attachRing(message)
      this.#sendGrant(message.source, view)
    }
    this.#notifyFeeds(message.source)
  }

  #handleDisconnect(reason: string): void {
    this.#outage = reason
    this.#annotated.reset()
    this.#notifyFeeds()
  }

  /** Notifies the feeds of one source, or all feeds, of a change. */
  #notifyFeeds(source?: number): void {
    for (const feed of this.#feeds) if (source === undefined || feed.source === source) feed.notifyChange()
  }
}
