import { TICKS_PER_SECOND } from '@eyrie/contract'
import type { SoundTrack, SoundUnit } from '../../sound/sound-track.ts'
import type { Sound } from '../../sound/source-sound.ts'
import type { Stream, StreamUnit, Track } from '../../stream/live-stream.ts'

/** Receives pictures and sound in stream-time order: all sound from before a picture precedes it. */
export interface InterleavedReader {
  picture(unit: StreamUnit, track: Track): void
  sound(unit: SoundUnit): void
  /** Packets are missing before the next picture. */
  interrupt(): void
}

export interface InterleavedPackets {
  /** Undefined while no sound arrives. */
  soundTrack(): SoundTrack | undefined
  /** Stops following and passes on all pictures that wait for sound. */
  leave(): void
}

/** Time that pictures wait for their sound. Sound that is later counts as stopped. */
const STOPPED_TICKS = 2 * TICKS_PER_SECOND
/** A source without sound until then counts as silent. Listening any longer would keep its decoder running. */
const SEARCH_TICKS = 10 * TICKS_PER_SECOND
/** Sound units that may wait for pictures. */
const MAX_WAITING_SOUNDS = 1000

/** Follows the packets of a source, and its sound if provided. */
export function followInterleaved(
  stream: Stream<Track>,
  sound: Pick<Sound, 'listenToAac'> | undefined,
  reader: InterleavedReader,
): InterleavedPackets {
  const waitingPictures: { unit: StreamUnit; track: Track }[] = []
  const waitingSounds: SoundUnit[] = []
  let soundTrack: SoundTrack | undefined
  /** Whether pictures wait for sound. */
  let isSounding = false
  /** End of the newest sound, in stream time. */
  let soundEnd = 0
  /** Stream time at which the search for sound began; undefined before the first picture. */
  let searchStart: number | undefined
  let stopListening: (() => void) | undefined

  function setTrack(next: SoundTrack) {
    if (!soundTrack || !isSameTrack(soundTrack, next)) soundTrack = next
  }

  function addSound(unit: SoundUnit) {
    isSounding = true
    waitingSounds.push(unit)
    if (waitingSounds.length > MAX_WAITING_SOUNDS) waitingSounds.shift()
    soundEnd = unit.pts + unit.duration
    releasePictures()
  }

  function addPicture(unit: StreamUnit, track: Track) {
    waitingPictures.push({ unit, track })
    searchStart ??= unit.dts
    if (isSounding && unit.dts - Math.max(soundEnd, searchStart) > STOPPED_TICKS) isSounding = false
    if (!soundTrack && unit.dts - searchStart > SEARCH_TICKS) unlisten()
    releasePictures()
  }

  /** Passes on the pictures whose sound is complete, each after its sound. */
  function releasePictures() {
    while (waitingPictures.length > 0) {
      const { unit, track } = waitingPictures[0]!
      if (isSounding && soundEnd < unit.dts) return
      waitingPictures.shift()
      releaseSounds(unit.dts)
      reader.picture(unit, track)
    }
  }

  function releaseSounds(before: number) {
    const firstLater = waitingSounds.findIndex(({ pts }) => pts >= before)
    const count = firstLater < 0 ? waitingSounds.length : firstLater
    for (const unit of waitingSounds.splice(0, count)) reader.sound(unit)
  }

  function releaseAll() {
    const wasSounding = isSounding
    isSounding = false
    releasePictures()
    isSounding = wasSounding
  }

  function listen() {
    searchStart = undefined
    stopListening ??= sound?.listenToAac({ begin: setTrack, unit: addSound })
  }

  function unlisten() {
    stopListening?.()
    stopListening = undefined
  }

  listen()
  const unfollow = stream.follow({
    unit: addPicture,
    interrupt() {
      releaseAll()
      reader.interrupt()
      listen()
    },
  })
  return {
    soundTrack: () => (isSounding ? soundTrack : undefined),
    leave() {
      unfollow()
      unlisten()
      releaseAll()
    },
  }
}

const isSameTrack = (a: SoundTrack, b: SoundTrack) =>
  a.rate === b.rate && a.channels === b.channels && Buffer.compare(a.configuration, b.configuration) === 0
