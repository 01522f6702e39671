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
  /** Shows the frame. */
  picture: HTMLCanvasElement
  /** Shows what was found in it. */
  boxes: HTMLCanvasElement
  player: Player
  metadata: MetadataBuffer
  shapes(): readonly Shape[]
}

/**
 * Draws every frame of the video and what was found in that very frame. A browser may put a video's next frame on the
 * screen before a page hears of it, and boxes over the video would lag behind; two canvases drawn in one task cannot
 * be torn apart. Where metadata is late, it is drawn when it comes, if its frame is still shown; a frame that was not
 * analysed shows the latest one before it.
 *
 * The upper canvas tells what is shown: `data-pts` of the frame, `data-metadata-pts` of what is drawn over it,
 * `data-exact` whether they are the same frame, `data-objects` drawn, `data-frames` shown so far.
 */
export function createOverlay({ video, picture, boxes, player, metadata, shapes }: OverlayOptions): Overlay {
  const pictureContext = picture.getContext('2d', { alpha: false })!
  const boxesContext = boxes.getContext('2d')!
  let shown: StreamMoment | undefined
  let drawn: FrameMetadata | undefined
  let frames = 0

  const find = () => shown && metadata.find(shown.epoch, shown.pts)

  function drawPicture(image: CanvasImageSource) {
    pictureContext.drawImage(image, 0, 0, picture.width, picture.height)
  }

  function drawBoxes(match: Match | undefined) {
    drawn = match?.metadata
    const size = { width: boxes.clientWidth, height: boxes.clientHeight }
    boxesContext.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0)
    boxesContext.clearRect(0, 0, size.width, size.height)
    if (shown) drawScene(boxesContext, size, shapes(), drawn)
    Object.assign(boxes.dataset, {
      pts: shown?.pts ?? '',
      metadataPts: drawn?.pts ?? '',
      exact: match?.exact ?? false,
      objects: drawn?.objects.length ?? 0,
      frames,
    })
  }

  const onFrame: VideoFrameRequestCallback = (_now, { mediaTime }) => {
    handle = video.requestVideoFrameCallback(onFrame)
    // The video may have moved on since this was called; a VideoFrame is a picture with its own time. Only pages from
    // https or localhost have it.
    const still = 'VideoFrame' in globalThis ? new VideoFrame(video) : undefined
    shown = player.momentOf(still ? still.timestamp / 1e6 : mediaTime)
    frames += 1
    drawPicture(still ?? video)
    drawBoxes(find())
    still?.close()
  }
  let handle = video.requestVideoFrameCallback(onFrame)

  const resize = new ResizeObserver(() => {
    for (const canvas of [picture, boxes]) {
      canvas.width = Math.round(canvas.clientWidth * devicePixelRatio)
      canvas.height = Math.round(canvas.clientHeight * devicePixelRatio)
    }
    drawPicture(video)
    drawBoxes(find())
  })
  resize.observe(boxes)

  return {
    metadataArrived() {
      const match = find()
      if (match?.metadata !== drawn) drawBoxes(match)
    },
    close() {
      video.cancelVideoFrameCallback(handle)
      resize.disconnect()
    },
  }
}
