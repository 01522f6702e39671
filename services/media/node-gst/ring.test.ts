import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RING_MAGIC, RING_VERSION } from '@eyrie/contract/ring'
import { describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { Ring, type RingOptions } from './index.ts'
import { createRing, ringOptions } from './ring.fixture.ts'

describe('ring', () => {
  it('describes its contents in the header', () => {
    const { ring, view } = createRing({
      width: 65,
      height: 50,
      content: { x: 0, y: 2, width: 65, height: 46 },
      generation: 2 ** 40,
      epoch: 1_700_000_000_123,
    })
    const payloadSize = 65 * 50 + 2 * 33 * 25
    const slotStride = Math.ceil((64 + payloadSize) / 4096) * 4096
    const header = {
      magic: RING_MAGIC,
      version: RING_VERSION,
      slots: 4,
      width: 65,
      height: 50,
      slotStride,
      payloadSize,
      generation: 2 ** 40,
      epoch: 1_700_000_000_123,
      sourceWidth: 640,
      sourceHeight: 480,
      contentX: 0,
      contentY: 2,
      contentWidth: 65,
      contentHeight: 46,
      newest: 0,
    } as const
    for (const [field, value] of Object.entries(header)) {
      expect([field, view.header(field as keyof typeof header)]).toEqual([field, value])
    }
    expect(view.format()).toBe('I420')
    expect(ring.bytes).toBe(4096 + 4 * slotStride)
  })

  it('is a file of full size that only its group can read', () => {
    const { ring } = createRing()
    const status = statSync(ring.path)
    expect(status.mode & 0o777).toBe(0o640)
    expect(status.size).toBe(ring.bytes)
    expect(status.blocks * 512).toBeGreaterThanOrEqual(ring.bytes)
  })

  it('replaces an older ring at the same path, and remains when the older ring is closed', () => {
    const path = join(createTemporaryFolder(), 'view.ring')
    const old = new Ring(ringOptions({ path }))
    const { view } = createRing({ path, generation: 2 })
    old.close()
    expect(existsSync(path)).toBe(true)
    expect(view.header('generation')).toBe(2)
  })

  it('replaces an incomplete file that remains from a crash', () => {
    const path = join(createTemporaryFolder(), 'view.ring')
    writeFileSync(`${path}.new`, 'half')
    expect(createRing({ path }).view.header('magic')).toBe(RING_MAGIC)
    expect(existsSync(`${path}.new`)).toBe(false)
  })

  it('removes its file when it is closed', () => {
    const { ring } = createRing()
    ring.close()
    ring.close()
    expect(existsSync(ring.path)).toBe(false)
  })

  it.each<[string, Partial<RingOptions>, RegExp]>([
    ['more bytes than allowed', { bytesLimit: 10_000 }, /needs \d+ bytes, but the limit is 10000/],
    [
      'more bytes than available',
      { width: 65_535, height: 65_535, slots: 65_535 },
      /cannot reserve \d+ bytes/,
    ],
    ['an unknown format', { format: 'I421' }, /"I421" is not supported/],
    ['a format that is not 8-bit', { format: 'I420_10LE' }, /"I420_10LE" is not supported/],
    [
      'content beyond the edge',
      { content: { x: 2, y: 0, width: 64, height: 48 } },
      /inside width x height/,
    ],
    [
      'content between chroma samples',
      { content: { x: 1, y: 0, width: 60, height: 40 } },
      /multiples of the chroma/,
    ],
    ['a fill for other components', { fill: [1, 2] }, /fill must have 1 or 3 values for I420/],
    [
      'JPEG with padding',
      { format: 'JPEG', payloadLimit: 1, content: { x: 0, y: 0, width: 64, height: 40 } },
      /JPEG has no padding/,
    ],
    ['JPEG of unknown length', { format: 'JPEG' }, /payloadLimit is required/],
    ['a fill value above 255', { fill: [256] }, /0 to 255/],
    ['a single slot', { slots: 1 }, /slots must be a whole number from 2/],
  ])('with %s is rejected and leaves no file', (_, changes, message) => {
    const options = ringOptions(changes)
    expect(() => new Ring(options)).toThrow(message)
    expect(readdirSync(join(options.path, '..'))).toEqual([])
  })

  it('is rejected if its folder does not exist', () => {
    expect(() => new Ring(ringOptions({ path: '/nowhere/view.ring' }))).toThrow(
      /nowhere.*No such file or directory/,
    )
  })
})
