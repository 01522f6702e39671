import type { ViewSpec } from '@eyrie/contract'
import { Mutex } from 'async-mutex'
import type { Picture } from '../gstreamer/picture.ts'
import type { GstError, Pipeline } from '../node-gst/index.ts'
import { createDecoderBranch, type FramePosition, type PacketPipeline } from './decoder-branch.ts'
import { createSharedViews, type SharedViewsOptions } from './shared-views.ts'

/** Assumed frame rate of sources that declare none. The number of slots in a ring depends on it. */
const DEFAULT_FPS = 30

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

export interface DecodingOptions extends SharedViewsOptions {
  /** Reads along while the source is decoded for another reader. */
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

export function createDecoding(options: DecodingOptions): Decoding {
  const { source, pacing, inspector } = options
  const views = createSharedViews(options)
  const decoder = createDecoderBranch({ source, pacing })
  const readers = new Set<FrameReader>()

  /** Serializes changes, because a request may arrive while a branch is being added. */
  const mutex = new Mutex()
  /** The requested maximum frame rate. */
  let rateLimit: number | undefined
  let picture: Picture | undefined
  let attached: PacketPipeline | undefined

  const hasReaders = () => views.hasRequests() || readers.size > 0

  /**
   * Adds and removes views as requested. The decoder starts last, so that no view misses a frame.
   */
  const reconcile = () =>
    mutex.runExclusive(async () => {
      const requested = await views.removeUnrequested(picture)
      if (!hasReaders()) {
        await inspector?.close()
        return decoder.remove()
      }

      if (attached) decoder.add(attached)
      for (const view of requested) {
        const fps = rateLimit ?? view.picture.fps ?? DEFAULT_FPS
        await views.provide(view, { fps, pipeline: attached?.pipeline })
      }
      await attachReaders()
      await decoder.start()
    })

  async function attachReaders() {
    if (!attached || !picture) return
    for (const reader of inspector ? [...readers, inspector] : [...readers]) {
      await reader.attach(attached.pipeline, reader.tee, picture)
    }
  }

  return {
    setViews(specs, rate) {
      views.request(specs)
      rateLimit = rate
      decoder.limitRate(rate)
      return reconcile()
    },

    hasReaders,

    addReader(reader) {
      readers.add(reader)
      // Each reader reports its own failure.
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

    attach(pipeline, element, hasStarted = () => false) {
      attached = { pipeline, decoder: element, hasStarted }
      return reconcile()
    },

    isLate: decoder.isLate,

    setPicture(newPicture) {
      picture = newPicture
      return reconcile()
    },

    detach: () =>
      mutex.runExclusive(() => {
        views.detach()
        for (const reader of readers) reader.detach()
        inspector?.detach()
        decoder.detach()
        attached = undefined
      }),

    grant: views.grant,
    rings: views.rings,
    position: decoder.position,
    continueFrom: decoder.continueFrom,
    stats: () => ({ ...views.stats(), hasReaders: hasReaders(), decoding: decoder.isRunning() }),
  }
}
