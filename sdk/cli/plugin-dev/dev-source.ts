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
const SCENE_SEED = 4
const SCENE_SECONDS = 60

/**
 * Returns the source that the options select: the id of an existing one, the description of a new
 * one, or undefined without options. Files are copied into the folder from which the engine on this
 * machine plays videos. Throws `UsageError` if the options contradict each other.
 */
export async function findSource(
  { source, file, scene }: SourceOptions,
  { data: dataFolder, err }: Terminal,
): Promise<SourceInput | number | undefined> {
  const selections = [source !== undefined, file !== undefined, scene === true]
  if (selections.filter(isSelected => isSelected).length > 1) {
    throw new UsageError('--source, --file and --scene exclude each other')
  }

  if (source !== undefined) return parseSource(source)
  if (file !== undefined) return createLoop(await provideFile(file, dataFolder))
  return scene ? createLoop(await renderScene(dataFolder, err)) : undefined
}

/** Parses an id or an address. A test picture, such as `test://ball`, is a loop. */
function parseSource(text: string): SourceInput | number {
  if (/^\d+$/.test(text)) return Number(text)
  return createSource(text.startsWith('test:') ? 'inf' : 'video', text)
}

/** Describes a source that plays a file in an endless loop. */
const createLoop = (file: string) => createSource('inf', pathToFileURL(file).href)

const createSource = (type: SourceInput['type'], address: string): SourceInput => ({
  type,
  address,
  decoder: 'gst_h264',
})

/**
 * Returns the path of a video file in the media folder. Copies the file there if it is elsewhere.
 */
async function provideFile(file: string, dataFolder: string): Promise<string> {
  const path = resolve(file)
  const stats = await stat(path).catch(() => undefined)
  if (!stats?.isFile()) throw new Error(`${file} is not a file`)

  const folder = join(dataFolder, 'media')
  const isInFolder = !relative(folder, path).startsWith('..')
  if (isInFolder) return path

  const copy = join(folder, `dev-${basename(path)}`)
  await copyFile(path, copy).catch(cause => {
    const target = `${folder}, from which the engine plays videos`
    throw new Error(`${file} cannot be copied to ${target}: ${cause.message}`, { cause })
  })
  return copy
}

/**
 * Renders the scene that `make run` shows, unless it exists already. Returns the path of the video.
 */
async function renderScene(dataFolder: string, err: Output): Promise<string> {
  const folder = join(dataFolder, 'media')
  const file = join(folder, `scene-${SCENE_SEED}.mp4`)
  if (existsSync(file)) return file

  err.write('rendering the scene, which takes some minutes\n')
  const args = ['--seed', String(SCENE_SEED), '--seconds', String(SCENE_SECONDS), '--out', folder]
  const child = spawn(process.execPath, [SCENE_PROGRAM, ...args], { stdio: 'ignore' })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`the scene could not be rendered (exit code ${code})`)
  return file
}
