import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { getSceneFile } from '../quickstart/demo-scene.ts'
import { requestScene, waitForScene, withdrawScene } from './scene-request.ts'

function createRequest(): string {
  const data = createTemporaryFolder()
  mkdirSync(join(data, 'media'))
  requestScene(data)
  return data
}

describe('waiting for the demo scene', () => {
  it('ends when the scene can be played', async () => {
    const data = createRequest()
    const ready = waitForScene(data, new AbortController().signal)
    writeFileSync(getSceneFile(data), '')
    await expect(ready).resolves.toBeUndefined()
  })

  it('fails when the scene cannot be rendered', async () => {
    const data = createRequest()
    const ready = waitForScene(data, new AbortController().signal)
    withdrawScene(data)
    await expect(ready).rejects.toThrow('the demo scene could not be rendered')
  })
})
