import { DEMO_LINES, DEMO_ZONES } from './demo.ts'
import { renderFrames } from './film/frames.ts'
import { PartStore } from './film/parts.ts'
import { VideoEncoder } from './film/video.ts'
import { assembleTruth, describeFrame, SCENE_VERSION, type TruthFrame } from './truth.ts'

export interface RenderOptions {
  seed: number
  seconds: number
  width: number
  height: number
  fps: number
  /** Folder for `scene-<seed>.mp4` and `scene-<seed>.truth.json`. */
  out: string
  /** Told the finished share, 0..1. */
  onProgress?: (share: number) => void
  /** Told whenever a longer piece of the scene, or all of it, can be played. */
  onPublish?: (seconds: number) => void
  signal?: AbortSignal
}

export interface RenderedScene {
  video: string
  truth: string
}

/** The encoded unit: interrupted rendering goes on after the last finished one. */
const PART_S = 3
/** Lengths at which what is there is published, so that a looping player has something to begin with. */
const PUBLISHED_AT_S = [3, 6, 12, 30]

/**
 * Renders a scene to a video and its truth. Both appear complete and valid after the first seconds
 * and are replaced, by rename, by longer ones until all is there. A finished scene is not rendered
 * again. Throws the signal's reason when aborted; finished parts are kept for the next time.
 */
export async function renderScene(options: RenderOptions): Promise<RenderedScene> {
  const { seed, seconds, width, height, fps, out, signal } = options
  const scene = { seed, width, height, fps }
  const watched = { lines: DEMO_LINES, zones: DEMO_ZONES }
  const store = new PartStore(out, { version: SCENE_VERSION, ...scene, seconds, ...watched })
  const result = { video: store.video, truth: store.truth }
  if (await store.isFinished()) return result
  const total = Math.round(seconds * fps)
  const perPart = PART_S * fps
  const frames = await store.resume()
  const publish = async (): Promise<void> => {
    const truth = assembleTruth(scene, frames, watched)
    await store.publish(truth, signal)
    options.onPublish?.(frames.length / fps)
  }
  const rendered = renderFrames(scene, { from: frames.length, to: total })
  try {
    while (frames.length < total) {
      const count = Math.min(perPart, total - frames.length)
      const part = await store.writePart(signal, async path => {
        const encoder = new VideoEncoder(path, scene, signal)
        const described: TruthFrame[] = []
        try {
          while (described.length < count) {
            signal?.throwIfAborted()
            const frame = (await rendered.next()).value!
            described.push(describeFrame(frame, width, height))
            await encoder.write(frame.rgb)
            options.onProgress?.((frames.length + described.length) / total)
          }
          await encoder.close()
        } finally {
          encoder.abandon()
        }
        return described
      })
      frames.push(...part)
      if (PUBLISHED_AT_S.includes(frames.length / fps) && frames.length < total) await publish()
    }
  } finally {
    await rendered.return()
  }
  await publish()
  await store.finish()
  return result
}
