import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { createSilence, type Silence } from '../sound/silence.ts'
import { type SoundTrack, type SoundUnit, toSoundCodecString } from '../sound/sound-track.ts'
import type { Sound } from '../sound/source-sound.ts'
import { createInitSegment, createSoundFragment, createVideoFragment } from './fmp4.ts'
import type { Stream, Viewer } from './live-stream.ts'
import type { PlayableTrack } from './sample-entry.ts'

/** Maximum time to wait for the first sound of a source. */
const START_TIMEOUT_MS = 1_500
/**
 * If the sound lags behind the picture by more than this, it has stopped. Silence replaces it,
 * because players would stall.
 */
const STOPPED_TICKS = 2 * TICKS_PER_SECOND
/** A larger gap is a jump in stream time and is not filled with silence. */
const JUMP_TICKS = 10 * TICKS_PER_SECOND
/** A client with more unsent bytes than this receives no sound until its connection has drained. */
const BACKLOG_LIMIT_BYTES = 4 << 20

/**
 * Returns a stream with the sound of its source, for one viewer, or the original stream if
 * no sound arrives in time. The result must be watched immediately, because the sound is
 * already being produced.
 */
export async function addSound(
  stream: Stream<PlayableTrack>,
  sound: Sound,
): Promise<Stream<PlayableTrack>> {
  const firstTrack = Promise.withResolvers<SoundTrack | undefined>()
  let viewer: SoundViewer | undefined

  const stopListening = sound.listenToAac({
    begin(track) {
      firstTrack.resolve(track)
      viewer?.beginSound(track)
    },
    unit: unit => viewer?.receiveSound(unit),
  })

  const track = await waitForTrack(firstTrack, sound)
  if (!track) {
    stopListening()
    return stream
  }

  const appendCodec = (videoCodec: string) => `${videoCodec},${toSoundCodecString(track)}`

  return {
    ...stream,
    info() {
      const info = stream.info()
      return info && { ...info, codecs: appendCodec(info.codecs) }
    },
    watch(client) {
      viewer = createSoundViewer(client, track, appendCodec)
      const leave = stream.watch(viewer)
      return () => {
        viewer = undefined
        stopListening()
        leave()
      }
    },
  }
}

/**
 * Waits for the first track of the sound. Resolves to undefined if the source has no sound, or none
 * arrives in time.
 */
async function waitForTrack(
  { promise, resolve }: PromiseWithResolvers<SoundTrack | undefined>,
  sound: Sound,
): Promise<SoundTrack | undefined> {
  const timeout = setTimeout(() => resolve(undefined), START_TIMEOUT_MS)
  sound.isPresent().then(isPresent => {
    if (!isPresent) resolve(undefined)
  })
  const track = await promise
  clearTimeout(timeout)
  return track
}

interface SoundViewer extends Viewer<PlayableTrack> {
  /** Must be called when the sound begins, and again after each interruption. */
  beginSound(track: SoundTrack): void
  receiveSound(unit: SoundUnit): void
}

/** Passes the fragments of video and sound to `client`, with common sequence numbers. */
function createSoundViewer(
  client: Viewer<PlayableTrack>,
  track: SoundTrack,
  appendCodec: (videoCodec: string) => string,
): SoundViewer {
  const nextSequence = createFragmentNumbering()
  /** Whether the client has received the init segment. */
  let hasBegun = false
  /** End of the sound sent so far; undefined before the first unit. */
  let soundEnd: number | undefined
  /** Set while silence replaces the sound. */
  let silence: Silence | undefined
  /**
   * End of the last silence that was sent with a picture. Sound from before this time is dropped,
   * because it would overlap.
   */
  let silenceEnd = 0

  function sendSound(unit: SoundUnit) {
    if (!hasBegun) return
    soundEnd = unit.pts + unit.duration
    if (client.backlog() > BACKLOG_LIMIT_BYTES) return

    const streamUnit = { ...unit, dts: unit.pts, keyframe: true, sequence: nextSequence('sound') }
    client.fragment(createSoundFragment(streamUnit.sequence, unit), streamUnit)
  }

  /** Sends silence up to this picture if the sound has stopped. */
  function fillWithSilence(pts: number) {
    if (soundEnd === undefined) return
    const lagTicks = pts - soundEnd
    const hasJumped = lagTicks > JUMP_TICKS
    const hasStopped = lagTicks > STOPPED_TICKS
    if (hasJumped) silence = createSilence(track, pts)
    else if (hasStopped) silence ??= createSilence(track, soundEnd)
    else if (!silence) return

    // Silence cannot be created for every kind of track.
    if (!silence) return client.end('the sound has stopped: watch again')
    for (const unit of silence.fillTo(pts)) sendSound(unit)
    // `sendSound` has moved the end of the sound to the end of the silence.
    silenceEnd = soundEnd
  }

  return {
    begin(info, _init, video) {
      hasBegun = true
      client.begin(
        { ...info, codecs: appendCodec(info.codecs) },
        createInitSegment(video, track),
        video,
      )
    },
    fragment(_bytes, unit) {
      fillWithSilence(unit.pts)
      client.fragment(createVideoFragment(nextSequence('video'), unit), unit)
    },
    beginSound(next) {
      if (Buffer.compare(next.configuration, track.configuration) !== 0) {
        client.end('the sound has changed: watch again')
      }
    },
    receiveSound(unit) {
      // The unit may arrive before its picture. Fills the gap between the silence and the unit. The
      // last silent unit, which has the same duration, must end where this one begins.
      const lastSilentStart = unit.pts - unit.duration
      if (silence && lastSilentStart - silenceEnd < JUMP_TICKS) {
        for (const silentUnit of silence.fillTo(lastSilentStart)) sendSound(silentUnit)
      }
      silence = undefined
      if (unit.pts >= silenceEnd) sendSound(unit)
    },
    backlog: client.backlog,
    end: client.end,
  }
}

/**
 * Returns a function that numbers the fragments of both tracks. It skips a number at the start of
 * each track: VLC reads the start time of a track only after a gap in the sequence numbers.
 */
function createFragmentNumbering() {
  const startedTracks = new Set<'video' | 'sound'>()
  let last = 0
  return (track: 'video' | 'sound'): number => {
    if (!startedTracks.has(track)) last++
    startedTracks.add(track)
    last++
    return last
  }
}
