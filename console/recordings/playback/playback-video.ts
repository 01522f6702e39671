import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { captureFrame, observeFrames } from '../../video/frame-capture.ts'

// The video element of playback. Its frames are identified by their presentation time, in ticks of
// 90 kHz.

/** What happens to the video element. */
export interface VideoListeners {
  /** A frame is presented. The image is valid only during the call. */
  onFrame(image: CanvasImageSource, ticks: number): void
  /** Playback has advanced, or waits for frames. */
  onProgress(): void
  /** The last loaded frame has been played. */
  onEnded(): void
}

/**
 * Seeks aim slightly after the start of a frame, so that rounding does not select the previous
 * frame.
 */
const INSIDE_FRAME_S = 0.0005
/** Browsers stop at gaps in sound or video. Gaps shorter than this are skipped. */
const MAX_SKIPPED_GAP_S = 3

/** Returns a function that stops the calls. */
export function observeVideo(
  video: HTMLVideoElement,
  { onFrame, onProgress, onEnded }: VideoListeners,
): () => void {
  function showFrame(image: CanvasImageSource, mediaTime: number) {
    // The seek will present another frame.
    if (!video.seeking) onFrame(image, Math.round(mediaTime * TICKS_PER_SECOND))
  }

  const listeners = {
    timeupdate: onProgress,
    waiting: onProgress,
    seeked: () => captureFrame(video, video.currentTime, showFrame),
    ended: onEnded,
  }
  for (const [event, listener] of Object.entries(listeners)) video.addEventListener(event, listener)
  const stopObserving = observeFrames(video, showFrame)

  return () => {
    stopObserving()
    for (const [event, listener] of Object.entries(listeners)) {
      video.removeEventListener(event, listener)
    }
  }
}

/** Moves the video element to a loaded frame. */
export function seekToFrame(video: HTMLVideoElement, ticks: number): void {
  video.currentTime = ticks / TICKS_PER_SECOND + INSIDE_FRAME_S
}

/** Skips the gap at which the browser has stopped, if it is short. */
export function skipGap(video: HTMLVideoElement): void {
  const { buffered, currentTime, readyState, seeking } = video
  const isStalled = readyState <= HTMLMediaElement.HAVE_CURRENT_DATA && !seeking
  if (!isStalled) return
  for (let i = 0; i < buffered.length; i++) {
    const gapS = buffered.start(i) - currentTime
    if (gapS <= 0) continue
    if (gapS < MAX_SKIPPED_GAP_S) video.currentTime = buffered.start(i) + INSIDE_FRAME_S
    return
  }
}
