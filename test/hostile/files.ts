import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  createModel,
  createNode,
  createTensor,
  createValueInfo,
} from '@eyrie/model-store/onnx/build'
import { DATA_LOCATIONS, modelProto } from '@eyrie/model-store/onnx/schema'
import { expect, it } from 'vitest'
import { createPluginEntries, createTarball } from '../fixtures/engine/plugin-package.ts'
import type { Appliance } from '../fixtures/processes/appliance.ts'
import { runEyrieCommand } from '../fixtures/processes/command-line.ts'
import { createTemporaryFolder } from '../fixtures/temporary-folder.ts'
import { readSecrets } from './attacked-appliance.ts'

// The attacker has written a file that somebody gives to the appliance: a plugin, a model, a
// backup.

export const attackByFiles = (appliance: Appliance) =>
  it('hostile files are refused, and change nothing', { timeout: 240_000 }, async () => {
    const { data } = appliance
    const environment = { PATH: process.env.PATH }

    const escaping = await createTarball([
      ...createPluginEntries({}),
      { name: 'package/../../../escaped', content: 'hostile' },
    ])
    const upload = await fetch(`${appliance.engineUrl}/api/v3/plugins`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${readSecrets(appliance).get('plugin-token')}`,
        'content-type': 'application/gzip',
      },
      body: escaping,
    })
    expect(upload.status).toBe(400)
    expect(existsSync(join(data, 'escaped'))).toBe(false)

    const model = join(createTemporaryFolder(), 'hostile.onnx')
    const labels = join(createTemporaryFolder(), 'labels.txt')
    writeFileSync(labels, 'person\n')
    writeFileSync(model, createModelWithExternalData())
    const options = ['--file', model, '--head', 'yolox', '--labels', labels, '--license', 'MIT']
    const added = await runEyrieCommand(['model', 'add', 'hostile', ...options], {
      data,
      environment,
    })
    expect(added).toMatchObject({
      code: 1,
      err: expect.stringContaining('weights are in another file'),
    })

    const backup = join(createTemporaryFolder(), 'hostile.backup')
    const passphrase = join(createTemporaryFolder(), 'passphrase')
    writeFileSync(passphrase, 'correct horse battery staple\n')
    writeFileSync(backup, 'EYRIE')
    const restored = await runEyrieCommand(
      ['restore', backup, '--force', '--passphrase-file', passphrase],
      {
        data,
        environment,
      },
    )
    expect(restored.code).toBe(1)
    expect((await fetch(`${appliance.consoleUrl}/health`)).status).toBe(200)
  })

/** A detector with a constant that is the content of another file. */
function createModelWithExternalData(): Uint8Array {
  const external = {
    ...createTensor('constant', [1], new Float32Array([1])),
    rawData: undefined,
    dataLocation: DATA_LOCATIONS.external,
  }
  return modelProto.encode(
    createModel({
      nodes: [createNode('Add', ['images', 'constant'], ['output'])],
      initializers: [external],
      inputs: [createValueInfo('images', 'float', [1])],
      outputs: [createValueInfo('output', 'float', [1])],
    }),
  )
}
