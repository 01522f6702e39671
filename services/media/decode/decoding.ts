import { type Pacing, TICKS_PER_SECOND, type ViewSpec } from '@eyrie/contract'
import { Mutex } from 'async-mutex'
import { displaySize, type Picture } from '../gstreamer/picture.ts'
import type { Branch, GstError, Numbering, Pipeline, RingFrame } from '../node-gst/index.ts'
import { decoderLaunch } from './decoders.ts'
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

/** A consumer of decoded frames inside media, such as an encoder. */
export interface FrameReader {
  /** `frames` are numbered and limited to the source's frame rate; `pictures` are all decoded pictures. */
  readonly tee: 'frames' | 'pictures'
  /** Connects the reader to the tee, unless it is already connected for an equal picture. */
  attach(pipeline: Pipeline, tee: string, picture: Picture): Promise<void>
  /** Called before the pipeline is disposed of together with the reader's branch. */
  detach(): void
  /** Removes the branch without affecting the views. */
  close(): Promise<void>
  /** An auxiliary element has failed. It may belong to another reader. */
  onAuxiliaryFailure?(error: GstError): void
}

export interface DecodingOptions {
  source: number
  epoch: number
  pacing: Pacing
  rings: RingFolder
  listener: ViewListener
}

/**
 * Decodes a source while it has readers. It outlives the source's pipelines: rings and frame numbers continue across
 * pipelines.
 */
export interface Decoding {
  /** Sets the views by key and the maximum frame rate in frames per second; undefined passes every frame. */
  setViews(views: Record<string, ViewSpec>, rate: number | undefined): Promise<void>
  hasReaders(): boolean
  /** Adds a reader. Returns a function that removes it. */
  addReader(reader: FrameReader): () => Promise<void>
  /** Forwards the failure of an auxiliary element to the readers. */
  onAuxiliaryFailure(error: GstError): void
  /**
   * Switches to a pipeline, and decodes the packets from its tee `packets` with this element. `hasStarted` returns whether
   * packets may already have passed that tee.
   */
  attach(pipeline: Pipeline, decoder: string, hasStarted?: () => boolean): Promise<void>
  /** Whether the decoder was added after packets, possibly including the last keyframe, had passed. */
  isLate(): boolean
  /** Sets the size and format of the picture. Views are created once it is known. */
  setPicture(picture: Picture): Promise<void>
  /** Must be called before the pipeline is disposed of. */
  detach(): Promise<void>
  grant(key: string, n: number, read?: number): void
  rings(): { key: string; path: string; generation: number }[]
  /** While a source reconnects, `decoding` is briefly false even if it has readers. */
  stats(): { hasReaders: boolean; decoding: boolean; views: number; written: number; dropped: number }
}

/** A view that readers requested. Views with equal output are shared between keys. */
interface RequestedView {
  spec: ViewSpec
  fit: Fit
  keys: string[]
}

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
  branch: Branch
  numbering: Numbering
  isLate: boolean
}

const FRAMES = 'frames'
const PICTURES = 'pictures'
const DEFAULT_FPS = 30
/** Passes at most one frame per tick of stream time: of two frames with equal pts the second is dropped. */
const UNLIMITED_RATE = TICKS_PER_SECOND
/** A decoder that lags further behind a live source loses packets, so that live views do not. */
const MAX_QUEUE_NS = 2_000_000_000

export function createDecoding({ source, epoch, pacing, rings, listener }: DecodingOptions): Decoding {
  const views = new Map<string, SharedView>()
  const announced = new Map<string, RingView>()
  const granted = new Map<string, number>()
  const readers = new Set<FrameReader>()
  /** Serializes changes: a request may arrive while a branch is being added. */
  const mutex = new Mutex()
  let request: { specs: Record<string, ViewSpec>; rate: number | undefined } = { specs: {}, rate: undefined }
  let picture: Picture | undefined
  let attached: AttachedPipeline | undefined
  let running: RunningDecoder | undefined
  let nextNumber = 1
  /** Frame counts of closed views. */
  const closedCounts = { written: 0, dropped: 0 }

  /** Adds and removes views as requested. The decoder starts after its views are connected, so that none misses a frame. */
  const reconcile = () =>
    mutex.runExclusive(async () => {
      const requested = picture ? requestedViews(picture) : new Map<string, RequestedView>()
      await removeViewsExcept(requested)
      if (!hasReaders()) return stopDecoder()
      if (attached) addDecoder(attached)
      for (const [identity, each] of requested) await provideView(identity, each)
      if (attached && picture)
        for (const reader of readers) await reader.attach(attached.pipeline, reader.tee, picture)
      await running?.branch.start()
    })

  /** Returns the requested views by an identity that views with equal output share. */
  function requestedViews(current: Picture): Map<string, RequestedView> {
    const requested = new Map<string, RequestedView>()
    for (const [key, spec] of Object.entries(request.specs)) {
      const fit = fitView(spec, displaySize(current))
      const identity = JSON.stringify([
        spec.format,
        spec.quality,
        spec.fill,
        fit,
        current.width,
        current.height,
      ])
      const keys = requested.get(identity)?.keys ?? []
      requested.set(identity, { spec, fit, keys: [...keys, key] })
    }
    return requested
  }

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
    for (const key of announced.keys()) if (!request.specs[key]) announced.delete(key)
    for (const key of granted.keys()) if (!request.specs[key]) granted.delete(key)
  }

  function addDecoder({ pipeline, decoder, hasStarted }: AttachedPipeline) {
    if (running) return
    const leaky = pacing === 'all' ? 'no' : 'downstream'
    const queue = `queue name=${decodeQueueName(source)} leaky=${leaky} max-size-buffers=0 max-size-bytes=0 max-size-time=${MAX_QUEUE_NS}`
    const tee = (name: string) => `tee name=${name} allow-not-linked=true`
    const pictures = `${queue} ! ${decoderLaunch(decoder)} ! video/x-raw ! ${tee(PICTURES)}`
    const branch = pipeline.add(`${pictures} ${PICTURES}. ! ${tee(FRAMES)}`, 'packets')
    running = {
      branch,
      isLate: hasStarted(),
      numbering: pipeline.number(FRAMES, 'sink', {
        rate: request.rate ?? UNLIMITED_RATE,
        start: nextNumber,
      }),
    }
  }

  async function stopDecoder() {
    const { branch, numbering } = running ?? {}
    running = undefined
    await branch?.remove()
    nextNumber = numbering?.next ?? nextNumber
  }

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
    const { width, height, fps } = picture!
    const view = createRingView({
      sourceId: source,
      ...rings.allocate(source),
      epoch,
      spec,
      fit,
      source: { width, height },
      fps: request.rate ?? fps ?? DEFAULT_FPS,
      pacing,
      onFrame: (frame, isFirst) => {
        for (const key of shared.keys) listener.onFrame(key, frame, isFirst)
      },
    })
    const shared: SharedView = { view, keys }
    return shared
  }

  function announce(key: string, view: RingView) {
    if (announced.get(key) === view) return
    announced.set(key, view)
    listener.onView(key, { path: view.path, generation: view.generation })
  }

  /** A shared view advances only as far as its slowest reader allows. */
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
        nextNumber = running?.numbering.next ?? nextNumber
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
    stats() {
      const counts = [closedCounts, ...[...views.values()].map(({ view }) => view.stats())]
      return {
        hasReaders: hasReaders(),
        decoding: running !== undefined,
        views: views.size,
        written: counts.reduce((sum, { written }) => sum + written, 0),
        dropped: counts.reduce((sum, { dropped }) => sum + dropped, 0),
      }
    },
  }
}
