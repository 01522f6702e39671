import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { provideModel } from './quickstart-model.ts'

describe('the path of a model file', () => {
  const provide = (folder: string, name: string) =>
    provideModel({ name, isScene: false }, folder, () => {})

  it('is rejected if the file does not exist', async () => {
    const folder = createTemporaryFolder()
    const file = join(folder, 'missing.onnx')
    await expect(provide(folder, file)).rejects.toThrow(`MODEL: ${file} does not exist`)
  })

  it('is rejected with the reason if the file cannot be read', async () => {
    const folder = createTemporaryFolder()
    const file = join(folder, 'folder.onnx')
    await mkdir(file)
    await expect(provide(folder, file)).rejects.toThrow(`MODEL: ${file} cannot be read: EISDIR`)
  })
})
