import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Outline, SceneTruth, TruthFrame } from '../truth.ts'
import { joinVideos } from './video.ts'

/** What a rendered scene is made from; another key makes another scene. */
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

/** The files of a scene: parts while it is rendered, and what is published of them. */
export class PartStore {
  readonly video: string
  readonly truth: string
  readonly #folder: string
  readonly #key: SceneKey
  #parts = 0

  constructor(out: string, key: SceneKey) {
    this.#key = key
    this.video = join(out, `scene-${key.seed}.mp4`)
    this.truth = join(out, `scene-${key.seed}.truth.json`)
    this.#folder = join(out, `.scene-${key.seed}`)
  }

  /** Whether the published scene is whole and was made from this very key. */
  async isFinished(): Promise<boolean> {
    return (
      sameKey(await readJson(this.#path('finished.json')), this.#key) &&
      existsSync(this.video) &&
      existsSync(this.truth)
    )
  }

  /** Makes ready for writing; returns the frames of the parts that an earlier run finished. */
  async resume(): Promise<TruthFrame[]> {
    if (!sameKey(await readJson(this.#path('key.json')), this.#key)) {
      await rm(this.#folder, { recursive: true, force: true })
      await mkdir(this.#folder, { recursive: true })
      await writeFile(this.#path('key.json'), JSON.stringify(this.#key))
    }
    const frames: TruthFrame[] = []
    for (;;) {
      const part = (await readJson(this.#partPath(this.#parts, 'json'))) as TruthFrame[] | null
      if (!part) return frames
      frames.push(...part)
      this.#parts++
    }
  }

  /** Keeps the next part once `write` has filled the video file and returned its frames. */
  async writePart(
    signal: AbortSignal | undefined,
    write: (path: string) => Promise<TruthFrame[]>,
  ): Promise<TruthFrame[]> {
    const unfinished = this.#path(`unfinished-${process.pid}.mp4`)
    try {
      const frames = await write(unfinished)
      signal?.throwIfAborted()
      await rename(unfinished, this.#partPath(this.#parts, 'mp4'))
      await writeAtomically(this.#partPath(this.#parts, 'json'), JSON.stringify(frames))
      this.#parts++
      return frames
    } finally {
      await rm(unfinished, { force: true })
    }
  }

  /** Puts all parts so far, with their truth, where players look for them. */
  async publish(truth: SceneTruth, signal?: AbortSignal): Promise<void> {
    const joined = this.#path(`joined-${process.pid}.mp4`)
    try {
      const parts = Array.from({ length: this.#parts }, (_, i) => this.#partPath(i, 'mp4'))
      await joinVideos(parts, joined, signal)
      await writeAtomically(this.truth, JSON.stringify(truth))
      await rename(joined, this.video)
    } finally {
      await rm(joined, { force: true })
    }
  }

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

const sameKey = (a: unknown, b: SceneKey): boolean => JSON.stringify(a) === JSON.stringify(b)

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return null
    throw error
  }
}

async function writeAtomically(path: string, text: string): Promise<void> {
  const unfinished = `${path}.${process.pid}`
  await writeFile(unfinished, text)
  await rename(unfinished, path)
}
