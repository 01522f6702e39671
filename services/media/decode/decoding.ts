import { type Pacing, TICKS_PER_SECOND, type ViewSpec } from '@eyrie/contract'
import { Mutex } from 'async-mutex'
import { displaySize, type Picture } from '../gstreamer/picture.ts'
import type { Branch, GstError, Numbering, Pipeline, RingFrame } from '../node-gst/index.ts'
import { buildDecoderLaunch } from './decoders.ts'
import type { RingFolder } from './ring-folder.ts'
import { createRingView, type RingView } from './ring-view.ts'
import { decodeQueueName } from './thread-times.ts'
import { type Fit, fitView } from './view-fit.ts'

/** Receives notifications about views. Readers choose the keys. */
export interface ViewListener {
  onView(key: string, ring: { path: string; generation: number }): void
  onViewFailed(key: string, reason: string): void
  onFrame(key: string, frame: RingFrame, discontinuity: boolean): void
}

/** The end of the frames of one decoding, from which another one can continue. */
export interface FramePosition {
  /** Number of the next frame. */
  nextNumber: number
  /** Stream time of the newest frame, in 90 kHz ticks; undefined before the first. */
  newestPts: number | undefined
}

/** A reader of decoded frames within the media service, such as an encoder. */
export interface FrameReader {
  /**
   * `frames` are numbered and limited to the source's frame rate; `pictures` are all decoded
   * pictures.
   */
  readonly tee: 'frames' | 'pictures'
  /**
   * Connects the reader to the tee. Does nothing if the reader is already connected
   * for an equal picture.
   */
  attach(pipeline: Pipeline, tee: string, picture: Picture): Promise<void>
  /** Called before the pipeline and the reader's branch are disposed of. */
  detach(): void
  /** Removes the branch without affecting the views. */
  close(): Promise<void>
  /** Called when an auxiliary element has failed, which may belong to another reader. */
  onAuxiliaryFailure?(error: GstError): void
}

export interface DecodingOptions {
  /** Id of the source. */
  source: number
  /** Identifies this run of the service, for the readers of rings. */
  epoch: number
  /** Whether frames are dropped for slow readers, or wait until a reader grants them. */
  pacing: Pacing
  rings: RingFolder
  listener: ViewListener
  /** Reads along while the source is decoded for another reader. It is no reason to decode. */
  inspector?: FrameReader | undefined
}

/**
 * Decodes a source while it has readers.
 *
 * A view is a size and format in which readers outside the media service read frames. The frames of
 * a view are written to a ring, which is a file that readers access without locks. Rings and frame
 * numbers continue when the source gets a new pipeline.
 */
export interface Decoding {
  /**
   * Sets the views by key, and the maximum frame rate in frames per second. Without a rate,
   * every frame is passed on.
   */
  setViews(views: Record<string, ViewSpec>, rate: number | undefined): Promise<void>
  hasReaders(): boolean
  /** Adds a reader. Returns a function that removes the reader. */
  addReader(reader: FrameReader): () => Promise<void>
  /** Must be called when an auxiliary element has failed. Forwards the failure to the readers. */
  onAuxiliaryFailure(error: GstError): void
  /**
   * Switches to a pipeline. The packets from its tee `packets` are decoded with the element
   * `decoder`. `hasStarted` returns whether packets may already have passed the tee.
   */
  attach(pipeline: Pipeline, decoder: string, hasStarted?: () => boolean): Promise<void>
  /**
   * Returns whether the decoder was added after packets had passed, so that it may have
   * missed the last keyframe.
   */
  isLate(): boolean
  /** Sets the size and format of the picture, without which no view can be created. */
  setPicture(picture: Picture): Promise<void>
  /** Must be called before the pipeline is disposed of. */
  detach(): Promise<void>
  /**
   * Allows the frames of a view up to `n` to be written. `read` is the number of the last frame
   * that a reader has processed.
   */
  grant(key: string, n: number, read?: number): void
  rings(): { key: string; path: string; generation: number }[]
  position(): FramePosition
  /**
   * Numbers the next frames after those of another decoding, and drops frames that are not newer.
   */
  continueFrom(position: FramePosition): void
  /**
   * Returns counts since the source was created. While a source reconnects, `decoding` is false
   * even if it has readers.
   */
  stats(): {
    hasReaders: boolean
    decoding: boolean
    views: number
    written: number
    dropped: number
  }
}

/**
 * A view that readers have requested, with the keys of all requests that result in the same output.
 */
interface RequestedView {
  spec: ViewSpec
  /** Size of the frames, and the rectangle that the picture covers. */
  fit: Fit
  keys: string[]
}

/** A view with the keys of its readers. */
interface SharedView {
  view: RingView
  keys: string[]
}

/** The pipeline that packets come from. */
interface AttachedPipeline {
  pipeline: Pipeline
  decoder: string
  hasStarted: () => boolean
}

/** The decoder on the attached pipeline. */
interface RunningDecoder {
  /** The part of the pipeline that decodes. */
  branch: Branch
  /** Numbers the decoded frames and limits their rate. */
  numbering: Numbering
  isLate: boolean
}

/**
 * Names of the tees, which are elements that pass decoded pictures on to several
 * branches of the pipeline.
 */
const FRAMES = 'frames'
const PICTURES = 'pictures'
const DEFAULT_FPS = 30
/**
 * At most one frame per tick of stream time. The second of two frames with equal `pts` is dropped.
 */
const UNLIMITED_RATE = TICKS_PER_SECOND
/** A stream time before every picture. */
const BEFORE_FIRST_PTS = -1
/**
 * If the decoder of a live source lags further behind, it loses packets, so that live
 * views are not affected.
 */
const MAX_QUEUE_NS = 2_000_000_000

export function createDecoding(options: DecodingOptions): Decoding {
  const { source, epoch, pacing, rings, listener, inspector } = options
  /** Views by their identity: see `toIdentity`. */
  const views = new Map<string, SharedView>()
  /** The views that the listener was notified of, by key. */
  const announced = new Map<string, RingView>()
  /** Numbers of the last frames that readers allow, by key. */
  const granted = new Map<string, number>()
  const readers = new Set<FrameReader>()

  /** Serializes changes, because a request may arrive while a branch is being added. */
  const mutex = new Mutex()
  let request: { specs: Record<string, ViewSpec>; rate: number | undefined } = {
    specs: {},
    rate: undefined,
  }
  let picture: Picture | undefined
  let attached: AttachedPipeline | undefined
  let running: RunningDecoder | undefined
  /** Number of the first frame after the next start of the decoder. */
  let nextNumber = 1
  /** Stream time of the newest frame so far, in this decoding or in one that it continues. */
  let newestPts: number | undefined
  /** Frame counts of closed views. */
  const closedCounts = { written: 0, dropped: 0 }

  /**
   * Adds and removes views as requested. The decoder starts last, so that no view misses a frame.
   */
  const reconcile = () =>
    mutex.runExclusive(async () => {
      const requested = picture
        ? groupRequestedViews(request.specs, picture)
        : new Map<string, RequestedView>()
      await removeViewsExcept(requested)
      if (!hasReaders()) {
        await inspector?.close()
        return stopDecoder()
      }

      if (attached) addDecoder(attached)
      for (const [identity, view] of requested) await provideView(identity, view)
      if (attached && picture) {
        for (const reader of [...readers, ...(inspector ? [inspector] : [])]) {
          await reader.attach(attached.pipeline, reader.tee, picture)
        }
      }
      await running?.branch.start()
    })

  /** Closes the views without requests. Updates the keys of the others. */
  async function removeViewsExcept(requested: Map<string, RequestedView>) {
    for (const [identity, shared] of views) {
      shared.keys = requested.get(identity)?.keys ?? []
      if (shared.keys.length > 0) continue

      views.delete(identity)
      await shared.view.close()
      const { written, dropped } = shared.view.stats()
      closedCounts.written += written
      closedCounts.dropped += dropped
    }

    for (const keysInUse of [announced, granted]) {
      for (const key of keysInUse.keys()) {
        if (!request.specs[key]) keysInUse.delete(key)
      }
    }
  }

  function addDecoder({ pipeline, decoder, hasStarted }: AttachedPipeline) {
    if (running) return
    const branch = pipeline.add(createDecoderLaunch(source, pacing, decoder), 'packets')
    const rate = request.rate ?? UNLIMITED_RATE
    const numbering = pipeline.number(FRAMES, 'sink', { rate })
    numbering.continueFrom(nextNumber, newestPts ?? BEFORE_FIRST_PTS)
    running = { branch, isLate: hasStarted(), numbering }
  }

  /** Must be called when frames are no longer numbered. */
  function rememberPosition(numbering: Numbering) {
    nextNumber = numbering.next
    newestPts = numbering.newestPts ?? newestPts
  }

  async function stopDecoder() {
    if (!running) return
    const { branch, numbering } = running
    running = undefined
    await branch.remove()
    // Frames may have been numbered until the branch was removed.
    rememberPosition(numbering)
  }

  /** Creates a view, unless it exists, and connects it to the decoder. */
  async function provideView(identity: string, requested: RequestedView) {
    try {
      const shared = views.get(identity) ?? createSharedView(requested)
      views.set(identity, shared)

      for (const key of shared.keys) announce(key, shared.view)
      forwardGrant(shared)
      if (attached) await shared.view.attach(attached.pipeline, FRAMES)
    } catch (error) {
      for (const key of requested.keys) listener.onViewFailed(key, (error as Error).message)
    }
  }

  function createSharedView({ spec, fit, keys }: RequestedView): SharedView {
    const { width, height, fps: sourceFps = DEFAULT_FPS } = picture!
    const view = createRingView({
      sourceId: source,
      ...rings.allocate(source),
      epoch,
      spec,
      fit,
      source: { width, height },
      fps: request.rate ?? sourceFps,
      pacing,
      onFrame(frame, isFirst) {
        // The keys of a shared view may change, so they are read for each frame.
        for (const key of shared.keys) listener.onFrame(key, frame, isFirst)
      },
    })
    const shared: SharedView = { view, keys }
    return shared
  }

  /** Notifies the listener of the ring of a view, once per ring. */
  function announce(key: string, view: RingView) {
    if (announced.get(key) === view) return
    announced.set(key, view)
    listener.onView(key, { path: view.path, generation: view.generation })
  }

  /** Grants the frames of a shared view up to the number that its slowest reader allows. */
  function forwardGrant({ view, keys }: SharedView) {
    view.grant(Math.min(...keys.map(key => granted.get(key) ?? 0)))
  }

  const hasReaders = () => Object.keys(request.specs).length > 0 || readers.size > 0

  return {
    setViews(specs, rate) {
      request = { specs, rate }
      running?.numbering.setRate(rate ?? UNLIMITED_RATE)
      return reconcile()
    },

    hasReaders,

    addReader(reader) {
      readers.add(reader)
      void reconcile().catch(() => {})
      return async () => {
        readers.delete(reader)
        await mutex.runExclusive(() => reader.close())
        await reconcile()
      }
    },

    onAuxiliaryFailure(error) {
      for (const reader of readers) reader.onAuxiliaryFailure?.(error)
    },

    attach(pipeline, decoder, hasStarted = () => false) {
      attached = { pipeline, decoder, hasStarted }
      return reconcile()
    },

    isLate: () => running?.isLate === true,

    setPicture(next) {
      picture = next
      return reconcile()
    },

    detach: () =>
      mutex.runExclusive(() => {
        for (const { view } of views.values()) view.detach()
        for (const reader of readers) reader.detach()
        inspector?.detach()
        if (running) rememberPosition(running.numbering)
        running = undefined
        attached = undefined
      }),

    grant(key, n, read) {
      granted.set(key, n)
      for (const shared of views.values()) {
        if (!shared.keys.includes(key)) continue
        forwardGrant(shared)
        if (read !== undefined) shared.view.readUpTo(read)
      }
    },

    rings: () => [...announced].map(([key, { path, generation }]) => ({ key, path, generation })),

    position() {
      if (running) rememberPosition(running.numbering)
      return { nextNumber, newestPts }
    },

    continueFrom(previous) {
      if (running) rememberPosition(running.numbering)
      nextNumber = Math.max(nextNumber, previous.nextNumber)
      newestPts = Math.max(newestPts ?? BEFORE_FIRST_PTS, previous.newestPts ?? BEFORE_FIRST_PTS)
      running?.numbering.continueFrom(nextNumber, newestPts)
    },

    stats() {
      let { written, dropped } = closedCounts
      for (const { view } of views.values()) {
        const counts = view.stats()
        written += counts.written
        dropped += counts.dropped
      }
      return {
        hasReaders: hasReaders(),
        decoding: running !== undefined,
        views: views.size,
        written,
        dropped,
      }
    },
  }
}

/**
 * Returns the requested views by their identity, so that readers who request equal views share one.
 */
function groupRequestedViews(
  specs: Readonly<Record<string, ViewSpec>>,
  picture: Picture,
): Map<string, RequestedView> {
  const requested = new Map<string, RequestedView>()
  for (const [key, spec] of Object.entries(specs)) {
    const fit = fitView(spec, displaySize(picture))
    const identity = toIdentity(spec, fit, picture)
    const keys = requested.get(identity)?.keys ?? []
    requested.set(identity, { spec, fit, keys: [...keys, key] })
  }
  return requested
}

/** Returns a text that is equal for views with equal output. */
function toIdentity(
  { format, quality, fill }: ViewSpec,
  fit: Fit,
  { width, height }: Picture,
): string {
  return JSON.stringify([format, quality, fill, fit, width, height])
}

/**
 * Returns the launch string of the branch that decodes packets and passes the pictures to the tees.
 */
function createDecoderLaunch(source: number, pacing: Pacing, decoder: string): string {
  const leaky = pacing === 'all' ? 'no' : 'downstream'
  const limits = `max-size-buffers=0 max-size-bytes=0 max-size-time=${MAX_QUEUE_NS}`
  const queue = `queue name=${decodeQueueName(source)} leaky=${leaky} ${limits}`
  const tee = (name: string) => `tee name=${name} allow-not-linked=true`
  const pictures = `${queue} ! ${buildDecoderLaunch(decoder)} ! video/x-raw ! ${tee(PICTURES)}`
  return `${pictures} ${PICTURES}. ! ${tee(FRAMES)}`
}
