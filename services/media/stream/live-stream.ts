import type { StreamInfo } from '@eyrie/contract'
import { displaySize } from '../gstreamer/picture.ts'
import { type AccessUnit, fragment, initSegment } from './fmp4.ts'
import { codecOf, isPlayable, type PlayableTrack, type VideoTrack } from './sample-entry.ts'

/** Somebody who watches. */
export interface Viewer<Playable extends PlayableTrack = VideoTrack> {
  /** A new beginning: what follows belongs to this init segment, which describes this track. */
  begin(info: StreamInfo, init: Uint8Array, track: Playable): void
  /** One access unit, as a fragment and as it came. */
  fragment(bytes: Uint8Array, unit: CachedUnit): void
  /** Bytes handed over that have not left yet. */
  backlog(): number
  /** There is nothing more to see, and why. */
  end(reason: string): void
}

/** An access unit, and when its picture was taken, in µs since 1970, where that is known. */
export interface TimedUnit extends AccessUnit {
  timeUs?: number | undefined
}

/** An access unit and the number of the fragment that carries it. */
export interface CachedUnit extends TimedUnit {
  sequence: number
  /** The fragment, once somebody has watched it. */
  bytes?: Buffer
}

/** Somebody who takes the packets as they come, and for whom nothing is packaged. */
export interface PacketReader<Carried extends Track = VideoTrack> {
  unit(unit: CachedUnit, track: Carried): void
  /** Something is missing before the next unit. */
  interrupt(): void
}

/** Video that no player takes as it comes, with the caps that a decoder wants to know. */
export interface OtherTrack {
  codec: string
  caps: string
}

export type Track = PlayableTrack | OtherTrack

/** A live view: packets as fragmented MP4, to as many viewers as there are. Of H.264, unless something else is said. */
export interface Stream<Carried extends Track = VideoTrack> {
  /** Undefined before the first packet, and for what cannot be passed through. */
  info(): StreamInfo | undefined
  track(): Carried | undefined
  /** The group of pictures under way, from its keyframe on, in decoding order. */
  cached(): readonly CachedUnit[]
  /** Of what has come so far. */
  newestPts(): number
  viewers(): number
  /**
   * Where it is made only while somebody watches: resolves when there is something to see. Being asked for counts as being
   * watched. Rejects with EyrieError `unavailable` that says why it came to an end, and with the signal's reason.
   */
  begun?(signal: AbortSignal): Promise<void>
  /** Returns how to leave. */
  watch(viewer: Viewer<Extract<Carried, PlayableTrack>>): () => void
  /** Returns how to stop. */
  follow(reader: PacketReader<Carried>): () => void
}

/** The end of a stream that its packets go into. */
export interface StreamWriter<Carried extends Track = VideoTrack> {
  /** To be called before the first unit and whenever the track changes. */
  begin(track: Carried): void
  /** Copies the unit's data. */
  write(unit: TimedUnit): void
  /** Something is missing: viewers wait for the next keyframe. */
  interrupt(): void
  end(reason: string): void
}

export type WritableStream<Carried extends Track = VideoTrack> = Stream<Carried> & StreamWriter<Carried>

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

export function createStream<Carried extends Track = VideoTrack>(epoch: number): WritableStream<Carried> {
  type Playable = Extract<Carried, PlayableTrack>
  const viewers = new Map<Viewer<Playable>, Place>()
  let track: Carried | undefined
  let playable: Playable | undefined
  let info: StreamInfo | undefined
  let init: Buffer | undefined
  const readers = new Set<PacketReader<Carried>>()
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
  function show(viewer: Viewer<Playable>, place: Place) {
    for (let unit = at(place.next); unit; unit = at(place.next)) {
      if (viewer.backlog() > BACKLOG_LIMIT_BYTES) return
      viewer.fragment(packaged(unit), unit)
      place.next = unit.sequence + 1
    }
  }

  const at = (number: number) =>
    newest?.sequence === number ? newest : group[number - (group[0]?.sequence ?? 0)]

  function greet(viewer: Viewer<Playable>) {
    if (info && init && playable) viewer.begin(info, init, playable)
  }

  function interrupt() {
    forget()
    newest = undefined
    for (const place of viewers.values()) place.next = KEYFRAME
    for (const reader of readers) reader.interrupt()
  }

  return {
    info: () => info,
    track: () => track,
    cached: () => group,
    newestPts: () => newestPts,
    viewers: () => viewers.size,

    begin(next) {
      if (track && Buffer.compare(configurationOf(track), configurationOf(next)) === 0) return
      track = next
      playable = isPlayable(next) ? (next as Playable) : undefined
      info = playable && { codecs: codecOf(playable), ...displaySize(playable), epoch }
      init = playable && initSegment(playable)
      interrupt()
      for (const viewer of viewers.keys()) greet(viewer)
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
      if (track) for (const reader of readers) reader.unit(cached, track)
    },

    interrupt,

    watch(viewer) {
      greet(viewer)
      const place = { next: group[0]?.sequence ?? KEYFRAME }
      viewers.set(viewer, place)
      show(viewer, place)
      return () => viewers.delete(viewer)
    },

    follow(reader) {
      readers.add(reader)
      return () => readers.delete(reader)
    },

    end(reason) {
      for (const viewer of viewers.keys()) viewer.end(reason)
      viewers.clear()
    },
  }
}

/** A stream goes on for its viewers while this stays the same. */
function configurationOf(track: Track): Uint8Array {
  if ('avcC' in track) return track.avcC
  return 'hvcC' in track ? track.hvcC : Buffer.from(track.caps)
}

/** The unit as a fragment, made once for all viewers and not before there is one. Its data is kept inside from then on. */
function packaged(unit: CachedUnit): Buffer {
  const { data } = unit
  unit.bytes ??= fragment(unit.sequence, unit)
  unit.data = unit.bytes.subarray(unit.bytes.length - data.length)
  return unit.bytes
}
