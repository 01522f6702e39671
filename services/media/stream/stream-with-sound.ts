import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { createSilence, type Silence } from '../sound/silence.ts'
import { type SoundTrack, type SoundUnit, toSoundCodecString } from '../sound/sound-track.ts'
import type { Sound } from '../sound/source-sound.ts'
import { createInitSegment, createSoundFragment, createVideoFragment } from './fmp4.ts'
import type { Stream, Viewer } from './live-stream.ts'
import type { PlayableTrack } from './sample-entry.ts'

/** Time in which the sound of a source begins once a listener has been added. */
const START_TIMEOUT_MS = 1_500
/** Sound that lags the picture by more has stopped. Players would stall, so silence is inserted. */
const STOPPED_TICKS = 2 * TICKS_PER_SECOND
/** A larger distance is a jump in stream time: the gap is not filled with silence. */
const JUMP_TICKS = 10 * TICKS_PER_SECOND
const BACKLOG_LIMIT_BYTES = 4 << 20

/**
 * Combines a stream with its source's sound for one viewer. Returns the stream alone if no sound arrives in time. The result must
 * be watched at once, because the sound is already being produced.
 */
export async function addSound(stream: Stream<PlayableTrack>, sound: Sound): Promise<Stream<PlayableTrack>> {
  const firstTrack = Promise.withResolvers<SoundTrack | undefined>()
  let viewer: SoundViewer | undefined
  const stopListening = sound.listenToAac({
    begin(track) {
      firstTrack.resolve(track)
      viewer?.beginSound(track)
    },
    unit: unit => viewer?.addSound(unit),
  })
  const timeout = setTimeout(() => firstTrack.resolve(undefined), START_TIMEOUT_MS)
  sound.isPresent().then(isPresent => isPresent || firstTrack.resolve(undefined))
  const track = await firstTrack.promise
  clearTimeout(timeout)
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

interface SoundViewer extends Viewer<PlayableTrack> {
  /** Called when the sound begins, and again whenever it is interrupted. */
  beginSound(track: SoundTrack): void
  addSound(unit: SoundUnit): void
}

/** Interleaves the fragments of both tracks for `client`, with common sequence numbers. */
function createSoundViewer(
  client: Viewer<PlayableTrack>,
  track: SoundTrack,
  appendCodec: (videoCodec: string) => string,
): SoundViewer {
  const startedTracks = new Set<'video' | 'sound'>()
  let sequence = 0
  let hasBegun = false
  /** End of the sound sent so far; undefined before the first unit. */
  let soundEnd: number | undefined
  /** Set while silence replaces the sound. */
  let silence: Silence | undefined
  /** End of the last silence. Later sound from before it would overlap. */
  let silenceEnd = 0

  /** VLC reads the start time of a track from its first fragment only if there is a gap in the sequence numbers. */
  function nextSequence(kind: 'video' | 'sound'): number {
    if (!startedTracks.has(kind)) sequence++
    startedTracks.add(kind)
    sequence++
    return sequence
  }

  function send(unit: SoundUnit) {
    if (!hasBegun) return
    soundEnd = unit.pts + unit.duration
    if (client.backlog() > BACKLOG_LIMIT_BYTES) return
    const numbered = { ...unit, dts: unit.pts, keyframe: true, sequence: nextSequence('sound') }
    client.fragment(createSoundFragment(numbered.sequence, unit), numbered)
  }

  function fillWithSilence(pts: number) {
    if (soundEnd === undefined || (!silence && pts - soundEnd <= STOPPED_TICKS)) return
    const isJump = pts - soundEnd > JUMP_TICKS
    if (!silence || isJump) silence = createSilence(track, isJump ? pts : soundEnd)
    if (!silence) return client.end('the sound has stopped: watch again')
    for (const unit of silence.fillTo(pts)) send(unit)
    silenceEnd = soundEnd
  }

  return {
    begin(info, _init, video) {
      hasBegun = true
      client.begin({ ...info, codecs: appendCodec(info.codecs) }, createInitSegment(video, track), video)
    },
    fragment(_bytes, unit) {
      fillWithSilence(unit.pts)
      client.fragment(createVideoFragment(nextSequence('video'), unit), unit)
    },
    beginSound(next) {
      if (Buffer.compare(next.configuration, track.configuration) !== 0)
        client.end('the sound has changed: watch again')
    },
    addSound(unit) {
      // Close the gap between the silence and this unit, which may arrive before its picture.
      const lastStart = unit.pts - unit.duration
      if (silence && lastStart - silenceEnd < JUMP_TICKS) {
        for (const silentUnit of silence.fillTo(lastStart)) send(silentUnit)
      }
      silence = undefined
      if (unit.pts >= silenceEnd) send(unit)
    },
    backlog: client.backlog,
    end: client.end,
  }
}
