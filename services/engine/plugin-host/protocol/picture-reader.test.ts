import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createTestRing } from '../../../../test/fixtures/media/test-ring.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { RingReader } from '../../frames/ring-reader.ts'
import { PictureReader } from './picture-reader.ts'

it('a JPEG picture ends where its file ends, although the slot of the ring is larger', () => {
  const path = join(createTemporaryFolder(), 'view.ring')
  const shape = { width: 640, height: 360, format: 'JPEG', payloadSize: 4000 } as const
  const ring = createTestRing(path, shape)
  onTestFinished(ring.close)
  const reader = new PictureReader(({ path }) => new RingReader(path))
  const location = { path, generation: ring.generation }

  const long = new Uint8Array(3000).fill(1)
  ring.write(1, long)
  expect(reader.read(location, 1)).toMatchObject({ format: 'JPEG', data: long })
  const short = Uint8Array.of(0xff, 0xd8, 0xff, 0xd9)
  ring.write(2, short)
  expect(reader.read(location, 2)).toMatchObject({ width: 640, height: 360, data: short })
  expect(reader.read(location, 7)).toBe('overwritten')
})
