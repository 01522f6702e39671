import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { watchNewCameras } from './new-cameras.ts'

it('reports a camera that is plugged in, once, and again after it was unplugged', async () => {
  const folder = createTemporaryFolder()
  const existing = join(folder, 'video0')
  writeFileSync(existing, '')
  const reported: string[] = []
  onTestFinished(watchNewCameras(folder, path => reported.push(path)))

  chmodSync(existing, 0o660)
  const camera = join(folder, 'video1')
  writeFileSync(camera, '')
  chmodSync(camera, 0o660)
  writeFileSync(join(folder, 'tty9'), '')
  await vi.waitUntil(() => reported.length > 0)
  rmSync(camera)
  const other = join(folder, 'video2')
  writeFileSync(other, '')
  await vi.waitUntil(() => reported.includes(other))
  writeFileSync(camera, '')
  await vi.waitUntil(() => reported.length > 2)
  expect(reported).toEqual([camera, other, camera])
})
