/** Receives a frame and its media time in seconds. The image is valid only during the call. */
export type FrameListener = (image: CanvasImageSource, mediaTime: number) => void

/** Calls the listener for each frame that the video presents. Returns a function that stops it. */
export function observeFrames(video: HTMLVideoElement, listener: FrameListener): () => void {
  const onFrame: VideoFrameRequestCallback = (_now, { mediaTime }) => {
    handle = video.requestVideoFrameCallback(onFrame)
    captureFrame(video, mediaTime, listener)
  }
  let handle = video.requestVideoFrameCallback(onFrame)
  return () => video.cancelVideoFrameCallback(handle)
}

/** Calls the listener with the current frame, and with `mediaTime` if the browser cannot report the time of the frame. */
export function captureFrame(video: HTMLVideoElement, mediaTime: number, listener: FrameListener): void {
  if (video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return
  const frame = createVideoFrame(video)
  listener(frame ?? video, frame ? frame.timestamp / 1e6 : mediaTime)
  frame?.close()
}

/**
 * The current frame with its own timestamp: the video may have advanced since the frame callback was scheduled.
 * Undefined outside of secure contexts (https or localhost), which alone have `VideoFrame`.
 */
export const createVideoFrame = (video: HTMLVideoElement): VideoFrame | undefined =>
  'VideoFrame' in globalThis ? new VideoFrame(video) : undefined
