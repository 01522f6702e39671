import { isDeepStrictEqual } from 'node:util'
import type {
  DesiredSource,
  Drawing,
  HostedStream,
  MessageFromMedia,
  MessageToMedia,
  SourceStatus,
} from '@eyrie/contract/media'
import type { ViewSpec } from '@eyrie/contract/view'
import { viewKey } from '../frames/views.ts'
import type { SourcePlan } from '../plan/plan.ts'
import { AnnotatedStreams } from './annotated-streams.ts'
import { toDesiredSource } from './desired-source.ts'
import { FrameFeed, type FrameFeedListener } from './frame-feed.ts'
import { MediaConnection, type MediaConnectionOptions } from './media-connection.ts'
import { findSource, SourceRemovals } from './source-removals.ts'
import { SourceView } from './source-view.ts'
import { UpstreamResults } from './upstream-results.ts'

type Hello = Extract<MessageFromMedia, { type: 'hello' }>
type FindingsMessage = Extract<MessageFromMedia, { type: 'findings' }>
type ViewMessage = Extract<MessageFromMedia, { view: string }>
type CostMessage = Extract<MessageFromMedia, { type: 'cost' }>
type ConditionMessage = Extract<MessageFromMedia, { type: 'condition' }>

/** Measured cost of a source in the media service. */
export interface SourceCost {
  /** Frames received per second, before the source's rate limit. */
  fps: number
  /** CPU time per received frame. */
  decodeMs: number
  /** CPU time per frame that is scaled and converted for a view. */
  scaleMs?: number | undefined
}

/** Receives the status and the cost of the sources. */
export interface MediaListener {
  onStatus(status: SourceStatus): void
  onCost(source: SourcePlan, cost: SourceCost): void
}

/**
 * The sources that the media service should play and the annotated streams that it should serve.
 */
interface DesiredState {
  sources: DesiredSource[]
  hosted: HostedStream[]
}

/**
 * Serves annotated streams: copies of a source into which the media service draws what the engine
 * sends for each frame.
 */
export interface StreamHost {
  /** Replaces the streams of a sink. */
  setHostedStreams(owner: object, streams: readonly HostedStream[]): void
  isWatched(stream: string): boolean
  /** Returns the reason why the media service cannot serve a stream; undefined if it can. */
  streamFailure(stream: string): string | undefined
  draw(stream: string, n: number, drawing: Drawing): void
}

/**
 * The engine's client of the media service, which plays sources and writes their frames to shared
 * memory. The client sends the complete desired state after every change and reconnect, tracks the
 * status of the sources, and opens frame feeds for channels.
 */
export class MediaClient implements StreamHost {
  readonly #connection: MediaConnection
  readonly #listener: MediaListener
  readonly #annotated = new AnnotatedStreams()

  /** The views (picture sizes and pixel formats) of each source, by `viewKey`. */
  readonly #views = new Map<number, Map<string, SourceView>>()
  /** The open feeds, each of which delivers the frames of a source to a channel. */
  readonly #feeds = new Set<FrameFeed>()
  readonly #statuses = new Map<number, SourceStatus>()
  readonly #conditions = new Map<number, ConditionMessage>()
  /**
   * Number of the newest frame by source. It survives the replacement of a ring, but not a
   * restart of the source.
   */
  readonly #newestFrames = new Map<number, number>()
  /** Results of other engines, which arrive with the frames. */
  readonly #upstreamResults = new Map<number, UpstreamResults>()
  #sources: readonly SourcePlan[] = []

  /** The first message of the media service after the last connect. */
  #hello: Hello | undefined
  #outage: string | undefined = 'media has not answered yet'

  #revision = 0
  readonly #removals = new SourceRemovals()
  /** The desired state in the last message; undefined if it must be sent in any case. */
  #sentState: DesiredState | undefined
  #isSendScheduled = false

  constructor(options: MediaConnectionOptions & MediaListener) {
    this.#listener = options
    this.#connection = new MediaConnection(options, {
      onConnect: () => {
        this.#sentState = undefined
        this.#removals.clear()
        this.#sendDesiredState()
      },
      onMessage: message => this.#handleMessage(message),
      onDisconnect: reason => this.#handleDisconnect(reason),
    })
  }

  /**
   * The first message of the media service, with its properties; undefined while it is
   * disconnected.
   */
  get server(): Hello | undefined {
    return this.#outage === undefined ? this.#hello : undefined
  }

  /** Why the media service is disconnected; undefined while it is connected. */
  get outage(): string | undefined {
    return this.#outage
  }

  status(source: number): SourceStatus | undefined {
    return this.#statuses.get(source)
  }

  /** Returns the last report about a source; undefined while the media service is disconnected. */
  condition(source: number): ConditionMessage | undefined {
    return this.#outage === undefined ? this.#conditions.get(source) : undefined
  }

  /** Replaces the sources to play. */
  setSources(sources: readonly SourcePlan[]): void {
    this.#sources = sources
    const ids = new Set(sources.map(({ id }) => id))
    deleteOthers(this.#statuses, ids)
    deleteOthers(this.#conditions, ids)
    deleteOthers(this.#newestFrames, ids)
    deleteOthers(this.#upstreamResults, ids)
    for (const [id, views] of this.#views) {
      if (!ids.has(id)) closeAll(views)
    }
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

  /**
   * Opens a feed of the frames of a source in all of `views`. The feed starts when the media
   * service has created the views.
   */
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
    for (const views of this.#views.values()) closeAll(views)
  }

  #getViews(source: number): Map<string, SourceView> {
    const views = this.#views.get(source) ?? new Map<string, SourceView>()
    this.#views.set(source, views)
    return views
  }

  #openViews(source: number, specs: readonly ViewSpec[]): SourceView[] {
    const views = this.#getViews(source)
    this.#scheduleSend()
    return specs.map(spec => {
      const key = viewKey(spec)
      const view = views.get(key) ?? new SourceView(spec)
      views.set(key, view)
      return view
    })
  }

  /** Closes the views without readers. */
  #pruneViews(source: number): void {
    const views = this.#getViews(source)
    for (const [key, view] of views) {
      if (view.readers.size === 0) {
        view.close()
        views.delete(key)
      } else {
        // The removed reader may have been the slowest reader.
        this.#sendGrant(source, view)
      }
    }
    this.#scheduleSend()
  }

  /** Sends the desired state after the current task, so that several changes become one message. */
  #scheduleSend(): void {
    if (this.#isSendScheduled) return
    this.#isSendScheduled = true
    queueMicrotask(() => {
      this.#isSendScheduled = false
      this.#sendDesiredState()
    })
  }

  #sendDesiredState(): void {
    const sources = this.#sources.map(plan => toDesiredSource(plan, this.#getViews(plan.id)))
    const ids = new Set(sources.map(({ id }) => id))
    const hosted = this.#annotated.streams.filter(({ source }) => ids.has(source))
    if (isDeepStrictEqual({ sources, hosted }, this.#sentState)) return

    this.#revision += 1
    for (const { id } of this.#sentState?.sources ?? []) {
      if (!ids.has(id)) this.#removals.add(id, this.#revision)
    }
    this.#sentState = { sources, hosted }
    this.#connection.send({ type: 'apply', revision: this.#revision, sources, hosted })
  }

  /**
   * Allows the media service to overwrite frames that all readers have consumed. Only for
   * sources with pacing `all`.
   */
  #sendGrant(source: number, view: SourceView): void {
    const plan = this.#sources.find(({ id }) => id === source)
    if (plan?.pacing !== 'all') return

    const grant = view.nextGrant()
    if (!grant) return
    const { writeUpTo, readUpTo } = grant
    this.#connection.send({
      type: 'grant',
      source,
      view: viewKey(view.spec),
      n: writeUpTo,
      read: readUpTo,
    })
  }

  #handleMessage(message: MessageFromMedia): void {
    const source = findSource(message)
    if (source !== undefined) {
      const isPlanned = this.#sources.some(({ id }) => id === source)
      if (!isPlanned || this.#removals.isPending(source)) return
    }

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
      case 'condition':
        this.#conditions.set(message.source, message)
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
        this.#removals.confirm(message.revision)
        break
      default:
        this.#handleViewMessage(message)
    }
  }

  /**
   * The epoch identifies the run of the media service. After a restart it is different, and
   * earlier state is obsolete.
   */
  #handleHello(hello: Hello): void {
    const hasRestarted = hello.epoch !== this.#hello?.epoch
    if (hasRestarted) {
      this.#statuses.clear()
      this.#conditions.clear()
      this.#newestFrames.clear()
      this.#upstreamResults.clear()
    }
    this.#hello = hello
    this.#outage = undefined
    this.#notifyFeeds()
  }

  #handleStatus(status: SourceStatus): void {
    this.#statuses.set(status.id, status)
    if (status.state === 'ended') {
      for (const view of this.#getViews(status.id).values()) view.catchUp()
    }
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
      view.notifyFrame(message)
      return
    }

    if (message.type === 'view-failed') {
      view.failure = message.reason
    } else {
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
    for (const feed of this.#feeds) {
      if (source === undefined || feed.source === source) feed.notifyChange()
    }
  }
}

/** Deletes the entries of all sources except `ids`. */
function deleteOthers(bySource: Map<number, unknown>, ids: ReadonlySet<number>): void {
  for (const id of bySource.keys()) {
    if (!ids.has(id)) bySource.delete(id)
  }
}

function closeAll(views: ReadonlyMap<string, SourceView>): void {
  for (const view of views.values()) view.close()
}
