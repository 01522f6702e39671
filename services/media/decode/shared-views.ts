import type { Pacing, ViewSpec } from '@eyrie/contract'
import { displaySize, type Picture } from '../gstreamer/picture.ts'
import type { Pipeline, RingFrame } from '../node-gst/index.ts'
import { FRAMES } from './decoder-branch.ts'
import type { RingFolder } from './ring-folder.ts'
import { createRingView, type RingView } from './ring-view.ts'
import { type Fit, fitView } from './view-fit.ts'

/** Receives notifications about views. Readers choose the keys. */
export interface ViewListener {
  onView(key: string, ring: { path: string; generation: number }): void
  onViewFailed(key: string, reason: string): void
  onFrame(key: string, frame: RingFrame, discontinuity: boolean): void
}

export interface SharedViewsOptions {
  /** Id of the source. */
  source: number
  /** Identifies this run of the service, for the readers of rings. */
  epoch: number
  /** Whether frames are dropped for slow readers, or wait until a reader grants them. */
  pacing: Pacing
  rings: RingFolder
  listener: ViewListener
}

/** A view that readers have requested, and what is needed to create it. */
export interface RequestedView {
  /** A text that is equal for views with equal output. */
  identity: string
  spec: ViewSpec
  /** Size of the frames, and the rectangle that the picture covers. */
  fit: Fit
  /** The decoded picture. */
  picture: Picture
  /** Keys of all requests that result in this view. */
  keys: string[]
}

/**
 * The views of a source. A view is a size and format in which readers outside the media service
 * read frames. Readers that request equal views share one.
 */
export interface SharedViews {
  /** Sets the requested views by key. They take effect with `removeUnrequested` and `provide`. */
  request(specs: Record<string, ViewSpec>): void
  hasRequests(): boolean
  /**
   * Closes the views that are no longer requested for this picture. Returns the requested views,
   * for `provide`; none while the picture is unknown.
   */
  removeUnrequested(picture: Picture | undefined): Promise<RequestedView[]>
  /**
   * Creates the view, unless it exists, for frames at `fps`. Connects it to the pipeline's tee of
   * frames, if there is a pipeline. Notifies the listener of the view's ring, or of a failure.
   */
  provide(view: RequestedView, target: { fps: number; pipeline?: Pipeline }): Promise<void>
  /** Must be called before the pipeline is disposed of. The rings remain for the next pipeline. */
  detach(): void
  /**
   * Allows the frames of a view up to `n` to be written. `read` is the number of the last frame
   * that a reader has processed.
   */
  grant(key: string, n: number, read?: number): void
  rings(): { key: string; path: string; generation: number }[]
  /** Returns the number of views, and counts of frames since the source was created. */
  stats(): { views: number; written: number; dropped: number }
}

/** A view with the keys of its readers. */
interface SharedView {
  view: RingView
  keys: string[]
}

export function createSharedViews(options: SharedViewsOptions): SharedViews {
  const { source, epoch, pacing, rings, listener } = options
  let specs: Readonly<Record<string, ViewSpec>> = {}
  /** Views by their identity: see `RequestedView`. */
  const views = new Map<string, SharedView>()
  /** The views that the listener was notified of, by key. */
  const announced = new Map<string, RingView>()
  /** Numbers of the last frames that readers allow, by key. */
  const granted = new Map<string, number>()
  /** Frame counts of closed views. */
  const closedCounts = { written: 0, dropped: 0 }

  async function close({ view }: SharedView) {
    await view.close()
    const { written, dropped } = view.stats()
    closedCounts.written += written
    closedCounts.dropped += dropped
  }

  function createSharedView(requested: RequestedView, fps: number): SharedView {
    const { spec, fit, keys, picture } = requested
    const view = createRingView({
      sourceId: source,
      ...rings.allocate(source),
      epoch,
      spec,
      fit,
      source: { width: picture.width, height: picture.height },
      fps,
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

  return {
    request(newSpecs) {
      specs = newSpecs
    },

    hasRequests: () => Object.keys(specs).length > 0,

    async removeUnrequested(picture) {
      const requested = picture ? groupRequests(specs, picture) : new Map<string, RequestedView>()
      for (const [identity, shared] of views) {
        shared.keys = requested.get(identity)?.keys ?? []
        if (shared.keys.length > 0) continue
        views.delete(identity)
        await close(shared)
      }

      for (const keysInUse of [announced, granted]) {
        for (const key of keysInUse.keys()) {
          if (!specs[key]) keysInUse.delete(key)
        }
      }
      return [...requested.values()]
    },

    async provide(requested, { fps, pipeline }) {
      try {
        const shared = views.get(requested.identity) ?? createSharedView(requested, fps)
        views.set(requested.identity, shared)

        for (const key of shared.keys) announce(key, shared.view)
        forwardGrant(shared)
        if (pipeline) await shared.view.attach(pipeline, FRAMES)
      } catch (error) {
        for (const key of requested.keys) listener.onViewFailed(key, (error as Error).message)
      }
    },

    detach() {
      for (const { view } of views.values()) view.detach()
    },

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
      let { written, dropped } = closedCounts
      for (const { view } of views.values()) {
        const counts = view.stats()
        written += counts.written
        dropped += counts.dropped
      }
      return { views: views.size, written, dropped }
    },
  }
}

/** Returns the requested views by their identity. */
function groupRequests(
  specs: Readonly<Record<string, ViewSpec>>,
  picture: Picture,
): Map<string, RequestedView> {
  const requested = new Map<string, RequestedView>()
  for (const [key, spec] of Object.entries(specs)) {
    const fit = fitView(spec, displaySize(picture))
    const identity = toIdentity(spec, fit, picture)
    const keys = requested.get(identity)?.keys ?? []
    requested.set(identity, { identity, spec, fit, picture, keys: [...keys, key] })
  }
  return requested
}

function toIdentity(
  { format, quality, fill }: ViewSpec,
  fit: Fit,
  { width, height }: Picture,
): string {
  return JSON.stringify([format, quality, fill, fit, width, height])
}
