import { TICKS_PER_SECOND } from '@eyrie/contract'
import type { SoundTrack, SoundUnit } from '../../sound/sound-track.ts'
import type { Sound } from '../../sound/source-sound.ts'
import type { Stream, StreamUnit, Track } from '../../stream/live-stream.ts'

/** Takes a source's pictures and sound in the order of their times: all sound before a picture comes before it. */
export interface InterleavedReader {
  picture(unit: StreamUnit, track: Track): void
  sound(unit: SoundUnit): void
  /** Something is missing before the next picture. */
  interrupt(): void
}

export interface InterleavedPackets {
  /** Undefined while no sound comes. */
  soundTrack(): SoundTrack | undefined
  /** Hands over what still waits for sound. */
  leave(): void
}

/** Pictures wait so long for their sound, and then sound is taken to have stopped. */
const LOST_TICKS = 2 * TICKS_PER_SECOND
/** A source that has not made a sound by then has none; looking for it would cost something for ever. */
const SEARCH_TICKS = 10 * TICKS_PER_SECOND
/** Sound may be ahead of the pictures by so much. */
const MOST_SOUNDS = 1000

/** Follows the packets of a source, and what is heard if `sound` is given. */
export function followInterleaved(
  stream: Stream<Track>,
  sound: Pick<Sound, 'listenToAac'> | undefined,
  reader: InterleavedReader,
): InterleavedPackets {
  let track: SoundTrack | undefined
  /** Sound has come lately. */
  let sounding = false
  const sounds: SoundUnit[] = []
  const pictures: { unit: StreamUnit; track: Track }[] = []
  /** Sound has come up to here, in stream time. */
  let heardTo = 0
  /** Where the search for sound has begun; undefined before the first picture. */
  let searchedFrom: number | undefined
  let stopListening: (() => void) | undefined

  function begin(next: SoundTrack) {
    if (!track || !isSame(track, next)) track = next
  }

  function hear(unit: SoundUnit) {
    sounding = true
    sounds.push(unit)
    if (sounds.length > MOST_SOUNDS) sounds.shift()
    heardTo = unit.pts + unit.duration
    release()
  }

  function see(unit: StreamUnit, pictureTrack: Track) {
    pictures.push({ unit, track: pictureTrack })
    searchedFrom ??= unit.dts
    if (sounding && unit.dts - Math.max(heardTo, searchedFrom) > LOST_TICKS) sounding = false
    if (!track && unit.dts - searchedFrom > SEARCH_TICKS) deafen()
    release()
  }

  function release() {
    while (pictures.length > 0) {
      const { unit, track: pictureTrack } = pictures[0]!
      if (sounding && heardTo < unit.dts) return
      pictures.shift()
      tell(unit.dts)
      reader.picture(unit, pictureTrack)
    }
  }

  function tell(before: number) {
    const later = sounds.findIndex(({ pts }) => pts >= before)
    for (const each of sounds.splice(0, later < 0 ? sounds.length : later)) reader.sound(each)
  }

  function listen() {
    searchedFrom = undefined
    stopListening ??= sound?.listenToAac({ begin, unit: hear })
  }

  function deafen() {
    stopListening?.()
    stopListening = undefined
  }

  function releaseAll() {
    const before = sounding
    sounding = false
    release()
    sounding = before
  }

  listen()
  const leave = stream.follow({
    unit: see,
    interrupt() {
      releaseAll()
      reader.interrupt()
      listen()
    },
  })
  return {
    soundTrack: () => (sounding ? track : undefined),
    leave() {
      leave()
      deafen()
      releaseAll()
    },
  }
}

const isSame = (a: SoundTrack, b: SoundTrack) =>
  a.rate === b.rate && a.channels === b.channels && Buffer.compare(a.configuration, b.configuration) === 0
