import { TICKS_PER_SECOND } from '@eyrie/contract'
import type { SoundTrack, SoundUnit } from '../../sound/sound-track.ts'
import type { Sound } from '../../sound/source-sound.ts'
import type { Stream, StreamUnit, Track } from '../../stream/live-stream.ts'

/**
 * Receives the pictures and the sound of a source in order of stream time. The recorder of a
 * source is such a reader.
 */
export interface InterleavedReader {
  /** Called after all sound from before this picture. */
  picture(unit: StreamUnit, track: Track): void
  sound(unit: SoundUnit): void
  /** Called when packets are missing before the next picture. */
  interrupt(): void
}

/** A subscription to the pictures and the sound of a source. */
export interface InterleavedPackets {
  /** Returns the format of the sound; undefined while no sound arrives. */
  soundTrack(): SoundTrack | undefined
  /**
   * Passes the pictures from before this time, in µs since 1970, to the reader, although they wait
   * for sound.
   */
  releaseBefore(timeUs: number): void
  /** Ends the subscription. Pictures that wait for sound are passed to the reader. */
  leave(): void
}

interface WaitingPicture {
  unit: StreamUnit
  track: Track
}

/**
 * Maximum time that a picture waits for its sound. If no sound arrives in this time,
 * the sound has stopped.
 */
const MAX_WAIT_TICKS = 2 * TICKS_PER_SECOND
/**
 * If no sound arrives in this time, the source has none. Listening longer would keep the
 * sound decoder running.
 */
const MAX_SEARCH_TICKS = 10 * TICKS_PER_SECOND
/** Maximum number of sound units that wait for pictures. */
const MAX_WAITING_SOUNDS = 1000

/**
 * Passes the pictures of a source to a reader, interleaved with its sound if `sound` is provided.
 */
export function followInterleaved(
  stream: Stream<Track>,
  sound: Pick<Sound, 'listenToAac'> | undefined,
  reader: InterleavedReader,
): InterleavedPackets {
  const waitingPictures: WaitingPicture[] = []
  const waitingSounds: SoundUnit[] = []
  const progress = createSoundProgress()
  let soundTrack: SoundTrack | undefined
  let removeListener: (() => void) | undefined

  /** Listens to the sound. The search for it begins again with the next picture. */
  function startListening() {
    progress.restartSearch()
    removeListener ??= sound?.listenToAac({ begin: setTrack, unit: addSound })
  }

  function stopListening() {
    removeListener?.()
    removeListener = undefined
  }

  function setTrack(next: SoundTrack) {
    if (!soundTrack || !isSameTrack(soundTrack, next)) soundTrack = next
  }

  function addSound(unit: SoundUnit) {
    waitingSounds.push(unit)
    if (waitingSounds.length > MAX_WAITING_SOUNDS) waitingSounds.shift()
    progress.onSound(unit)
    releaseComplete()
  }

  function addPicture(unit: StreamUnit, track: Track) {
    waitingPictures.push({ unit, track })
    progress.onPicture(unit.dts)
    const hasNoSound = !soundTrack && progress.getSearchTicks(unit.dts) > MAX_SEARCH_TICKS
    if (hasNoSound) stopListening()
    releaseComplete()
  }

  /** Passes on the next pictures whose sound has arrived. */
  const releaseComplete = () => releaseWhile(({ unit }) => progress.isComplete(unit.dts))

  /** Passes on all pictures, without waiting for their sound. */
  const releaseAll = () => releaseWhile(() => true)

  /** Passes on the next pictures while they are ready, each after its sound. */
  function releaseWhile(isReady: (picture: WaitingPicture) => boolean) {
    let next = waitingPictures[0]
    while (next && isReady(next)) {
      waitingPictures.shift()
      releaseSounds(next.unit.dts)
      reader.picture(next.unit, next.track)
      next = waitingPictures[0]
    }
  }

  /** Passes on the sound that begins before this stream time. */
  function releaseSounds(before: number) {
    const firstLater = waitingSounds.findIndex(({ pts }) => pts >= before)
    const count = firstLater < 0 ? waitingSounds.length : firstLater
    for (const unit of waitingSounds.splice(0, count)) reader.sound(unit)
  }

  startListening()
  const stopFollowing = stream.follow({
    unit: addPicture,
    interrupt() {
      releaseAll()
      reader.interrupt()
      startListening()
    },
  })
  return {
    soundTrack: () => (progress.isArriving() ? soundTrack : undefined),
    // The time of a picture may be unknown.
    releaseBefore: timeUs => releaseWhile(({ unit }) => (unit.timeUs ?? 0) < timeUs),
    leave() {
      stopFollowing()
      stopListening()
      releaseAll()
    },
  }
}

/** Compares the arrival of sound with the pictures, by their stream times. */
function createSoundProgress() {
  /** Pictures wait for their sound only while sound is arriving. */
  let isArriving = false
  /** End of the newest sound. */
  let soundEnd = 0
  /** Time at which the search for sound began; undefined before the first picture. */
  let searchStart: number | undefined

  return {
    isArriving: () => isArriving,

    onSound({ pts, duration }: SoundUnit): void {
      isArriving = true
      soundEnd = pts + duration
    },

    onPicture(dts: number): void {
      searchStart ??= dts
      const ticksWithoutSound = dts - Math.max(soundEnd, searchStart)
      if (ticksWithoutSound > MAX_WAIT_TICKS) isArriving = false
    },

    /** Returns whether a picture need not wait for more sound. */
    isComplete: (dts: number): boolean => !isArriving || soundEnd >= dts,

    /** Returns for how long sound has been searched. */
    getSearchTicks: (dts: number): number => dts - (searchStart ?? dts),

    restartSearch(): void {
      searchStart = undefined
    },
  }
}

const isSameTrack = (a: SoundTrack, b: SoundTrack) =>
  a.rate === b.rate &&
  a.channels === b.channels &&
  Buffer.compare(a.configuration, b.configuration) === 0
