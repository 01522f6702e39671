import { type BBox, type Drawing, EyrieError } from '@eyrie/contract'
import { Semaphore } from 'async-mutex'
import { type Remote, startThread } from '../../runtime/worker-thread.ts'
import type { CachedUnit, Stream, Track } from '../../stream/live-stream.ts'
import { createRecentGroups, type Group, type RecentGroups } from '../../stream/recent-groups.ts'
import { renderSvg } from '../annotated/drawing-svg.ts'
import { decodePicture, encodePicture } from './decode-picture.ts'
import type { hideRegions } from './hide-regions.ts'

export interface Snapshot {
  jpeg: Uint8Array<ArrayBuffer>
  /** Of the picture that it shows. */
  pts: number
}

export interface SnapshotWish {
  /** 90 kHz ticks of stream time; the latest keyframe if left out. */
  pts?: number | undefined
  /** In pixels; the picture's own if left out. */
  width?: number | undefined
  /** Regions that are made unrecognisable. */
  hidden?: readonly BBox[] | undefined
  drawing?: Drawing | undefined
}

/** Single pictures out of live streams, decoded from packets that are kept for a few seconds anyway. */
export interface Snapshots {
  /** From now on also pictures of the last seconds can be had of this stream, beyond the group of pictures under way. */
  remember(stream: Stream<Track>): void
  /**
   * The frame nearest to the `pts` asked for. Throws EyrieError: `id` for what is no longer kept, `unavailable` when
   * there is none yet or too many ask at once.
   */
  take(stream: Stream<Track>, wish?: SnapshotWish): Promise<Snapshot>
  stop(): void
}

const MAX_CONCURRENT = 2
const MAX_WAITING = 16
const KEPT_BYTES = 32 << 20
/** Nearer than this to the oldest picture that is kept is that picture. */
const GRACE_TICKS = 9_000

/** `seconds`: how far back pictures can be had. */
export function createSnapshots(seconds: number): Snapshots {
  const remembered = new WeakMap<Stream<Track>, RecentGroups>()
  const semaphore = new Semaphore(MAX_CONCURRENT)
  let hiding: { remote: Remote<{ hide: typeof hideRegions }>; end(): void } | undefined
  /** Snapshots being taken or waiting. */
  let pending = 0

  /** What is there of a stream: the latest group alone where no more is remembered. */
  function groupsOf(stream: Stream<Track>): readonly Group[] {
    const groups = remembered.get(stream)?.groups() ?? []
    const track = stream.track()
    const units = [...stream.cached()]
    return groups.length > 0 || !track || units.length === 0 ? groups : [{ track, units }]
  }

  async function picture(stream: Stream<Track>, { pts, width, hidden = [], drawing }: SnapshotWish) {
    const { track, units } = pts === undefined ? latest(stream) : nearest(groupsOf(stream), pts)
    if (hidden.length === 0 && !drawing) return decodePicture(track, units, 'jpeg', width)
    const pixels = await decodePicture(track, units, 'pixels', width)
    if (hidden.length > 0) {
      hiding ??= startThread(new URL('./hide-regions-worker.ts', import.meta.url), undefined)
      pixels.data = await hiding.remote.hide(pixels, hidden)
    }
    return encodePicture(pixels, drawing && renderSvg(drawing, pixels))
  }

  return {
    remember(stream) {
      const recent = createRecentGroups(KEPT_BYTES)
      recent.retain(seconds)
      remembered.set(stream, recent)
      stream.follow({ unit: recent.add, interrupt: recent.interrupt })
    },
    async take(stream, wish = {}) {
      if (pending >= MAX_CONCURRENT + MAX_WAITING)
        throw new EyrieError('unavailable', 'too many snapshots are being taken: ask again later')
      pending++
      try {
        const { data, pts } = await semaphore.runExclusive(() => picture(stream, wish))
        return { jpeg: data, pts }
      } finally {
        pending--
      }
    },
    stop: () => hiding?.end(),
  }
}

/** What must be decoded for a frame, which is the last of the units. */
interface Needed {
  track: Track
  units: readonly CachedUnit[]
}

const nothingYet = () => new EyrieError('unavailable', 'the stream has no picture yet')

function latest(stream: Stream<Track>): Needed {
  const track = stream.track()
  const units = stream.cached().slice(0, 1)
  if (!track || units.length === 0) throw nothingYet()
  return { track, units }
}

function nearest(groups: readonly Group[], pts: number): Needed {
  const all = groups.flatMap(({ track, units }) => units.map((unit, i) => ({ track, units, unit, i })))
  if (all.length === 0) throw nothingYet()
  const [oldest, newest] = [
    Math.min(...all.map(({ unit }) => unit.pts)),
    Math.max(...all.map(({ unit }) => unit.pts)),
  ]
  if (pts < oldest - GRACE_TICKS) {
    throw new EyrieError('id', `the picture at pts ${pts} is no longer kept: the oldest is at ${oldest}`, {
      value: { oldest, newest },
    })
  }
  const { track, units, i } = all.reduce((best, each) =>
    Math.abs(each.unit.pts - pts) < Math.abs(best.unit.pts - pts) ? each : best,
  )
  return { track, units: units.slice(0, i + 1) }
}
