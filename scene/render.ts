import { DEMO_LINES, DEMO_ZONES } from './demo.ts'
import { PartStore } from './film/part-store.ts'
import { renderFrames } from './film/render-frames.ts'
import { VideoEncoder } from './film/video-encoder.ts'
import { assembleTruth, toTruthFrame } from './truth/derive-truth.ts'
import { SCENE_VERSION, type TruthFrame } from './truth/scene-truth.ts'

export interface RenderOptions {
  seed: number
  seconds: number
  /** Picture size in pixels; even. */
  width: number
  height: number
  fps: number
  /** Folder for `scene-<seed>.mp4` and `scene-<seed>.truth.json`. */
  out: string
  /** Called after every frame with the rendered share of the scene, from 0 to 1. */
  onProgress?: (share: number) => void
  /** Called when a longer version of the video has been published, with its length. */
  onPublish?: (seconds: number) => void
  signal?: AbortSignal
}

/** Paths of the rendered files. */
export interface RenderedScene {
  video: string
  truth: string
}

/**
 * Length of the parts that are encoded separately. Interrupted rendering continues after
 * the last complete part.
 */
const PART_S = 3
/**
 * Lengths at which an incomplete version is published, so that a player can start early and loop
 * it.
 */
const PUBLISHED_AT_S = [3, 6, 12, 30]

/**
 * Renders a scene to a video file and a file with its ground truth. Both files are published after
 * the first seconds, and atomically replaced by longer versions until the scene is complete. A
 * complete scene with the same options is not rendered again.
 *
 * If the signal is aborted, the promise rejects with the reason of the signal. The next call
 * continues after the last complete part.
 */
export async function renderScene(options: RenderOptions): Promise<RenderedScene> {
  const { seed, seconds, width, height, fps, out, signal } = options
  const scene = { seed, width, height, fps }
  const shapes = { lines: DEMO_LINES, zones: DEMO_ZONES }
  const store = new PartStore(out, { version: SCENE_VERSION, ...scene, seconds, ...shapes })
  const result = { video: store.video, truth: store.truth }
  if (await store.isFinished()) return result

  const total = Math.round(seconds * fps)
  const framesPerPart = PART_S * fps
  const frames = await store.resume()
  const renderedFrames = renderFrames(scene, { from: frames.length, to: total })

  /** Publishes what has been rendered so far. */
  const publish = async (): Promise<void> => {
    const truth = assembleTruth(scene, frames, shapes)
    await store.publish(truth, signal)
    options.onPublish?.(frames.length / fps)
  }

  /** Encodes the next frames to a video file. Returns their ground truth. */
  const renderPart = async (path: string, count: number): Promise<TruthFrame[]> => {
    const encoder = new VideoEncoder(path, scene, signal)
    const truthFrames: TruthFrame[] = []
    try {
      while (truthFrames.length < count) {
        signal?.throwIfAborted()
        const frame = (await renderedFrames.next()).value!
        truthFrames.push(toTruthFrame(frame, width, height))
        await encoder.write(frame.rgb)
        options.onProgress?.((frames.length + truthFrames.length) / total)
      }
      await encoder.close()
    } finally {
      encoder.kill()
    }
    return truthFrames
  }

  try {
    while (frames.length < total) {
      const count = Math.min(framesPerPart, total - frames.length)
      const part = await store.writePart(signal, path => renderPart(path, count))
      frames.push(...part)
      const isIncomplete = frames.length < total
      if (isIncomplete && PUBLISHED_AT_S.includes(frames.length / fps)) await publish()
    }
  } finally {
    await renderedFrames.return()
  }
  await publish()
  await store.finish()
  return result
}
