import type { Shape } from '@eyrie/contract/exports'
import { createSceneDrawer } from './scene-drawer.ts'
import type { StreamMoment } from '../live/player/live-player.ts'
import type { FrameMetadata, Match, MetadataBuffer } from './metadata-buffer.ts'

export interface Overlay {
  /** Draws a frame of the video and what was found in it. */
  show(picture: CanvasImageSource, moment: StreamMoment | undefined): void
  /** Metadata has arrived: perhaps that of the frame that is shown. */
  metadataArrived(): void
  close(): void
}

export interface OverlayOptions {
  /** Shows the frame. */
  picture: HTMLCanvasElement
  /** Shows what was found in it. */
  boxes: HTMLCanvasElement
  metadata: Pick<MetadataBuffer, 'find'>
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
export function createOverlay({ picture, boxes, metadata, shapes }: OverlayOptions): Overlay {
  const pictureContext = picture.getContext('2d', { alpha: false })!
  const boxesContext = boxes.getContext('2d')!
  const drawScene = createSceneDrawer()
  let shown: StreamMoment | undefined
  let drawn: FrameMetadata | undefined
  let frames = 0

  const find = () => shown && metadata.find(shown.epoch, shown.pts)

  function drawBoxes(match: Match | undefined) {
    drawn = match?.metadata
    // Of the canvas as it is: the page may have been laid out anew, and the canvas not yet.
    const size = { width: boxes.width / devicePixelRatio, height: boxes.height / devicePixelRatio }
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

  const resize = new ResizeObserver(() => {
    resizePicture(picture)
    boxes.width = picture.width
    boxes.height = picture.height
    drawBoxes(find())
  })
  resize.observe(boxes)

  return {
    show(image, moment) {
      shown = moment
      frames += 1
      pictureContext.drawImage(image, 0, 0, picture.width, picture.height)
      drawBoxes(find())
    },
    metadataArrived() {
      const match = find()
      if (match?.metadata !== drawn) drawBoxes(match)
    },
    close: () => resize.disconnect(),
  }
}

/** A canvas forgets when its size is set. What it showed is kept: the video may be at another frame by now. */
function resizePicture(canvas: HTMLCanvasElement) {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight].map(length =>
    Math.round(length * devicePixelRatio),
  ) as [number, number]
  if (width === 0 || height === 0 || (canvas.width === width && canvas.height === height)) return
  const before = document.createElement('canvas')
  before.width = canvas.width
  before.height = canvas.height
  before.getContext('2d')!.drawImage(canvas, 0, 0)
  canvas.width = width
  canvas.height = height
  canvas.getContext('2d')!.drawImage(before, 0, 0, width, height)
}
