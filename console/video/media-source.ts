/** Makes the video element play a new media source, which opens a moment later. */
export function attachMediaSource(video: HTMLVideoElement): MediaSource {
  const source = new MediaSource()
  const url = URL.createObjectURL(source)
  source.addEventListener('sourceopen', () => URL.revokeObjectURL(url), { once: true })
  video.src = url
  return source
}

/** Removes the media source from the video element. */
export function detachMediaSource(video: HTMLVideoElement): void {
  video.removeAttribute('src')
  video.load()
}
