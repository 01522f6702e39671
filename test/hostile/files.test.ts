import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createModel, createNode, createTensor, createValueInfo } from '@eyrie/model-store/onnx/build'
import { DATA_LOCATIONS, modelProto } from '@eyrie/model-store/onnx/schema'
import { describe, expect, it } from 'vitest'
import { createPluginEntries, createTarball } from '../fixtures/engine/plugin-package.ts'
import { runEyrieCommand } from '../fixtures/processes/command-line.ts'
import { needs } from '../fixtures/requirements/needs.ts'
import { createTemporaryFolder } from '../fixtures/temporary-folder.ts'
import { accounts, readSecrets, startAttackedAppliance } from './attacked-appliance.ts'

// The attacker has written a file that somebody gives to the appliance: a plugin, a model, a backup.

describe.each(accounts)('a hostile file given to an appliance that $name started', account => {
  it('is refused, and changes nothing', { ...needs(account.requirement), timeout: 240_000 }, async () => {
    const appliance = await startAttackedAppliance(account)
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
    const added = await runEyrieCommand(['model', 'add', 'hostile', ...options], { data, environment })
    expect(added).toMatchObject({ code: 1, err: expect.stringContaining('weights are in another file') })

    const backup = join(createTemporaryFolder(), 'hostile.backup')
    const passphrase = join(createTemporaryFolder(), 'passphrase')
    writeFileSync(passphrase, 'correct horse battery staple\n')
    writeFileSync(backup, 'EYRIE')
    const restored = await runEyrieCommand(['restore', backup, '--force', '--passphrase-file', passphrase], {
      data,
      environment,
    })
    expect(restored.code).toBe(1)
    expect((await fetch(`${appliance.consoleUrl}/health`)).status).toBe(200)
  })
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
