import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { createSilence, type Silence } from '../sound/silence.ts'
import type { Sound } from '../sound/sound.ts'
import { type SoundTrack, type SoundUnit, soundCodecString } from '../sound/sound-track.ts'
import { fragment, initSegment, soundFragment } from './fmp4.ts'
import type { Stream, Viewer } from './live-stream.ts'
import type { PlayableTrack } from './sample-entry.ts'

/** Sound that has been found is there within this time. */
const PATIENCE_MS = 1_500
/** Sound that lags more than this behind the picture has been lost. Players would stop for it: they are given silence. */
const LOST_TICKS = 2 * TICKS_PER_SECOND
/** A longer time without a picture has no sound either. */
const LEAP_TICKS = 10 * TICKS_PER_SECOND
const BACKLOG_LIMIT_BYTES = 4 << 20

/**
 * A stream together with its source's sound, for one viewer; the stream alone where no sound comes. To be watched at
 * once: it is listened to from now on.
 */
export async function withSound(stream: Stream<PlayableTrack>, sound: Sound): Promise<Stream<PlayableTrack>> {
  const found = Promise.withResolvers<SoundTrack | undefined>()
  let viewer: SoundingViewer | undefined
  const stop = sound.listen({
    begin(track) {
      found.resolve(track)
      viewer?.beginSound(track)
    },
    unit: unit => viewer?.hear(unit),
  })
  const limit = setTimeout(() => found.resolve(undefined), PATIENCE_MS)
  sound.known().then(isThere => isThere || found.resolve(undefined))
  const track = await found.promise
  clearTimeout(limit)
  if (!track) {
    stop()
    return stream
  }
  const codecs = (video: string) => `${video},${soundCodecString(track)}`

  return {
    ...stream,
    info() {
      const info = stream.info()
      return info && { ...info, codecs: codecs(info.codecs) }
    },
    watch(watcher) {
      viewer = soundingViewer(watcher, track, codecs)
      const leave = stream.watch(viewer)
      return () => {
        viewer = undefined
        stop()
        leave()
      }
    },
  }
}

interface SoundingViewer extends Viewer<PlayableTrack> {
  /** The sound begins, once more maybe. */
  beginSound(track: SoundTrack): void
  hear(unit: SoundUnit): void
}

/** Numbers the fragments of both tracks as one. */
function soundingViewer(
  viewer: Viewer<PlayableTrack>,
  track: SoundTrack,
  codecs: (video: string) => string,
): SoundingViewer {
  let sequence = 0
  const tracks = new Set<'picture' | 'sound'>()
  let begun = false
  /** Up to here there is sound; undefined before any. */
  let heardTo: number | undefined
  /** What is heard while no sound comes, and up to here: no sound of that time can be heard any more. */
  let silence: Silence | undefined
  let silentTo = 0

  /** VLC reads the time of a track's first fragment only behind a gap in their numbers. */
  function number(track: 'picture' | 'sound'): number {
    if (!tracks.has(track)) sequence++
    tracks.add(track)
    return ++sequence
  }

  function send(unit: SoundUnit) {
    if (!begun) return
    heardTo = unit.pts + unit.duration
    if (viewer.backlog() > BACKLOG_LIMIT_BYTES) return
    const numbered = { ...unit, dts: unit.pts, keyframe: true, sequence: number('sound') }
    viewer.fragment(soundFragment(numbered.sequence, unit), numbered)
  }

  function missSound(pts: number) {
    if (heardTo === undefined || (!silence && pts - heardTo <= LOST_TICKS)) return
    const leaps = pts - heardTo > LEAP_TICKS
    if (!silence || leaps) silence = createSilence(track, leaps ? pts : heardTo)
    if (!silence) return viewer.end('the sound has stopped: watch again')
    for (const unit of silence.upTo(pts)) send(unit)
    silentTo = heardTo
  }

  return {
    begin(info, _init, video) {
      begun = true
      viewer.begin({ ...info, codecs: codecs(info.codecs) }, initSegment(video, track), video)
    },
    fragment(_bytes, unit) {
      missSound(unit.pts)
      viewer.fragment(fragment(number('picture'), unit), unit)
    },
    beginSound(next) {
      if (Buffer.compare(next.configuration, track.configuration) !== 0)
        viewer.end('the sound has changed: watch again')
    },
    hear(unit) {
      // What comes before its picture comes leaves no gap behind the silence.
      const gap = unit.pts - unit.duration
      if (silence && gap - silentTo < LEAP_TICKS) for (const each of silence.upTo(gap)) send(each)
      silence = undefined
      if (unit.pts >= silentTo) send(unit)
    },
    backlog: viewer.backlog,
    end: viewer.end,
  }
}
