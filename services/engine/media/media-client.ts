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
import { Feed, type FeedListener } from './feed.ts'
import { Findings } from './findings.ts'
import { type ConnectionOptions, MediaConnection } from './media-connection.ts'
import { SourceView } from './source-view.ts'

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

/** What media is wanted to hold. */
interface Wanted {
  sources: DesiredSource[]
  hosted: HostedStream[]
}

/** Annotated streams, which media makes of frames and of what it is told to draw into them. */
export interface Hosting {
  /** Whoever calls again wants these streams instead of those before. */
  host(owner: object, streams: readonly HostedStream[]): void
  isWatched(stream: string): boolean
  /** Why nobody can watch it. */
  failureOf(stream: string): string | undefined
  draw(stream: string, n: number, drawing: Drawing): void
}

/**
 * Media as the engine sees it: what is wanted of it, what it says, and the feeds that channels read. The wanted state
 * is sent as a whole whenever it changes and after every reconnect.
 */
export class MediaClient implements Hosting {
  readonly #connection: MediaConnection
  readonly #views = new Map<number, Map<string, SourceView>>()
  readonly #feeds = new Set<Feed>()
  readonly #statuses = new Map<number, SourceStatus>()
  /** Number of each source's newest frame; it goes on when a ring is made anew, and begins again with the source. */
  readonly #reached = new Map<number, number>()
  readonly #findings = new Map<number, Findings>()
  readonly #listener: MediaListener
  readonly #annotated = new AnnotatedStreams()
  #sources: readonly SourcePlan[] = []
  #server: Hello | undefined
  #absence: string | undefined = 'media has not answered yet'
  #revision = 0
  #applied: Wanted | undefined
  #due = false

  constructor(options: ConnectionOptions & MediaListener) {
    this.#listener = options
    this.#connection = new MediaConnection(options, {
      connected: () => {
        this.#applied = undefined
        this.#apply()
      },
      received: message => this.#receive(message),
      lost: reason => this.#lose(reason),
    })
  }

  /** What media has said of itself; undefined while it is not connected. */
  get server(): Hello | undefined {
    return this.#absence === undefined ? this.#server : undefined
  }

  /** Why media is not connected; undefined while it is. */
  get absence(): string | undefined {
    return this.#absence
  }

  status(source: number): SourceStatus | undefined {
    return this.#statuses.get(source)
  }

  want(sources: readonly SourcePlan[]): void {
    this.#sources = sources
    const wanted = new Set(sources.map(({ id }) => id))
    for (const known of [this.#statuses, this.#reached, this.#findings])
      for (const id of known.keys()) if (!wanted.has(id)) known.delete(id)
    for (const [id, views] of this.#views)
      if (!wanted.has(id)) for (const view of views.values()) view.close()
    this.#applySoon()
  }

  host(owner: object, streams: readonly HostedStream[]): void {
    this.#annotated.want(owner, streams)
    this.#applySoon()
  }

  isWatched(stream: string): boolean {
    return this.#annotated.isWatched(stream)
  }

  failureOf(stream: string): string | undefined {
    return this.#annotated.failureOf(stream)
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

  /** Frames of a source in all of `views`, from whenever media has made them. */
  open(source: number, views: readonly ViewSpec[], listener: FeedListener): Feed {
    const feed = new Feed(source, this.#choose(source, views), listener, {
      reached: () => this.#reached.get(source) ?? 0,
      findings: () => this.#findings.get(source),
      views: specs => this.#choose(source, specs),
      consumed: view => this.#grant(source, view),
      left: () => this.#prune(source),
      closed: () => {
        this.#feeds.delete(feed)
        this.#prune(source)
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

  #choose(source: number, specs: readonly ViewSpec[]): SourceView[] {
    const known = this.#viewsOf(source)
    this.#applySoon()
    return specs.map(spec => {
      const view = known.get(viewKey(spec)) ?? new SourceView(spec)
      known.set(viewKey(spec), view)
      return view
    })
  }

  #prune(source: number): void {
    const views = this.#viewsOf(source)
    for (const [key, view] of views) {
      // The slowest of the feeds may have been the one that went.
      if (view.feeds.size > 0) this.#grant(source, view)
      else {
        view.close()
        views.delete(key)
      }
    }
    this.#applySoon()
  }

  /** Changes made together reach media as one. */
  #applySoon(): void {
    if (this.#due) return
    this.#due = true
    queueMicrotask(() => {
      this.#due = false
      this.#apply()
    })
  }

  #apply(): void {
    const sources = this.#sources.map((plan): DesiredSource => {
      const { id, type, address, decoder, rate, recording, pacing } = plan
      const views = Object.fromEntries([...this.#viewsOf(id)].map(([key, { spec }]) => [key, spec]))
      // There is a frame in a tick at most, so that this is all of them; counting goes wrong far beyond.
      const most = rate && Math.min(rate, TICKS_PER_SECOND)
      const settings = { ...(most !== undefined && { rate: most }), ...(recording && { recording }) }
      return { id, type, address, decoder, ...settings, pacing, views }
    })
    const ids = new Set(sources.map(({ id }) => id))
    const hosted = this.#annotated.wanted.filter(({ source }) => ids.has(source))
    if (isDeepStrictEqual({ sources, hosted }, this.#applied)) return
    this.#applied = { sources, hosted }
    this.#connection.send({ type: 'apply', revision: ++this.#revision, sources, hosted })
  }

  #grant(source: number, view: SourceView): void {
    if (this.#sources.find(({ id }) => id === source)?.pacing !== 'all') return
    const grant = view.takeGrant()
    if (grant) this.#connection.send({ type: 'grant', source, view: viewKey(view.spec), ...grant })
  }

  #receive(message: MessageFromMedia): void {
    if (message.type === 'hello') this.#greet(message)
    else if (message.type === 'source') this.#hear(message.status)
    else if (message.type === 'cost') this.#account(message)
    else if (message.type === 'findings') this.#keep(message)
    else if (message.type === 'watched') this.#annotated.hear(message)
    else if (message.type === 'stream') this.#hearOfStream(message)
    else if (message.type !== 'applied') this.#see(message)
  }

  #hearOfStream(message: Extract<MessageFromMedia, { type: 'stream' }>): void {
    this.#annotated.hear(message)
    this.#notify()
  }

  #greet(hello: Hello): void {
    if (hello.epoch !== this.#server?.epoch) {
      this.#statuses.clear()
      this.#reached.clear()
      this.#findings.clear()
    }
    this.#server = hello
    this.#absence = undefined
    this.#notify()
  }

  #hear(status: SourceStatus): void {
    this.#statuses.set(status.id, status)
    if (status.state === 'ended') for (const view of this.#viewsOf(status.id).values()) view.catchUp()
    this.#notify(status.id)
    this.#listener.onStatus(status)
  }

  #account({ source, fps, decode_ms: decodeMs, scale_ms: scaleMs }: CostMessage): void {
    const plan = this.#sources.find(({ id }) => id === source)
    if (plan) this.#listener.onCost(plan, { fps, decodeMs, scaleMs })
  }

  #keep({ type: _, source, ...found }: FindingsMessage): void {
    const kept = this.#findings.get(source) ?? new Findings()
    this.#findings.set(source, kept)
    kept.add(found)
  }

  #see(message: ViewMessage): void {
    const view = this.#views.get(message.source)?.get(message.view)
    // A view may have been given up while the message was on its way.
    if (!view) return
    if (message.type === 'frame') {
      this.#reached.set(message.source, message.n)
      view.woken(message.n, message.discontinuity)
      return
    }
    if (message.type === 'view-failed') view.failure = message.reason
    else {
      view.made(message)
      this.#grant(message.source, view)
    }
    this.#notify(message.source)
  }

  #lose(reason: string): void {
    this.#absence = reason
    this.#annotated.forget()
    this.#notify()
  }

  /** Tells the feeds of one source, or all, that something about them has changed. */
  #notify(source?: number): void {
    for (const feed of this.#feeds) if (source === undefined || feed.source === source) feed.changed()
  }
}
