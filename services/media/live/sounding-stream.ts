import { createSilence, type Silence } from '../sound/silence.ts'
import type { Sound } from '../sound/sound.ts'
import { type SoundTrack, type SoundUnit, soundCodecString } from '../sound/track.ts'
import { fragment, initSegment, soundFragment } from './fmp4.ts'
import type { PlayableTrack } from './sample-entry.ts'
import type { Stream, Viewer } from './stream.ts'

/** Sound that has been found is there within this time. */
const PATIENCE_MS = 1_500
/** Sound that lags more than this behind the picture has been lost. Players would stop for it: they are given silence. */
const LOST_TICKS = 2 * 90_000
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
  let begun = false
  /** Up to here there is sound. */
  let heardTo: number | undefined
  /** What is heard since the sound was lost, and up to here: no sound of that time can be heard any more. */
  let silence: Silence | undefined
  let silentTo = 0

  function send(unit: SoundUnit) {
    heardTo = unit.pts + unit.duration
    if (!begun || viewer.backlog() > BACKLOG_LIMIT_BYTES) return
    const numbered = { ...unit, dts: unit.pts, keyframe: true, sequence: ++sequence }
    viewer.fragment(soundFragment(sequence, unit), numbered)
  }

  function missSound(pts: number) {
    if (heardTo === undefined || (!silence && pts - heardTo <= LOST_TICKS)) return
    silence ??= createSilence(track, heardTo)
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
      viewer.fragment(fragment(++sequence, unit), unit)
      missSound(unit.pts)
    },
    beginSound(next) {
      if (Buffer.compare(next.configuration, track.configuration) !== 0)
        viewer.end('the sound has changed: watch again')
    },
    hear(unit) {
      silence = undefined
      if (unit.pts >= silentTo) send(unit)
    },
    backlog: viewer.backlog,
    end: viewer.end,
  }
}
