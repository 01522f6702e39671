import type { RecordedEvent } from '@eyrie/contract/recording'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { capitalised } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { Link } from '../ui/router.tsx'
import type { PlaybackPhase } from './playback/playback.ts'
import type { Recorded } from './playback/recorded-ranges.ts'
import { createViewing, type Viewing } from './playback/recording-player.ts'
import '../video/stage.css'

interface RecordedStageProps {
  stream: number
  name: string
  muted: boolean
  /** There is nothing on this day. */
  isEmpty: boolean
  latest: { current: { recorded: readonly Recorded[]; events: readonly RecordedEvent[] } }
  onViewing(viewing: Viewing | undefined): void
}

/** The recorded picture with what was found drawn over it. A click plays or pauses. */
export function RecordedStage({ stream, name, muted, isEmpty, latest, onViewing }: RecordedStageProps) {
  const video = useRef<HTMLVideoElement>(null)
  const picture = useRef<HTMLCanvasElement>(null)
  const boxes = useRef<HTMLCanvasElement>(null)
  const [viewing, setViewing] = useState<Viewing>()
  const [shape, setShape] = useState<number>()

  // Before anything is painted: what is beside the picture would move when it came later.
  useLayoutEffect(() => {
    const opened = createViewing({
      stream,
      video: video.current!,
      picture: picture.current!,
      boxes: boxes.current!,
      recorded: () => latest.current.recorded,
      events: () => latest.current.events,
    })
    setViewing(opened)
    onViewing(opened)
    return () => {
      onViewing(undefined)
      opened.close()
    }
  }, [stream, latest, onViewing])

  const phase = viewing?.playback.phase.value ?? { kind: 'empty' }
  const isPlaying = viewing?.playback.playing.value ?? false
  return (
    <div class="stage recorded" style={{ '--shape': shape }}>
      <video
        ref={video}
        muted={muted}
        playsInline
        aria-hidden
        onResize={({ currentTarget: { videoWidth, videoHeight } }) =>
          setShape(videoHeight > 0 ? videoWidth / videoHeight : undefined)
        }
      />
      <canvas ref={picture} class="frame" role="img" aria-label={`Recorded picture of ${name}`} />
      <canvas ref={boxes} class="boxes" onClick={() => viewing?.toggle()} />
      <PhaseNotice phase={phase} isEmpty={isEmpty && !isPlaying} />
    </div>
  )
}

function PhaseNotice({ phase, isEmpty }: { phase: PlaybackPhase; isEmpty: boolean }) {
  if (phase.kind === 'failed')
    return (
      <Notice alarming title={capitalised(phase.reason)}>
        Play tries it again.
      </Notice>
    )
  if (phase.kind === 'loading') return <Notice title="Looking for the picture…" />
  if (isEmpty) return <Notice title="Nothing was recorded on this day">Choose another one above.</Notice>
  if (phase.kind === 'ended')
    return (
      <Notice title="The recording ends here">
        <Link to="/">Watch live</Link>
      </Notice>
    )
  return null
}
