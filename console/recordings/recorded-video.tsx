import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { capitalize } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { Link } from '../ui/router.tsx'
import type { PlaybackPhase } from './playback/playback.ts'
import {
  createRecordingPlayer,
  type RecordingPlayer,
  type RecordingsOfDay,
} from './playback/recording-player.ts'
import '../video/stage.css'

interface RecordedVideoProps {
  stream: number
  name: string
  muted: boolean
  /** Whether the day has no recordings. */
  isEmpty: boolean
  /** Whether no day has recordings. */
  isNeverRecorded: boolean
  /** A ref with what is known of the day. The player reads it when it needs it. */
  latest: { current: RecordingsOfDay }
  onPlayer(player: RecordingPlayer | undefined): void
}

/** Recorded video with its analysis results drawn on top. A click plays or pauses. */
export function RecordedVideo({
  stream,
  name,
  muted,
  isEmpty,
  isNeverRecorded,
  latest,
  onPlayer,
}: RecordedVideoProps) {
  const video = useRef<HTMLVideoElement>(null)
  const picture = useRef<HTMLCanvasElement>(null)
  const boxes = useRef<HTMLCanvasElement>(null)
  const [player, setPlayer] = useState<RecordingPlayer>()
  const [aspectRatio, setAspectRatio] = useState<number>()

  // The controls need the player. A layout effect makes them part of the first paint.
  useLayoutEffect(() => {
    const opened = createRecordingPlayer({
      stream,
      video: video.current!,
      picture: picture.current!,
      boxes: boxes.current!,
      getRecordings: () => latest.current,
    })
    setPlayer(opened)
    onPlayer(opened)
    return () => {
      onPlayer(undefined)
      opened.close()
    }
  }, [stream, latest, onPlayer])

  const phase = player?.playback.phase.value ?? { kind: 'empty' }
  const isPlaying = player?.playback.isPlaying.value ?? false
  return (
    <div class="stage recorded" style={{ '--aspect-ratio': aspectRatio }}>
      <video
        ref={video}
        muted={muted}
        playsInline
        aria-hidden
        onResize={({ currentTarget: { videoWidth, videoHeight } }) =>
          setAspectRatio(videoHeight > 0 ? videoWidth / videoHeight : undefined)
        }
      />
      <canvas ref={picture} class="frame" role="img" aria-label={`Recorded video of ${name}`} />
      <canvas ref={boxes} class="boxes" onClick={() => player?.togglePlay()} />
      <PhaseNotice
        phase={phase}
        isEmpty={isEmpty && !isPlaying}
        isNeverRecorded={isNeverRecorded}
      />
    </div>
  )
}

interface PhaseNoticeProps extends Pick<RecordedVideoProps, 'isEmpty' | 'isNeverRecorded'> {
  phase: PlaybackPhase
}

/** Explains why there is no video. */
function PhaseNotice({ phase, isEmpty, isNeverRecorded }: PhaseNoticeProps) {
  if (phase.kind === 'failed') {
    return (
      <Notice error title={capitalize(phase.reason)}>
        Press Play to retry.
      </Notice>
    )
  }
  if (phase.kind === 'loading') return <Notice title="Loading…" />
  if (isEmpty && isNeverRecorded) return <Notice title="No recordings of this source" />
  if (isEmpty) return <Notice title="No recordings on this day">Select another day.</Notice>
  if (phase.kind === 'ended') {
    return (
      <Notice title="End of the recording">
        <Link to="/">Watch live</Link>
      </Notice>
    )
  }
  return null
}
