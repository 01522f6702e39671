import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeOwnModel } from '../../../test/fixtures/engine/mean-colour-model.ts'
import { writePlugin } from '../../../test/fixtures/engine/test-plugin.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { readPlugin } from '../plugin-host/known-plugin.ts'
import { assertOwnModels } from './own-models.ts'

const place = '/elements/0/capabilities/inference/own/0'

/**
 * Checks a package with a model, in whose description these fields are replaced or,
 * if undefined, missing.
 */
async function check(changed: object = {}): Promise<void> {
  const folder = createTemporaryFolder()
  const model = writeOwnModel(join(folder, 'probe'), 'colour', { width: 8, height: 8 })
  const inference = { own: [{ ...model, ...changed }] }
  writePlugin(folder, { element: { capabilities: { inference } as never } })
  await assertOwnModels(readPlugin(join(folder, 'probe'), 'uploaded'))
}

describe('a package with models', () => {
  it('is accepted if it contains the files of its manifest', async () => {
    await check()
  })

  it.each<[string, object, RegExp]>([
    ['a licence', { license: undefined }, new RegExp(`^${place}/license: is required`)],
    ['an SHA-256', { sha256: undefined }, new RegExp(`^${place}/sha256: is required`)],
    [
      'the file',
      { file: 'other.onnx' },
      new RegExp(`^${place}/file: the package does not contain other`),
    ],
    [
      'labels of its detections',
      { head: 'yolox' },
      new RegExp(`^${place}/labels: must name the classes`),
    ],
  ])('is refused without %s', async (_, changed, reason) => {
    await expect(check(changed)).rejects.toThrow(reason)
  })

  it('is refused if a file has other content, or is outside of the package', async () => {
    await expect(check({ sha256: '0'.repeat(64) })).rejects.toThrow(
      /sha256: colour\.onnx has the SHA-256 [0-9a-f]{64}, not the one of the model colour: run eyrie plugin generate/,
    )
    for (const file of ['../other/model.onnx', '/etc/passwd', 'a/../../b.onnx', 'model.bin']) {
      await expect(check({ file })).rejects.toThrow(
        `${place}/file: must be the path of an .onnx file`,
      )
    }
  })
})
