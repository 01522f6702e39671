/** Receives a frame and its media time in seconds. The image is valid only during the call. */
export type FrameListener = (image: CanvasImageSource, mediaTime: number) => void

/**
 * Calls the listener for each frame that a video element presents. Returns a function
 * that stops the calls.
 */
export function observeFrames(video: HTMLVideoElement, listener: FrameListener): () => void {
  let callbackId: number
  /** The browser calls a callback only for the next frame. */
  function requestNextFrame() {
    callbackId = video.requestVideoFrameCallback((_now, { mediaTime }) => {
      requestNextFrame()
      captureFrame(video, mediaTime, listener)
    })
  }
  requestNextFrame()
  return () => video.cancelVideoFrameCallback(callbackId)
}

const MICROSECONDS_PER_SECOND = 1e6

/**
 * Calls the listener with the current frame. `mediaTime` is used if the browser cannot report
 * the time of the frame.
 */
export function captureFrame(
  video: HTMLVideoElement,
  mediaTime: number,
  listener: FrameListener,
): void {
  if (video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return
  const frame = createVideoFrame(video)
  try {
    if (frame) listener(frame, frame.timestamp / MICROSECONDS_PER_SECOND)
    else listener(video, mediaTime)
  } finally {
    frame?.close()
  }
}

/**
 * Returns the current frame with its own timestamp, since the video may have advanced after the
 * frame callback was scheduled. Returns undefined outside of secure contexts (https or localhost),
 * where `VideoFrame` does not exist.
 */
export const createVideoFrame = (video: HTMLVideoElement): VideoFrame | undefined =>
  'VideoFrame' in globalThis ? new VideoFrame(video) : undefined
