import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { generateManifest } from './generate.ts'

const manifest = {
  name: 'counting',
  version: '1.0.0',
  license: 'Apache-2.0',
  sdk: 1,
  entry: 'element.ts',
  elements: [
    {
      name: 'count',
      title: 'Count',
      description: 'Counts',
      passthrough: true,
      runs: 'inline' as const,
    },
  ],
}

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'eyrie-generate-'))
  await writeFile(join(folder, 'plugin.json'), JSON.stringify(manifest))
})
afterEach(() => rm(folder, { recursive: true }))

async function writeElement(name: string, properties = '') {
  const sdk = join(import.meta.dirname, 'index.ts')
  await writeFile(
    join(folder, 'element.ts'),
    `import { defineElement, definePlugin, z } from '${sdk}'
     const element = defineElement({
       args: z.strictObject({ step: z.int().min(1).default(1).meta({ description: 'Increment' }) }),
       ${properties}
       open: () => ({ process: () => ({}) }),
     })
     export default definePlugin({ '${name}': element })`,
  )
}

describe('generateManifest', () => {
  it('adds the schemas of an element to the manifest', async () => {
    await writeElement('count')
    expect(await generateManifest(folder)).toEqual({
      ...manifest,
      elements: [
        {
          ...manifest.elements[0],
          params_schema: {
            $schema: 'https://json-schema.org/draft/2020-12/schema',
            type: 'object',
            properties: {
              step: { type: 'integer', minimum: 1, default: 1, description: 'Increment' },
            },
            additionalProperties: false,
          },
          config_schema: null,
        },
      ],
    })
  })

  it('adds the schemas of input and output if the element declares them', async () => {
    await writeElement(
      'count',
      'input: z.object({ objects: z.array(z.string()) }), output: z.object({}),',
    )
    const { elements } = (await generateManifest(folder)) as { elements: Record<string, unknown>[] }
    expect(elements[0]).toMatchObject({
      input_schema: {
        type: 'object',
        properties: { objects: { type: 'array', items: { type: 'string' } } },
      },
      output_schema: { type: 'object', properties: {} },
    })
  })

  it('adds the SHA-256 of the models that the plugin contains', async () => {
    await writeElement('count')
    await writeFile(join(folder, 'digits.onnx'), 'abc')
    const input = { name: 'x', layout: 'nchw', color: 'rgb', dtype: 'uint8', width: 8, height: 8 }
    const model = { name: 'digits', file: 'digits.onnx', license: 'MIT', input }
    const elements = [{ ...manifest.elements[0], capabilities: { inference: { own: [model] } } }]
    await writeFile(join(folder, 'plugin.json'), JSON.stringify({ ...manifest, elements }))
    expect(await generateManifest(folder)).toMatchObject({
      elements: [
        {
          capabilities: {
            inference: {
              own: [
                {
                  ...model,
                  sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
                },
              ],
            },
          },
        },
      ],
    })
  })

  it('rejects a manifest with an element that the entry module does not define', async () => {
    await writeElement('tally')
    await expect(generateManifest(folder)).rejects.toThrow(
      'plugin.json lists element "count", but element.ts does not define it',
    )
  })

  it('rejects an entry module without a default export', async () => {
    await writeFile(join(folder, 'element.ts'), 'export const elements = {}')
    await expect(generateManifest(folder)).rejects.toThrow(
      'plugin.json lists element "count", but element.ts does not define it',
    )
  })
})
