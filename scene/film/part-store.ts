import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Outline, SceneTruth, TruthFrame } from '../truth/scene-truth.ts'
import { joinVideos } from './video-encoder.ts'

/**
 * The parameters that determine a scene. Files that were rendered with other
 * parameters are not reused.
 */
export interface SceneKey {
  version: number
  seed: number
  width: number
  height: number
  fps: number
  seconds: number
  lines: Outline[]
  zones: Outline[]
}

/**
 * The files of a scene: the published video and its ground truth, and a hidden folder with the
 * parts of the video that have been rendered.
 */
export class PartStore {
  readonly video: string
  readonly truth: string
  readonly #folder: string
  readonly #key: SceneKey
  #partCount = 0

  constructor(out: string, key: SceneKey) {
    this.#key = key
    this.video = join(out, `scene-${key.seed}.mp4`)
    this.truth = join(out, `scene-${key.seed}.truth.json`)
    this.#folder = join(out, `.scene-${key.seed}`)
  }

  /** Returns whether the published scene is complete and was rendered with the same parameters. */
  async isFinished(): Promise<boolean> {
    const finishedKey = await readJson(this.#path('finished.json'))
    return isSameKey(finishedKey, this.#key) && existsSync(this.video) && existsSync(this.truth)
  }

  /**
   * Prepares the folder for writing. Returns the truth of the frames that an earlier run has
   * rendered.
   */
  async resume(): Promise<TruthFrame[]> {
    const key = await readJson(this.#path('key.json'))
    if (!isSameKey(key, this.#key)) {
      await rm(this.#folder, { recursive: true, force: true })
      await mkdir(this.#folder, { recursive: true })
      await writeFile(this.#path('key.json'), JSON.stringify(this.#key))
    }

    const frames: TruthFrame[] = []
    for (;;) {
      const part = (await readJson(this.#partPath(this.#partCount, 'json'))) as TruthFrame[] | null
      if (!part) return frames
      frames.push(...part)
      this.#partCount++
    }
  }

  /**
   * Adds the next part. `write` creates its video file at a path, and returns the
   * truth of its frames.
   */
  async writePart(
    signal: AbortSignal | undefined,
    write: (path: string) => Promise<TruthFrame[]>,
  ): Promise<TruthFrame[]> {
    const temporary = this.#path(`unfinished-${process.pid}.mp4`)
    try {
      const frames = await write(temporary)
      signal?.throwIfAborted()
      await rename(temporary, this.#partPath(this.#partCount, 'mp4'))
      await writeAtomically(this.#partPath(this.#partCount, 'json'), JSON.stringify(frames))
      this.#partCount++
      return frames
    } finally {
      await rm(temporary, { force: true })
    }
  }

  /** Joins all parts, and replaces the published video and its ground truth. */
  async publish(truth: SceneTruth, signal?: AbortSignal): Promise<void> {
    const joined = this.#path(`joined-${process.pid}.mp4`)
    try {
      const parts = Array.from({ length: this.#partCount }, (_, i) => this.#partPath(i, 'mp4'))
      await joinVideos(parts, joined, signal)
      await writeAtomically(this.truth, JSON.stringify(truth))
      await rename(joined, this.video)
    } finally {
      await rm(joined, { force: true })
    }
  }

  /** Deletes the parts and marks the scene as complete. */
  async finish(): Promise<void> {
    await rm(this.#folder, { recursive: true })
    await mkdir(this.#folder)
    await writeFile(this.#path('finished.json'), JSON.stringify(this.#key))
  }

  #path(name: string): string {
    return join(this.#folder, name)
  }

  #partPath(index: number, extension: string): string {
    return this.#path(`part-${String(index).padStart(4, '0')}.${extension}`)
  }
}

const isSameKey = (a: unknown, b: SceneKey): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Returns null if the file is missing or incomplete. */
async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) {
      return null
    }
    throw error
  }
}

async function writeAtomically(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}`
  await writeFile(temporary, text)
  await rename(temporary, path)
}
