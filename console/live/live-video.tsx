import type { LiveChannel } from '@eyrie/contract/console-api'
import { useComputed, useSignal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { capitalize, formatFigure, formatMilliseconds } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { createOverlay } from '../video/overlay.ts'
import type { ChannelOutput } from './channel-output.ts'
import { createFmp4Player } from './player/fmp4-player.ts'
import type { CreateLivePlayer, LivePlayerState } from './player/live-player.ts'
import { createSwitchingPlayer, type SwitchingPlayer } from './player/switching-player.ts'
import { createWebRtcPlayer } from './player/webrtc-player.ts'
import { SoundControl, volume } from './sound-control.tsx'
import '../video/stage.css'

/** The ways in which video can be received, best first. */
const TRANSPORTS: [CreateLivePlayer, ...CreateLivePlayer[]] = [createWebRtcPlayer, createFmp4Player]

interface LiveVideoProps {
  channel: LiveChannel
  /** The analysis results. */
  output: ChannelOutput
}

/** Live video with the analysis results drawn on top, and figures such as the frame rate below. */
export function LiveVideo({ channel, output }: LiveVideoProps) {
  const videos = useRef<HTMLDivElement>(null)
  const picture = useRef<HTMLCanvasElement>(null)
  const boxes = useRef<HTMLCanvasElement>(null)
  // The overlay reads the lines and zones from a ref, so that it is not created
  // again when they change.
  const shapes = useRef(channel.shapes)
  shapes.current = channel.shapes
  const [player, setPlayer] = useState<SwitchingPlayer>()

  // A signal, so that the player is not opened again when the channel gains or loses its sound.
  const hasSound = useSignal(channel.sound)
  const playerVolume = useComputed(() => (hasSound.value ? volume.value : 0))
  useEffect(() => {
    hasSound.value = channel.sound
  }, [channel.sound, hasSound])

  useEffect(() => {
    if (channel.stream === null) return
    const { metadata, metadataDelay } = output
    const overlay = createOverlay({
      picture: picture.current!,
      boxes: boxes.current!,
      metadata,
      shapes: () => shapes.current,
    })

    const opened = createSwitchingPlayer(TRANSPORTS, {
      createVideo: () => appendVideo(videos.current!),
      volume: playerVolume,
      stream: channel.stream,
      metadataDelay,
      onFrame: overlay.show,
    })
    const unsubscribe = output.onMetadata(overlay.refreshBoxes)
    setPlayer(opened)

    return () => {
      unsubscribe()
      opened.close()
      overlay.close()
    }
  }, [channel.stream, output, playerVolume])

  const state = player?.state.value
  const isSourceLost = channel.source.attempts !== undefined
  const playing = state?.kind === 'playing' ? state : undefined
  return (
    <>
      <div class="stage" style={{ '--aspect-ratio': playing && playing.width / playing.height }}>
        <div ref={videos} class="videos" aria-hidden />
        <canvas
          ref={picture}
          class="frame"
          role="img"
          aria-label={`Live video of ${channel.source.name}`}
        />
        <canvas ref={boxes} class="boxes" />
        {channel.sound && <SoundControl isAudible={player?.isAudible} />}
        {channel.stream === null && <Notice title="No live video for this channel" />}
        {state && <PlayerNotice state={state} isSourceLost={isSourceLost} />}
      </div>
      <dl class="gauges">
        <Gauge name="Analysed" value={formatFigure(channel.fps)} unit="frames/s" />
        <Gauge
          name="Analysis latency"
          value={channel.fps > 0 ? formatMilliseconds(channel.latency) : '–'}
        />
        <Gauge name="Live delay" value={playing ? formatMilliseconds(playing.delayMs) : '–'} />
        <Gauge name="Objects" value={channel.fps > 0 ? String(output.objectCount.value) : '–'} />
      </dl>
    </>
  )
}

/** Explains why the video is missing or frozen. */
function PlayerNotice({ state, isSourceLost }: { state: LivePlayerState; isSourceLost: boolean }) {
  if (state.kind === 'lost') {
    return <Notice error title={`${capitalize(state.reason)}. Retrying…`} />
  }
  if (isSourceLost) return <Notice error title="No video from the source" />
  return state.kind === 'connecting' ? <Notice title="Waiting for video…" /> : null
}

/** Adds a video element that only decodes. Its frames are drawn on the canvas above it. */
function appendVideo(parent: HTMLElement): HTMLVideoElement {
  const video = document.createElement('video')
  video.muted = true
  video.playsInline = true
  parent.append(video)
  return video
}

function Gauge({ name, value, unit }: { name: string; value: string; unit?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value} {unit && <small>{unit}</small>}
      </dd>
    </div>
  )
}
