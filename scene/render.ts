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
  /** Called with the finished share of the scene, 0..1, after every frame. */
  onProgress?: (share: number) => void
  /** Called with the length of the video whenever a longer version has been published. */
  onPublish?: (seconds: number) => void
  signal?: AbortSignal
}

/** Paths of the rendered files. */
export interface RenderedScene {
  video: string
  truth: string
}

/** Length of the parts that are encoded separately. Interrupted rendering resumes after the last complete part. */
const PART_S = 3
/** Lengths at which an intermediate version is published, so that a player can start to loop it early. */
const PUBLISHED_AT_S = [3, 6, 12, 30]

/**
 * Renders a scene to a video file and a file with its ground truth.
 *
 * Both are published after the first seconds and replaced atomically by longer versions until the scene is complete. A
 * complete scene with the same options is not rendered again. When aborted, rejects with the signal's reason; complete
 * parts are reused by the next call.
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
  const publish = async (): Promise<void> => {
    const truth = assembleTruth(scene, frames, shapes)
    await store.publish(truth, signal)
    options.onPublish?.(frames.length / fps)
  }
  const renderedFrames = renderFrames(scene, { from: frames.length, to: total })
  try {
    while (frames.length < total) {
      const count = Math.min(framesPerPart, total - frames.length)
      const part = await store.writePart(signal, async path => {
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
      })
      frames.push(...part)
      if (PUBLISHED_AT_S.includes(frames.length / fps) && frames.length < total) await publish()
    }
  } finally {
    await renderedFrames.return()
  }
  await publish()
  await store.finish()
  return result
}
