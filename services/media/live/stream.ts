import type { StreamInfo } from '@eyrie/contract'
import { displaySize } from '../picture.ts'
import { type AccessUnit, codecString, fragment, initSegment, type VideoTrack } from './fmp4.ts'

/** Somebody who watches. */
export interface Viewer {
  /** A new beginning: what follows belongs to this init segment, which describes this track. */
  begin(info: StreamInfo, init: Uint8Array, track: VideoTrack): void
  /** One access unit, as a fragment and as it came. */
  fragment(bytes: Uint8Array, unit: CachedUnit): void
  /** Bytes handed over that have not left yet. */
  backlog(): number
  /** There is nothing more to see, and why. */
  end(reason: string): void
}

/** An access unit and the number of the fragment that carries it. */
export interface CachedUnit extends AccessUnit {
  sequence: number
  /** The fragment, once somebody has watched it. */
  bytes?: Buffer
}

/** The live view of a source: its packets as fragmented MP4, to as many viewers as there are. */
export interface Stream {
  /** Undefined before the first packet, and for what cannot be passed through. */
  info(): StreamInfo | undefined
  track(): VideoTrack | undefined
  /** The group of pictures under way, from its keyframe on, in decoding order. */
  cached(): readonly CachedUnit[]
  /** Of what has come so far. */
  newestPts(): number
  viewers(): number
  /** To be called before the first unit and whenever the track changes. */
  begin(track: VideoTrack): void
  /** Copies the unit's data. */
  write(unit: AccessUnit): void
  /** Something is missing: viewers wait for the next keyframe. */
  interrupt(): void
  /** Returns how to leave. */
  watch(viewer: Viewer): () => void
  end(reason: string): void
}

/** A viewer with more than this before him gets nothing more until he has read. */
const BACKLOG_LIMIT_BYTES = 4 << 20
/** A group of pictures larger than this is not kept. */
const CACHE_LIMIT_BYTES = 32 << 20

/** The number of the unit that a viewer is to be shown next. */
interface Place {
  next: number
}
/** The next keyframe, whatever its number. */
const KEYFRAME = 0

export function createStream(epoch: number): Stream {
  const viewers = new Map<Viewer, Place>()
  let track: VideoTrack | undefined
  let info: StreamInfo | undefined
  let init: Buffer | undefined
  let group: CachedUnit[] = []
  let groupBytes = 0
  let newest: CachedUnit | undefined
  let sequence = 0
  let lastDts = -1
  let newestPts = 0

  function remember(unit: CachedUnit) {
    if (unit.keyframe) forget()
    else if (group.length === 0) return
    groupBytes += unit.data.length
    if (groupBytes > CACHE_LIMIT_BYTES) forget()
    else group.push(unit)
  }

  function forget() {
    group = []
    groupBytes = 0
  }

  /** All that a viewer has room for; who is behind gets what is left of the group, as long as it is under way. */
  function show(viewer: Viewer, place: Place) {
    for (let unit = at(place.next); unit; unit = at(place.next)) {
      if (viewer.backlog() > BACKLOG_LIMIT_BYTES) return
      viewer.fragment(packaged(unit), unit)
      place.next = unit.sequence + 1
    }
  }

  const at = (number: number) =>
    newest?.sequence === number ? newest : group[number - (group[0]?.sequence ?? 0)]

  return {
    info: () => info,
    track: () => track,
    cached: () => group,
    newestPts: () => newestPts,
    viewers: () => viewers.size,

    begin(next) {
      if (track && Buffer.compare(track.avcC, next.avcC) === 0) return
      track = next
      info = { codecs: codecString(next.avcC), ...displaySize(next), epoch }
      init = initSegment(next)
      this.interrupt()
      for (const viewer of viewers.keys()) viewer.begin(info, init, next)
    },

    write(unit) {
      // Decoding times must grow from 0: those before the stream's start are pressed together there.
      const dts = Math.max(unit.dts, lastDts + 1)
      lastDts = dts
      newestPts = Math.max(newestPts, unit.pts)
      const cached = { ...unit, dts, data: Buffer.from(unit.data), sequence: ++sequence }
      newest = cached
      remember(cached)
      for (const [viewer, place] of viewers) {
        if (cached.keyframe) place.next = sequence
        else if (!at(place.next)) place.next = KEYFRAME
        show(viewer, place)
      }
    },

    interrupt() {
      forget()
      newest = undefined
      for (const place of viewers.values()) place.next = KEYFRAME
    },

    watch(viewer) {
      if (info && init && track) viewer.begin(info, init, track)
      const place = { next: group[0]?.sequence ?? KEYFRAME }
      viewers.set(viewer, place)
      show(viewer, place)
      return () => viewers.delete(viewer)
    },

    end(reason) {
      for (const viewer of viewers.keys()) viewer.end(reason)
      viewers.clear()
    },
  }
}

/** The unit as a fragment, made once for all viewers and not before there is one. Its data is kept inside from then on. */
function packaged(unit: CachedUnit): Buffer {
  const { data } = unit
  unit.bytes ??= fragment(unit.sequence, unit)
  unit.data = unit.bytes.subarray(unit.bytes.length - data.length)
  return unit.bytes
}
