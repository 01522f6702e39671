import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { renderFrames } from './film/render-frames.ts'
import { toTruthFrame } from './truth/derive-truth.ts'

const SCENE = { seed: 5, width: 160, height: 90, fps: 25 }
const PIXELS = '17a012b1281d06fa'
const TRUTH = '3426847fe6f63acf'

/** Renders some frames and returns hashes of their pixels and their truth. */
async function renderHashes(threads: number, from = 0, to = 12) {
  const pixels = createHash('sha256')
  const truth = createHash('sha256')
  for await (const frame of renderFrames(SCENE, { from, to }, threads)) {
    pixels.update(frame.rgb)
    truth.update(JSON.stringify(toTruthFrame(frame, SCENE.width, SCENE.height)))
  }
  return { pixels: pixels.digest('hex').slice(0, 16), truth: truth.digest('hex').slice(0, 16) }
}

describe('scene', () => {
  it('has the same pixels and the same truth for a seed on every machine', async () => {
    expect(await renderHashes(1)).toEqual({ pixels: PIXELS, truth: TRUTH })
  })

  it('does not depend on the number of threads', async () => {
    expect(await renderHashes(3)).toEqual({ pixels: PIXELS, truth: TRUTH })
  })

  it('does not depend on the first frame', async () => {
    expect(await renderHashes(2, 7, 9)).toEqual(await renderHashes(1, 7, 9))
  })

  it('uses no arithmetic that differs between machines or JavaScript engines', () => {
    const forbidden =
      /Math\.(?!(sqrt|floor|ceil|round|min|max|abs|imul|PI)\b)\w+|[^*/]\*\*[^*/]|\bDate\b|performance\./
    const sources = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
    const offenders = sources
      .filter(name => /(?<!\.test)\.ts$/.test(name))
      .filter(name => forbidden.test(readFileSync(join(import.meta.dirname, name), 'utf8')))
    expect(offenders).toEqual([])
  })
})
