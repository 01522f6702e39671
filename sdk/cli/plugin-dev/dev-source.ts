import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, stat } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { SourceInput } from '@eyrie/contract'
import { UsageError } from '../command/command.ts'
import type { Output, Terminal } from '../command/terminal.ts'

/** What `eyrie plugin dev` runs an element on. */
export interface SourceOptions {
  /** Id or address. */
  source?: string | undefined
  /** A video file. */
  file?: string | undefined
  scene?: boolean | undefined
}

const SCENE_PROGRAM = resolve(import.meta.dirname, '../../../scene/main.ts')
const SCENE_SEED = 4
const SCENE_SECONDS = 60

/**
 * Returns the source that the options name: its id, or what to create. Files are copied into the folder from which the engine on
 * this machine plays videos. Throws `UsageError` if the options contradict each other.
 */
export async function findSource(
  { source, file, scene }: SourceOptions,
  { data, err }: Terminal,
): Promise<SourceInput | number | undefined> {
  if ([source, file, scene || undefined].filter(option => option !== undefined).length > 1)
    throw new UsageError('--source, --file and --scene exclude each other')
  if (source !== undefined && /^\d+$/.test(source)) return Number(source)
  if (source !== undefined) return createInput(/^test:/.test(source) ? 'inf' : 'video', source)
  if (file !== undefined) return createInput('inf', pathToFileURL(await provideFile(file, data)).href)
  return scene ? createInput('inf', pathToFileURL(await renderScene(data, err)).href) : undefined
}

const createInput = (type: SourceInput['type'], address: string): SourceInput => ({
  type,
  address,
  decoder: 'gst_h264',
})

async function provideFile(file: string, data: string): Promise<string> {
  const path = resolve(file)
  const stats = await stat(path).catch(() => undefined)
  if (!stats?.isFile()) throw new Error(`${file} is not a file`)
  const folder = join(data, 'media')
  if (!relative(folder, path).startsWith('..')) return path
  const copy = join(folder, `dev-${basename(path)}`)
  await copyFile(path, copy).catch(cause => {
    throw new Error(
      `${file} cannot be copied to ${folder}, from which the engine plays videos: ${cause.message}`,
      {
        cause,
      },
    )
  })
  return copy
}

/** Renders the scene that make run shows, unless it exists already. */
async function renderScene(data: string, err: Output): Promise<string> {
  const folder = join(data, 'media')
  const file = join(folder, `scene-${SCENE_SEED}.mp4`)
  if (await stat(file).catch(() => undefined)) return file
  err.write('rendering the scene, which takes some minutes\n')
  const args = ['--seed', String(SCENE_SEED), '--seconds', String(SCENE_SECONDS), '--out', folder]
  const child = spawn(process.execPath, [SCENE_PROGRAM, ...args], { stdio: 'ignore' })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`the scene could not be rendered (exit code ${code})`)
  return file
}
