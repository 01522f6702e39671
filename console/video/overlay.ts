import type { Shape } from '@eyrie/contract/exports'
import type { FrameMetadata, MetadataBuffer, MetadataMatch, StreamTime } from './metadata-buffer.ts'
import { createSceneDrawer } from './scene-drawer.ts'

/** A picture with analysis results drawn on top. */
export interface Overlay {
  /** Draws a video frame and its metadata. */
  show(image: CanvasImageSource, time: StreamTime | undefined): void
  /**
   * Must be called when metadata has arrived. Redraws the boxes if the metadata belongs to
   * the frame on display.
   */
  refreshBoxes(): void
  close(): void
}

export interface OverlayOptions {
  /** Shows the video frame. */
  picture: HTMLCanvasElement
  /** Shows boxes, labels, lines and zones on top of it. */
  boxes: HTMLCanvasElement
  metadata: Pick<MetadataBuffer, 'find'>
  shapes(): readonly Shape[]
}

/**
 * Creates an overlay of two canvases, one for the video frame and one for the boxes. Canvases
 * that are drawn in the same task are presented together, so boxes and frame always match. Boxes
 * over a video element would lag behind, because a browser may present the next frame before it
 * calls the frame callback.
 *
 * Metadata that arrives late is drawn if its frame is still on display. A frame that was not
 * analysed shows the metadata of the last analysed frame.
 *
 * Data attributes of the upper canvas describe the display: `data-pts` of the frame,
 * `data-metadata-pts` of the metadata, `data-exact` if both belong to the same frame,
 * `data-objects` drawn, `data-frames` drawn so far.
 */
export function createOverlay({ picture, boxes, metadata, shapes }: OverlayOptions): Overlay {
  const pictureContext = picture.getContext('2d', { alpha: false })!
  const boxesContext = boxes.getContext('2d')!
  const drawScene = createSceneDrawer()
  /** What the canvases show, and the number of frames that were drawn so far. */
  const displayed: { time?: StreamTime; metadata?: FrameMetadata; frames: number } = { frames: 0 }

  const findMetadata = () => displayed.time && metadata.find(displayed.time)

  function drawBoxes(match: MetadataMatch | undefined) {
    displayed.metadata = match?.metadata
    // The size of the canvas may differ from that of its element until the resize observer has run.
    const size = { width: boxes.width / devicePixelRatio, height: boxes.height / devicePixelRatio }
    boxesContext.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0)
    boxesContext.clearRect(0, 0, size.width, size.height)

    if (displayed.time) drawScene(boxesContext, size, shapes(), match?.metadata)
    Object.assign(boxes.dataset, {
      pts: displayed.time?.pts ?? '',
      metadataPts: match?.metadata.pts ?? '',
      exact: match?.exact ?? false,
      objects: match?.metadata.objects.length ?? 0,
      frames: displayed.frames,
    })
  }

  const resize = new ResizeObserver(() => {
    resizePicture(picture)
    boxes.width = picture.width
    boxes.height = picture.height
    drawBoxes(findMetadata())
  })
  resize.observe(boxes)

  return {
    show(image, time) {
      displayed.time = time
      displayed.frames += 1
      pictureContext.drawImage(image, 0, 0, picture.width, picture.height)
      drawBoxes(findMetadata())
    },
    refreshBoxes() {
      const match = findMetadata()
      if (match?.metadata !== displayed.metadata) drawBoxes(match)
    },
    close: () => resize.disconnect(),
  }
}

/**
 * Sets the resolution of a canvas to the size of its element. Resizing clears a canvas, so
 * its content is copied.
 */
function resizePicture(canvas: HTMLCanvasElement) {
  const width = Math.round(canvas.clientWidth * devicePixelRatio)
  const height = Math.round(canvas.clientHeight * devicePixelRatio)
  const isCurrentSize = canvas.width === width && canvas.height === height
  if (width === 0 || height === 0 || isCurrentSize) return

  const copy = document.createElement('canvas')
  copy.width = canvas.width
  copy.height = canvas.height
  copy.getContext('2d')!.drawImage(canvas, 0, 0)

  canvas.width = width
  canvas.height = height
  canvas.getContext('2d')!.drawImage(copy, 0, 0, width, height)
}
