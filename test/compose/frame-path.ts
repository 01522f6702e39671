import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import type { Stack } from './stack.ts'

const PROGRAM = resolve(import.meta.dirname, 'frame-path-program.mjs')
const RUNS = 5
const MAX_RATIO = 1.05
const result = z.object({ frames: z.number().min(100), us: z.number() })

/**
 * Measures the processor time of a frame with the files of the media image, alternately in a container and outside. Stops the stack,
 * which would disturb.
 */
export async function measureFrames(stack: Stack, version: string): Promise<string> {
  const image = `eyrie/media:${version}`
  const root = join(stack.folder, 'image')
  const videos = join(stack.folder, 'videos')
  const ring = mkdtempSync('/dev/shm/eyrie-frame-path-')
  for (const folder of [root, videos]) mkdirSync(folder)
  // The whole demo scene, whose rendering would disturb, too.
  await stack.compose('wait', 'scene')
  await stack.compose('cp', 'media:/var/lib/eyrie/media/.', videos)
  await stack.compose('stop')
  const container = (await stack.docker('create', image)).trim()
  await stack.docker('export', container, '--output', join(stack.folder, 'image.tar'))
  await stack.docker('rm', container)
  await promisify(execFile)('tar', ['-xf', join(stack.folder, 'image.tar'), '-C', root])

  const video = readdirSync(videos).find(name => name.endsWith('.mp4'))
  assert(video, 'the demo scene has not been rendered')
  for (const folder of [stack.folder, videos]) chmodSync(folder, 0o755)

  const inside = async () => {
    const mounts = [`${PROGRAM}:/program.mjs:ro`, `${videos}:/videos:ro`].flatMap(mount => [
      '--volume',
      mount,
    ])
    const command = ['--entrypoint', 'node', 'media', '/program.mjs', `/videos/${video}`, '/run/eyrie/ring']
    return parse(await stack.compose('run', '--rm', '-T', '--no-deps', ...mounts, ...command))
  }
  const outside = async () => {
    const libraries = join(root, 'usr/lib/x86_64-linux-gnu')
    const { stdout } = await promisify(execFile)(
      join(libraries, 'ld-linux-x86-64.so.2'),
      ['--library-path', libraries, join(root, 'usr/local/bin/node'), PROGRAM, join(videos, video), ring],
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
    const times: { inside: number[]; outside: number[] } = { inside: [], outside: [] }
    for (let run = 0; run < RUNS; run += 1) {
      times.outside.push(await outside())
      times.inside.push(await inside())
    }
    const [out, within] = [Math.min(...times.outside), Math.min(...times.inside)]
    const ratio = within / out
    assert(ratio <= MAX_RATIO, `${within.toFixed(0)} µs in a container, ${out.toFixed(0)} µs outside`)
    return `${within.toFixed(0)} µs in a container, ${out.toFixed(0)} µs outside: ${ratio.toFixed(3)}`
  } finally {
    rmSync(ring, { recursive: true, force: true })
  }
}

const parse = (output: string): number => result.parse(JSON.parse(output.trim().split('\n').at(-1) ?? '')).us
