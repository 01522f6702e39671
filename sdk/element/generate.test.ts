import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { generateManifest } from './generate.ts'

const manifest = {
  name: 'counting',
  version: '1.0.0',
  license: 'Apache-2.0',
  sdk: 1,
  entry: 'element.ts',
  elements: [
    { name: 'count', title: 'Count', description: 'Counts', passthrough: true, runs: 'inline' as const },
  ],
}

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'eyrie-generate-'))
  await writeFile(join(folder, 'plugin.json'), JSON.stringify(manifest))
})
afterEach(() => rm(folder, { recursive: true }))

async function writeElement(name: string, more = '') {
  const sdk = join(import.meta.dirname, 'index.ts')
  await writeFile(
    join(folder, 'element.ts'),
    `import { defineElement, definePlugin, z } from '${sdk}'
     const element = defineElement({
       args: z.strictObject({ step: z.int().min(1).default(1).meta({ description: 'Counted at once' }) }),
       ${more}
       open: () => ({ process: () => ({}) }),
     })
     export default definePlugin({ '${name}': element })`,
  )
}

test("an element's schemas are put beside what its author wrote", async () => {
  await writeElement('count')
  expect(await generateManifest(folder)).toEqual({
    ...manifest,
    elements: [
      {
        ...manifest.elements[0],
        params_schema: {
          $schema: 'https://json-schema.org/draft/2020-12/schema',
          type: 'object',
          properties: { step: { type: 'integer', minimum: 1, default: 1, description: 'Counted at once' } },
          additionalProperties: false,
        },
        config_schema: null,
      },
    ],
  })
})

test('what an element needs of a frame and adds to it is described too, where it says so', async () => {
  await writeElement('count', 'input: z.object({ objects: z.array(z.string()) }), output: z.object({}),')
  const { elements } = (await generateManifest(folder)) as { elements: Record<string, unknown>[] }
  expect(elements[0]).toMatchObject({
    input_schema: { type: 'object', properties: { objects: { type: 'array', items: { type: 'string' } } } },
    output_schema: { type: 'object', properties: {} },
  })
})

test('a manifest that names an element which the code does not have is refused', async () => {
  await writeElement('tally')
  await expect(generateManifest(folder)).rejects.toThrow('plugin.json names "count", element.ts has none')
})
