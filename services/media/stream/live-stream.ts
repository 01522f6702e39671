import type { StreamInfo } from '@eyrie/contract'
import { displaySize } from '../gstreamer/picture.ts'
import { type AccessUnit, createInitSegment, createVideoFragment } from './fmp4.ts'
import { isPlayable, type PlayableTrack, toCodecString, type VideoTrack } from './sample-entry.ts'

/** A client that plays a stream. */
export interface Viewer<Playable extends PlayableTrack = VideoTrack> {
  /** Starts the stream, or starts it anew: later fragments belong to this init segment, which describes this track. */
  begin(info: StreamInfo, init: Uint8Array, track: Playable): void
  /** One access unit, packaged as a fragment and as received. */
  fragment(bytes: Uint8Array, unit: StreamUnit): void
  /** Bytes passed to the viewer that are still unsent. */
  backlog(): number
  /** The stream has ended, for this reason. */
  end(reason: string): void
}

/** An access unit with the capture time of its picture, in µs since 1970, if known. */
export interface TimedUnit extends AccessUnit {
  timeUs?: number | undefined
}

/** An access unit with the sequence number of its fragment. */
export interface StreamUnit extends TimedUnit {
  sequence: number
  /** The packaged fragment, once a viewer has needed it. */
  bytes?: Buffer
}

/** A reader of the packets themselves: nothing is packaged for it. */
export interface PacketReader<Carried extends Track = VideoTrack> {
  unit(unit: StreamUnit, track: Carried): void
  /** Packets are missing before the next unit. */
  interrupt(): void
}

/** Video that players cannot decode, with the caps that a decoder needs. */
export interface UnplayableTrack {
  codec: string
  caps: string
}

export type Track = PlayableTrack | UnplayableTrack

/** A live view: packets as fragmented MP4 for any number of viewers, in H.264 by default. */
export interface Stream<Carried extends Track = VideoTrack> {
  /** Undefined before the first packet, and for video that players cannot decode. */
  info(): StreamInfo | undefined
  track(): Carried | undefined
  /** The current group of pictures from its keyframe on, in decoding order. */
  cachedUnits(): readonly StreamUnit[]
  /** The greatest pts so far. */
  newestPts(): number
  viewerCount(): number
  /**
   * Only on streams that are produced on demand: counts as a viewer and resolves with the first fragment. Rejects with an
   * `EyrieError` (`unavailable`) if the stream ends first, or with the signal's reason.
   */
  waitUntilStarted?(signal: AbortSignal): Promise<void>
  /** Returns a function that removes the viewer. */
  watch(viewer: Viewer<Extract<Carried, PlayableTrack>>): () => void
  /** Returns a function that removes the reader. */
  follow(reader: PacketReader<Carried>): () => void
}

/** The writing end of a stream. */
export interface StreamWriter<Carried extends Track = VideoTrack> {
  /** Must be called before the first unit and whenever the track changes. */
  begin(track: Carried): void
  /** Copies the unit's data. */
  write(unit: TimedUnit): void
  /** Packets are missing: viewers wait for the next keyframe. */
  interrupt(): void
  end(reason: string): void
}

export type WritableStream<Carried extends Track = VideoTrack> = Stream<Carried> & StreamWriter<Carried>

/** A viewer with more unsent bytes than this receives nothing until its connection has drained. */
const BACKLOG_LIMIT_BYTES = 4 << 20
/** A larger group of pictures is not cached. */
const CACHE_LIMIT_BYTES = 32 << 20

/** The sequence number of the unit that a viewer receives next. */
interface Position {
  next: number
}
/** Position of a viewer that waits for the next keyframe. */
const KEYFRAME = 0

/** A track that players can decode, with the init segment that describes it. */
interface Packaging<Playable extends PlayableTrack> {
  track: Playable
  info: StreamInfo
  init: Buffer
}

export function createStream<Carried extends Track = VideoTrack>(epoch: number): WritableStream<Carried> {
  type Playable = Extract<Carried, PlayableTrack>
  const viewers = new Map<Viewer<Playable>, Position>()
  const readers = new Set<PacketReader<Carried>>()
  let current: { track: Carried; packaging: Packaging<Playable> | undefined } | undefined
  /** The current group of pictures. */
  let group = { units: [] as StreamUnit[], bytes: 0 }
  let newest: StreamUnit | undefined
  let sequence = 0
  let lastDts = -1
  let newestPts = 0

  function cache(unit: StreamUnit) {
    if (unit.keyframe) clearCache()
    else if (group.units.length === 0) return
    group.bytes += unit.data.length
    if (group.bytes > CACHE_LIMIT_BYTES) clearCache()
    else group.units.push(unit)
  }

  function clearCache() {
    group = { units: [], bytes: 0 }
  }

  /** Sends all that the viewer has room for. A viewer that lags behind catches up within the cached group of pictures. */
  function send(viewer: Viewer<Playable>, position: Position) {
    for (let unit = findUnit(position.next); unit; unit = findUnit(position.next)) {
      if (viewer.backlog() > BACKLOG_LIMIT_BYTES) return
      viewer.fragment(toFragment(unit), unit)
      position.next = unit.sequence + 1
    }
  }

  function findUnit(number: number): StreamUnit | undefined {
    if (newest?.sequence === number) return newest
    return group.units[number - (group.units[0]?.sequence ?? 0)]
  }

  function sendInit(viewer: Viewer<Playable>) {
    if (!current?.packaging) return
    const { info, init, track } = current.packaging
    viewer.begin(info, init, track)
  }

  function interrupt() {
    clearCache()
    newest = undefined
    for (const position of viewers.values()) position.next = KEYFRAME
    for (const reader of readers) reader.interrupt()
  }

  function createPackaging(track: Carried): Packaging<Playable> | undefined {
    if (!isPlayable(track)) return undefined
    const info = { codecs: toCodecString(track), ...displaySize(track), epoch }
    return { track: track as Playable, info, init: createInitSegment(track) }
  }

  return {
    info: () => current?.packaging?.info,
    track: () => current?.track,
    cachedUnits: () => group.units,
    newestPts: () => newestPts,
    viewerCount: () => viewers.size,

    begin(track) {
      if (current && Buffer.compare(getConfiguration(current.track), getConfiguration(track)) === 0) return
      current = { track, packaging: createPackaging(track) }
      interrupt()
      for (const viewer of viewers.keys()) sendInit(viewer)
    },

    write(unit) {
      // Decoding times must increase from 0: units before the start of the stream get consecutive ticks.
      const dts = Math.max(unit.dts, lastDts + 1)
      lastDts = dts
      newestPts = Math.max(newestPts, unit.pts)
      const cached = { ...unit, dts, data: Buffer.from(unit.data), sequence: ++sequence }
      newest = cached
      cache(cached)
      for (const [viewer, position] of viewers) {
        if (cached.keyframe) position.next = sequence
        else if (!findUnit(position.next)) position.next = KEYFRAME
        send(viewer, position)
      }
      if (current) for (const reader of readers) reader.unit(cached, current.track)
    },

    interrupt,

    watch(viewer) {
      sendInit(viewer)
      const position = { next: group.units[0]?.sequence ?? KEYFRAME }
      viewers.set(viewer, position)
      send(viewer, position)
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

/** Bytes that identify a track: viewers continue without a new init segment while they stay equal. */
function getConfiguration(track: Track): Uint8Array {
  if ('avcC' in track) return track.avcC
  return 'hvcC' in track ? track.hvcC : Buffer.from(track.caps)
}

/** The fragment of a unit, packaged once for all viewers when the first one needs it. Afterwards `data` points into it. */
function toFragment(unit: StreamUnit): Buffer {
  const { data } = unit
  unit.bytes ??= createVideoFragment(unit.sequence, unit)
  unit.data = unit.bytes.subarray(unit.bytes.length - data.length)
  return unit.bytes
}
