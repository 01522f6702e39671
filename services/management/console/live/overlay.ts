import type { Shape } from '@eyrie/contract/exports'
import { drawScene } from './drawing.ts'
import type { FrameMetadata, Match, MetadataBuffer } from './metadata-buffer.ts'
import type { Player, StreamMoment } from './player.ts'

export interface Overlay {
  /** Metadata has arrived: perhaps that of the frame that is shown. */
  metadataArrived(): void
  close(): void
}

export interface OverlayOptions {
  video: HTMLVideoElement
  canvas: HTMLCanvasElement
  player: Player
  metadata: MetadataBuffer
  shapes(): readonly Shape[]
}

/**
 * Draws on every frame of the video what was found in that very frame. Where its metadata is late, it is drawn when it
 * comes, if the frame is still shown; a frame that was not analysed shows the latest one before it.
 *
 * The canvas tells what it shows: `data-pts` of the frame, `data-metadata-pts` of what is drawn over it, `data-exact`
 * whether they are the same frame, `data-objects` drawn, `data-frames` shown so far.
 */
export function createOverlay({ video, canvas, player, metadata, shapes }: OverlayOptions): Overlay {
  const context = canvas.getContext('2d')!
  let shown: StreamMoment | undefined
  let drawn: FrameMetadata | undefined
  let frames = 0
  let handle = 0

  const resize = new ResizeObserver(() => {
    canvas.width = Math.round(canvas.clientWidth * devicePixelRatio)
    canvas.height = Math.round(canvas.clientHeight * devicePixelRatio)
    draw(find())
  })
  resize.observe(canvas)

  const find = () => shown && metadata.find(shown.epoch, shown.pts)

  function draw(match: Match | undefined) {
    drawn = match?.metadata
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0)
    context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight)
    const size = { width: canvas.clientWidth, height: canvas.clientHeight }
    if (shown) drawScene(context, size, shapes(), drawn)
    Object.assign(canvas.dataset, {
      pts: shown?.pts ?? '',
      metadataPts: drawn?.pts ?? '',
      exact: match?.exact ?? false,
      objects: drawn?.objects.length ?? 0,
      frames,
    })
  }

  const onFrame: VideoFrameRequestCallback = (_now, { mediaTime }) => {
    handle = video.requestVideoFrameCallback(onFrame)
    shown = player.momentOf(mediaTime)
    frames += 1
    draw(find())
  }
  handle = video.requestVideoFrameCallback(onFrame)

  return {
    metadataArrived() {
      const match = find()
      if (match?.metadata !== drawn) draw(match)
    },
    close() {
      video.cancelVideoFrameCallback(handle)
      resize.disconnect()
    },
  }
}
