import type { Pacing, ViewSpec } from '@eyrie/contract'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { Branch, GstError, Numbering, Pipeline, RingFrame } from '../node-gst/index.ts'
import { displaySize, type Picture } from '../picture.ts'
import { decoderLaunch } from './decoders.ts'
import { type Fit, fitView } from './fit.ts'
import type { RingFolder } from './ring-folder.ts'
import { decodeQueue } from './threads.ts'
import { createView, type View } from './view.ts'

/** What readers are told, by the keys that they gave their views. */
export interface ViewListener {
  view(key: string, ring: { path: string; generation: number }): void
  viewFailed(key: string, reason: string): void
  frame(key: string, frame: RingFrame, discontinuity: boolean): void
}

/** Takes frames besides the views. */
export interface FrameReader {
  /** `frames` are numbered, and only those that the source's rate lets pass; `pictures` are all that are decoded. */
  readonly tee: 'frames' | 'pictures'
  /** Hangs it on this tee, unless it hangs there already for such a picture. */
  join(pipeline: Pipeline, tee: string, picture: Picture): Promise<void>
  /** The pipeline goes, and its branch with it. */
  part(): void
  /** Removes the branch; the views notice nothing. */
  close(): Promise<void>
  /** An element beside the way of frames has failed, maybe one of this reader's. */
  failed?(error: GstError): void
}

export interface DecodingOptions {
  source: number
  epoch: number
  pacing: Pacing
  rings: RingFolder
  listener: ViewListener
}

/**
 * The decoded side of a source. It outlives the source's pipelines: rings, and the numbers of frames, go on from one
 * to the next. Nothing is decoded while nobody wants a view.
 */
export interface Decoding {
  want(views: Record<string, ViewSpec>, rate: number | undefined): Promise<void>
  wanted(): boolean
  /** Frames go to this reader too. Returns how it leaves. */
  read(reader: FrameReader): () => Promise<void>
  /** Tells the readers that an element beside the way of frames has failed. */
  failedBeside(error: GstError): void
  /**
   * From now on frames come from this pipeline, decoded by this element behind the tee `packets`. `isPlaying` says
   * whether packets may have passed that tee.
   */
  attach(pipeline: Pipeline, decoder: string, isPlaying?: () => boolean): Promise<void>
  /** Whether packets may have passed already when the decoder came, the last keyframe among them. */
  isLate(): boolean
  /** Views are made as soon as the picture is known. */
  show(picture: Picture): Promise<void>
  /** The pipeline is about to go; to be called before it is taken down. */
  detach(): Promise<void>
  grant(key: string, n: number, read?: number): void
  rings(): { key: string; path: string; generation: number }[]
  /** Of a source that is played again, `decoding` is false for a moment in which it is `wanted`. */
  stats(): { wanted: boolean; decoding: boolean; views: number; written: number; dropped: number }
}

/** Views that come out equal are one, whatever their keys. */
interface Want {
  spec: ViewSpec
  fit: Fit
  keys: string[]
}

interface SharedView {
  view: View
  keys: string[]
}

interface DecodedSession {
  pipeline: Pipeline
  decoder: string
  isPlaying: () => boolean
}

const FRAMES = 'frames'
const PICTURES = 'pictures'
const FPS_ASSUMED = 30
/** At most one frame each tick of stream time: of two with the same pts the second is none. */
const EACH_TICK = TICKS_PER_SECOND
/** A decoder that lags more than this behind a live source misses packets, so that live views do not. */
const QUEUE_NS = 2_000_000_000

export function createDecoding({ source, epoch, pacing, rings, listener }: DecodingOptions): Decoding {
  const views = new Map<string, SharedView>()
  const told = new Map<string, View>()
  const granted = new Map<string, number>()
  const readers = new Set<FrameReader>()
  let specs: Record<string, ViewSpec> = {}
  let rate: number | undefined
  let picture: Picture | undefined
  let session: DecodedSession | undefined
  let decode: { branch: Branch; numbering: Numbering; isLate: boolean } | undefined
  let nextNumber = 1
  /** Counted by views that are no more. */
  const gone = { written: 0, dropped: 0 }
  let turn: Promise<void> = Promise.resolve()

  /** One change after the other: what is wanted may change while a branch is being added. */
  function inTurn(change: () => Promise<void>): Promise<void> {
    turn = turn.catch(() => {}).then(change)
    return turn
  }

  /** Brings what is there to what is wanted. The decoder starts when its views hang on it: none misses a frame. */
  const settle = () =>
    inTurn(async () => {
      const wants = picture ? wantsFor(picture) : new Map<string, Want>()
      await removeAllBut(wants)
      if (!wanted()) return stopDecoding()
      if (session) addDecoder(session)
      for (const [identity, want] of wants) await provide(identity, want)
      if (session && picture)
        for (const reader of readers) await reader.join(session.pipeline, reader.tee, picture)
      await decode?.branch.start()
    })

  /** By an identity that is the same for views that are the same. */
  function wantsFor(shown: Picture): Map<string, Want> {
    const wants = new Map<string, Want>()
    for (const [key, spec] of Object.entries(specs)) {
      const fit = fitView(spec, displaySize(shown))
      const identity = JSON.stringify([spec.format, spec.quality, spec.fill, fit, shown.width, shown.height])
      const keys = wants.get(identity)?.keys ?? []
      wants.set(identity, { spec, fit, keys: [...keys, key] })
    }
    return wants
  }

  async function removeAllBut(wants: Map<string, Want>) {
    for (const [identity, shared] of views) {
      shared.keys = wants.get(identity)?.keys ?? []
      if (shared.keys.length > 0) continue
      views.delete(identity)
      await shared.view.close()
      const { written, dropped } = shared.view.stats()
      gone.written += written
      gone.dropped += dropped
    }
    for (const key of told.keys()) if (!specs[key]) told.delete(key)
    for (const key of granted.keys()) if (!specs[key]) granted.delete(key)
  }

  function addDecoder({ pipeline, decoder, isPlaying }: DecodedSession) {
    if (decode) return
    const leaky = pacing === 'all' ? 'no' : 'downstream'
    const queue = `queue name=${decodeQueue(source)} leaky=${leaky} max-size-buffers=0 max-size-bytes=0 max-size-time=${QUEUE_NS}`
    const tee = (name: string) => `tee name=${name} allow-not-linked=true`
    const pictures = `${queue} ! ${decoderLaunch(decoder)} ! video/x-raw ! ${tee(PICTURES)}`
    const branch = pipeline.add(`${pictures} ${PICTURES}. ! ${tee(FRAMES)}`, 'packets')
    decode = {
      branch,
      isLate: isPlaying(),
      numbering: pipeline.number(FRAMES, 'sink', { rate: rate ?? EACH_TICK, start: nextNumber }),
    }
  }

  async function stopDecoding() {
    const { branch, numbering } = decode ?? {}
    decode = undefined
    await branch?.remove()
    nextNumber = numbering?.next ?? nextNumber
  }

  async function provide(identity: string, want: Want) {
    try {
      const shared = views.get(identity) ?? make(want)
      views.set(identity, shared)
      for (const key of shared.keys) tell(key, shared.view)
      passGrant(shared)
      if (session) await shared.view.join(session.pipeline, FRAMES)
    } catch (error) {
      for (const key of want.keys) listener.viewFailed(key, (error as Error).message)
    }
  }

  function make({ spec, fit, keys }: Want): SharedView {
    const { width, height, fps } = picture!
    const view = createView({
      sourceId: source,
      ...rings.next(source),
      epoch,
      spec,
      fit,
      source: { width, height },
      fps: rate ?? fps ?? FPS_ASSUMED,
      pacing,
      onFrame: (frame, first) => {
        for (const key of shared.keys) listener.frame(key, frame, first)
      },
    })
    const shared: SharedView = { view, keys }
    return shared
  }

  function tell(key: string, view: View) {
    if (told.get(key) === view) return
    told.set(key, view)
    listener.view(key, { path: view.path, generation: view.generation })
  }

  return {
    want(wantedSpecs, wantedRate) {
      specs = wantedSpecs
      rate = wantedRate
      decode?.numbering.setRate(rate ?? EACH_TICK)
      return settle()
    },
    wanted,
    read(reader) {
      readers.add(reader)
      void settle().catch(() => {})
      return async () => {
        readers.delete(reader)
        await inTurn(() => reader.close())
        await settle()
      }
    },
    failedBeside(error) {
      for (const reader of readers) reader.failed?.(error)
    },
    attach(pipeline, decoder, isPlaying = () => false) {
      session = { pipeline, decoder, isPlaying }
      return settle()
    },
    isLate: () => decode?.isLate === true,
    show(shown) {
      picture = shown
      return settle()
    },
    detach: () =>
      inTurn(async () => {
        for (const { view } of views.values()) view.part()
        for (const reader of readers) reader.part()
        nextNumber = decode?.numbering.next ?? nextNumber
        decode = undefined
        session = undefined
      }),

    grant(key, n, read) {
      granted.set(key, n)
      for (const shared of views.values()) {
        if (!shared.keys.includes(key)) continue
        passGrant(shared)
        if (read !== undefined) shared.view.readUpTo(read)
      }
    },

    rings: () => [...told].map(([key, { path, generation }]) => ({ key, path, generation })),
    stats() {
      const counts = [gone, ...[...views.values()].map(({ view }) => view.stats())]
      return {
        wanted: wanted(),
        decoding: decode !== undefined,
        views: views.size,
        written: counts.reduce((sum, { written }) => sum + written, 0),
        dropped: counts.reduce((sum, { dropped }) => sum + dropped, 0),
      }
    },
  }

  /** A shared view goes only as far as the slowest of its readers. */
  function passGrant({ view, keys }: SharedView) {
    view.grant(Math.min(...keys.map(key => granted.get(key) ?? 0)))
  }

  function wanted() {
    return Object.keys(specs).length > 0 || readers.size > 0
  }
}
