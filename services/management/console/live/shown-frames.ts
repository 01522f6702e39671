/** Told of each frame that a video shows; the picture is good during the call only. */
export type FrameListener = (picture: CanvasImageSource, mediaTime: number) => void

/** Returns how to leave. */
export function followFrames(video: HTMLVideoElement, listener: FrameListener): () => void {
  const onFrame: VideoFrameRequestCallback = (_now, { mediaTime }) => {
    handle = video.requestVideoFrameCallback(onFrame)
    if (video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return
    // The video may have moved on since this was called; a VideoFrame is a picture with its own time. Only pages from
    // https or localhost have it.
    const still = 'VideoFrame' in globalThis ? new VideoFrame(video) : undefined
    listener(still ?? video, still ? still.timestamp / 1e6 : mediaTime)
    still?.close()
  }
  let handle = video.requestVideoFrameCallback(onFrame)
  return () => video.cancelVideoFrameCallback(handle)
}
