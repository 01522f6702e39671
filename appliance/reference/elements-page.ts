import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Manifest, manifest } from '@eyrie/contract/plugin'
import { renderFieldTable } from './field-table.ts'
import type { Schema } from './schema-type.ts'

/** Renders the page of the built-in elements from their manifests. */
export function renderElementsPage(root: string): string {
  const manifests = globSync('plugins/*/plugin.json', { cwd: root })
    .sort()
    .map(file => manifest.parse(JSON.parse(readFileSync(join(root, file), 'utf8'))))
  return [
    '# Elements',
    'Elements are the processing steps of pipelines. `args` are fixed; `config` can be changed while the pipeline runs. How to use each element: [plugins](../../plugins/README.md).',
    ...manifests.flatMap(plugin =>
      plugin.elements.flatMap(element => renderElement(element, plugin)),
    ),
  ].join('\n\n')
}

function renderElement(element: Manifest['elements'][number], { version }: Manifest): string[] {
  const thread = element.runs === 'inline' ? 'on the main thread' : 'in a worker thread'
  const requirements = element.needs.length > 0 ? `; requires ${element.needs.join(', ')}` : ''
  return [
    `## ${element.name}`,
    `${element.description}. Version ${version}; runs ${thread}${requirements}.`,
    ...renderFields('args', element.params_schema),
    ...renderFields('config', element.config_schema),
  ]
}

function renderFields(title: string, schema: Record<string, unknown> | null): string[] {
  const table = schema && renderFieldTable(schema as Schema)
  return table ? [`\`${title}\``, table] : []
}
