import type { ApiDocument } from '@eyrie/kit/api-docs'
import { renderFieldTable } from './field-table.ts'
import { joinParagraphs, listErrors, type Operation, renderOperation } from './operation-section.ts'
import { describeType, type Schema } from './schema-type.ts'

export interface PageOptions {
  /** Text below the title. */
  intro: string
  /** Extracts the part of a response schema that differs between operations. Defaults to the whole schema. */
  unwrapResponse?(schema: Schema): Schema
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** Renders a page with the operations of an API, grouped by resource, and its types. */
export function renderApiPage(
  { info, servers, paths, components }: ApiDocument,
  { intro, unwrapResponse = schema => schema }: PageOptions,
): string {
  const base = servers?.[0]?.url ?? ''
  const operations = Object.entries(paths ?? {}).flatMap(([path, item]) =>
    METHODS.flatMap(method => {
      const operation = (item as Record<string, Operation>)[method]
      return operation ? [{ path, method, operation }] : []
    }),
  )
  const commonErrors = findCommonErrors(operations.map(({ operation }) => operation))
  const byResource = Map.groupBy(operations, ({ path }) => path.split('/')[1]!)
  const types = Object.entries((components?.schemas ?? {}) as Record<string, Schema>)
  return joinParagraphs(
    `# ${info.title}`,
    intro,
    `All paths are relative to \`${base}\`. OpenAPI document: \`GET ${base}/openapi.json\`.`,
    `Every operation may also return these errors:\n\n${commonErrors.join('\n')}`,
    ...[...byResource].flatMap(([resource, all]) => [
      `## ${resource}`,
      ...all.map(({ path, method, operation }) =>
        renderOperation(`${method.toUpperCase()} ${path}`, operation, {
          commonErrors: new Set(commonErrors),
          unwrapResponse: unwrapResponse,
        }),
      ),
    ]),
    '## Types',
    ...types.map(([name, schema]) =>
      joinParagraphs(`### ${name}`, schema.description, renderFieldTable(schema) || describeType(schema)),
    ),
  )
}

/** Finds the errors that all operations have in common. */
function findCommonErrors(operations: Operation[]): string[] {
  const [first, ...others] = operations.map(listErrors)
  return first?.filter(error => others.every(errors => errors.includes(error))) ?? []
}
