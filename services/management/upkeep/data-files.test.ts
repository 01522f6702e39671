import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { listFiles } from './data-files.ts'

/** Returns a data folder that contains the files. */
function createFiles(...paths: string[]): string {
  const data = createTemporaryFolder()
  for (const path of paths) {
    mkdirSync(dirname(join(data, path)), { recursive: true })
    writeFileSync(join(data, path), path)
  }
  return data
}

describe('files of a backup', () => {
  it('include what the engine cannot recreate', async () => {
    const files = [
      'engine/configuration.json',
      'engine/identity',
      'engine/model-switches.json',
      'engine/plugin-storage/heat-map/heat-map/1/heat-map.svg',
    ]
    expect(await listFiles(createFiles(...files))).toEqual(files)
  })

  it('omit what the engine creates again, and messages that the database contains', async () => {
    const data = createFiles(
      'engine/costs.json',
      'engine/compiled-plugin-code/heat-map/1.0.0/element.js',
      'engine/plugin-models/0123.onnx',
      'engine/output/log/sequence.json',
      'engine/output/consumers.json',
    )
    expect(await listFiles(data)).toEqual([])
  })

  it('omit unfinished files of plugins, and those of versions in shadow', async () => {
    const folder = 'engine/plugin-storage'
    const data = createFiles(
      `${folder}/.shadow/heat-map/heat-map/1/heat-map.svg`,
      `${folder}/heat-map/heat-map/1/.draft`,
      `${folder}/heat-map/heat-map/1/heat.map`,
    )
    expect(await listFiles(data)).toEqual([`${folder}/heat-map/heat-map/1/heat.map`])
  })
})
