/** Told of each frame that a video shows; the picture is good during the call only. */
export type FrameListener = (picture: CanvasImageSource, mediaTime: number) => void

/** Returns how to leave. */
export function followFrames(video: HTMLVideoElement, listener: FrameListener): () => void {
  const onFrame: VideoFrameRequestCallback = (_now, { mediaTime }) => {
    handle = video.requestVideoFrameCallback(onFrame)
    takeFrame(video, mediaTime, listener)
  }
  let handle = video.requestVideoFrameCallback(onFrame)
  return () => video.cancelVideoFrameCallback(handle)
}

/** Tells of the frame that the video shows now. `mediaTime` counts where the browser does not say which one that is. */
export function takeFrame(video: HTMLVideoElement, mediaTime: number, listener: FrameListener): void {
  if (video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return
  // The video may have moved on since this was called; a VideoFrame is a picture with its own time. Only pages from
  // https or localhost have it.
  const still = 'VideoFrame' in globalThis ? new VideoFrame(video) : undefined
  listener(still ?? video, still ? still.timestamp / 1e6 : mediaTime)
  still?.close()
}
