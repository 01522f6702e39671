import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Manifest, manifest } from '@eyrie/contract/plugin'
import type { Schema } from './schema.ts'
import { fieldTable } from './table.ts'

/** The built-in elements, as their manifests describe them. */
export function elementsPage(root: string): string {
  const manifests = globSync('plugins/*/plugin.json', { cwd: root })
    .sort()
    .map(file => manifest.parse(JSON.parse(readFileSync(join(root, file), 'utf8'))))
  return [
    '# Elements',
    'What pipelines are made of. `args` are given once in the pipeline; `config` may be changed while it runs. How each is meant to be used: [plugins](../../plugins/README.md).',
    ...manifests.flatMap(plugin => plugin.elements.flatMap(element => sections(element, plugin))),
  ].join('\n\n')
}

function sections(element: Manifest['elements'][number], { version }: Manifest): string[] {
  const runs = element.runs === 'inline' ? 'beside the pipeline' : 'in a thread of its own'
  return [
    `## ${element.name}`,
    `${element.description}. Version ${version}; runs ${runs}${element.needs.length > 0 ? `; takes ${element.needs.join(', ')}` : ''}.`,
    ...fields('args', element.params_schema),
    ...fields('config', element.config_schema),
  ]
}

function fields(title: string, schema: Record<string, unknown> | null): string[] {
  const table = schema && fieldTable(schema as Schema)
  return table ? [`\`${title}\``, table] : []
}
