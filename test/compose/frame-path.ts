import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { renderTestScene } from '../fixtures/media/rendered-scene.ts'
import type { Stack } from './stack.ts'

const PROGRAM = resolve(import.meta.dirname, 'frame-path-program.mjs')
/**
 * What else the machine does only adds time, so the least of many runs is the time of a frame. If
 * too much time was added in all of them, there are more.
 */
const [MIN_RUNS, MAX_RUNS] = [15, 45]
/** The scene that three engines play, too. */
const SCENE_S = 12
const MAX_RATIO = 1.05
const result = z.object({ frames: z.number().min(100), us: z.number() })

/**
 * Measures the processor time of a frame with the files of the media image, alternately in a
 * container and outside. Stops the stack, which would disturb.
 */
export async function measureFrames(stack: Stack, version: string): Promise<string> {
  const image = `eyrie/media:${version}`
  const root = join(stack.folder, 'image')
  const ring = mkdtempSync('/dev/shm/eyrie-frame-path-')
  mkdirSync(root)
  await stack.compose('stop')
  const { folder, video } = await renderTestScene({ seconds: SCENE_S })
  const container = (await stack.docker('create', image)).trim()
  await stack.docker('export', container, '--output', join(stack.folder, 'image.tar'))
  await stack.docker('rm', container)
  await promisify(execFile)('tar', ['-xf', join(stack.folder, 'image.tar'), '-C', root])

  const inside = async () => {
    const mounts = [`${PROGRAM}:/program.mjs:ro`, `${folder}:/videos:ro`].flatMap(mount => [
      '--volume',
      mount,
    ])
    const path = `/videos/${basename(video)}`
    const command = ['--entrypoint', 'node', 'media', '/program.mjs', path, '/run/eyrie/ring']
    return parse(await stack.compose('run', '--rm', '-T', '--no-deps', ...mounts, ...command))
  }
  const outside = async () => {
    const libraries = join(root, 'usr/lib/x86_64-linux-gnu')
    const { stdout } = await promisify(execFile)(
      join(libraries, 'ld-linux-x86-64.so.2'),
      ['--library-path', libraries, join(root, 'usr/local/bin/node'), PROGRAM, video, ring],
      {
        env: {
          GST_PLUGIN_SYSTEM_PATH: join(libraries, 'gstreamer-1.0'),
          GST_REGISTRY: join(stack.folder, 'registry.bin'),
          GST_REGISTRY_FORK: 'no',
          EYRIE_IMAGE: root,
        },
      },
    )
    return parse(stdout)
  }

  try {
    let [out, within, ratio] = [Infinity, Infinity, 1]
    for (let run = 1; run <= MIN_RUNS || (ratio > MAX_RATIO && run <= MAX_RUNS); run += 1) {
      out = Math.min(out, await outside())
      within = Math.min(within, await inside())
      ratio = within / out
    }
    assert(
      ratio <= MAX_RATIO,
      `${within.toFixed(0)} µs in a container, ${out.toFixed(0)} µs outside`,
    )
    return `${within.toFixed(0)} µs in a container, ${out.toFixed(0)} µs outside: ${ratio.toFixed(3)}`
  } finally {
    rmSync(ring, { recursive: true, force: true })
  }
}

const parse = (output: string): number =>
  result.parse(JSON.parse(output.trim().split('\n').at(-1) ?? '')).us
