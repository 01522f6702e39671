import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { Ring, type RingOptions } from './index.ts'
import { RingView } from './ring-view.fixture.ts'

export function ringOptions(changes: Partial<RingOptions> = {}): RingOptions {
  const { width = 64, height = 48 } = changes
  return {
    path: join(createTemporaryFolder(), 'view.ring'),
    slots: 4,
    width,
    height,
    format: 'I420',
    content: { x: 0, y: 0, width, height },
    fill: [0],
    generation: 1,
    epoch: 1,
    sourceWidth: 640,
    sourceHeight: 480,
    ...changes,
  }
}

/** Creates a ring with a reader. Both are closed after the test. */
export function createRing(changes: Partial<RingOptions> = {}) {
  const ring = new Ring(ringOptions(changes))
  const view = new RingView(ring.path)
  onTestFinished(() => {
    view.close()
    ring.close()
  })
  return { ring, view }
}
