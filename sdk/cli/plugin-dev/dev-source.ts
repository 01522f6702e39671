import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { copyFile, stat } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { SourceInput } from '@eyrie/contract'
import { UsageError } from '../command/command.ts'
import type { Output, Terminal } from '../command/terminal.ts'

/** The options of `eyrie plugin dev` that select the video. At most one of them is set. */
export interface SourceOptions {
  /** Id of a source on the engine, or the address of a new one. */
  source?: string | undefined
  /** Path of a video file. */
  file?: string | undefined
  /** Whether to play the rendered scene. */
  scene?: boolean | undefined
}

const SCENE_PROGRAM = resolve(import.meta.dirname, '../../../scene/main.ts')
/**
 * The scene that `make run` shows (scene/demo.ts), so that both can use the same video. The same
 * seed results in the same street with the same people.
 */
const SCENE = { seed: 4, seconds: 60 }

/**
 * Returns the source that the options select: the id of an existing source, or the description of a
 * new one. Returns undefined without options. Files are copied into the folder from which the
 * engine on this machine plays videos. Throws `UsageError` if several options are set.
 */
export async function findSource(
  { source, file, scene }: SourceOptions,
  { data: dataFolder, err }: Terminal,
): Promise<SourceInput | number | undefined> {
  const selected = [source, file, scene || undefined].filter(option => option !== undefined)
  if (selected.length > 1) {
    throw new UsageError('--source, --file and --scene exclude each other')
  }

  const mediaFolder = join(dataFolder, 'media')
  if (source !== undefined) return parseSource(source)
  if (file !== undefined) return describeLoop(await provideFile(file, mediaFolder))
  if (scene) return describeLoop(await renderScene(mediaFolder, err))
  return undefined
}

/** Parses the id of a source, or the address of a camera or of a test picture (`test://ball`). */
function parseSource(text: string): SourceInput | number {
  if (/^\d+$/.test(text)) return Number(text)
  const isTestPicture = text.startsWith('test:')
  return describeSource(isTestPicture ? LOOP_TYPE : 'video', text)
}

/** The type of sources that play a file or a test picture in an endless loop. */
const LOOP_TYPE = 'inf'

const describeLoop = (file: string) => describeSource(LOOP_TYPE, pathToFileURL(file).href)

const describeSource = (type: SourceInput['type'], address: string): SourceInput => ({
  type,
  address,
  // The default: the best decoder for the codec, which need not be H.264.
  decoder: 'gst_h264',
})

/**
 * Returns the path of a video file in the media folder. Copies the file there if it is elsewhere.
 */
async function provideFile(file: string, mediaFolder: string): Promise<string> {
  const path = resolve(file)
  const stats = await stat(path).catch(() => undefined)
  if (!stats?.isFile()) throw new Error(`${file} is not a file`)

  const isInMediaFolder = !relative(mediaFolder, path).startsWith('..')
  if (isInMediaFolder) return path

  const copy = join(mediaFolder, `dev-${basename(path)}`)
  await copyFile(path, copy).catch(cause => {
    const target = `${mediaFolder}, from which the engine plays videos`
    throw new Error(`${file} cannot be copied to ${target}: ${cause.message}`, { cause })
  })
  return copy
}

/** Renders the scene into the media folder, unless it exists. Returns the path of the video. */
async function renderScene(mediaFolder: string, err: Output): Promise<string> {
  const seed = String(SCENE.seed)
  const file = join(mediaFolder, `scene-${seed}.mp4`)
  if (existsSync(file)) return file

  err.write('rendering the scene, which takes some minutes\n')
  const args = ['--seed', seed, '--seconds', String(SCENE.seconds), '--out', mediaFolder]
  const child = spawn(process.execPath, [SCENE_PROGRAM, ...args], { stdio: 'ignore' })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`the scene could not be rendered (exit code ${code})`)
  return file
}
