// @module-tag long

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type RenderOptions, renderScene } from './render.ts'
import { sceneTruth } from './truth/scene-truth.ts'

let out: string
beforeEach(() => {
  out = mkdtempSync(join(tmpdir(), 'scene-'))
})
afterEach(() => rmSync(out, { recursive: true }))

const small = (): RenderOptions => ({ seed: 3, seconds: 6, width: 320, height: 180, fps: 5, out })

/** Returns the decoded pixels of all frames of a video. */
function decode(video: string): Buffer {
  // biome-ignore format: one pipeline element per line
  return execFileSync('gst-launch-1.0', [
    '-q', 'filesrc', `location=${video}`, '!', 'decodebin', '!',
    'videoconvert', '!', 'video/x-raw,format=GRAY8', '!', 'fdsink', 'fd=1',
  ], { maxBuffer: 1 << 26 })
}

const readTruth = (path: string) => sceneTruth.parse(JSON.parse(readFileSync(path, 'utf8')))

describe('renderScene', () => {
  it('publishes the first seconds with their truth before the rest is rendered', async () => {
    const lengths: number[] = []
    await renderScene({
      ...small(),
      onPublish(seconds) {
        const { frames } = readTruth(join(out, 'scene-3.truth.json'))
        const pixels = decode(join(out, 'scene-3.mp4'))
        expect(pixels.length).toBe(320 * 180 * frames.length)
        expect(frames.length).toBe(seconds * 5)
        lengths.push(seconds)
      },
    })
    expect(lengths).toEqual([3, 6])
  })

  it('does not render a finished scene again unless its length differs', async () => {
    const { video } = await renderScene(small())
    const { mtimeMs } = statSync(video)
    await renderScene({ ...small(), onProgress: () => expect.unreachable() })
    expect(statSync(video).mtimeMs).toBe(mtimeMs)
    await renderScene({ ...small(), seconds: 2 })
    expect(decode(video).length).toBe(320 * 180 * 10)
  })

  it('resumes after an abort and produces the same truth', async () => {
    const abort = new AbortController()
    const stopped = renderScene({
      ...small(),
      signal: abort.signal,
      onProgress: share => share > 0.6 && abort.abort(new Error('enough')),
    })
    await expect(stopped).rejects.toThrow('enough')
    expect(readTruth(join(out, 'scene-3.truth.json')).frames).toHaveLength(15)
    expect(readdirSync(join(out, '.scene-3')).sort()).toEqual([
      'key.json',
      'part-0000.json',
      'part-0000.mp4',
    ])

    const shares: number[] = []
    const { truth } = await renderScene({ ...small(), onProgress: share => shares.push(share) })
    expect(Math.min(...shares)).toBeGreaterThan(15 / 30)
    const whole = await renderScene({ ...small(), out: join(out, 'whole') })
    expect(readFileSync(truth, 'utf8')).toBe(readFileSync(whole.truth, 'utf8'))
  })

  it('publishes nothing if aborted immediately', async () => {
    const reason = new Error('not now')
    await expect(renderScene({ ...small(), signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    )
    expect(existsSync(join(out, 'scene-3.mp4'))).toBe(false)
    expect(existsSync(join(out, 'scene-3.truth.json'))).toBe(false)
  })

  it('stops the encoder when rendering fails', async () => {
    const failing = renderScene({
      ...small(),
      width: 64,
      height: 36,
      onProgress: () => {
        throw new Error('render failed')
      },
    })
    await expect(failing).rejects.toThrow('render failed')
    await vi.waitFor(() => expect(process.getActiveResourcesInfo()).not.toContain('ProcessWrap'))
  })

  it('reports progress on the command line as lines of JSON', async () => {
    const child = spawn(process.execPath, [
      join(import.meta.dirname, 'main.ts'),
      ...['--seed', '3', '--seconds', '2', '--fps', '5', '--size', '320x180', '--out', out],
    ])
    let output = ''
    child.stdout.on('data', chunk => {
      output += chunk
    })
    const [code] = await once(child, 'close')
    expect(code).toBe(0)
    const lines = output
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(lines.at(-2)).toEqual({ progress: 1 })
    expect(lines.at(-1)).toEqual({ published_s: 2 })
  })

  it('rejects invalid arguments on the command line', async () => {
    const child = spawn(process.execPath, [
      join(import.meta.dirname, 'main.ts'),
      '--seed',
      'x',
      '--out',
      out,
    ])
    let stderr = ''
    child.stderr.on('data', chunk => {
      stderr += chunk
    })
    expect(await once(child, 'close')).toEqual([2, null])
    expect(stderr).toContain('seed must be a whole number')
  })
})
